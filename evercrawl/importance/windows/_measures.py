"""Measures, the cash moved and the clock at each visit, and how the windows that count them keep them.

Kept of a page are the G-time at which the interval of the oldest measure began, and then cash and clock of each
measure, the oldest first, behind as many zeros as there are places left.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evercrawl.importance.windows.base import Past, Window

if TYPE_CHECKING:
    from evercrawl.importance.base import Account
    from evercrawl.importance.windows.base import Pasts
    from evercrawl.types import Floats

WHOLE: Final = 3
"""The newest measures, which are never merged."""


class Measure(NamedTuple):
    """One visit: the cash that it moved, and the clock G after it."""

    cash: float
    at: float


class Held(NamedTuple):
    """The measures held of a page, the oldest first, and when the interval of the oldest began."""

    start: float
    measures: tuple[Measure, ...]


class Columns(NamedTuple):
    """The measures held of many pages: `start` of shape (n,), `cash` and `at` of shape (n, places)."""

    start: Floats
    cash: Floats
    at: Floats


class Measured(Window):
    """A window of measures.

    Parameters
    ----------
    length
        T.
    places
        Measures held at most.
    """

    def __init__(self, length: float, places: int) -> None:
        super().__init__(length)
        self.places = places

    @property
    def width(self) -> int:
        """Two numbers a measure, and when the first interval began."""
        return 1 + 2 * self.places

    @abstractmethod
    def hold(self, held: Held, now: float) -> Held:
        """Return which measures are kept of those there are after a visit."""

    def begun(self, now: float) -> Past:
        """Begin without measures."""
        return Past(0, now, (now, *(0,) * 2 * self.places))

    def add(self, page: Account, now: float) -> Past:
        """Add a measure, or to the newest one where the clock has not moved since."""
        before = self._before(page, now)
        start, measures = unpack(before.kept)
        earned, at = page.cash - page.put_in, max(now, before.mark)
        if measures and measures[-1].at >= at:
            measures, earned = measures[:-1], measures[-1].cash + earned
        held = self.hold(Held(start, (*measures, Measure(earned, at))), at)
        return Past(sum(measure.cash for measure in held.measures), now, self._pack(held))

    def _pack(self, held: Held) -> tuple[float, ...]:
        free = (0,) * 2 * (self.places - len(held.measures))
        return (held.start, *free, *(number for measure in held.measures for number in measure))

    def _columns(self, page: Pasts, total: float) -> Columns:
        start = np.where(page.mark > 0, page.kept[:, 0], self._since(page, total))
        return Columns(start, page.kept[:, 1::2], page.kept[:, 2::2])


def unpack(kept: tuple[float, ...]) -> Held:
    """Return the measures that are kept.

    >>> unpack((1.0, 0, 0, 0.5, 2.0))
    Held(start=1.0, measures=(Measure(cash=0.5, at=2.0),))
    """
    pairs = zip(kept[1::2], kept[2::2], strict=True)
    return Held(kept[0], tuple(Measure(cash, at) for cash, at in pairs if at))


def without_oldest(held: Held) -> Held:
    """Return what is left without the oldest measure, which from now on says only when the next interval began.

    >>> without_oldest(Held(1.0, (Measure(0.5, 2.0), Measure(0.25, 3.0))))
    Held(start=2.0, measures=(Measure(cash=0.25, at=3.0),))
    """
    return Held(held.measures[0].at, held.measures[1:])


def merged(held: Held, places: int) -> Held:
    """Return measures for as many places as there are, two that follow each other made one where there are more.

    One measure stands for both at the mean of their clocks, by cash, so that what leaves the window too late is as much
    as leaves it too early. Those are chosen of which that is least wrong, by cash times G-time. The newest three, and
    the one at which their span begins, are left as they are.

    Examples
    --------
    >>> old = Measure(1.0, 1.0), Measure(0.25, 2.0), Measure(0.75, 3.0)
    >>> merged(Held(0.0, (*old, *(Measure(0.1, at) for at in (4.0, 5.0, 6.0, 7.0)))), 6).measures[:3]
    (Measure(cash=1.0, at=1.0), Measure(cash=1.0, at=2.75), Measure(cash=0.1, at=4.0))
    """
    measures = list(held.measures)
    while len(measures) > places:
        pairs = [Pair(*pair) for pair in pairwise(measures[: -WHOLE - 1])]
        first = min(range(len(pairs)), key=lambda index: pairs[index].wrong)
        measures[first : first + 2] = [pairs[first].one]
    return Held(held.start, tuple(measures))


class Pair(NamedTuple):
    """Two measures that may become one."""

    older: Measure
    younger: Measure

    @property
    def one(self) -> Measure:
        """The measure that stands for both."""
        cash = self.older.cash + self.younger.cash
        back = self.older.cash * (self.younger.at - self.older.at)
        return Measure(cash, self.younger.at - back / cash if cash else self.younger.at)

    @property
    def wrong(self) -> float:
        """How much cash is put how far from where it was: cash times G-time."""
        at = self.one.at
        return self.older.cash * (at - self.older.at) + self.younger.cash * (self.younger.at - at)
