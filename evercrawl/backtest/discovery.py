"""When a crawler comes to know the pages of a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.backtest.truth import GONE

if TYPE_CHECKING:
    from evercrawl.backtest.truth import Truth
    from evercrawl.histories import History
    from evercrawl.types import Floats, Ints


class Births:
    """Pages as they are born, and born again after they were gone; also how many there are.

    Parameters
    ----------
    pages
        The history's part.

    Attributes
    ----------
    live
        How many pages there are now.
    """

    def __init__(self, pages: Truth) -> None:
        page = np.repeat(np.arange(len(pages)), np.diff(pages.first))
        there = pages.state != GONE
        begins = np.zeros(len(page), np.bool_)
        begins[pages.first[:-1]] = True
        before = np.r_[False, there[:-1]] & ~begins
        self._born_at, self._born = _sorted(pages.at, page, there & ~before)
        self._gone_at, self._gone = _sorted(pages.at, page, ~there & before)
        self._births = self._deaths = 0

    def pass_to(self, now: float) -> Ints:
        """Return the pages born by `now` that were not returned yet."""
        before = self._births
        self._births = int(np.searchsorted(self._born_at, now, "right"))
        self._deaths = int(np.searchsorted(self._gone_at, now, "right"))
        return self._born[before : self._births]

    @property
    def live(self) -> int:
        """How many pages there are."""
        return self._births - self._deaths

    def born_at(self, pages: int) -> Floats:
        """Return when each page was born first; those of before the start then."""
        first = np.full(pages, np.inf)
        np.minimum.at(first, self._born, self._born_at)
        return first


class LinkedFirst:
    """Keeps pages from being known before a page that links to them was polled.

    Parameters
    ----------
    history, pages
        The history, and its part that is replayed.
    """

    def __init__(self, history: History, pages: Truth) -> None:
        number = np.full(len(history), -1)
        number[pages.row] = np.arange(len(pages))
        log = history.links
        kept = (number[log.source] >= 0) & (number[log.target] >= 0) & (log.at <= pages.end)
        self._at, self._present = log.at[kept], log.present[kept]
        self._source, self._target = number[log.source[kept]], number[log.target[kept]]
        order = np.argsort(self._source, kind="stable")
        self._at, self._present, self._target = self._at[order], self._present[order], self._target[order]
        self._first = np.searchsorted(self._source[order], np.arange(len(pages) + 1))
        self._named = np.zeros(len(pages), np.bool_)
        self._free = np.ones(len(pages), np.bool_)
        self._free[self._target[self._present]] = False

    def known(self, born: Ints) -> Ints:
        """Return which of the pages that were born are known at once: those nothing ever links to, or was named."""
        return born[self._free[born] | self._named[born]]

    def polled(self, rows: Ints, now: float) -> Ints:
        """Return the pages that polls of some pages name for the first time."""
        found = list["Ints"]()
        for page in rows.tolist():
            span = slice(int(self._first[page]), int(self._first[page + 1]))
            upto = int(np.searchsorted(self._at[span], now, "right"))
            target, present = self._target[span][:upto], self._present[span][:upto]
            last = dict(zip(target.tolist(), present.tolist(), strict=True))
            found.append(np.array([each for each, there in last.items() if there], np.int64))
        named = np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)
        named = named[~self._named[named]]
        self._named[named] = True
        return named


def _sorted(at: Floats, page: Ints, chosen: np.ndarray) -> tuple[Floats, Ints]:
    order = np.argsort(at[chosen], kind="stable")
    return at[chosen][order], page[chosen][order]
