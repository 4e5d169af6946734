"""Marked point: whole numbers of visits per horizon, evenly spaced, or just after the hour at which a page changes."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.renewal import LAWS, renewal_law
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.parameters import Annotated, Switch, bounded, choice, number
from evercrawl.schedule.policies.marked_point import counts as marked_point_counts
from evercrawl.schedule.policies.marked_point import hours as marked_point_hours
from evercrawl.schedule.policies.marked_point import instants as marked_point_instants
from evercrawl.schedule.shared.planned import PlannedRates
from evercrawl.types import Floats

_HOUR_S: Final = 3_600.0
_WEEK_S: Final = 7 * marked_point_instants.DAY_S
_PLACED: Final = [("days", "u1"), ("offset_s", "f4")]


class MarkedPoint(PlannedRates):
    """Split the visits of a horizon among pages, each to the page that gains most, and space a page's visits evenly.

    A page whose changes fall at one time of the day is visited just after that time instead, on the days of the week on
    which a visit is worth the marginal value of visits to other pages. This requires changes of known time: dated by a
    trusted date, or found less than two hours after the previous reading.

    Parameters
    ----------
    each
        Mean number of visits of a page in a horizon: with 1 visit, 1 to 6 % of the optimum is lost; with 10, no
        measurable part.
    regular
        1 to use regular times of change, 0 to assume that all pages change at random.
    split
        How the visits are split, with equal results up to ties. "price" uses two prices around the best split;
        "greedy" gives one visit at a time to the page that gains most; "dynamic" is the dynamic programme, O(n
        visits^2). "greedy" is used up to 20,000 visits in a horizon, "dynamic" up to n visits^2 = 1e8 (100 pages with
        ten visits each); above that, "price" is used, because the others would take too long.
    new_share, estimator, replan
        See `PlannedRates`.
    changes
        Distribution of the time between two changes of a page: exponential (changes at random moments), constant,
        gamma, weibull or lognormal. For all but exponential, visits are split by a price found by search.
    changes_spread
        Standard deviation of that time, in units of its mean, if the distribution leaves it open: below 1 for pages
        that change more regularly than at random, above 1 for bursts.

    Examples
    --------
    Ten visits on average: the page that changes most is left out, as in the optimum.

    >>> from evercrawl.schedule import Context, Pages
    >>> none, one, lam = np.zeros(5), np.ones(5), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> pages = Pages(np.arange(5, dtype=np.uint32), none, one, none, 1e9 * one, 5e9 / lam, one, none, none)
    >>> policy = MarkedPoint()
    >>> later = policy.plan(pages, 0, Context(0.0))
    >>> policy.rates(pages.slot) * 50
    array([11., 14., 14., 11.,  0.])

    References
    ----------
    Wolf, Squillante, Yu, Sethuraman, Ozsen (2002). Optimal crawling strategies for web search engines.
    """

    @bounded
    def __init__(
        self,
        each: Annotated[float, number(0.01, 1000)] = 10.0,
        regular: Switch = 1,
        new_share: float = 0.5,
        estimator: str = "typical",
        replan: float = 0.125,
        split: Annotated[str, choice(*marked_point_counts.SPLITS)] = "price",
        changes: Annotated[str, choice(*LAWS)] = "exponential",
        changes_spread: Annotated[float, number(0.05, 10)] = 1.0,
    ) -> None:
        super().__init__(new_share, estimator, replan)
        self.changes = changes
        self.changes_spread = changes_spread
        self.each = each
        self.regular = regular
        self.split = split
        self._times, self._placed = Rows(marked_point_hours.ROW), Rows(_PLACED)
        self._now, self._last = 0.0, (0, 0)  # of the last plan: its instant; its numbers of pages and visits

    def learn(self, visits: Visits) -> None:
        """Record the times of changes where known; count visits if the estimator uses counts."""
        super().learn(visits)
        if self.regular:
            rows = self._times.upto(int(visits.slot.max(initial=0)) + 1)
            rows[visits.slot] = marked_point_hours.learn(rows[visits.slot], visits)

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        """Split the visits of the next horizon."""
        self._now = context.now
        return super().plan(pages, unread, context)

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return visits per second: whole numbers in the horizon; whole days of the week for regular pages."""
        weekly = self._place(pages, weight, lam, budget_per_s)
        found = weekly / _WEEK_S
        left, random = budget_per_s - float(found.sum()), weekly == 0
        if random.any() and left > 0 and ((weight > 0) & (lam > 0) & random).any():
            visits = max(int(self.each * random.sum()), 1)
            self._last = int(random.sum()), visits
            if self.changes == "exponential":
                counts = marked_point_counts.split(self.split, weight[random], lam[random], visits / left, visits)
            else:
                law = renewal_law(self.changes, self.changes_spread)
                counts = marked_point_counts.by_law(weight[random], lam[random], visits / left, visits, law)
            found[random] = counts.each * (left / visits)
        return found

    def ineffective_option(self, context: Context) -> str:
        """Return that the last plan had too many visits for the requested method of splitting."""
        fits = marked_point_counts.fits(self.split, *self._last)
        return "" if fits else f"a horizon has too many visits for split = {self.split}, so they are split by price"

    def _place(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Choose the days of regular pages; return their visits, 0 for pages that are not regular, shape (n,)."""
        visits = np.zeros(len(lam))
        placed = self._placed.upto(int(pages.slot.max()) + 1)
        days = np.zeros(len(lam), np.int64)
        if self.regular:
            found = marked_point_hours.regular(self._times.take(pages.slot), self._now)
            which = np.flatnonzero(found.pages)
            if len(which):
                price = allocation.optimum(weight, lam, budget_per_s).price
                days[which] = marked_point_instants.best_days(weight[which], found.chances[which], price)
                placed["offset_s"][pages.slot] = found.offset_s
                visits = np.bitwise_count(days).astype(np.float64)
        placed["days"][pages.slot] = days
        return visits

    def lateness(self, pages: Pages, per_s: Floats, waited_s: Floats, now: float) -> Floats:
        """Return waited intervals; for regular pages 0 until the next instant of a possible change."""
        late = super().lateness(pages, per_s, waited_s, now)
        days, at = self._next_at(pages)
        return np.where(days > 0, np.where(at <= now, 1.0 + late, 0.0), late)

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return when the interval is over, or the next visit of a regular page."""
        days, at = self._next_at(pages)
        return np.where(days > 0, at, super().due(pages, context))

    def tables(self, context: Context) -> dict[str, dict[str, NDArray[Any]]]:
        """Return the plan, and the regular pages.

        Returns
        -------
        plan
            See `PlannedRates`.
        regular
            The pages that change at known times of the day or week.

            slot : page
                The page.
            visits_per_week : visits a week
                Visits on the days on which the page changes, at most one a day.
            hour : hours since the day began, UTC
                Hour after which the page is visited on such a day; above 24, it is in the following night.
        """
        rows = self._placed.upto(0)
        slots = np.flatnonzero(rows["days"]).astype(np.uint32)
        weekly, hour = np.bitwise_count(rows["days"][slots].astype(np.int64)), rows["offset_s"][slots] / _HOUR_S
        return {**super().tables(context), "regular": {"slot": slots, "visits_per_week": weekly, "hour": hour}}

    def _next_at(self, pages: Pages) -> tuple[NDArray[Any], Floats]:
        rows = self._placed.take(pages.slot)
        days = rows["days"].astype(np.int64)
        return days, marked_point_instants.next_instant(pages.visited_at, days, rows["offset_s"].astype(np.float64))
