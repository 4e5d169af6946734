"""StormCrawler, adaptive: intervals grow by half or shrink half way to the shortest; the longest due page is first."""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.errors import ConfigError
from evercrawl.schedule.abilities import Follows
from evercrawl.schedule.base import Context
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, Share, bounded, duration, number, seconds
from evercrawl.schedule.shared.adaptive import LEAST_S, Adaptive
from evercrawl.schedule.shared.pacing import Turns
from evercrawl.types import Floats

_MINUTE_S: Final = 60.0
_DAY_S: Final = 86_400.0


def adapt(
    minutes: ArrayLike,
    changed: ArrayLike,
    *,
    increase: float = 0.5,
    decrease: float = 0.5,
    least_minutes: float = 60.0,
    most_minutes: float = 14 * 1440.0,
) -> Floats:
    """Return intervals after visits that found a change or no change, in whole minutes.

    Examples
    --------
    >>> adapt([1440.0, 1440.0], [True, False])
    array([ 750., 2160.])
    """
    minutes = np.asarray(minutes, np.float64)
    shorter = (1 - decrease) * minutes + decrease * least_minutes
    longer = np.minimum(np.floor(minutes * (1 + increase)), most_minutes)
    return np.where(np.asarray(changed, np.bool_), np.floor(shorter), longer)


class StormcrawlerAdaptive(Follows, Adaptive):
    """Visit the page that has been due longest; new pages have a fixed share of the visits.

    After a visit that found no change, the interval grows by half, up to two weeks; after one that found a change, it
    shrinks half of the way to an hour. A failed visit resets the interval: the page is tried again two hours later, and
    a page that is gone a month later.

    The original crawler visits only pages that are due and leaves the rest of the budget unused. New pages are ordered
    by weight if the crawl weighs pages by something other than importance.

    Parameters
    ----------
    start
        Interval of a page that was visited once, or `cycle`: the time that it takes to visit all pages once.
    increase
        Growth of an interval after a visit that finds no change, as a fraction of it.
    decrease
        Reduction of an interval after a visit that finds a change, as a fraction of its distance to the shortest
        interval.
    shortest
        Minimum interval, in whole minutes.
    longest
        Maximum interval, in whole minutes.
    failed
        Time after which a page that could not be fetched is tried again.
    gone
        Time after which a page that was gone is tried again.
    new_share
        Share of the visits for new pages, while there are any. The original visits all pages in the order of their
        dates; the date of a new page is that of its discovery.
    work_conserving
        1 to continue, if nothing is due, with the page with the smallest fraction of its interval left.

    Examples
    --------
    The first page was due a day after its last visit 9 days ago; the second is not due yet:

    >>> from evercrawl.schedule import Context, Pages
    >>> day, one, none = 86400.0, np.ones(2), np.zeros(2)
    >>> visited_at = np.array([0.0, 9.5 * day])
    >>> pages = Pages(np.arange(2, dtype=np.uint32), visited_at, one, none, one, one, one, none, none)
    >>> StormcrawlerAdaptive().value(pages, Context(10 * day))
    array([ 2.9, -0.5])

    References
    ----------
    Apache StormCrawler, AdaptiveScheduler (S. Nagel) and DefaultScheduler, with their built-in values; the spouts of
    StormCrawler query due pages in the order of their dates.
    """

    @bounded
    def __init__(
        self,
        start: str = "1d",
        increase: Annotated[float, number(0, 10)] = 0.5,
        decrease: Share = 0.5,
        shortest: Annotated[str, duration(LEAST_S)] = "1h",
        longest: Annotated[str, duration(LEAST_S)] = "14d",
        failed: Annotated[str, duration(LEAST_S)] = "2h",
        gone: Annotated[str, duration(LEAST_S)] = "31d",
        new_share: Share = 0.5,
        work_conserving: int = 0,
    ) -> None:
        super().__init__(start, work_conserving)
        least, most = (seconds(text) / _MINUTE_S // 1 for text in (shortest, longest))
        if not 1 <= least <= most:
            raise ConfigError(f"shortest, {shortest}, must be a minute or more, and not longer than longest, {longest}")
        self._rates = {"increase": increase, "decrease": decrease, "least_minutes": least, "most_minutes": most}
        self._failed_s, self._gone_s = seconds(failed), seconds(gone)
        self._turns = Turns(new_share)

    def worth(self, pages: Pages, late_s: Floats) -> Floats:
        """Return for how long pages have been due; the kind (new or visited) whose turn it is ranks first.

        New pages are all equal, or ordered by weight if the crawl weighs pages.
        """
        new, late = np.isnan(pages.visited_at), late_s / _DAY_S
        if pages.weight_ratio is not None:
            late = np.where(new, np.maximum(pages.importance, 0.0), late)
        return self._turns.order(late, new)

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Count the turns of new and visited pages."""
        self._turns.made(len(values), new)

    def after(self, held: NDArray[Any], visits: Visits, start_s: Floats) -> NDArray[Any]:
        """Return intervals after the visits; nothing is stored for a page whose content cannot be compared."""
        none = np.isnan(held["modified_at"]) | (held["failures"] > 0)
        minutes = np.where(np.isnan(held["interval_s"]), start_s, held["interval_s"]) / _MINUTE_S // 1
        adapted_s = adapt(minutes, visits.changed, **self._rates) * _MINUTE_S
        wait_s = np.where(visits.gone, self._gone_s, self._failed_s)
        cases = [visits.read & none, visits.read]
        after = held.copy()
        after["failures"] = ~visits.read
        after["modified_at"] = np.where(visits.changed, visits.at, held["modified_at"])
        after["interval_s"] = np.select(cases, [np.nan, adapted_s], np.nan)
        after["due_at"] = visits.at + np.select(cases, [np.nan, adapted_s], wait_s)
        return after
