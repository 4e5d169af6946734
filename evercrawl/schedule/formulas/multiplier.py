"""The price at which pages use up a budget, for many groups of pages and budgets at once."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from evercrawl.schedule.formulas.intervals import interval
from evercrawl.schedule.formulas.objectives import Objective, h
from evercrawl.types import Floats, Ints

_STEPS: Final = 200
_EXACT: Final = 1e-15
_ABOVE: Final = 1e-6  # margin in logarithms: no page is visited at a price above it, whatever the rounding
Spent: TypeAlias = "Callable[[Floats], tuple[Floats, Floats]]"


class Moving(NamedTuple):
    """The pages with positive weight and rate of change, and the costs of visits to them."""

    weight: Floats
    lam: Floats
    cost: Floats
    dear: Floats  # additional cost of a change, in units of the cost of a visit
    objective: Objective

    def take(self, log_price: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the rates, their cost, and its derivative by the logarithm of the price."""
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
        """The logarithms of the prices above which no visit is worth it; infinity if there is no such price."""
        with np.errstate(divide="ignore"):
            limit: Floats = self.objective.limit * self.weight / (self.cost * (1.0 + self.dear))
            found: Floats = np.log(limit) - self.objective.power * np.log(self.lam)
            return found


def shared(
    pages: Moving, group: Ints, budget: Floats, floor: Floats | None = None, at_floor: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return for each group the logarithm of the price at which its pages use its budget, and the rates of all pages.

    For a page with a `floor`, prices below the floor are replaced by it, and its rate there is `at_floor`. A group with
    an infinite budget has price 0 and infinite rates.
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
    first = 2 * np.log(np.maximum(eager, 1e-300) / limit)  # approximation for many visits that find no change
    low, high = _bracket(total, limit, np.minimum(first, highest - 0.1), highest + _ABOVE)
    (more, use, _), (less, use_less, _) = take(low), take(high)
    used, used_less = (_sums(group, each, len(budget)) for each in (use, use_less))
    over = used - used_less  # prices this close differ only for pages that are hardly worth a visit
    part = np.where(over > 0, (budget - used_less) / np.where(over > 0, over, 1.0), 0.0)
    rate = less + (more - less) * np.clip(part, 0.0, 1.0)[group]
    return np.where(bounded, 0.5 * (low + high), -np.inf), np.where(bounded[group], rate, np.inf)


def _sums(group: Ints, values: Floats, count: int) -> Floats:
    return np.bincount(group, values, count).astype(np.float64)


def _bracket(total: Spent, budget: Floats, first: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return for each group the logarithms of two prices that bracket its budget: it uses at least, and at most, that.

    The search uses Newton steps on the logarithm of the used budget, from `first`, and bisection if a step leaves the
    bracket. The two prices are equal if the budget is met exactly, or so close that no number lies between them.
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
