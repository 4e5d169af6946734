"""Polling: one server polls pages like the queues of a polling system, and minimises the bound on staleness."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas import allocation, renewal
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.parameters import Annotated, bounded, choice, number
from evercrawl.schedule.policies.azar import random_optimum
from evercrawl.schedule.shared.spaced import Spaced
from evercrawl.types import Floats

_COSTS: Final = ("changes", "importance")
_TIMES: Final = renewal.LAWS


class Polling(Spaced):
    """Give each page the share of accesses that minimises the bound on its staleness.

    If costs are proportional to rates of change, as in the theorem, then f ~ ln(1 / h), where h is the probability that
    a page does not change during one access; at random accesses f ~ 1 / h - 1. Accesses are short, so both are nearly
    proportional to changes. For other costs the bound is minimised numerically, which is nearly `optimal`.

    Parameters
    ----------
    costs
        The cost of a page's staleness is proportional to its changes, as published, or to its importance.
    times
        Distribution of the time of an access: constant, exponential, gamma, weibull or lognormal.
    times_spread
        Standard deviation of the time of an access, in units of its mean, if the distribution leaves it open.
    spacing
        Spacing of a page's accesses: even, or random.
    new_share, estimator, replan
        See `PlannedRates`.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none, one, scale_s = np.zeros(2), np.ones(2), np.array([2e6, 1e6])
    >>> pages = Pages(np.arange(2, dtype=np.uint32), none, one, none, one, scale_s, one, none, none)
    >>> policy = Polling()
    >>> later = policy.plan(pages, 0, Context(0.0))
    >>> policy.rates(pages.slot).round(6)
    array([0.333333, 0.666667])

    References
    ----------
    Coffman, Liu, Weber (1998). Optimal robot scheduling for web search engines. Journal of Scheduling 1.
    """

    @bounded
    def __init__(
        self,
        costs: Annotated[str, choice(*_COSTS)] = "changes",
        times: Annotated[str, choice(*_TIMES)] = "constant",
        spacing: str = "even",
        new_share: float = 0.5,
        estimator: str = "gamma",
        replan: float = 0.125,
        times_spread: Annotated[float, number(0.05, 10)] = 1.0,
    ) -> None:
        super().__init__(spacing, new_share, estimator, replan)
        self.costs = costs
        self.times = times
        self.times_spread = times_spread

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return the shares of accesses; an access takes the time between two visits."""
        access_s = 1.0 / budget_per_s
        level = levels(lam, access_s, renewal.renewal_law(self.times, self.times_spread))
        if self.costs == "changes":
            return np.expm1(np.minimum(level, 700.0)) if self.spacing == "random" else level
        least = random_shares if self.spacing == "random" else shares
        return least(weight, lam, access_s, level)


def levels(
    lam: ArrayLike, access_s: float, law: renewal.RenewalLaw | None = None, *, exponential: bool = False
) -> Floats:
    """Return ln(1 / h); h = E e^(-lam X) is the probability that a page does not change in an access of length X.

    Parameters
    ----------
    lam
        Rates of change, per second, shape (n,).
    access_s
        E X, in seconds.
    law
        Distribution of X / E X, used through its transform; None if X is constant.
    exponential
        Whether X is exponential, for which there is a closed form.

    Examples
    --------
    >>> levels([1.0, 2.0], 0.1), np.exp(-levels(1.0, 0.1, exponential=True)).round(6)
    (array([0.1, 0.2]), np.float64(0.909091))
    >>> np.exp(-levels(1.0, 0.1, renewal.renewal_law("exponential"))).round(6)
    np.float64(0.909091)
    """
    x = np.asarray(lam, np.float64) * access_s
    if exponential:
        return np.asarray(np.log1p(x))
    return x if law is None else -np.log(np.maximum(law.transform(x), 1e-300))


def shares(cost: ArrayLike, lam: ArrayLike, access_s: float, level: ArrayLike) -> Floats:
    """Return the shares of accesses, summing to 1, with the smallest sum of cost times the bound on staleness.

    The bound is that of a page that changes at rate ln(1/h) and is visited evenly, so the optimum has the same form.
    If costs are proportional to rates of change, it is (34).

    Examples
    --------
    >>> shares([1.0, 2.0, 5.0], [1.0, 2.0, 5.0], 0.1, [0.1, 0.2, 0.5]).round(6)
    array([0.125, 0.25 , 0.625])
    """
    cost, lam, level = (np.asarray(each, np.float64) for each in (cost, lam, level))
    return allocation.optimum(_weight(cost, lam, access_s, level), level, 1.0).rate


def random_shares(cost: ArrayLike, lam: ArrayLike, access_s: float, level: ArrayLike) -> Floats:
    """Return the shares of accesses, summing to 1, with the smallest sum of cost times staleness at random accesses.

    Examples
    --------
    >>> random_shares([1.0, 3.0], [1.0, 3.0], 1.0, np.log([2.0, 4.0])).round(6)
    array([0.25, 0.75])
    """
    cost, lam, level = (np.asarray(each, np.float64) for each in (cost, lam, level))
    grown = np.expm1(np.minimum(level, 700.0))
    return random_optimum(_weight(cost, lam, access_s, grown), grown, 1.0).rate


def _weight(cost: Floats, lam: Floats, access_s: float, level: Floats) -> Floats:
    return cost * level / np.where(lam > 0, lam * access_s, 1.0)
