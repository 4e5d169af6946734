"""The four factors of RPUC for a page, and the usage counts behind them."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

import numpy as np

from evercrawl.model.view import View
from evercrawl.model.worth.usage_counts import Following, UsageCounts
from evercrawl.store.state import State
from evercrawl.store.table.table import NO_RECORD

_HALF: Final = 0.5  # as in the policy's `update_ratio`, for a page checked n times and found changed x times


@dataclass(frozen=True, slots=True)
class PageUse:
    """The recorded usage of a page.

    Attributes
    ----------
    retrieved, clicked, retrieved_lately, clicked_lately
        How often the page was shown and opened; and both with a half-life of 30 days.
    R
        Retrieval: recent displays per visit.
    P
        Importance, as a share of all; None if the crawl does not know the page.
    U
        Update: ln((n + 1/2) / (n - x + 1/2)) for n visits that found x changes.
    C
        Click: recent openings per display, corrected to the first place.
    """

    retrieved: int
    clicked: int
    visits: int
    changes: int
    retrieved_lately: float
    clicked_lately: float
    R: float
    P: float | None
    U: float
    C: float


def page_use(view: View, counts: UsageCounts, url: str) -> PageUse:
    """Return the usage of a page by the counts, given its normalised URL."""
    state, row = view.state, counts.row(url)
    slot = int(state.table.find(np.array([state.hasher.key(url)], np.uint64))[0])
    known, visits, changes = slot < state.known.count, 0, 0
    if known and not (cell := int(state.table.record[slot])) & NO_RECORD:
        record = state.records.read(cell)
        visits, changes = record.visits, record.changes
    columns = (counts.shown, counts.clicked, counts.shown_lately, counts.opened_lately, counts.clicked_lately)
    shown, clicked, lately, opened, first = (float(each[row]) if row >= 0 else 0.0 for each in columns)
    return PageUse(
        int(shown), int(clicked), visits, changes, lately, opened,
        R=lately / max(visits, 1),
        P=float(view.importance[slot]) if known else None,
        U=float(np.log((visits + _HALF) / (visits - min(changes, visits) + _HALF))),
        C=first / max(lately, 1.0),
    )  # fmt: skip


class UseFollower:
    """Usage of pages that follows the file of questions: each query first reads what is new.

    The counts belong to one state of a crawl, and restart for another state.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: State | None = None
        self._counts: UsageCounts | None = None
        self._following: Following | None = None

    def of(self, view: View, url: str) -> PageUse:
        """Return the usage of a page, given its normalised URL."""
        with self._lock:
            if self._counts is None or self._following is None or self._state is not view.state:
                self._state, self._counts = view.state, UsageCounts(view.state)
                self._following = Following(view.partition, self._counts)
            while self._following.renew():
                pass
            return page_use(view, self._counts, url)
