"""The optimal allocation of visits for known rates of change: the reference for all schedules.

Pages change at random moments (Poisson) at rate lam, have weight w, and are visited evenly, f times per second, because
uneven visits gain less. The problem max sum w F(f, lam), with sum f = budget, has one multiplier, the price P, and each
page separately solves w lam^-k v(x) = P, where x = lam / f; for freshness this is h(x) = P lam / w. `objectives` lists
the other objectives. A visit may cost c0, and c1 more if the page has changed: then P is the price of a unit of cost,
and the right side is P (c0 + c1 h(x)). A host that allows fewer visits than its pages are worth has its own price,
above P.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas.intervals import interval
from evercrawl.schedule.formulas.multiplier import Moving, shared
from evercrawl.schedule.formulas.objectives import FRESHNESS, Objective, freshness, h
from evercrawl.types import Floats, Ints

__all__ = ["Allocation", "Constrained", "constrained", "freshness", "h", "interval", "optimum", "rates_at"]


class Allocation(NamedTuple):
    """The optimum.

    Attributes
    ----------
    price
        P: the increase of `value` per additional unit of the budget per second (the decrease, if `value` is a cost).
    rate
        f of each page, visits per second; 0 for pages that are not worth a visit.
    value
        sum w F; divided by sum w, it is the weighted mean probability that a copy is fresh. For other objectives, the
        sum of w times the mean harmonic cost, or times the mean age.
    """

    price: float
    rate: Floats
    value: float


class Constrained(NamedTuple):
    """The optimum with a limit on the visits of each host.

    Attributes
    ----------
    price
        P: the gain of one more visit per second to a host that is below its cap; 0 if all hosts are at their caps.
    extra
        mu of each host, shape (hosts,): the gain of raising its cap by one visit per second; 0 below its cap.
    rate, value
        As in `Allocation`.
    """

    price: float
    extra: Floats
    rate: Floats
    value: float


def rates_at(price: ArrayLike, weight: ArrayLike, lam: ArrayLike, objective: Objective = FRESHNESS) -> Floats:
    """Return the visit rate of each page in the optimum in which a visit costs `price`.

    Examples
    --------
    The second page changes too often to be worth a visit:

    >>> rates_at(0.5, [1.0, 1.0], [0.1, 4.0]).round(4)
    array([0.2814, 0.    ])
    """
    columns = (np.asarray(each, np.float64) for each in (price, weight, lam))
    price, weight, lam = np.broadcast_arrays(*columns)
    moving = (lam > 0) & (weight > 0)
    level = price * np.where(moving, lam, 1.0) ** objective.power / np.where(moving, weight, 1.0)
    return np.where(moving, lam / interval(np.where(moving, level, 1.0), objective), 0.0)


def optimum(
    weight: ArrayLike,
    lam: ArrayLike,
    budget: float,
    objective: Objective = FRESHNESS,
    cost: ArrayLike = 1.0,
    cost_changed: ArrayLike = 0.0,
) -> Allocation:
    """Return the best allocation of a budget per second to pages of known weight and rate of change.

    Parameters
    ----------
    weight, lam
        w and the rate of change of each page, shape (n,); at least one page has positive weight and rate.
    budget
        Visits per second, or units of cost, above 0.
    objective
        The quantity to maximise (freshness) or minimise (all others).
    cost, cost_changed
        Cost of a visit in any case, and additional cost if the page has changed.

    Examples
    --------
    >>> found = optimum([1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0], 5.0)
    >>> found.rate.round(2)
    array([1.15, 1.36, 1.35, 1.14, 0.  ])

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, section 4; weights: section 6.
    """
    columns = (np.asarray(each, np.float64) for each in (weight, lam, cost, cost_changed))
    weight, lam, cost, cost_changed = np.broadcast_arrays(*columns)
    assert budget > 0, "the budget is positive"
    moving = (lam > 0) & (weight > 0)
    assert moving.any(), "a page has positive weight and rate"
    pages = Moving(weight[moving], lam[moving], cost[moving], cost_changed[moving] / cost[moving], objective)
    price, found = shared(pages, np.zeros(int(moving.sum()), np.int64), np.array([budget]))
    rate = np.zeros(weight.shape)
    rate[moving] = found
    return Allocation(float(np.exp(price[0])), rate, _worth(weight, rate, lam, objective))


def constrained(
    weight: ArrayLike, lam: ArrayLike, host: Ints, cap: ArrayLike, budget: float, objective: Objective = FRESHNESS
) -> Constrained:
    """Return the best allocation in which no host gets more visits per second than its cap.

    The price at which a host's pages use up its cap does not depend on other hosts. It is computed first, for all hosts
    at once, and is a lower bound of the price of the host's pages.

    Parameters
    ----------
    weight, lam
        w and the rate of change of each page, shape (n,).
    host
        Number of each page's host, shape (n,).
    cap
        Maximum visits per second of each host, shape (hosts,); infinity if there is no limit.
    budget
        Visits per second, above 0; visits that the caps exclude stay unused.

    Examples
    --------
    The first two pages share a host with a cap of one visit per second; the rest goes to the third:

    >>> found = constrained([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], np.array([0, 0, 1]), [1.0, np.inf], 3.0)
    >>> found.rate.round(6), bool(found.extra[0] > 0), float(found.extra[1])
    (array([0.5, 0.5, 2. ]), True, 0.0)
    """
    weight, lam = np.broadcast_arrays(np.asarray(weight, np.float64), np.asarray(lam, np.float64))
    cap, host = np.asarray(cap, np.float64), np.asarray(host, np.int64)
    assert budget > 0, "the budget is positive"
    rate, extra, price = np.zeros(weight.shape), np.zeros(cap.shape), 0.0
    moving = (lam > 0) & (weight > 0) & (cap[host] > 0)
    if not moving.any():
        return Constrained(price, extra, rate, _worth(weight, rate, lam, objective))
    one = np.ones(int(moving.sum()))
    pages, numbers = Moving(weight[moving], lam[moving], one, 0.0 * one, objective), host[moving]
    dearest, capped = shared(pages, numbers, np.where(np.bincount(numbers, minlength=len(cap)) > 0, cap, np.inf))
    found = capped
    if not capped.sum() <= budget:
        together, found = shared(pages, 0 * numbers, np.array([budget]), dearest[numbers], capped)
        price = float(np.exp(together[0]))
    rate[moving] = found
    extra = np.maximum(np.exp(dearest) - price, 0.0)
    return Constrained(price, extra, rate, _worth(weight, rate, lam, objective))


def _worth(weight: Floats, rate: Floats, lam: Floats, objective: Objective) -> float:
    mean = objective.mean(rate, lam)
    return float((weight * np.where(weight > 0, mean, 0.0)).sum())
