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
        From 1.
    due_at, visited_at
        When it falls due, and its last visit; seconds since the epoch.
    fresh
        Probability that the copy held is the page as it is now; None where none is held.
    importance
        Its share of all importance there is.
    """

    rank: int
    url: str
    due_at: float
    visited_at: float
    fresh: float | None
    importance: float


def upcoming(view: View, most: int, site: str = "", behind: tuple[float, int] | None = None) -> list[UpcomingPage]:
    """Return the `most` visited pages that fall due first, by when they do; unread pages are not among them.

    With the name of a site its pages alone are told; with an instant and a slot those that fall due behind that page.

    What is overdue waits for its host or for the pace; it comes first. All visited pages are passed.
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
