"""Births of pages, and their discovery by the crawler."""

import math
from typing import Final

import numpy as np

from evercrawl.kernels import Library, address_table, pointer
from evercrawl.lab.backtest.truth import GONE, Truth
from evercrawl.lab.histories import History
from evercrawl.types import Floats, Ints

_KERNELS: Final = Library("evercrawl.lab.backtest._replay_kernel")


class Births:
    """Births of pages, including rebirths after removal; and the number of live pages.

    Parameters
    ----------
    pages
        The replayed part of the history.

    Attributes
    ----------
    there
        Whether each page exists now, shape (pages,).
    """

    def __init__(self, pages: Truth) -> None:
        page = np.repeat(np.arange(len(pages)), np.diff(pages.first))
        there = pages.state != GONE
        before = np.r_[False, there[:-1]]
        before[pages.first[:-1]] = False
        turns = np.flatnonzero(there != before)
        turns = turns[np.argsort(pages.at[turns], kind="stable")]
        self._at: Floats = pages.at[turns]
        self._page: Ints = page[turns]
        self._begins = there[turns]
        self._live: Ints = np.r_[0, np.cumsum(np.where(self._begins, 1, -1))]
        self._births_at = self._at[self._begins]
        self._passed = 0
        self.there = np.zeros(len(pages), np.bool_)

    def pass_to(self, now: float) -> Ints:
        """Return the pages born by `now` that were not returned yet."""
        before, self._passed = self._passed, int(np.searchsorted(self._at, now, "right"))
        new = slice(before, self._passed)
        page, begins = self._page[new], self._begins[new]
        self.there[page] = begins  # of several events of a page, the last one counts
        return np.asarray(page[begins])

    def next_at(self, now: float) -> float:
        """Return the time of the next birth after `now`; infinity for never."""
        following = int(np.searchsorted(self._births_at, now, "right"))
        return float(self._births_at[following]) if following < len(self._births_at) else math.inf

    def live_at(self, at: Floats) -> Ints:
        """Return the number of live pages at each instant, shape (n,)."""
        return np.asarray(self._live[np.searchsorted(self._at, at, "right")])

    def born_at(self) -> Floats:
        """Return the first birth of each page, shape (pages,); the start for older ones."""
        first = np.full(len(self.there), np.inf)
        np.minimum.at(first, self._page[self._begins], self._births_at)
        return first


class LinkedFirst:
    """Discovery by links: a page born later is unknown until a page that links to it is polled.

    Parameters
    ----------
    history, pages
        The history, and its part that is replayed.

    Attributes
    ----------
    named
        Which pages are known as soon as they exist, shape (pages,).

    Notes
    -----
    Once a page has been named by a link, it is known as soon as it exists, also when it is reborn, because crawlers
    retry missing pages. Pages without links from replayed pages could never be discovered, so they are known at their
    birth; so are pages that exist at the start.
    """

    def __init__(self, history: History, pages: Truth) -> None:
        number = np.full(len(history), -1)
        number[pages.row] = np.arange(len(pages))
        log = history.links
        source, target = number[log.source], number[log.target]
        kept = np.flatnonzero((source >= 0) & (target >= 0) & (source != target) & (log.at <= pages.end))
        kept = kept[np.argsort(source[kept], kind="stable")]  # by source, then by time
        self._first = np.searchsorted(source[kept], np.arange(len(pages) + 1)).astype(np.int64)
        self._at, self._present = log.at[kept].astype(np.float64), np.ascontiguousarray(log.present[kept], np.bool_)
        self._target = np.ascontiguousarray(target[kept], np.int64)
        self.named = np.ones(len(pages), np.bool_)
        self.named[self._target[self._present]] = False
        self.named |= pages.at[pages.first[:-1]] <= pages.start
        self._looked = np.full(len(pages), -1)
        self._found, self._by = (np.empty(len(pages), np.int64) for _ in range(2))

    def polled(self, rows: Ints, now: float) -> tuple[Ints, Ints]:
        """Return the pages that polls discover, and the number discovered by each poll."""
        rows = np.ascontiguousarray(rows, np.int64)
        columns = address_table(self._first, self._at, self._target, self._present)
        names = address_table(self._looked, self.named, self._found, self._by)
        count = _KERNELS["name"](pointer(rows), len(rows), now, columns, len(self._at), len(self.named), names)
        return self._found[:count].copy(), np.bincount(self._by[:count], minlength=len(rows))
