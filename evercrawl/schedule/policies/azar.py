"""Azar: the optimal rates for visits at random moments, in closed form; by default visits are spaced evenly."""

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas.allocation import Allocation
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.spaced import Spaced
from evercrawl.types import Floats


class Azar(Spaced):
    """Visit pages at the rates max(sqrt(w lam / P) - lam, 0), which are optimal if visits come at random moments.

    The authors derive a deterministic schedule from these rates; evenly spaced it is within a hundredth of the optimum.

    Parameters
    ----------
    spacing
        Spacing of a page's visits: even, or random, for which the rates are optimal.
    new_share, estimator, replan
        See `PlannedRates`.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none, one, lam = np.zeros(5), np.ones(5), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> pages = Pages(np.arange(5, dtype=np.uint32), none, one, none, 1e9 * one, 5e9 / lam, one, none, none)
    >>> policy = Azar()
    >>> later = policy.plan(pages, 0, Context(0.0))
    >>> policy.rates(pages.slot).round(2)
    array([0.28, 0.27, 0.23, 0.15, 0.07])

    References
    ----------
    Azar, Horvitz, Lubetzky, Peres, Shahaf (2018). Tractable near-optimal policies for crawling.
    """

    def __init__(
        self, spacing: str = "even", new_share: float = 0.5, estimator: str = "typical", replan: float = 0.125
    ) -> None:
        super().__init__(spacing, new_share, estimator, replan)

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return the optimal rates for visits at random moments."""
        return random_optimum(weight, lam, budget_per_s).rate


def random_optimum(weight: ArrayLike, lam: ArrayLike, budget: float) -> Allocation:
    """Return the optimal allocation of visits at random moments: the largest sum of w f / (f + lam).

    Pages up to some lam / w get visits; with the k best of them, 1 / sqrt(P) = (B + sum lam) / sum sqrt(w lam).

    Parameters
    ----------
    weight, lam
        w and the rate of change of each page, shape (n,); at least one page has positive weight and rate.
    budget
        Visits per second, above 0.

    Examples
    --------
    >>> found = random_optimum([1.0, 2.0, 0.1], [1.0, 2.0, 10.0], 3.0)
    >>> found.rate.round(9), round(found.value, 9), round(found.price, 9)
    (array([1., 2., 0.]), 1.5, 0.25)
    """
    weight, lam = np.broadcast_arrays(np.asarray(weight, np.float64), np.asarray(lam, np.float64))
    moving = np.flatnonzero((lam > 0) & (weight > 0))
    assert budget > 0, "the budget is positive"
    assert len(moving), "a page has positive weight and rate"
    order = moving[np.argsort(-(weight[moving] / lam[moving]), kind="stable")]
    root = np.sqrt(weight[order] * lam[order])
    level = (budget + np.cumsum(lam[order])) / np.cumsum(root)  # 1 / sqrt(P), if the pages up to here are visited
    last = int(np.flatnonzero(root * level > lam[order])[-1])
    rate = np.zeros(weight.shape)
    rate[order[: last + 1]] = root[: last + 1] * level[last] - lam[order[: last + 1]]
    return Allocation(float(level[last]) ** -2, rate, float((weight * fresh_at_random(rate, lam)).sum()))


def fresh_at_random(rate: ArrayLike, lam: ArrayLike) -> Floats:
    """Return the fraction of time that a page visited at random moments is fresh: f / (f + lam).

    Examples
    --------
    >>> fresh_at_random([1.0, 0.0, 0.0], [1.0, 1.0, 0.0])
    array([0.5, 0. , 1. ])
    """
    rate, lam = np.broadcast_arrays(np.asarray(rate, np.float64), np.asarray(lam, np.float64))
    total = rate + lam
    found: Floats = np.where(total > 0, rate / np.where(total > 0, total, 1.0), 1.0)
    return found
