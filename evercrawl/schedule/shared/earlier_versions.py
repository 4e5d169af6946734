"""Pages that alternate between few versions: a return to an earlier version does not count as a change.

The last four versions of each page are stored as 16 bits of their digests. A change to one of these versions is a
return. The fraction of a page's changes that are not returns is the ratio of its rate of lasting changes to its rate of
all changes.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.types import Floats, Slots

VERSIONS: Final = 4
_KIND: Final = np.dtype([("digest", "u2", (VERSIONS,)), ("changes", "u2"), ("returns", "u2")])
_MOST: Final = 0xFFFF
_USUAL: Final = 2.0
"""Number of lasting changes assumed for each page before any was observed."""


class EarlierVersions:
    """Detects changes that return a page to an earlier version; takes 12 bytes per page.

    Attributes
    ----------
    rows
        The stored versions, saved block by block.

    Examples
    --------
    A page is seen in versions 7, 8, 7 and 9; one of its three changes is a return:

    >>> from evercrawl.schedule import Pages
    >>> versions, row = EarlierVersions(), np.zeros(1, np.uint32)
    >>> [bool(versions.learn(row, np.array([digest], np.uint32), np.array([digest != 7 or i > 0]))[0])
    ...  for i, digest in enumerate((7, 8, 7, 9))]
    [False, False, True, False]
    >>> versions.lasting(row).tolist()
    [0.8]
    """

    def __init__(self) -> None:
        self.rows = SavedRows(_KIND)

    def learn(self, rows: Slots, digests: Slots, changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Record the versions of pages, at most one per page, and return which are returns, shape (n,).

        Parameters
        ----------
        rows, digests, changed
            The pages; digests of the content read; and whether it differs from the content at the previous visit.
        """
        if not len(rows):
            return np.zeros(0, np.bool_)
        table: Any = self.rows.upto(int(rows.max()) + 1)
        held: Any = table["digest"][rows]
        now = ((digests ^ digests >> np.uint32(16)) & np.uint32(_MOST)).astype(np.uint16)
        now[now == 0] = 1
        again: Any = held == now[:, None]
        returned: NDArray[np.bool_] = changed & again.any(axis=1)
        order: Any = np.argsort(again, axis=1, kind="stable")[:, : VERSIONS - 1]  # the other versions, latest first
        table["digest"][rows] = np.concatenate((now[:, None], np.take_along_axis(held, order, axis=1)), axis=1)
        room = table["changes"][rows] < _MOST
        table["changes"][rows] += changed & room
        table["returns"][rows] += returned & room
        self.rows.note(rows)
        return returned

    def heed(self, visits: Visits) -> Visits:
        """Record visits, and return them with returns counted as unchanged."""
        if visits.digest is None:
            return visits
        lasting = self.lasting(visits.rows)  # before these visits are recorded
        read = visits.read & ~visits.gone
        returned = np.zeros(len(visits), np.bool_)
        rows = visits.rows[read]
        returned[read] = self.learn(rows, visits.digest[read], visits.changed[read])
        by_time = visits.fresh_by_time
        if by_time is not None:
            by_time = by_time**lasting  # converts freshness by all changes to freshness by lasting changes
        age_s = np.where(returned, np.nan, visits.age_s)
        return replace(visits, changed=visits.changed & ~returned, age_s=age_s, fresh_by_time=by_time)

    def lasting(self, rows: Slots) -> Floats:
        """Return the fraction of the changes of pages that are not returns, shape (n,)."""
        found: Any = self.rows.take(rows)
        changes, returns = found["changes"].astype(np.float64), found["returns"]
        parts: Floats = (changes - returns + _USUAL) / (changes + _USUAL)
        return parts

    def slowed(self, pages: Pages) -> Pages:
        """Return pages with the rates of lasting changes."""
        return replace(pages, scale_s=pages.scale_s / self.lasting(pages.rows))
