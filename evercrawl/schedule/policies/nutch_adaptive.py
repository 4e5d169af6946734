"""Nutch, adaptive: intervals that grow by two fifths or shrink by a fifth; of what is due, the best score first."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.errors import ConfigError
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, Switch, bounded, duration, number, seconds
from evercrawl.schedule.shared.adaptive import LEAST_S, Adaptive
from evercrawl.types import Floats

_DAY_S: Final = 86_400.0
_RETRIES: Final = 3  # failures in a row after which a page is treated as one that is gone
_GONE: Final = 1.5  # times as long is the interval of a page that is gone, each time it is found so
_GONE_MOST: Final = 0.9  # of the longest interval
_SHIFTED_MOST: Final = 0.9  # of an interval that is shorter than the time since the last change
_LATE_S: Final = 30 * _DAY_S
_TIE: Final = 1e-9  # of the importance: decides among pages that matter the same, and among no others
_LEAST: Final = 1e-290


class Schedule(NamedTuple):
    """When to visit pages again: interval, instant of the next visit, and the last change as far as is known (s)."""

    interval_s: Floats
    due_at: Floats
    modified_at: Floats


def adapt(
    interval_s: ArrayLike,
    modified_at: ArrayLike,
    at: ArrayLike,
    changed: ArrayLike,
    *,
    increase: float = 0.4,
    decrease: float = 0.2,
    sync: float = 0.3,
    least_s: float = 60.0,
    most_s: float = 365 * _DAY_S,
    stretch: bool = True,
) -> Schedule:
    """Return the schedule after visits at the instants `at`.

    Whatever the interval, it is no shorter than the time since the last change, delta, and the next visit comes
    earlier by the part `sync` of delta. (The documentation of the original says that an interval longer than delta
    becomes delta; the code does the opposite.) Without `stretch` it stays as it is, and a visit comes after a tenth of
    it at the earliest. Where delta is longer than the longest interval nothing is shifted, for otherwise the page would
    always be due.

    Examples
    --------
    A change after 10 days shortens an interval of 10 days. Without one it becomes 14 days; they count from 3 days ago.

    >>> day = 86400.0
    >>> after = adapt([10 * day, 10 * day], 0.0, 10 * day, [True, False])
    >>> (after.interval_s / day).round(6), (after.due_at / day).round(6)
    (array([ 8., 14.]), array([18., 21.]))
    """
    columns = np.broadcast_arrays(interval_s, modified_at, at, changed)
    interval_s, modified_at, at = (np.asarray(column, np.float64) for column in columns[:3])
    changed = np.asarray(columns[3], np.bool_)
    modified_at = np.where(changed, at, modified_at)
    delta_s = at - modified_at
    adapted_s = interval_s * np.where(changed, 1 - decrease, 1 + increase)
    interval_s = np.clip(np.maximum(adapted_s, delta_s if stretch else 0.0), least_s, most_s)
    shift_s = np.where(delta_s > most_s, 0.0, sync * delta_s)
    if not stretch:
        shift_s = np.minimum(sync * delta_s, _SHIFTED_MOST * interval_s)
    return Schedule(interval_s, at - shift_s + interval_s, modified_at)


class NutchAdaptive(Adaptive):
    """Of the pages that are due, visit the one that matters most; new ones are due at once.

    After a visit that found no change the interval is 1.4 times as long, after one that found a change 0.8 times, from
    a minute to a year, and the next visit is moved towards the moment of the last change. After a failure the page is
    tried again a day later; after three, or when it is gone, its interval is half as long again.

    As it is shipped, the crawler spends only what is due and leaves the rest of the budget unused.

    Parameters
    ----------
    start
        Interval of a page that was visited once, or `cycle`: the time that it takes to visit all pages once.
    increase
        Growth of an interval after a visit that finds no change, as a fraction of it.
    decrease
        Reduction of an interval after a visit that finds a change, as a fraction of it.
    sync
        Shift of the next visit towards the change, as a fraction of the time since the change.
    shortest
        Minimum interval.
    longest
        Maximum interval.
    stretch
        1: an interval is at least the time since the last change, as in the original's code. 0: only the results of
        visits lengthen intervals, which keeps rarely changing pages fresher.
    work_conserving
        1 to continue, if nothing is due, with the page with the smallest fraction of its interval left.

    Examples
    --------
    The first page matters most, and is not due until a month after its visit:

    >>> from evercrawl.schedule import Context, Pages
    >>> day, one, none = 86400.0, np.ones(3), np.zeros(3)
    >>> visited_at, importance = np.array([0.0, -40 * day, np.nan]), np.array([5.0, 1.0, 2.0])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, importance, none, one, one, one, none, none)
    >>> NutchAdaptive().value(pages, Context(1 * day))
    array([-0.96666667,  1.        ,  2.        ])

    References
    ----------
    Apache Nutch, AdaptiveFetchSchedule (A. Bialecki) with the rates of its configuration, AbstractFetchSchedule, and
    Generator, which sorts what is due by score; NUTCH-1564 for the shift of pages that hardly ever change.
    """

    @bounded
    def __init__(
        self,
        start: str = "30d",
        increase: Annotated[float, number(0, 10)] = 0.4,
        decrease: Annotated[float, number(0, 1, but=1)] = 0.2,
        sync: Annotated[float, number(0, 1, but=1)] = 0.3,
        shortest: Annotated[str, duration(LEAST_S)] = "1m",
        longest: Annotated[str, duration(LEAST_S)] = "365d",
        stretch: Switch = 1,
        work_conserving: int = 0,
    ) -> None:
        super().__init__(start, work_conserving)
        self._stretch = bool(stretch)
        self._rates = {"increase": increase, "decrease": decrease, "sync": sync}
        self._least_s, self._most_s = seconds(shortest), seconds(longest)
        if self._least_s > self._most_s:
            raise ConfigError(f"shortest, {shortest}, must not be longer than longest, {longest}")

    def worth(self, pages: Pages, late_s: Floats) -> Floats:
        """Return the importance, for the generator sorts by score; of equal ones new pages first, then the latest."""
        late = np.where(np.isnan(pages.visited_at), 1.0, late_s / (late_s + _LATE_S))
        return np.maximum(pages.importance, _LEAST) * (1.0 + _TIE * late)

    def after(self, held: NDArray[Any], visits: Visits, start_s: Floats) -> NDArray[Any]:
        """Return intervals by what the visits found; a first visit finds neither a change nor none."""
        first = np.isnan(held["modified_at"])
        interval_s = np.where(np.isnan(held["interval_s"]), start_s, held["interval_s"])
        adapted = adapt(interval_s, held["modified_at"], visits.at, visits.changed, **self._rates,
                        least_s=self._least_s, most_s=self._most_s, stretch=self._stretch)  # fmt: skip
        failures = np.where(visits.read, 0, np.minimum(held["failures"], 254) + 1)
        gone = ~visits.read & (visits.gone | (failures > _RETRIES))
        longer_s = np.minimum(_GONE * interval_s, _GONE_MOST * self._most_s)
        cases = [visits.read & first, visits.read, gone]
        after = held.copy()
        after["failures"] = failures
        after["modified_at"] = np.where(visits.read, adapted.modified_at, held["modified_at"])
        after["interval_s"] = np.select(cases, [held["interval_s"], adapted.interval_s, longer_s], held["interval_s"])
        after["due_at"] = np.select(cases, [np.nan, adapted.due_at, visits.at + longer_s], visits.at + _DAY_S)
        return after
