"""Tianwang's tables kept by the policy: PageInfoTable and RemainedURLs; and IndexPages, which is ours.

The other three of the five published data blocks belong to the crawl, not to the policy: NewURLQueue, the unread URLs;
CheckPoints, the digests of read content; ParsedURLs, all URLs ever extracted.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.policies.tianwang.index_pages import IndexPages
from evercrawl.schedule.shared.checked import rate_per_s
from evercrawl.types import Flags, Floats, Slots

_DAY_S = 86_400.0


def tables(
    slots: Slots, rows: NDArray[Any], next_at: Floats, remained: Flags, retired: Flags, pages: IndexPages, alike: Flags
) -> dict[str, dict[str, NDArray[Any]]]:
    """Return the tables by their published names; the meaning of each column is our reading of those names.

    Parameters
    ----------
    slots, rows
        Requested pages, and their rows of `checked.Checked`.
    next_at
        When each page is to be visited again, in seconds since the epoch.
    remained, retired, alike
        Which pages are left over from earlier cycles, retired, and index-like.
    pages
        The measurements of links.

    Returns
    -------
    dict
        Name -> column -> values, as documented in `tianwang.Tianwang.tables`.
    """
    links, waits = pages.take(slots), ~retired & ~remained
    rate = rate_per_s(rows["checks"], rows["changes"], rows["watched_s"]) * _DAY_S
    parsed = links["links"] > 0
    return {
        "PageInfoTable": {
            "slot": slots,
            **{name: rows[name] for name in ("checks", "changes", "watched_s", "at", "changed_at")},
            "changes_per_day": rate,
            "next_at": np.where(waits, next_at, np.nan),
            "period_s": next_at - rows["at"],
            "disappear_times": rows["misses"],
            "retired": retired,
        },
        "RemainedURLs": {"slot": slots[remained], "due_at": next_at[remained]},
        "IndexPages": {
            "slot": slots[parsed],
            "links": links["links"][parsed].astype(np.int64),
            "new_pages": links["found"][parsed].astype(np.int64),
            "new_pages_per_visit": pages.found(slots)[parsed],
            "index_like": alike[parsed],
        },
    }
