"""Objectives of `optimal`: each achieves the most by its own measure, in closed form.

Rates are known, and each objective allocates the same budget with the code that crawls use. Freshness, the harmonic
cost and the age of every allocation follow in closed form. For freshness by bytes, all allocations are scaled to spend
the same number of bytes.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from evercrawl.lab.base import Claim, LabOptions, Row, Say
from evercrawl.lab.contests.byte_costs import Costs, costs
from evercrawl.lab.contests.comparison import closed_form, unrun
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import along
from evercrawl.schedule.formulas.objectives import OBJECTIVES, freshness
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.optimal import Optimal
from evercrawl.types import Floats

ENDS: Final = {
    "freshness": "freshness",
    "harmonic": "the harmonic cost",
    "age": "age, in days",
    "bytes": "freshness for the same bytes",
}
"""The objectives, and the measure of each; for the harmonic cost and age, less is better."""
BUDGETS: Final = (0.01, 0.1, 1.0)
_GAINS: Final = ("freshness", "bytes")
_LONGEST_CYCLES: Final = 15.0  # cycles between visits; a page with fewer visits counts as visited at this interval
_HALVINGS: Final = 60


def rates(pages: Population, objective: str, each: Costs, budget: float) -> Floats:
    """Return the visits per day that `optimal` gives each page, shape (n,); their mean is `budget`. Rates are known."""
    lam, n = pages.lam_per_day, len(pages)
    none, one = np.zeros(n), np.ones(n)
    of = Pages(np.arange(n, dtype=np.uint32), none, pages.weight, none, 1e9 * one, 1e9 / lam, *each, none)
    found = Optimal(objective).allocate(of, pages.weight, lam, budget * n)
    return found * (budget * n / float(found.sum()))


def spent(rate: Floats, lam: Floats, each: Costs) -> float:
    """Return the cost of visits per day with conditional requests; the unit is the size of an average page.

    >>> from evercrawl.lab.contests.byte_costs import Costs
    >>> round(spent(np.ones(1), np.ones(1), Costs(np.ones(1), np.ones(1))), 6)
    1.632121
    """
    finds = -np.expm1(-lam / np.where(rate > 0, rate, np.inf))
    return float((rate * (each.cost + each.cost_changed * finds)).sum())


def spending(rate: Floats, lam: Floats, each: Costs, budget: float) -> Floats:
    """Return the rates, scaled by one factor so that they spend a budget in bytes."""
    low, high = 1e-9, 1e9
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if spent(middle * rate, lam, each) <= budget else (low, middle)
    return low * rate


def measured(pages: Population, seed: int, budget: float) -> dict[str, dict[str, float]]:
    """Return the value of each objective by each measure: measure -> objective -> value."""
    w, lam, each = pages.weight, pages.lam_per_day, costs(len(pages), seed)
    given = {name: rates(pages, name, each, budget) for name in ENDS}
    seen = {name: np.maximum(rate, budget / _LONGEST_CYCLES) for name, rate in given.items()}
    found = {
        of: {
            name: float(np.average(OBJECTIVES[of].mean(given[name] if of in _GAINS else seen[name], lam), weights=w))
            for name in ENDS
        }
        for of in OBJECTIVES
    }
    bytes_a_day = spent(given["bytes"], lam, each)
    same = {name: spending(rate, lam, each, bytes_a_day) for name, rate in given.items()}
    return found | {"bytes": {name: float(np.average(freshness(rate, lam), weights=w)) for name, rate in same.items()}}


def label(of: str, objective: str) -> str:
    """Return the name of a row.

    >>> label("age", "harmonic")
    'optimal, objective=harmonic: age, in days'
    """
    return f"optimal, objective={objective}: {ENDS[of]}"


def rows(options: LabOptions, say: Say) -> list[Row]:
    """Return a row for each measure and objective; `ratio` compares it with the objective made for that measure."""
    return closed_form(_measured, options, BUDGETS, say)


def _measured(pages: Population, seed: int, budget: float) -> Iterator[Row]:
    for of, values in measured(pages, seed, budget).items():
        for objective, value in values.items():
            part = value / values[of] if of in _GAINS else values[of] / value
            yield unrun(label(of, objective), value, values[of], ratio=part)


def claims(found: list[Row], *, promised: bool) -> list[Claim]:
    """Return the claims that each measure's own objective is the best by it, in every draw and at every budget."""
    return [_best(found, of, promised=promised) for of in ENDS]


def _best(found: list[Row], of: str, *, promised: bool) -> Claim:
    names = {label(of, objective): objective for objective in ENDS}
    table = {objective: along(found, name, BUDGETS, "value") for name, objective in names.items()}
    told = "; ".join(f"{name} {', '.join(f'{each:.3g}' for each in values)}" for name, values in table.items())
    own = label(of, of)
    holds = all(float(row["ratio"]) < 1.0 for row in found if row["policy"] in names and row["policy"] != own)
    return Claim(f"optimal: objective={of} is best by {ENDS[of]}: 1, 10, 100 %", "(ours)", told, holds, promised)
