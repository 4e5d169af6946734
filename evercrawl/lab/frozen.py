"""The optimal schedule, kept as it was when all rates, or all importance, went to other pages: in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.lab.base import Claim
from evercrawl.lab.contest import listed, mean, populations, unrun
from evercrawl.schedule import allocation

if TYPE_CHECKING:
    from evercrawl.lab.base import Options, Row
    from evercrawl.simulate.population import Population

BUDGETS: Final = (0.03, 0.3)
FROZEN: Final = {"frozen optimum, all rates re-mixed": (0.77, 0.87),
                 "frozen optimum, all importance re-mixed": (0.66, 0.80)}  # fmt: skip
"""What was printed, at 3 and 30 %."""
_DRAWS: Final = 20
_WITHIN: Final = 0.03


def frozen(pages: Population, budget: float, seed: int) -> tuple[float, float]:
    """Return what the old schedule keeps of the new optimum, where rates, and where importance, went to other pages."""
    draw, rate = np.random.default_rng([seed, 3]), pages.optimum(budget).rate
    kept = list[tuple[float, float]]()
    for _ in range(_DRAWS):
        order = draw.permutation(len(pages))
        each = ((pages.weight, pages.lam_per_day[order]), (pages.weight[order], pages.lam_per_day))
        one, other = (
            float(np.dot(w, allocation.freshness(rate, lam))) / allocation.optimum(w, lam, budget * len(pages)).value
            for w, lam in each
        )
        kept.append((one, other))
    rates, importance = np.mean(kept, axis=0).tolist()
    return float(rates), float(importance)


def frozen_rows(options: Options) -> list[Row]:
    """Return a row for each re-mix, budget and population, as the mean of twenty draws."""
    rows = list["Row"]()
    for correlation, seed, pages in populations(options, (0.0,)):
        for budget in BUDGETS:
            for name, ratio in zip(FROZEN, frozen(pages, budget, seed), strict=True):
                best = pages.optimum(budget).value
                rows.append(unrun(name, seed, budget, ratio * best, best) | {"correlation": correlation})
    return rows


def frozen_claim(rows: list[Row], name: str) -> Claim:
    """Return that what is kept is as printed."""
    found = [mean(rows, policy=name, budget=budget) for budget in BUDGETS]
    holds = all(abs(one - other) <= _WITHIN for one, other in zip(found, FROZEN[name], strict=True))
    return Claim(f"{name}: as printed, at 3 and 30 %", listed(FROZEN[name]), listed(found), holds)
