"""Budget curves: expected freshness by budget spent, with one price for all pages.

For each price P every page has its own interval tau, after which a visit is worth P. In the long run the page is then
visited 1 / tau times a second, and is fresh for int_0^tau S / tau of the time, where S is the probability that a copy
is still fresh, averaged over the posterior of the page's rate. The sums over the pages are one point of the curve, and
its slope is what more bandwidth would bring: without the harmonic part of the index it is P itself.

References
----------
Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, for the curve when rates are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.schedule.abilities import Priced
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas.index import HARMONIC, parts, survival
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.price.price import Price
from evercrawl.types import Floats, Ints

MOST: Final = 40_000
"""Number of pages computed one by one: the most important ones, and a sample that represents the others."""
SELDOM_S: Final = 365.25 * 86_400.0
"""Interval beyond which a page counts as visited too seldom to matter."""
_CLOSE: Final = 1e-6  # of an interval: the last step of the search; the error is about its square
_NEAR: Final = 1e-7  # of a budget
_ALL: Final = 0.99  # of a budget: if less is spent, the least time between visits is the limit
_TRIES: Final = 80
_NUDGE: Final = 0.01  # of the price's logarithm, for the slope
LINE: Final = 24
"""Maximum number of points added to draw the curve."""
_SAME: Final = 0.01  # of a doubling
_WIDEST: Final = 600.0  # of the price's logarithm


class Point(NamedTuple):
    """One point of a budget curve.

    Attributes
    ----------
    budget, visits_per_s
        Units of the budget (fetches, or bytes) per second, and visits per second.
    freshness
        Expected share of the copies, weighted by worth, that are fresh at any moment.
    marginal
        Increase of `freshness` per additional unit per second.
    price
        The value that a visit must have per unit: worth, as policies get it, times seconds.
    seldom
        Share of the copies, weighted by worth, that are visited less than once a year.
    left_alone
        Number of pages that are visited less than once a year: copies, and pages to be tried again.
    """

    budget: float
    visits_per_s: float
    freshness: float
    marginal: float
    price: float
    seldom: float
    left_alone: float


@dataclass(frozen=True, slots=True)
class PlannedPages:
    """Pages that share a budget.

    Attributes
    ----------
    pages
        Columns of the pages.
    copies
        Whether content of each is held; the others cost visits all the same. Shape (n,).
    wait_s
        The least time between two visits of each, shape (n,).
    times
        Number of pages that each represents, shape (n,).
    """

    pages: Pages
    copies: NDArray[np.bool_]
    wait_s: Floats
    times: Floats

    def sampled(self, most: int = MOST) -> PlannedPages:
        """Return up to `most` pages that represent all: half of them are the most important ones."""
        count, half = len(self.times), most // 2
        if count <= most:
            return self
        order: Ints = np.argsort(-self.pages.importance, kind="stable")
        rest = order[half:]
        some = rest[np.linspace(0, len(rest) - 1, most - half).astype(np.int64)]
        rows, times = np.concatenate([order[:half], some]), np.repeat([1.0, len(rest) / len(some)], (half, len(some)))
        return PlannedPages(self.pages.take(rows), self.copies[rows], self.wait_s[rows], self.times[rows] * times)


class _Sums(NamedTuple):
    """Units and visits per second, and freshness."""

    spent: float
    visits_per_s: float
    freshness: float


class BudgetCurve:
    """Freshness as a function of the budget.

    Parameters
    ----------
    held
        The pages; at least one copy must have a positive worth.
    harmonic
        theta, the part of the harmonic index in the policy; with 0 the curve is the optimum.
    policy
        A policy to follow instead.

    Examples
    --------
    Two pages that change once a second, one of which is worth nothing, and half a visit a second:

    >>> from evercrawl.schedule import Pages
    >>> one, none = np.ones(2), np.zeros(2)
    >>> pages = Pages(np.arange(2, dtype=np.uint32), none, np.array([1.0, 0.0]), none, 1e12 * one, 1e12 * one, one,
    ...               none, none)
    >>> point = BudgetCurve(PlannedPages(pages, one > 0, none, one), harmonic=0.0).spending(0.5)
    >>> round(point.freshness, 6), round(0.5 * (1 - math.exp(-2.0)), 6)
    (0.432332, 0.432332)
    """

    def __init__(self, held: PlannedPages, harmonic: float = HARMONIC, policy: Priced | None = None) -> None:
        self._held = held
        count = len(held.times)
        self._pages = replace(held.pages, visited_at=np.zeros(count), neg_log_unchanged=np.zeros(count))
        self._policy = policy or Price(harmonic=harmonic, close=_CLOSE)
        self._share = held.times * np.where(held.copies, held.pages.importance, 0.0)
        self._worth = float(self._share.sum())
        assert self._worth > 0, "there is a copy that is worth something"
        self._share = self._share / self._worth

    def at(self, price: float) -> Point:
        """Return the point at the price `price` per unit."""
        after_s = self._intervals(price)
        budget, visits_per_s, freshness = self._sums(after_s)
        less, more = (self._sums(self._intervals(price * math.exp(by))) for by in (_NUDGE, -_NUDGE))
        spent = more.spent - less.spent
        marginal = (more.freshness - less.freshness) / spent if spent > 0 else 0.0
        alone = after_s > SELDOM_S
        seldom, left_alone = float(self._share[alone].sum()), float(self._held.times[alone].sum())
        return Point(budget, visits_per_s, freshness, marginal, price, seldom, left_alone)

    def spending(self, budget: float, near: float = 1.0) -> Point:
        """Return the point at which `budget` units per second are spent, or as many as can be.

        Parameters
        ----------
        budget
            Units per second, above 0.
        near
            A price to start the search from: the closer, the faster it is found.
        """
        return self.at(math.exp(self._solved(budget, math.log(near))))

    def points(self, budgets: Sequence[float]) -> list[Point]:
        """Return the points of ascending budgets, up to the first that cannot be spent completely."""
        found: list[Point] = []
        for budget in budgets:
            found.append(self.spending(budget, found[-1].price if found else self._worth))
            if found[-1].budget < _ALL * budget:
                break
        return found

    def through(self, points: Sequence[Point]) -> list[Point]:
        """Return these points by budget, one each, with points added between those more than a factor of 2 apart.

        At most `LINE` points are added, however wide the range is.
        """
        found = {round(math.log(point.budget), 3): point for point in points if point.budget > 0}
        low, high = min(found, default=0.0), max(found, default=0.0)
        steps = min(math.ceil((high - low) / math.log(2.0) - _SAME), LINE)
        for step in range(1, steps):
            at = low + (high - low) * step / steps
            near = min(found, key=lambda each: abs(each - at))
            if abs(near - at) > (high - low) / steps / 2:
                found[round(at, 3)] = self.spending(math.exp(at), found[near].price)
        return [found[at] for at in sorted(found)]

    def _intervals(self, price: float) -> Floats:
        return np.maximum(self._policy.at_price(price).due(self._pages, Context(0.0)), self._held.wait_s)

    def _sums(self, after_s: Floats) -> _Sums:
        ever = np.isfinite(after_s)
        page, times, tau = self._pages.take(ever), self._held.times[ever], np.maximum(after_s[ever], 1e-9)
        still = survival(page.shape, page.scale_s, tau)
        fresh = parts(page.shape, page.scale_s, tau).fresh / tau + still
        visits = times / tau
        spent = visits * (page.cost + page.cost_changed * (1.0 - still))
        return _Sums(float(spent.sum()), float(visits.sum()), float(self._share[ever] @ fresh))

    def _solved(self, budget: float, guess: float) -> float:
        """Return the logarithm of the price, by bisection: spending falls as the price rises."""
        goal, low, high = math.log(budget), -math.inf, math.inf
        at, step, slope = guess, 2.0, -0.5
        before: tuple[float, float] | None = None
        for _ in range(_TRIES):
            spent = self._sums(self._intervals(math.exp(at))).spent
            off = (math.log(spent) if spent > 0 else -_WIDEST) - goal
            if abs(off) <= _NEAR or high - low < 1e-12 or abs(at) >= _WIDEST:
                break
            low, high = (at, high) if off > 0 else (low, at)
            if before is not None:
                at_before, off_before = before
                steepness = (off - off_before) / (at - at_before) if at_before != at else 0.0
                slope = steepness if steepness < 0 else slope
            before = at, off
            following = at - off / slope
            if not low < following < high:
                following = (low + high) / 2 if math.isfinite(low + high) else at + math.copysign(step, off)
            at, step = min(max(following, at - 8 * step, -_WIDEST), at + 8 * step, _WIDEST), 2 * step
        return at
