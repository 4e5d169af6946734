"""Measures, the cash moved and the clock at each visit, and how the windows that count them keep them.

Kept of a page are the G-time at which the interval of the oldest measure began, and then cash and clock of each
measure, the oldest first, behind as many zeros as there are places left.
"""

from abc import abstractmethod
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows.base import Pasts, Window, earned
from evercrawl.types import Floats

WHOLE: Final = 3
"""The newest measures, which are never merged."""


class Measure(NamedTuple):
    """One visit: the cash that it moved, and the clock G after it."""

    cash: float
    at: float


class HeldMeasures(NamedTuple):
    """The measures held of a page, the oldest first, and when the interval of the oldest began."""

    start: float
    measures: tuple[Measure, ...]


class MeasureColumns(NamedTuple):
    """The measures held of many pages: `start` of shape (n,), `cash` and `at` of shape (n, places)."""

    start: Floats
    cash: Floats
    at: Floats


class MeasureWindow(Window):
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
    def hold(self, held: HeldMeasures, now: float) -> HeldMeasures:
        """Return which measures are kept of those there are after a visit."""

    def begun(self, now: float) -> Past:
        """Begin without measures."""
        return Past(0, now, (now, *(0,) * 2 * self.places))

    def add(self, page: Account, now: float) -> Past:
        """Add a measure, or to the newest one where the clock has not moved since."""
        before = self._before(page, now)
        start, measures = unpack(before.kept)
        came, at = earned(page), max(now, before.mark)
        if measures and measures[-1].at >= at:
            measures, came = measures[:-1], measures[-1].cash + came
        return self._past(self.hold(HeldMeasures(start, (*measures, Measure(came, at))), at), now)

    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Hold what visits now would tell; the cash, which waits, is taken off again: it comes with the next one."""
        one, more = (unpack(self._visited(each, now).kept) for each in (page, other))
        start, (*measures, last) = self.hold(united(one, more), now)
        waiting = last._replace(cash=last.cash - earned(page, other))
        return self._past(HeldMeasures(start, (*measures, waiting)), now)

    def _past(self, held: HeldMeasures, now: float) -> Past:
        return Past(sum(measure.cash for measure in held.measures), now, self._pack(held))

    def _pack(self, held: HeldMeasures) -> tuple[float, ...]:
        free = (0,) * 2 * (self.places - len(held.measures))
        return (held.start, *free, *(number for measure in held.measures for number in measure))

    def _columns(self, page: Pasts, total: float) -> MeasureColumns:
        start = np.where(page.mark > 0, page.kept[:, 0], self._since(page, total))
        return MeasureColumns(start, page.kept[:, 1::2], page.kept[:, 2::2])


def unpack(kept: tuple[float, ...]) -> HeldMeasures:
    """Return the measures that are kept.

    >>> unpack((1.0, 0, 0, 0.5, 2.0))
    HeldMeasures(start=1.0, measures=(Measure(cash=0.5, at=2.0),))
    """
    pairs = zip(kept[1::2], kept[2::2], strict=True)
    return HeldMeasures(kept[0], tuple(Measure(cash, at) for cash, at in pairs if at))


def without_oldest(held: HeldMeasures) -> HeldMeasures:
    """Return what is left without the oldest measure, which from now on says only when the next interval began.

    >>> without_oldest(HeldMeasures(1.0, (Measure(0.5, 2.0), Measure(0.25, 3.0))))
    HeldMeasures(start=2.0, measures=(Measure(cash=0.25, at=3.0),))
    """
    return HeldMeasures(held.measures[0].at, held.measures[1:])


def united(held: HeldMeasures, other: HeldMeasures) -> HeldMeasures:
    """Return one page's measures for two: of each interval between visits to either what came to both.

    The cash of a measure is taken to have come evenly in its interval. When the first interval of the page whose
    measures begin later began is a clock like others, so that if older ones are dropped there is all of both.

    Examples
    --------
    >>> other = HeldMeasures(2.0, (Measure(1.0, 3.0), Measure(1.0, 5.0)))
    >>> united(HeldMeasures(0.0, (Measure(4.0, 4.0),)), other).measures
    (Measure(cash=2.0, at=2.0), Measure(cash=2.0, at=3.0), Measure(cash=1.5, at=4.0), Measure(cash=0.5, at=5.0))
    """
    start = min(held.start, other.start)
    clocks = {measure.at for each in (held, other) for measure in each.measures}
    clocks |= {each.start for each in (held, other) if each.measures and each.start > start}
    intervals = pairwise((start, *sorted(clocks)))
    return HeldMeasures(start, tuple(Measure(_came(held, *at) + _came(other, *at), at[1]) for at in intervals))


def _came(held: HeldMeasures, since: float, until: float) -> float:
    """Return what came after `since` and up to `until`, between which no interval begins or ends."""
    begins = (held.start, *(measure.at for measure in held.measures))
    for begin, (cash, end) in zip(begins, held.measures, strict=False):
        if begin < until <= end or begin >= end == until:
            return cash * (until - since) / (end - begin) if begin < end else cash
    return 0


def merged(held: HeldMeasures, places: int) -> HeldMeasures:
    """Return measures for as many places as there are, two that follow each other made one where there are more.

    One measure stands for both at the mean of their clocks, by cash, so that what leaves the window too late is as much
    as leaves it too early. Those are chosen of which that is least wrong, by cash times G-time. The newest three, and
    the one at which their span begins, are left as they are.

    Examples
    --------
    >>> old = Measure(1.0, 1.0), Measure(0.25, 2.0), Measure(0.75, 3.0)
    >>> merged(HeldMeasures(0.0, (*old, *(Measure(0.1, at) for at in (4.0, 5.0, 6.0, 7.0)))), 6).measures[:3]
    (Measure(cash=1.0, at=1.0), Measure(cash=1.0, at=2.75), Measure(cash=0.1, at=4.0))
    """
    measures = list(held.measures)
    while len(measures) > places:
        pairs = [MeasurePair(*pair) for pair in pairwise(measures[: -WHOLE - 1])]
        first = min(range(len(pairs)), key=lambda index: pairs[index].wrong)
        measures[first : first + 2] = [pairs[first].one]
    return HeldMeasures(held.start, tuple(measures))


class MeasurePair(NamedTuple):
    """Two measures that may become one."""

    older: Measure
    younger: Measure

    @property
    def one(self) -> Measure:
        """The measure that stands for both."""
        cash = self.older.cash + self.younger.cash
        back = self.older.cash * (self.younger.at - self.older.at)
        at = self.younger.at - back / cash if cash else self.younger.at
        return Measure(cash, min(max(at, self.older.at), self.younger.at))  # cash that waits may be less than nothing

    @property
    def wrong(self) -> float:
        """How much cash is put how far from where it was: cash times G-time."""
        at = self.one.at
        return self.older.cash * (at - self.older.at) + self.younger.cash * (self.younger.at - at)
