"""What a budget brings: expected freshness by what is spent, under one price for all pages.

For each price P every page has its own interval tau, at which a visit is worth P. In the long run the page is then
visited 1 / tau times a second, at the cost of each, and is fresh for int_0^tau S / tau of the time, S being the belief
that a copy still holds, averaged over all that its rate may be. The sums over the pages are one point of the curve, and
the slope there is what more bandwidth would bring: without the harmonic part of the index, P itself.

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
"""Pages that are reckoned with one by one: those that matter most, and a sample that stands for the others."""
SELDOM_S: Final = 365.25 * 86_400.0
"""A page that is visited less often is as good as given up."""
_CLOSE: Final = 1e-6  # of an interval: the last step of the search, and the error about its square
_NEAR: Final = 1e-7  # of a budget
_ALL: Final = 0.99  # of a budget: where less is spent, pages have to wait before they may be visited again
_TRIES: Final = 80
_NUDGE: Final = 0.01  # of the price's logarithm, for the slope
LINE: Final = 24
"""Points that are added at most to draw the curve."""
_SAME: Final = 0.01  # of a doubling
_WIDEST: Final = 600.0  # of the price's logarithm


class Point(NamedTuple):
    """What one budget brings.

    Attributes
    ----------
    budget, visits_per_s
        Units of the budget (fetches, or bytes), and visits, a second.
    freshness
        Expected share of the copies, by what they are worth, that are fresh at any moment.
    marginal
        What one more unit a second adds to `freshness`.
    price
        What a visit has to be worth per unit: worth, as policies are told it, times seconds.
    seldom
        Share of the copies, by what they are worth, that are visited less than once a year.
    left_alone
        How many pages are: copies, and what is tried again.
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
        Their columns.
    copies
        Which are held with content; the others cost visits all the same. Shape (n,).
    wait_s
        The least time between two visits of each, shape (n,).
    times
        For how many pages each stands, shape (n,).
    """

    pages: Pages
    copies: NDArray[np.bool_]
    wait_s: Floats
    times: Floats

    def sampled(self, most: int = MOST) -> PlannedPages:
        """Return up to `most` that stand for all: half of these are what matters most."""
        count, half = len(self.times), most // 2
        if count <= most:
            return self
        order: Ints = np.argsort(-self.pages.importance, kind="stable")
        rest = order[half:]
        some = rest[np.linspace(0, len(rest) - 1, most - half).astype(np.int64)]
        rows, times = np.concatenate([order[:half], some]), np.repeat([1.0, len(rest) / len(some)], (half, len(some)))
        return PlannedPages(self.pages.take(rows), self.copies[rows], self.wait_s[rows], self.times[rows] * times)


class _Sums(NamedTuple):
    """Units and visits a second, and freshness."""

    spent: float
    visits_per_s: float
    freshness: float


class BudgetCurve:
    """Freshness by budget.

    Parameters
    ----------
    held
        The pages; one copy at least is worth something.
    harmonic
        theta, the part of the harmonic index in the policy; with 0 the curve is the best there is.
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
        """Return the point at which a visit costs `price` a unit."""
        after_s = self._intervals(price)
        budget, visits_per_s, freshness = self._sums(after_s)
        less, more = (self._sums(self._intervals(price * math.exp(by))) for by in (_NUDGE, -_NUDGE))
        spent = more.spent - less.spent
        marginal = (more.freshness - less.freshness) / spent if spent > 0 else 0.0
        alone = after_s > SELDOM_S
        seldom, left_alone = float(self._share[alone].sum()), float(self._held.times[alone].sum())
        return Point(budget, visits_per_s, freshness, marginal, price, seldom, left_alone)

    def spending(self, budget: float, near: float = 1.0) -> Point:
        """Return the point at which `budget` units a second are spent, or all that can be.

        Parameters
        ----------
        budget
            Above 0.
        near
            A price to begin with: the nearer, the sooner it is found.
        """
        return self.at(math.exp(self._solved(budget, math.log(near))))

    def points(self, budgets: Sequence[float]) -> list[Point]:
        """Return the points at which so much is spent, ascending, up to the first at which all is that can be."""
        found: list[Point] = []
        for budget in budgets:
            found.append(self.spending(budget, found[-1].price if found else self._worth))
            if found[-1].budget < _ALL * budget:
                break
        return found

    def through(self, points: Sequence[Point]) -> list[Point]:
        """Return these points by budget, one each, and others between them where they are further than twofold apart.

        However wide the range is, up to `LINE` are added.
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
        """Return the logarithm of the price, between bounds that are drawn in: spending falls as the price rises."""
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
