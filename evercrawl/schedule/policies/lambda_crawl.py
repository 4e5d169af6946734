"""LambdaCrawl: fewest missed changes by harmonic cost, no page starved; announced changes are visited at random."""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas.allocation import Allocation
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.spaced import Spaced, drawn
from evercrawl.types import Flags, Floats

_SALT: Final = 0x6C616D626461
_AT_ONCE: Final = 1e6  # intervals: later than any page without an announcement
_HALVINGS: Final = 100


class LambdaCrawl(Spaced):
    """Visit pages at the rates that minimise the sum of w E[1 + 1/2 + ... + 1/m], with m missed changes.

    A page with an announced change (`Pages.neg_log_unchanged`) is visited at once with probability min(1, w / (P lam)),
    as if all its changes were known to be announced; the draw is made once after each visit. The cost of such visits
    reduces the budget of the other pages. The published crawler leaves part of its budget unused when random moments
    coincide; this one proceeds to the next page without waiting for its moment.

    Parameters
    ----------
    spacing
        Spacing of a page's visits: random, as published, or even.
    new_share, estimator, replan
        See `PlannedRates`.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none, one, lam = np.zeros(5), np.ones(5), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> pages = Pages(np.arange(5, dtype=np.uint32), none, one, none, one, 1 / lam, one, none, none)
    >>> policy = LambdaCrawl()
    >>> later = policy.plan(pages, 0, Context(0.0))
    >>> policy.rates(pages.slot).round(3)
    array([0.184, 0.198, 0.203, 0.207, 0.209])

    References
    ----------
    Kolobov, Peres, Lu, Horvitz (2019). Staying up to date with online content changes using reinforcement learning for
    scheduling.
    """

    def __init__(
        self, spacing: str = "random", new_share: float = 0.5, estimator: str = "gamma", replan: float = 0.125
    ) -> None:
        super().__init__(spacing, new_share, estimator, replan)
        self._price = math.inf

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return the optimal rates for visits at random moments."""
        found = harmonic_optimum(weight, lam, budget_per_s)
        self._price = found.price
        return found.rate

    def lateness(self, pages: Pages, per_s: Floats, waited_s: Floats, now: float) -> Floats:
        """Return how late pages are; announced changes that were drawn come before all others."""
        late = super().lateness(pages, per_s, waited_s, now)
        return np.where(self._called_for(pages), _AT_ONCE + late, late)

    def due(self, pages: Pages, context: Context) -> Floats:
        """Return the next moment; for announced changes that were drawn, the instant of the last visit."""
        return np.where(self._called_for(pages), pages.visited_at, super().due(pages, context))

    def _called_for(self, pages: Pages) -> Flags:
        """Return which pages have an announced change that is to be visited."""
        limit = np.maximum(pages.importance, 0.0) * pages.scale_s / (self._price * pages.shape)
        return (pages.neg_log_unchanged > 0) & (drawn(pages.slot, pages.visited_at, _SALT) < limit)


def harmonic_optimum(weight: ArrayLike, lam: ArrayLike, budget: float) -> Allocation:
    """Return the rates of visits at random moments with the smallest sum of w ln(1 + lam / f), and that sum.

    Each rate is (-lam + sqrt(lam^2 + 4 w lam / P)) / 2; the price P is found by bisection of its logarithm.

    Parameters
    ----------
    weight, lam
        w and the rate of change of each page, shape (n,); at least one page has positive weight and rate.
    budget
        Visits per second, above 0.

    Examples
    --------
    >>> found = harmonic_optimum([1.0, 2.0], [1.0, 2.0], 3.0)
    >>> found.rate.round(9), bool(np.isclose(found.value, 3 * np.log(2)))
    (array([1., 2.]), True)
    """
    weight, lam = np.broadcast_arrays(np.asarray(weight, np.float64), np.asarray(lam, np.float64))
    moving = (lam > 0) & (weight > 0)
    assert budget > 0, "the budget is positive"
    assert moving.any(), "a page has positive weight and rate"
    w, rates = weight[moving], lam[moving]
    high = math.log(float(w.sum()) / budget)  # f < w / P
    low = high - 2.0
    while _at(math.exp(low), w, rates).sum() < budget:
        low -= 2.0 * (high - low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _at(math.exp(middle), w, rates).sum() > budget else (low, middle)
    found = _at(math.exp(high), w, rates)
    rate = np.zeros(weight.shape)
    rate[moving] = found * (budget / found.sum())
    return Allocation(math.exp(high), rate, harmonic_cost(weight, lam, rate))


def _at(price: float, weight: Floats, lam: Floats) -> Floats:
    """Return the rates at a price, in a form that avoids cancellation."""
    most: Floats = weight / price
    return 2.0 * most / (1.0 + np.sqrt(1.0 + 4.0 * most / lam))


def harmonic_cost(weight: ArrayLike, lam: ArrayLike, rate: ArrayLike) -> float:
    """Return the sum of w ln(1 + lam / f), the harmonic cost of missed changes with visits at random moments.

    Examples
    --------
    >>> round(harmonic_cost([1.0, 1.0], [1.0, 3.0], [1.0, 1.0]), 6)  # ln 2 + ln 4
    2.079442
    """
    weight, lam, rate = (np.asarray(each, np.float64) for each in (weight, lam, rate))
    moving = (lam > 0) & (weight > 0)
    with np.errstate(divide="ignore"):
        return float((weight[moving] * np.log1p(lam[moving] / rate[moving])).sum())
