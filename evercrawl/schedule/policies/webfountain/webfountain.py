"""WebFountain: the numbers of visits to buckets of pages and to new pages, optimised over the coming periods."""

import math
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.abilities import Follows, Learns, Plans, Tabulates
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, Duration, bounded, choice, number, seconds
from evercrawl.schedule.policies.webfountain.buckets import FORGOTTEN, HISTORY, BucketRates, measure, sort_into
from evercrawl.schedule.policies.webfountain.programme import WEIGHTINGS, Programme, VisitPlan, weighting
from evercrawl.schedule.policies.webfountain.solver import linear_solver, solve
from evercrawl.schedule.shared.pacing import Turns
from evercrawl.schedule.shared.tempo import Tempo
from evercrawl.types import Floats, Ints

_LEAST_VISITS: Final = 16.0  # minimum visits per period: below it, solving dominates the cost and gains nothing
_LEAST_PERIODS: Final = 8
_PAGE: Final = np.dtype([*HISTORY.descr, ("due_at", "f8"), ("turn_s", "f8")])
_LEFT_ALONE: Final = 64.0  # periods after which a bucket without visits in the plan is visited, if there is room
_ENOUGH: Final = 1e-5  # relative precision of the cost: the measurements are less precise


class Webfountain(Learns, Plans, Follows, Tabulates, Policy):
    """Divide the visits among buckets of pages, and new pages, by an optimum over the coming periods.

    Pages with similar rates of change, or similar rates and importance, share a bucket. At the beginning of each period
    all inputs of the programme are measured: how often visits to a bucket's pages found a change, which fraction of the
    new pages belongs to it, how many pages are found, how many visits can be made. The programme is then solved for
    eight or more periods, and the first one is carried out: in each bucket the pages visited longest ago, spread evenly
    over the period, and the planned number of new pages, the most important ones first. Spare visits go to the pages
    planned next. If the budget is in bytes, the cost of a visit is the mean cost in its bucket, where changed pages
    cost the full amount, and the budget is the current spending.

    Parameters
    ----------
    buckets
        How pages are sorted into buckets: by `rate` of change, or by `rate_importance`.
    count
        Maximum number of buckets.
    periods
        Number of periods that the programme looks ahead.
    cycle_periods
        Number of periods in the time in which all pages could be visited once.
    weights
        Weight of obsolete pages in each period ahead: `rising` towards the last period, as the survey describes;
        `flat`, the same in all; or `last`, in the last period as much as in all others together, because pages that are
        obsolete at the end of the plan remain so for a while.
    new_weight
        Weight of an unvisited page, relative to an obsolete page of average importance.
    shortest
        Minimum length of a period. A period also has at least 16 visits, so that solving takes a small part of it.

    Raises
    ------
    ConfigError
        A parameter is not valid, or scipy is not installed.

    Examples
    --------
    Before the first plan, 16 periods of a minute pass between visits: the first page is 16 periods early, 1 / (1 + 17),
    the second is due now, 1 / (1 + 1). It is the turn of old pages, +2; the new one has +1.

    >>> from evercrawl.schedule import Context, Pages
    >>> one, none = np.ones(3), np.zeros(3)
    >>> visited_at = np.array([960.0, 0.0, np.nan])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, one, none, one, one, one, none, none)
    >>> Webfountain().value(pages, Context(960.0))
    array([2.05555556, 2.5       , 1.5       ])

    References
    ----------
    Edwards, McCurley, Tomlin (2001). An Adaptive Model for Optimizing Performance of an Incremental Web Crawler. The
    sorting of pages into buckets, and the estimate of rates, are ours.
    """

    counts_links: ClassVar[bool] = True

    @bounded
    def __init__(
        self,
        buckets: Annotated[str, choice("rate", "rate_importance")] = "rate_importance",
        count: Annotated[int, number(1, 256)] = 16,
        periods: Annotated[int, number(_LEAST_PERIODS)] = 8,
        cycle_periods: Annotated[int, number(1, 1000)] = 16,
        weights: Annotated[str, choice(*WEIGHTINGS)] = "rising",
        new_weight: Annotated[float, number()] = 1.0,
        shortest: Duration = "1m",
    ) -> None:
        linear_solver()
        self._by_weight, self._count = buckets == "rate_importance", count
        self._growth = weighting(weights, periods)
        self._cycle_periods, self._new_weight = cycle_periods, new_weight
        self._shortest_s = seconds(shortest)
        self._kept = Rows(_PAGE, (0.0, 0.0, 0.0, math.nan, math.nan, math.nan))
        self._tempo = Tempo(1)
        self._turns = Turns(0.5)
        self._period_s = self._shortest_s
        self._measured: BucketRates | None = None
        self._plan: VisitPlan | None = None

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return how late each page is, in periods, mapped to 0 to 1; old and new pages take turns."""
        new = np.isnan(pages.visited_at)
        late = (context.now - np.where(new, context.now, self.due(pages, context))) / self._period_s
        ahead = np.where(late < 0, 1 / (1 + np.abs(late)), 1 + late)
        return self._turns.order(np.where(new, np.maximum(pages.importance, 0.0), ahead), new)

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return the instant of the period at which each page is to be visited."""
        due_at: Floats = self._kept.take(pages.slot)["due_at"]
        return np.where(np.isnan(due_at), pages.visited_at + self._period_s * self._cycle_periods, due_at)

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Count the visits to new pages."""
        self._turns.made(len(values), new)

    def learn(self, visits: Visits) -> None:
        """Count visits and changes per page; visited pages wait for a full turn of their bucket."""
        rows = self._kept.upto(int(visits.slot.max(initial=0)) + 1)
        held = rows[visits.slot]
        first = np.isnan(held["first_at"]) & visits.read
        counted = visits.read & ~np.isnan(visits.interval_s)
        kept = np.where(counted & (held["visits"] >= FORGOTTEN), 1 - 1 / FORGOTTEN, 1.0)
        held["visits"] = held["visits"] * kept + counted
        held["changes"] = held["changes"] * kept + (counted & visits.changed)
        held["exposure_s"] = held["exposure_s"] * kept + np.where(counted, visits.interval_s, 0.0)
        held["first_at"] = np.where(first, visits.at, held["first_at"])
        held["due_at"] = visits.at + held["turn_s"]
        rows[visits.slot] = held
        self._tempo.learn(visits.at, visits.found.astype(np.float64))

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Sort all pages into buckets, measure them, solve the programme, and schedule each page's turn."""
        if not len(pages.slot):
            return context.now + 1.0
        cycle_s = self._tempo.cycle_s(len(pages.slot))
        visits_s = cycle_s / len(pages.slot) * _LEAST_VISITS
        self._period_s = max(cycle_s / self._cycle_periods, self._shortest_s, visits_s)
        rate = pages.shape / pages.scale_s
        weight = np.maximum(pages.importance, 0.0)
        bucket = sort_into(rate, weight, self._count, by_weight=self._by_weight)
        names, bucket = np.unique(bucket, return_inverse=True)
        history = self._kept.take(pages.slot)
        self._measured = measure(bucket, len(names), history, pages, context.now, cycle_s)
        often = 1.0 / np.where(history["turn_s"] > 0, history["turn_s"], cycle_s)
        made = np.bincount(bucket, often).astype(np.float64)
        programme = self._programme(self._measured, made, unread, float(weight.mean()))
        like = self._plan if self._plan is not None and self._plan.old.shape == programme.shape else None
        self._plan = solve(programme, None if like is None else _later(like), _ENOUGH)
        self._take_up(pages, bucket, self._plan.old[0] * len(pages.slot), context.now)
        visits = float(self._plan.old[0].sum() + self._plan.new[0])
        self._turns.share = float(self._plan.new[0]) / visits if visits > 0 else 0.5
        return context.now + self._period_s

    def _programme(self, measured: BucketRates, made: Floats, unread: int, weight: float) -> Programme:
        """Return the programme, with pages as fractions of all pages, and weights and costs relative to the mean.

        The mean cost is that of the current visits: to each bucket according to `made`, to new pages in their turns.
        """
        periods, pages = len(self._growth), float(measured.pages.sum())
        visits, found = self._tempo.per_s * self._period_s / pages
        cost, new = measured.visit_costs, measured.new_cost
        again = float(cost @ made) / float(made.sum())
        usual = again + self._turns.share * (new - again)
        one, weight = np.ones((periods, len(measured.pages))), weight or 1.0
        change = -np.expm1(-measured.rate_per_s * self._period_s)
        return Programme(
            measured.pages / pages, np.minimum(measured.obsolete, measured.pages) / pages, one * change,
            measured.shares, unread / pages, one[:, 0] * found, one * (cost / usual), one[:, 0] * (new / usual),
            one[:, 0] * visits,
            self._growth[:, None] * measured.weight / weight, self._growth * self._new_weight,
        )  # fmt: skip

    def _take_up(self, pages: Pages, bucket: Ints, visits: Floats, now: float) -> None:
        """Schedule each page's turn: the oldest of a bucket first, spread evenly over the period and beyond."""
        size = np.bincount(bucket, minlength=len(visits))
        order = np.lexsort((pages.slot, pages.visited_at, bucket))
        rank = np.empty(len(bucket))
        rank[order] = np.arange(len(bucket)) - np.repeat(np.cumsum(size) - size, size)
        every_s = self._period_s / np.maximum(visits, size / _LEFT_ALONE)
        rows = self._kept.upto(int(pages.slot.max(initial=0)) + 1)
        rows["due_at"][pages.slot] = now + (rank + 0.5) * every_s[bucket]
        rows["turn_s"][pages.slot] = (size * every_s)[bucket]

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the measurements of each bucket, and its visits in each of the coming periods.

        Returns
        -------
        buckets
            A row for each bucket of the last plan, if there was one.

            pages : pages
                Number of pages.
            rate_per_s : changes a second
                Rate of change of each page, as visits found it.
            obsolete : pages
                Pages that have changed since their last visit, by that rate.
            weight : shares of importance, up to one factor
                Mean weight of a page.
            shares : share of new pages
                Share of new pages that turn out to belong to the bucket.
            cost : units of the budget
                Mean cost of a visit: fetches, or bytes.
            cost_changed : units of the budget
                Additional cost of a visit that finds a change.
            visits_N : visits
                Visits to its pages in each period ahead; the next period is 0.
        periods
            A row for each period ahead, if there was a plan.

            period : number
                Number of the period; the next one is 0.
            new : visits
                Visits to pages that were never visited.
        """
        if self._measured is None or self._plan is None:
            return {}
        pages = float(self._measured.pages.sum())
        visits = {f"visits_{t}": self._plan.old[t] * pages for t in range(len(self._growth))}
        new = {"period": np.arange(len(self._growth)), "new": self._plan.new * pages}
        return {"buckets": {**self._measured._asdict(), **visits}, "periods": new}


def _later(plan: VisitPlan) -> VisitPlan:
    """Return a plan made one period ago, shifted by one period; its last period is repeated."""
    return VisitPlan(np.roll(plan.old, -1, 0), np.roll(plan.new, -1))
