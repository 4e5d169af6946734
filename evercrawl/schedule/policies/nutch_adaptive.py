"""Nutch, adaptive: intervals grow by two fifths or shrink by a fifth; of the due pages, the best score comes first."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.errors import ConfigError
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, Switch, bounded, duration, number, seconds
from evercrawl.schedule.shared.adaptive import LEAST_S, Adaptive
from evercrawl.types import Floats

_DAY_S: Final = 86_400.0
_RETRIES: Final = 3  # consecutive failures after which a page is treated as gone
_GONE: Final = 1.5  # factor on the interval of a page for each visit that finds it gone
_GONE_MOST: Final = 0.9  # limit of that interval, as a fraction of the longest interval
_SHIFTED_MOST: Final = 0.9  # maximum shift, as a fraction of an interval shorter than the time since the last change
_LATE_S: Final = 30 * _DAY_S
_TIE: Final = 1e-9  # fraction of the importance: breaks ties between equally important pages only
_LEAST: Final = 1e-290


class Schedule(NamedTuple):
    """The schedule of pages: the interval, the instant of the next visit, and the last known change (s)."""

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

    An interval is at least delta, the time since the last change, and the next visit comes earlier by the fraction
    `sync` of delta. (The documentation of the original says that an interval longer than delta becomes delta; the code
    does the opposite.) Without `stretch` the interval is not lengthened, and the next visit comes after a tenth of it
    at the earliest. If delta exceeds the longest interval, nothing is shifted, because otherwise the page would always
    be due.

    Examples
    --------
    A change after 10 days shortens an interval of 10 days. Without one it becomes 14 days, counted from 3 days ago.

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
    """Visit the most important page that is due; new pages are due at once.

    After a visit that found no change, the interval is multiplied by 1.4; after one that found a change, by 0.8; it
    stays between a minute and a year. The next visit is moved towards the moment of the last change. After a failure
    the page is tried again a day later; after three failures, or if it is gone, its interval is multiplied by 1.5.

    The original crawler visits only pages that are due and leaves the rest of the budget unused.

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
    Generator, which sorts due pages by score; NUTCH-1564 for the shift of pages that hardly ever change.
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
        """Return the importance, as the generator sorts by score; ties go to new pages, then to the latest ones."""
        late = np.where(np.isnan(pages.visited_at), 1.0, late_s / (late_s + _LATE_S))
        return np.maximum(pages.importance, _LEAST) * (1.0 + _TIE * late)

    def after(self, held: NDArray[Any], visits: Visits, start_s: Floats) -> NDArray[Any]:
        """Return intervals after the visits; a first visit counts as neither changed nor unchanged."""
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
