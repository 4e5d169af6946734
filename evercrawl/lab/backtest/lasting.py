"""Lasting content of alternating pages: a copy that lacks only transient content counts as fresh."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.lab.backtest.announced import Announced
from evercrawl.lab.backtest.recorded import Recorded
from evercrawl.lab.backtest.truth import GONE, Truth
from evercrawl.lab.polling.changing import SeenChanges
from evercrawl.types import Floats, Ints


def lasting_states(pages: Truth, most_s: float) -> Ints:
    """Return the state of each version without transient content, shape (versions,).

    A state that is absent for at most `most_s` and then returns counts as present in between. No state lasts over a
    time in which the page does not exist.
    """
    states = pages.state.copy()
    first: list[int] = pages.first.tolist()
    for begin, end in pairwise(first):
        states[begin:end] = _of_page(pages.state[begin:end].tolist(), pages.at[begin:end].tolist(), most_s)
    return states


def _of_page(state: list[int], at: list[float], most_s: float) -> list[int]:
    """Return the lasting states of one page's versions.

    >>> _of_page([1, 2, 1, 3, 1], [0.0, 10.0, 12.0, 20.0, 90.0], 5.0)
    [1, 1, 1, 3, 1]
    """
    where = dict[int, list[int]]()  # positions of each state, latest first
    for place in reversed(range(len(state))):
        where.setdefault(state[place], []).append(place)
    found, first, gone = list[int](), 0, [place for place, each in enumerate(state) if each == GONE]
    gone.reverse()
    while first < len(state):
        last = first
        while gone and gone[-1] <= first:
            gone.pop()
        while state[first] != GONE:
            later = where[state[first]]
            while later and later[-1] <= last:
                later.pop()
            if not later or (gone and gone[-1] < later[-1]) or at[later[-1]] - at[last + 1] > most_s:
                break
            last = later[-1]
        found += [state[first]] * (last + 1 - first)
        first = last + 1
    return found


class RecordedLasting(Recorded):
    """Recorded pages of which only lasting content counts; polls still see every change.

    Parameters
    ----------
    pages, weight, announced
        As in `Recorded`.
    most_s
        Maximum absence of a state that counts as lasting, in seconds.
    """

    def __init__(self, pages: Truth, weight: Floats, announced: Announced | None, most_s: float) -> None:
        super().__init__(pages, weight, announced)
        self._lasting = Recorded(replace(pages, state=lasting_states(pages, most_s)), weight)

    @property
    def counted(self) -> NDArray[Any]:
        """The counters of each page."""
        return self._lasting.held

    def visit_at(self, rows: Ints, at: Floats) -> SeenChanges:
        """Copy pages, and return the results; `fresh` says whose lasting content was unchanged."""
        seen = super().visit_at(rows, at)
        self._lasting.visit_at(rows, at)
        self.fresh = self._lasting.fresh
        return seen

    def stale(self, now: float) -> NDArray[np.bool_]:
        """Return which copies differ from their pages in lasting content."""
        return self._lasting.stale(now)

    def settle(self, now: float) -> None:
        """Update the counters of all pages to `now`."""
        super().settle(now)
        self._lasting.settle(now)

    def earned(self, now: float) -> float:
        """Return the integral so far of the weight of copies with fresh lasting content, over that of all pages."""
        return self._lasting.earned(now)
