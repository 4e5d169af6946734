"""Freshness blended with the harmonic cost, so that no page is abandoned: what it costs, and what it gains."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from evercrawl.lab.base import Claim, LabOptions, Row, Say
from evercrawl.lab.contests.comparison import closed_form, unrun
from evercrawl.lab.contests.one_price import changes
from evercrawl.lab.contests.printed_ratios import CORRELATIONS
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import along, at_least, listed, near
from evercrawl.schedule.formulas.objectives import freshness, h, harmonic, missed
from evercrawl.schedule.policies.azar import fresh_at_random
from evercrawl.schedule.policies.lambda_crawl import harmonic_optimum

PARTS: Final = (0.0, 0.003, 0.02, 0.05, 1.0)
"""theta: nothing, as `price` is shipped, more, as figures were printed for, and nothing else."""
_MEASURED: Final = 0.05
LAMBDA: Final = "LambdaCrawl, its own random visits"
BUDGETS: Final = (0.01, 0.1, 1.0)
PRINTED: Final = {0.0: (8.14, 3.44, 0.395), 0.05: (2.17, 0.79, 0.135), 1.0: (1.836, 0.641, 0.124)}
PRINTED_LAMBDA: Final = (2.18, 0.855, 0.206)
"""The harmonic cost at these budgets, measured before."""
LOSSES: Final = (0.037, 0.009, 0.0006)
"""The part of the freshness that 0.05 took, measured before."""
LAMBDA_LOSSES: Final = (0.34, 0.16, 0.06)
"""The same of LambdaCrawl."""
NEVER: Final = {0.0: (0.52, 0.28, 0.04), 0.5: (0.57, 0.30, 0.05)}
"""Share of the pages that the optimum never visits, by correlation, measured before."""
_CORRELATION: Final = 0.5  # of what was printed of harmonic costs, as the losses beside them show
_PART: Final = 0.1
_RUN_CYCLES: Final = 15.0
_WITHIN: Final = 0.01


class Blend(NamedTuple):
    """The effect of a share of the harmonic index on visits.

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


def lambda_crawl(pages: Population, budget: float) -> Blend:
    """Return what comes of LambdaCrawl's rates at random moments: m is geometric then, and the cost ln(1 + lam / f)."""
    lam = pages.lam_per_day
    rate = harmonic_optimum(pages.weight, lam, budget * len(pages)).rate
    fresh = float(np.average(fresh_at_random(rate, lam), weights=pages.weight))
    cost = np.log1p(lam / np.maximum(rate, budget / _RUN_CYCLES))
    return Blend(fresh, float(np.average(cost, weights=pages.weight)), int((rate <= 0).sum()))


def label(theta: float) -> str:
    """Return what the row of a part is called.

    >>> label(0.05)
    'harmonic part 0.05'
    """
    return f"harmonic part {theta:g}"


def rows(options: LabOptions, say: Say) -> list[Row]:
    """Return a row for each part, budget and population; `abandoned` and `left` are those that are never visited."""
    return closed_form(_blended, options, BUDGETS, say, CORRELATIONS)


def _blended(pages: Population, _: int, budget: float) -> Iterator[Row]:
    best, blended = pages.optimum(budget).value, {label(theta): blend(pages, theta, budget) for theta in PARTS}
    for name, each in (blended | {LAMBDA: lambda_crawl(pages, budget)}).items():
        left = each.unvisited / len(pages)
        yield unrun(name, each.freshness, best, abandoned=each.unvisited, left=left, harmonic=each.harmonic)


def claims(found: list[Row]) -> list[Claim]:
    """Return what a part of the harmonic cost takes and gives, and LambdaCrawl beside it.

    What was printed is of pages whose importance and rates correlate, as the losses of freshness beside it show.
    """
    most, fresh, own = (_by(found, name, "ratio") for name in (label(0.0), label(_MEASURED), LAMBDA))
    losses, others = ([1.0 - one / of for one, of in zip(each, most, strict=True)] for each in (fresh, own))
    none, some, alone, theirs = (_by(found, each, "harmonic") for each in (*map(label, (0.0, 0.05, 1.0)), LAMBDA))
    parts = {label(theta) for theta in PARTS[1:]}
    left = max(int(row["abandoned"]) for row in found if row["policy"] in parts)
    cut = "and leaves of the harmonic cost without it, a last look after 15 cycles included"
    return [
        Claim("a harmonic part of 0.05 takes little freshness: 1, 10, 100 %", listed(LOSSES), listed(losses),
              at_least(LOSSES, losses, _WITHIN)),
        _costs("the harmonic cost with a part of 0.05", PRINTED[_MEASURED], some),
        _costs("the harmonic cost of nothing else (theta = 1)", PRINTED[1.0], alone),
        _costs(f"the harmonic cost of {LAMBDA}", PRINTED_LAMBDA, theirs),
        _costs(cut, _divided(PRINTED[_MEASURED], PRINTED[0.0]), _divided(some, none)),
        Claim(f"{LAMBDA}: freshness lost", listed(LAMBDA_LOSSES), listed(others),
              near(others, LAMBDA_LOSSES, 3 * _WITHIN)),
        _costs("of LambdaCrawl's own cost theta = 1 leaves", _divided(PRINTED[1.0], PRINTED_LAMBDA),
               _divided(alone, theirs)),
        Claim("any part leaves no page without a visit", "0", f"{left}", left == 0),
        *(_never(found, correlation, printed) for correlation, printed in NEVER.items()),
    ]  # fmt: skip


def _by(found: list[Row], name: str, column: str, correlation: float = _CORRELATION) -> list[float]:
    return along(found, name, BUDGETS, column, correlation=correlation)


def _divided(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(ones, others, strict=True)]


def _costs(said: str, printed: Sequence[float], costs: Sequence[float]) -> Claim:
    """Return that costs are as printed or less, or at most a tenth more."""
    holds = all(one <= other * (1.0 + _PART) for one, other in zip(costs, printed, strict=True))
    return Claim(f"{said}: 1, 10, 100 %, at most a tenth more", listed(printed), listed(costs), holds)


def _never(found: list[Row], correlation: float, printed: Sequence[float]) -> Claim:
    left = _by(found, label(0.0), "left", correlation)
    holds = near(left, printed, 3 * _WITHIN)
    said = f"pages that the optimum never visits, correlation {correlation:g}: 1, 10, 100 %"
    return Claim(said, listed(printed), listed(left), holds)
