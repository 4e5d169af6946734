"""Measures (cash moved and clock at each visit), and how the windows that count them store them.

The state of a page is the G-time at which the interval of the oldest measure began, zeros for the free places, and then
cash and clock of each measure, the oldest first.
"""

from abc import abstractmethod
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows.base import Pasts, Window, earned
from evercrawl.types import Floats

WHOLE: Final = 3
"""Number of newest measures that are never merged."""


class Measure(NamedTuple):
    """One visit: the cash that it moved, and the clock G after it."""

    cash: float
    at: float


class HeldMeasures(NamedTuple):
    """The measures of a page, the oldest first, and the start of the oldest one's interval."""

    start: float
    measures: tuple[Measure, ...]


class MeasureColumns(NamedTuple):
    """The measures of many pages: `start` of shape (n,), `cash` and `at` of shape (n, places)."""

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
        Maximum number of measures held.
    """

    def __init__(self, length: float, places: int) -> None:
        super().__init__(length)
        self.places = places

    @property
    def width(self) -> int:
        """Two numbers per measure, and the start of the first interval."""
        return 1 + 2 * self.places

    @abstractmethod
    def hold(self, held: HeldMeasures, now: float) -> HeldMeasures:
        """Return the measures to keep after a visit."""

    def begun(self, now: float) -> Past:
        """Begin without measures."""
        return Past(0, now, (now, *(0,) * 2 * self.places))

    def add(self, page: Account, now: float) -> Past:
        """Add a measure, or add the cash to the newest one if the clock has not moved since."""
        before = self._before(page, now)
        start, measures = unpack(before.kept)
        came, at = earned(page), max(now, before.mark)
        if measures and measures[-1].at >= at:
            measures, came = measures[:-1], measures[-1].cash + came
        return self._past(self.hold(HeldMeasures(start, (*measures, Measure(came, at))), at), now)

    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Unite the measures as if both were visited now, and subtract the waiting cash: the next measure has it."""
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
    """Return the measures stored in `kept`.

    >>> unpack((1.0, 0, 0, 0.5, 2.0))
    HeldMeasures(start=1.0, measures=(Measure(cash=0.5, at=2.0),))
    """
    pairs = zip(kept[1::2], kept[2::2], strict=True)
    return HeldMeasures(kept[0], tuple(Measure(cash, at) for cash, at in pairs if at))


def without_oldest(held: HeldMeasures) -> HeldMeasures:
    """Return the measures without the oldest, whose clock remains as the start of the next interval.

    >>> without_oldest(HeldMeasures(1.0, (Measure(0.5, 2.0), Measure(0.25, 3.0))))
    HeldMeasures(start=2.0, measures=(Measure(cash=0.25, at=3.0),))
    """
    return HeldMeasures(held.measures[0].at, held.measures[1:])


def united(held: HeldMeasures, other: HeldMeasures) -> HeldMeasures:
    """Return the measures of two pages as one: for each interval between visits to either, the cash of both.

    The cash of a measure is taken to have come evenly in its interval. The start of the later of the two first
    intervals is an interval bound too, so that nothing of either page is lost when older measures are dropped.

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
    """Return the cash that came after `since` and up to `until`, between which no interval begins or ends."""
    begins = (held.start, *(measure.at for measure in held.measures))
    for begin, (cash, end) in zip(begins, held.measures, strict=False):
        if begin < until <= end or begin >= end == until:
            return cash * (until - since) / (end - begin) if begin < end else cash
    return 0


def merged(held: HeldMeasures, places: int) -> HeldMeasures:
    """Return at most `places` measures, by merging consecutive measures if there are more.

    The merged measure has the cash-weighted mean of their clocks, so that as much cash leaves the window too late as
    too early. The pair with the least error, in cash times G-time, is merged first. The newest three measures, and the
    one at which their span begins, are never merged.

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
    """Two consecutive measures that may be merged."""

    older: Measure
    younger: Measure

    @property
    def one(self) -> Measure:
        """The merged measure."""
        cash = self.older.cash + self.younger.cash
        back = self.older.cash * (self.younger.at - self.older.at)
        at = self.younger.at - back / cash if cash else self.younger.at
        return Measure(cash, min(max(at, self.older.at), self.younger.at))  # waiting cash may be negative

    @property
    def wrong(self) -> float:
        """The error of merging: cash times the G-time by which it is displaced."""
        at = self.one.at
        return self.older.cash * (at - self.older.at) + self.younger.cash * (self.younger.at - at)
