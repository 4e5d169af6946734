"""The value of visits at fixed rates, in closed form: the rows of the comparison that need no run."""

import math
from collections.abc import Callable, Container
from typing import Final, TypeAlias

import numpy as np

from evercrawl.lab.polling.population import Population
from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.policies.azar import fresh_at_random, random_optimum
from evercrawl.schedule.policies.lambda_crawl import harmonic_optimum
from evercrawl.schedule.policies.marked_point.counts import by_price
from evercrawl.schedule.policies.partition import grouped
from evercrawl.types import Floats

Rule: TypeAlias = Callable[[Floats, Floats, float], Floats]

_GROUPS: Final = 20
_CLUSTERING: Final = 50


def proportional_to(weight: Floats, budget: float) -> Floats:
    """Return rates proportional to `weight`, with the budget as their sum.

    >>> proportional_to(np.array([1.0, 3.0]), 8.0)
    array([2., 6.])
    """
    return np.asarray(weight * (budget / weight.sum()))


def whole_visits(weight: Floats, lam: Floats, budget: float, each: float) -> Floats:
    """Return the best rates if visits in a horizon are whole numbers, on average `each` per page.

    Wolf et al. (2002). Optimal crawling strategies for web search engines.

    Examples
    --------
    >>> whole_visits(np.array([1.0, 1.0]), np.array([1.0, 100.0]), 2.0, 1.0)
    array([2., 0.])
    """
    horizon = each * len(lam) / budget
    return by_price(weight, lam, horizon, round(each * len(lam))).each / horizon


EVEN: Final[dict[str, Rule]] = {
    "Wolf, 10 visits a page": lambda w, lam, budget: whole_visits(w, lam, budget, 10.0),
    "Wolf, 1 visit a page": lambda w, lam, budget: whole_visits(w, lam, budget, 1.0),
    "Azar, even": lambda w, lam, budget: random_optimum(w, lam, budget).rate,
    "LambdaCrawl, even": lambda w, lam, budget: harmonic_optimum(w, lam, budget).rate,
    "f ~ w": lambda w, lam, budget: proportional_to(w, budget),
    "Carney pf, clustered": lambda w, lam, budget: _grouped(w, lam, budget, "pf", _CLUSTERING),
    "Carney pf": lambda w, lam, budget: _grouped(w, lam, budget, "pf"),
    "Carney p": lambda w, lam, budget: _grouped(w, lam, budget, "p"),
    "Carney lam": lambda w, lam, budget: _grouped(w, lam, budget, "lam"),
    "Carney p/lam": lambda w, lam, budget: _grouped(w, lam, budget, "p_over_lam"),
    "f ~ sqrt(w lam)": lambda w, lam, budget: proportional_to(np.sqrt(w * lam), budget),
    "uniform": lambda w, lam, budget: np.full(len(w), budget / len(w)),
    "f ~ w lam": lambda w, lam, budget: proportional_to(w * lam, budget),
    "Coffman (34), f ~ lam": lambda w, lam, budget: proportional_to(lam, budget),
}
"""Rules that give rates of visits from importance, rate of change and budget; visits are evenly spaced."""

RANDOM: Final[dict[str, Rule]] = {
    "Azar, random": lambda w, lam, budget: random_optimum(w, lam, budget).rate,
    "LambdaCrawl, random": lambda w, lam, budget: harmonic_optimum(w, lam, budget).rate,
}
"""The same, with visits at random moments."""


def still(pages: Population, budget: float, names: Container[str] | None = None) -> dict[str, float]:
    """Return the share of the optimum that each rule (or each named one) reaches, by its name."""
    weight, lam = pages.weight, pages.lam_per_day
    best = pages.optimum(budget).value * float(weight.sum())
    total = budget * len(pages)
    found = dict[str, float]()
    for rules, fresh in ((EVEN, allocation.freshness), (RANDOM, fresh_at_random)):
        for name, rule in rules.items():
            if names is None or name in names:
                found[name] = float(np.dot(weight, fresh(rule(weight, lam, total), lam))) / best
    return found


def visited_every(pages: Population, cycles: float, budget: float, days: float) -> float:
    """Return the freshness in the second half of a run that visits each page every `days` days.

    The first cycle visits the pages in order of importance. The result is divided by the optimum, which spends the
    whole budget.

    Examples
    --------
    Two pages that change once a day, visited at six in the morning and at six in the evening of the first day. On the
    second day, without another visit:

    >>> from evercrawl.lab.polling.population import Population
    >>> two = Population(np.ones(2), np.ones(2), np.zeros(2, np.int64))
    >>> fresh = visited_every(two, 2.0, 1.0, 30.0) * two.optimum(1.0).value
    >>> round(fresh, 3), round(float((np.exp(-0.75) + np.exp(-0.25)) / 2 * (1 - np.exp(-1.0))), 3)
    (0.395, 0.395)

    Visits every day keep as much as evenly spaced visits:

    >>> round(visited_every(two, 2.0, 1.0, 1.0) * two.optimum(1.0).value, 3), round(float(1 - np.exp(-1.0)), 3)
    (0.632, 0.632)
    """
    first = np.empty(len(pages))
    first[np.argsort(-pages.weight, kind="stable")] = (np.arange(len(pages)) + 0.5) / len(pages) / budget
    lam, begin, end = pages.lam_per_day, cycles / 2 / budget, cycles / budget
    fresh = np.zeros(len(pages))
    for visit in range(math.ceil(end / days)):
        visited_at = first + visit * days
        young, old = (np.clip(day, begin, end) - visited_at for day in (visited_at, visited_at + days))
        fresh += (np.exp(-lam * young) - np.exp(-lam * old)) / (lam * (end - begin))
    return float(np.average(fresh, weights=pages.weight)) / pages.optimum(budget).value


def _grouped(weight: Floats, lam: Floats, budget: float, key: str, steps: int = 0) -> Floats:
    groups = grouped(weight, lam, budget, key, _GROUPS, steps)
    return groups.rate[groups.label]
