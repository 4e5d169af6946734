"""The best that any schedule can do when all rates of change are known: the yardstick.

Pages change at random moments (Poisson) at rate lam, matter w, and are visited evenly, f times a second, for uneven
visits earn less. The problem max sum w F(f, lam), with sum f = budget, has one multiplier, the price P, and each page
for itself solves w lam^-k v(x) = P, where x = lam / f; for freshness that is h(x) = P lam / w. See `objectives` for
other ends than freshness. A visit may cost c0, and c1 more where the page has changed: then the price is that of a unit
of cost, and the right side is P (c0 + c1 h(x)). A host that gives less than its pages are worth has a price of its own
above P.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from evercrawl.schedule.objectives import FRESHNESS, Objective, freshness, h, interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from evercrawl.types import Floats, Ints

__all__ = ["Allocation", "Constrained", "constrained", "freshness", "h", "interval", "optimum", "rates_at"]

_STEPS: Final = 200
_EXACT: Final = 1e-15
_ABOVE: Final = 1e-6  # of a logarithm: a price above which nothing is visited, whatever is rounded
Spent: TypeAlias = "Callable[[Floats], tuple[Floats, Floats]]"


class Allocation(NamedTuple):
    """The optimum.

    Attributes
    ----------
    price
        P: what one more unit of the budget a second would add to `value` (or take from it, where it is a cost).
    rate
        f of each page, visits a second; 0 for those that are not worth any.
    value
        sum w F, divided by sum w the mean probability that a copy is fresh, weighted; by other objectives the sum of
        w times the mean harmonic cost, or age.
    """

    price: float
    rate: Floats
    value: float


class Constrained(NamedTuple):
    """The optimum where hosts give no more than so many visits.

    Attributes
    ----------
    price
        P: what one more visit a second would add, were it to a host that is not at its cap; 0 where all are.
    extra
        mu of each host, shape (hosts,): what raising its cap by a visit a second would add; 0 below its cap.
    rate, value
        As of `Allocation`.
    """

    price: float
    extra: Floats
    rate: Floats
    value: float


class _Moving(NamedTuple):
    """The pages that change and matter, and what visits to them cost."""

    weight: Floats
    lam: Floats
    cost: Floats
    dear: Floats  # what a change costs, in units of the cost of a visit
    objective: Objective

    def take(self, log_price: Floats) -> tuple[Floats, Floats, Floats]:
        """Return rates, what they cost, and its derivative by the logarithm of the price."""
        scale = self.weight / self.lam**self.objective.power
        x = interval(np.exp(np.minimum(log_price, 690.0)) * self.cost / scale, self.objective, self.dear)
        visited = np.isfinite(x)
        x = np.where(visited, x, 1.0)
        rate = np.where(visited, self.lam / x, 0.0)
        bill, worth = 1.0 + self.dear * h(x), self.objective.worth(x)
        steep = self.objective.slope(x) / worth - self.dear * x * np.exp(-x) / bill
        slope = -rate / x * self.cost * bill / np.maximum(steep, 1e-300)
        return rate, rate * self.cost * (1.0 - self.dear * np.expm1(-x)), slope

    @property
    def highest(self) -> Floats:
        """The logarithms of the prices above which no visit is worth it; infinity where there are none."""
        with np.errstate(divide="ignore"):
            limit: Floats = self.objective.limit * self.weight / (self.cost * (1.0 + self.dear))
            found: Floats = np.log(limit) - self.objective.power * np.log(self.lam)
            return found


def rates_at(price: ArrayLike, weight: ArrayLike, lam: ArrayLike, objective: Objective = FRESHNESS) -> Floats:
    """Return how often each page is visited in the optimum in which a visit costs `price`.

    Examples
    --------
    The second page changes too often to be worth it:

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
    """Return the best allocation of a budget a second to pages of known weight and rate of change.

    Parameters
    ----------
    weight, lam
        w and the rate of change of each page, shape (n,); at least one page matters and changes.
    budget
        Visits a second, or units of cost, above 0.
    objective
        What to have much of (freshness), or little.
    cost, cost_changed
        Of a visit in any case, and in addition if the page has changed.

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
    assert budget > 0, "there is something to allocate"
    moving = (lam > 0) & (weight > 0)
    assert moving.any(), "there is a page to allocate it to"
    pages = _Moving(weight[moving], lam[moving], cost[moving], cost_changed[moving] / cost[moving], objective)
    price, found = _shared(pages, np.zeros(int(moving.sum()), np.int64), np.array([budget]))
    rate = np.zeros(weight.shape)
    rate[moving] = found
    return Allocation(float(np.exp(price[0])), rate, _worth(weight, rate, lam, objective))


def constrained(
    weight: ArrayLike, lam: ArrayLike, host: Ints, cap: ArrayLike, budget: float, objective: Objective = FRESHNESS
) -> Constrained:
    """Return the best allocation where no host gets more visits a second than its cap.

    The price at which a host's pages use up its cap does not depend on what happens on other hosts; so that is found
    first, for all hosts at once, and no page of the host is ever cheaper.

    Parameters
    ----------
    weight, lam
        w and the rate of change of each page, shape (n,).
    host
        Number of each page's host, shape (n,).
    cap
        Visits a second that each host gives at most, shape (hosts,); infinity where there is no limit.
    budget
        Visits a second, above 0; what the caps do not let be used is left.

    Examples
    --------
    The first two pages share a host that gives one visit a second; what they may not have goes to the third:

    >>> found = constrained([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], np.array([0, 0, 1]), [1.0, np.inf], 3.0)
    >>> found.rate.round(6), bool(found.extra[0] > 0), float(found.extra[1])
    (array([0.5, 0.5, 2. ]), True, 0.0)
    """
    weight, lam = np.broadcast_arrays(np.asarray(weight, np.float64), np.asarray(lam, np.float64))
    cap, host = np.asarray(cap, np.float64), np.asarray(host, np.int64)
    assert budget > 0, "there is something to allocate"
    rate, extra, price = np.zeros(weight.shape), np.zeros(cap.shape), 0.0
    moving = (lam > 0) & (weight > 0) & (cap[host] > 0)
    if not moving.any():
        return Constrained(price, extra, rate, _worth(weight, rate, lam, objective))
    one = np.ones(int(moving.sum()))
    pages, numbers = _Moving(weight[moving], lam[moving], one, 0.0 * one, objective), host[moving]
    dearest, capped = _shared(pages, numbers, np.where(np.bincount(numbers, minlength=len(cap)) > 0, cap, np.inf))
    found = capped
    if not capped.sum() <= budget:
        shared, found = _shared(pages, 0 * numbers, np.array([budget]), dearest[numbers], capped)
        price = float(np.exp(shared[0]))
    rate[moving] = found
    extra = np.maximum(np.exp(dearest) - price, 0.0)
    return Constrained(price, extra, rate, _worth(weight, rate, lam, objective))


def _worth(weight: Floats, rate: Floats, lam: Floats, objective: Objective) -> float:
    mean = objective.mean(rate, lam)
    return float((weight * np.where(weight > 0, mean, 0.0)).sum())


def _shared(
    pages: _Moving, group: Ints, budget: Floats, floor: Floats | None = None, at_floor: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return for each group the logarithm of the price at which its pages use its budget, and the rates of all.

    Where a page has a `floor`, no price below it counts, and its rate there is `at_floor`. A group whose budget has no
    end has price 0 and rates without end.
    """
    floor = np.full(len(group), -np.inf) if floor is None else floor
    at_floor = np.full(len(group), np.inf) if at_floor is None else at_floor

    def take(log_price: Floats) -> tuple[Floats, Floats, Floats]:
        rate, spent, slope = pages.take(log_price[group])
        low = log_price[group] <= floor
        return np.where(low, at_floor, rate), np.where(low, at_floor, spent), np.where(low, 0.0, slope)

    def total(log_price: Floats) -> tuple[Floats, Floats]:
        _, spent, slope = take(log_price)
        return _sums(group, spent, len(budget)), _sums(group, slope, len(budget))

    highest, bounded = np.full(len(budget), -np.inf), np.isfinite(budget)
    np.maximum.at(highest, group, pages.highest)
    eager = np.bincount(
        group, np.sqrt(0.5 * pages.weight * pages.cost / pages.lam ** (pages.objective.power - 2)), len(budget)
    )
    limit = np.where(bounded, budget, 1.0)
    first = 2 * np.log(np.maximum(eager, 1e-300) / limit)  # where many visits of each page find it unchanged
    low, high = _bracket(total, limit, np.minimum(first, highest - 0.1), highest + _ABOVE)
    (more, use, _), (less, use_less, _) = take(low), take(high)
    used, used_less = (_sums(group, each, len(budget)) for each in (use, use_less))
    over = used - used_less  # prices so near to each other differ only where a page is hardly worth it
    part = np.where(over > 0, (budget - used_less) / np.where(over > 0, over, 1.0), 0.0)
    rate = less + (more - less) * np.clip(part, 0.0, 1.0)[group]
    return np.where(bounded, 0.5 * (low + high), -np.inf), np.where(bounded[group], rate, np.inf)


def _sums(group: Ints, values: Floats, count: int) -> Floats:
    return np.bincount(group, values, count).astype(np.float64)


def _bracket(total: Spent, budget: Floats, first: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return for each group logarithms of two prices, at which it uses its budget or more, and its budget or less.

    By Newton's steps on the logarithm of what is used, from `first`; halving where these lead out of what is known.
    The two are one where it is used exactly, or so near to each other that no other number lies between.
    """
    low, at, wide = np.full(len(budget), -np.inf), np.array(first), 1.0
    done = np.isneginf(high)  # groups without pages
    low, at = np.where(done, 0.0, low), np.where(done, 0.0, at)
    for _ in range(_STEPS):
        used, slope = total(at)
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.log(used / budget)
            following = at - np.clip(off * used / slope, -20.0, 20.0)
        exact = ~done & (np.abs(off) <= 1e-9) & (np.abs(following - at) <= _EXACT * np.maximum(np.abs(at), 1.0))
        exact |= ~done & (used == budget)
        low = np.where(~done & ((off >= 0) | exact), at, low)
        high = np.where(~done & ((off < 0) | exact), at, high)
        done |= exact | (np.isfinite(low) & (high - low <= _EXACT * np.maximum(np.abs(high), 1.0)))
        if done.all():
            break
        inside = (following > low) & (following < high)
        halved, wide = np.where(np.isfinite(low), 0.5 * (low + high), high - wide), 2.0 * wide
        at = np.where(done, at, np.where(inside, following, np.where(np.isfinite(high), halved, at + wide)))
    return low, high
