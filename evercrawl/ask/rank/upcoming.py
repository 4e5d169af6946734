"""The pages that fall due next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from evercrawl.ask.rank.site_states import of_site
from evercrawl.model.view import View
from evercrawl.types import Floats

_PIECE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class UpcomingPage:
    """One page of the list.

    Attributes
    ----------
    rank, url
        Rank, from 1, and URL.
    due_at, visited_at
        When it falls due, and its last visit; seconds since the epoch.
    fresh
        Probability that the copy is up to date; None if no copy is held.
    importance
        Its share of all importance.
    """

    rank: int
    url: str
    due_at: float
    visited_at: float
    fresh: float | None
    importance: float


def upcoming(view: View, most: int, site: str = "", behind: tuple[float, int] | None = None) -> list[UpcomingPage]:
    """Return the `most` visited pages that fall due first, in order; unread pages are not included.

    `site` restricts the list to the pages of a site; `behind`, an instant and a slot, to pages that fall due after that
    page. Overdue pages, which wait for their host or for the rate limit, come first. The cost is a pass over all
    visited pages.
    """
    rows = view.state.records.rows[: view.state.records.count]
    rows = rows[of_site(view.state, rows["host"], site)] if site else rows
    slots = np.sort(rows["slot"]).astype(np.uint32)
    first, at = np.zeros(0, np.uint32), np.zeros(0)
    for start in range(0, len(slots), _PIECE):
        part = slots[start : start + _PIECE]
        due: Floats = view.due_at(view.candidates(part))
        first, at = np.concatenate([first, part]), np.concatenate([at, due])
        known = np.isfinite(at)
        if behind is not None:
            known &= (at > behind[0]) | ((at == behind[0]) & (first > behind[1]))
        first, at = first[known], at[known]
        order = np.lexsort((first, at))[:most]
        first, at = first[order], at[order]
    if not len(first):
        return []
    pages, (_, records) = view.columns(first), view.records(first)
    fresh = view.fresh(pages)
    return [
        UpcomingPage(
            rank,
            view.state.urls.get(slot),
            float(at[rank - 1]),
            view.state.instant(float(records["visited"][rank - 1])),
            float(fresh[rank - 1]) if np.isfinite(fresh[rank - 1]) else None,
            float(view.importance[slot]),
        )
        for rank, slot in enumerate(first.tolist(), 1)
    ]
