"""Blends of freshness with the harmonic cost, which keep every page visited: their cost in freshness and their gain."""

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
"""theta, the share of the harmonic index: none, that of `price`, a larger one, the published one, and all."""
_MEASURED: Final = 0.05
LAMBDA: Final = "LambdaCrawl, its own random visits"
BUDGETS: Final = (0.01, 0.1, 1.0)
PRINTED: Final = {0.0: (8.14, 3.44, 0.395), 0.05: (2.17, 0.79, 0.135), 1.0: (1.836, 0.641, 0.124)}
PRINTED_LAMBDA: Final = (2.18, 0.855, 0.206)
"""LambdaCrawl's harmonic cost at these budgets, from earlier measurements."""
LOSSES: Final = (0.037, 0.009, 0.0006)
"""The share of freshness lost by theta = 0.05, from earlier measurements."""
LAMBDA_LOSSES: Final = (0.34, 0.16, 0.06)
"""The share of freshness lost by LambdaCrawl, from earlier measurements."""
NEVER: Final = {0.0: (0.52, 0.28, 0.04), 0.5: (0.57, 0.30, 0.05)}
"""The share of pages that the optimum never visits, by correlation, from earlier measurements."""
_CORRELATION: Final = 0.5  # of the published harmonic costs, as the losses published with them show
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
        The weighted mean of 1 + 1/2 + ... + 1/m, where m is the number of missed changes. A page with less than one
        visit in 15 cycles counts as visited once in 15 cycles.
    unvisited
        Number of pages that are never visited.
    """

    freshness: float
    harmonic: float
    unvisited: int


def blend(pages: Population, theta: float, budget: float) -> Blend:
    """Return the effect of visiting each page as soon as (1 - theta) V_F + theta V_H reaches the price."""
    w, lam, n = pages.weight, pages.lam_per_day, len(pages)
    x = changes(lambda x: w / lam * ((1 - theta) * h(x) + theta * missed(x)), lambda x: lam / x, budget * n, n)
    rate = lam / x
    cost = harmonic(np.maximum(rate, budget / _RUN_CYCLES), lam)
    fresh = float(np.average(freshness(rate, lam), weights=w))
    return Blend(fresh, float(np.average(cost, weights=w)), int(np.isinf(x).sum()))


def lambda_crawl(pages: Population, budget: float) -> Blend:
    """Return the effect of LambdaCrawl's rates at random moments: m is geometric then, and the cost ln(1 + lam / f)."""
    lam = pages.lam_per_day
    rate = harmonic_optimum(pages.weight, lam, budget * len(pages)).rate
    fresh = float(np.average(fresh_at_random(rate, lam), weights=pages.weight))
    cost = np.log1p(lam / np.maximum(rate, budget / _RUN_CYCLES))
    return Blend(fresh, float(np.average(cost, weights=pages.weight)), int((rate <= 0).sum()))


def label(theta: float) -> str:
    """Return the name of the row for a value of theta.

    >>> label(0.05)
    'harmonic part 0.05'
    """
    return f"harmonic part {theta:g}"


def rows(options: LabOptions, say: Say) -> list[Row]:
    """Return a row for each theta, budget and population; `abandoned` and `left` count the pages never visited."""
    return closed_form(_blended, options, BUDGETS, say, CORRELATIONS)


def _blended(pages: Population, _: int, budget: float) -> Iterator[Row]:
    best, blended = pages.optimum(budget).value, {label(theta): blend(pages, theta, budget) for theta in PARTS}
    for name, each in (blended | {LAMBDA: lambda_crawl(pages, budget)}).items():
        left = each.unvisited / len(pages)
        yield unrun(name, each.freshness, best, abandoned=each.unvisited, left=left, harmonic=each.harmonic)


def claims(found: list[Row]) -> list[Claim]:
    """Return claims about the cost and the gain of each theta, and about LambdaCrawl.

    The published figures are for pages whose importance and rates correlate, as the losses of freshness show.
    """
    most, fresh, own = (_by(found, name, "ratio") for name in (label(0.0), label(_MEASURED), LAMBDA))
    losses, others = ([1.0 - one / of for one, of in zip(each, most, strict=True)] for each in (fresh, own))
    none, some, alone, theirs = (_by(found, each, "harmonic") for each in (*map(label, (0.0, 0.05, 1.0)), LAMBDA))
    parts = {label(theta) for theta in PARTS[1:]}
    left = max(int(row["abandoned"]) for row in found if row["policy"] in parts)
    cut = "harmonic part 0.05: share of the harmonic cost without it (at least one visit in 15 cycles)"
    return [
        Claim("harmonic part 0.05: share of freshness lost, at budgets of 1, 10, 100 %", listed(LOSSES), listed(losses),
              at_least(LOSSES, losses, _WITHIN)),
        _costs("harmonic part 0.05: the harmonic cost", PRINTED[_MEASURED], some),
        _costs("harmonic part 1: the harmonic cost", PRINTED[1.0], alone),
        _costs(f"the harmonic cost of {LAMBDA}", PRINTED_LAMBDA, theirs),
        _costs(cut, _divided(PRINTED[_MEASURED], PRINTED[0.0]), _divided(some, none)),
        Claim(f"{LAMBDA}: share of freshness lost, at budgets of 1, 10, 100 %", listed(LAMBDA_LOSSES), listed(others),
              near(others, LAMBDA_LOSSES, 3 * _WITHIN)),
        _costs("harmonic part 1: share of LambdaCrawl's own cost", _divided(PRINTED[1.0], PRINTED_LAMBDA),
               _divided(alone, theirs)),
        Claim("any harmonic part leaves no page unvisited", "0", f"{left}", left == 0),
        *(_never(found, correlation, printed) for correlation, printed in NEVER.items()),
    ]  # fmt: skip


def _by(found: list[Row], name: str, column: str, correlation: float = _CORRELATION) -> list[float]:
    return along(found, name, BUDGETS, column, correlation=correlation)


def _divided(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(ones, others, strict=True)]


def _costs(said: str, printed: Sequence[float], costs: Sequence[float]) -> Claim:
    """Return the claim that costs are at most a tenth higher than the published ones."""
    holds = all(one <= other * (1.0 + _PART) for one, other in zip(costs, printed, strict=True))
    return Claim(f"{said}, at budgets of 1, 10, 100 %; at most a tenth more", listed(printed), listed(costs), holds)


def _never(found: list[Row], correlation: float, printed: Sequence[float]) -> Claim:
    left = _by(found, label(0.0), "left", correlation)
    holds = near(left, printed, 3 * _WITHIN)
    said = f"share of pages that the optimum never visits, correlation {correlation:g}, at budgets of 1, 10, 100 %"
    return Claim(said, listed(printed), listed(left), holds)
