"""Budgets in bytes with conditional requests: the value of exact costs, compared with simpler rules.

A response always costs some hundred bytes, c0, and the body, c1, only if the page has changed. Dividing the value of a
visit by any other cost than the exact one wastes bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from evercrawl.lab.base import Claim, LabOptions, Row, Say
from evercrawl.lab.contests.comparison import closed_form, unrun
from evercrawl.lab.contests.one_price import changes
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import along, listed
from evercrawl.schedule.formulas.objectives import freshness, h
from evercrawl.types import Floats

Divisor: TypeAlias = Callable[[Floats, Floats, Floats], Floats]

BUDGETS: Final = (0.01, 0.1)
"""Bytes per day, as a share of the size of all pages."""
EXACT: Final = "bytes: exact index"
UNCONDITIONAL: Final = "bytes: no conditional requests"
PRINTED: Final = {
    EXACT: (0.585, 0.855), "bytes: per expected byte": (0.563, 0.839), "bytes: per full size": (0.529, 0.802),
    "bytes: size ignored": (0.467, 0.768), UNCONDITIONAL: (0.470, 0.722),
}  # fmt: skip
"""Absolute freshness at 1 and 10 % of the bytes, from earlier measurements with another distribution of sizes."""
DIVISORS: Final[dict[str, Divisor]] = {
    EXACT: lambda c0, c1, x: c0 + c1 * h(x),
    "bytes: per expected byte": lambda c0, c1, x: c0 - c1 * np.expm1(-x),
    "bytes: per full size": lambda c0, c1, x: c0 + c1,
    "bytes: size ignored": lambda c0, c1, x: np.ones_like(x),
}
"""The divisor of a visit's value, by c0, c1 and the expected number of changes since the last visit."""
_HEAD_BYTES: Final = 600.0
_BODY_BYTES: Final = 40_000.0  # mean size of a body
_SPREAD: Final = 1.0  # standard deviation of the logarithm of a body's size
_STREAM: Final = 88


class Costs(NamedTuple):
    """The costs of visits; the unit is the size of an average page with its header; shape (n,) each.

    Attributes
    ----------
    cost, cost_changed
        The cost of any visit, and the additional cost if the page has changed.
    """

    cost: Floats
    cost_changed: Floats

    @property
    def unconditional(self) -> Costs:
        """The costs without conditional requests: every visit transfers the whole page."""
        return Costs(self.cost + self.cost_changed, np.zeros(len(self.cost)))


def costs(pages: int, seed: int) -> Costs:
    """Return the costs of visits: headers of 600 bytes, and log-normal bodies of 40,000 bytes on average.

    >>> drawn = costs(10_000, seed=1)
    >>> round(float((drawn.cost + drawn.cost_changed).mean()), 12), round(float(drawn.cost[0]), 3)
    (1.0, 0.015)
    """
    draw = np.random.default_rng([_STREAM, seed])
    body = draw.lognormal(-0.5 * _SPREAD**2, _SPREAD, pages) * _BODY_BYTES
    whole = float(body.mean()) + _HEAD_BYTES
    return Costs(np.full(pages, _HEAD_BYTES / whole), body / whole)


def kept_fresh(pages: Population, each: Costs, divisor: Divisor, budget: float) -> float:
    """Return the weighted freshness if each page is visited when its value, divided by `divisor`, reaches one price."""
    w, lam, (c0, c1) = pages.weight, pages.lam_per_day, each
    x = changes(
        lambda x: w / lam * h(x) / divisor(c0, c1, x),
        lambda x: (c0 - c1 * np.expm1(-x)) * lam / x,
        budget * len(pages),
        len(pages),
    )
    return float(np.average(freshness(lam / x, lam), weights=w))


def by_rule(pages: Population, seed: int, budget: float) -> dict[str, float]:
    """Return the freshness that each rule keeps, by the name of the rule."""
    drawn = costs(len(pages), seed)
    found = {name: kept_fresh(pages, drawn, divisor, budget) for name, divisor in DIVISORS.items()}
    return found | {UNCONDITIONAL: kept_fresh(pages, drawn.unconditional, DIVISORS[EXACT], budget)}


def rows(options: LabOptions, say: Say) -> list[Row]:
    """Return a row for each rule and budget, for pages whose importance and rates do not correlate.

    `ratio` is the share of the freshness of the exact index.
    """
    return closed_form(_by_rule, options, BUDGETS, say)


def _by_rule(pages: Population, seed: int, budget: float) -> Iterator[Row]:
    kept = by_rule(pages, seed, budget)
    yield from (unrun(name, value, kept[EXACT]) for name, value in kept.items())


def claims(found: list[Row]) -> list[Claim]:
    """Return the freshness of each rule with earlier figures, and the claim that coarser rules keep less."""
    table = {name: along(found, name, BUDGETS, "value") for name in PRINTED}
    told = [
        Claim(f"{name}: freshness at 1 and 10 % of the bytes (printed: other pages)", listed(PRINTED[name]),
              listed(figures), None)
        for name, figures in table.items()
    ]  # fmt: skip
    worse = [*pairwise(DIVISORS), (EXACT, UNCONDITIONAL)]
    falls = all(more > less for one, other in worse for more, less in zip(table[one], table[other], strict=True))
    parts = [each for name in list(PRINTED)[1:] for each in along(found, name, BUDGETS)]
    told.append(Claim("bytes: each simplification of the exact index costs freshness", "", listed(parts), falls))
    return told
