"""Freshness with a part of the harmonic cost, so that no page is left for good: what it takes, and what it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evercrawl.lab.base import Claim
from evercrawl.lab.contest import listed, mean, populations, unrun
from evercrawl.lab.one_price import changes
from evercrawl.schedule.objectives import freshness, h, harmonic, missed

if TYPE_CHECKING:
    from evercrawl.lab.base import Options, Row, Say
    from evercrawl.simulate.population import Population

PARTS: Final = (0.0, 0.003, 0.02, 0.05)
"""theta: nothing, little, as `price` is shipped, and as figures were printed for."""
BUDGETS: Final = (0.01, 0.1, 1.0)
PRINTED: Final = {0.0: (8.14, 3.44, 0.395), 0.05: (2.17, 0.79, 0.135)}
"""The harmonic cost at these budgets, measured before."""
LOSSES: Final = (0.037, 0.009, 0.0006)
"""The part of the freshness that 0.05 took, measured before."""
_RUN_CYCLES: Final = 15.0
_WITHIN: Final = 0.01


class Blend(NamedTuple):
    """What a part of the harmonic index makes of visits.

    Attributes
    ----------
    freshness
        Weighted, from 0 to 1.
    harmonic
        The mean of 1 + 1/2 + ... + 1/m, weighted, m being the changes missed; a page that is visited less than once in
        15 cycles is looked at once in 15 cycles.
    unvisited
        How many pages are never visited.
    """

    freshness: float
    harmonic: float
    unvisited: int


def blend(pages: Population, theta: float, budget: float) -> Blend:
    """Return what comes of visits as soon as they are worth one price, (1 - theta) V_F + theta V_H."""
    w, lam, n = pages.weight, pages.lam_per_day, len(pages)
    x = changes(lambda x: w / lam * ((1 - theta) * h(x) + theta * missed(x)), lambda x: lam / x, budget * n, n)
    rate = lam / x
    cost = harmonic(np.maximum(rate, budget / _RUN_CYCLES), lam)
    fresh = float(np.average(freshness(rate, lam), weights=w))
    return Blend(fresh, float(np.average(cost, weights=w)), int(np.isinf(x).sum()))


def label(theta: float) -> str:
    """Return what the row of a part is called.

    >>> label(0.05)
    'harmonic part 0.05'
    """
    return f"harmonic part {theta:g}"


def rows(options: Options, say: Say) -> list[Row]:
    """Return a row for each part, budget and population; `abandoned` and `left` are those that are never visited."""
    found = list["Row"]()
    for correlation, seed, pages in populations(options):
        say(f"parts of the harmonic cost in closed form, correlation {correlation:g}, seed {seed}")
        for budget in BUDGETS:
            best = pages.optimum(budget).value
            for theta in PARTS:
                each = blend(pages, theta, budget)
                row = unrun(label(theta), seed, budget, each.freshness, best)
                never: Row = {"abandoned": each.unvisited, "left": each.unvisited / len(pages)}
                found.append(row | never | {"harmonic": each.harmonic, "correlation": correlation})
    return found


def claims(found: list[Row]) -> list[Claim]:
    """Return what a part of the harmonic cost takes and gives, in rows where importance and rates do not correlate."""
    losses, cuts = list[float](), list[float]()
    for budget in BUDGETS:
        (most, worst), (fresh, cost) = (
            [mean(found, name, policy=label(theta), correlation=0.0, budget=budget) for name in ("ratio", "harmonic")]
            for theta in (0.0, PARTS[-1])
        )
        losses.append(1.0 - fresh / most)
        cuts.append(cost / worst)
    some = {label(theta) for theta in PARTS[1:]}
    left = max(int(row["abandoned"]) for row in found if row["policy"] in some)
    printed = [one / other for one, other in zip(PRINTED[PARTS[-1]], PRINTED[0.0], strict=True)]
    return [
        Claim("a harmonic part of 0.05 takes little freshness: 1, 10, 100 %", listed(LOSSES), listed(losses),
              all(one <= other + _WITHIN for one, other in zip(losses, LOSSES, strict=True))),
        Claim("and leaves less of the harmonic cost (other pages)", listed(printed), listed(cuts), max(cuts) < 1),
        Claim("any part leaves no page without a visit", "0", f"{left}", left == 0),
    ]  # fmt: skip
