"""Budgets in bytes with conditional requests: the value of accounting for exact costs, rule by rule.

A response always costs some hundred bytes, c0, and the page itself, c1, only if it changed. Dividing the worth of a
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
"""Bytes a day, as a part of those of all pages."""
EXACT: Final = "bytes: exact index"
UNCONDITIONAL: Final = "bytes: no conditional requests"
PRINTED: Final = {
    EXACT: (0.585, 0.855), "bytes: per expected byte": (0.563, 0.839), "bytes: per full size": (0.529, 0.802),
    "bytes: size ignored": (0.467, 0.768), UNCONDITIONAL: (0.470, 0.722),
}  # fmt: skip
"""Freshness itself, measured before at 1 and 10 % of the bytes; bodies were spread otherwise than here."""
DIVISORS: Final[dict[str, Divisor]] = {
    EXACT: lambda c0, c1, x: c0 + c1 * h(x),
    "bytes: per expected byte": lambda c0, c1, x: c0 - c1 * np.expm1(-x),
    "bytes: per full size": lambda c0, c1, x: c0 + c1,
    "bytes: size ignored": lambda c0, c1, x: np.ones_like(x),
}
"""What the worth of a visit is divided by, of c0, c1 and the changes since the last visit."""
_HEAD_BYTES: Final = 600.0
_BODY_BYTES: Final = 40_000.0  # on the mean
_SPREAD: Final = 1.0  # of the logarithm of a body's size
_STREAM: Final = 88


class Costs(NamedTuple):
    """What visits cost, in the bytes of a page of mean size with its head; shape (n,) each.

    Attributes
    ----------
    cost, cost_changed
        In any case, and in addition where the page changed.
    """

    cost: Floats
    cost_changed: Floats

    @property
    def unconditional(self) -> Costs:
        """The same where nobody says that a page is unchanged: all of it comes each time."""
        return Costs(self.cost + self.cost_changed, np.zeros(len(self.cost)))


def costs(pages: int, seed: int) -> Costs:
    """Return what visits of pages cost: 600 bytes, and bodies of 40,000 on the mean whose logarithms are normal.

    >>> drawn = costs(10_000, seed=1)
    >>> round(float((drawn.cost + drawn.cost_changed).mean()), 12), round(float(drawn.cost[0]), 3)
    (1.0, 0.015)
    """
    draw = np.random.default_rng([_STREAM, seed])
    body = draw.lognormal(-0.5 * _SPREAD**2, _SPREAD, pages) * _BODY_BYTES
    whole = float(body.mean()) + _HEAD_BYTES
    return Costs(np.full(pages, _HEAD_BYTES / whole), body / whole)


def kept_fresh(pages: Population, each: Costs, divisor: Divisor, budget: float) -> float:
    """Return the freshness of pages, weighted, that are visited once their worth, so divided, is one price for all."""
    w, lam, (c0, c1) = pages.weight, pages.lam_per_day, each
    x = changes(
        lambda x: w / lam * h(x) / divisor(c0, c1, x),
        lambda x: (c0 - c1 * np.expm1(-x)) * lam / x,
        budget * len(pages),
        len(pages),
    )
    return float(np.average(freshness(lam / x, lam), weights=w))


def by_rule(pages: Population, seed: int, budget: float) -> dict[str, float]:
    """Return the freshness that each rule keeps, by its name."""
    drawn = costs(len(pages), seed)
    found = {name: kept_fresh(pages, drawn, divisor, budget) for name, divisor in DIVISORS.items()}
    return found | {UNCONDITIONAL: kept_fresh(pages, drawn.unconditional, DIVISORS[EXACT], budget)}


def rows(options: LabOptions, say: Say) -> list[Row]:
    """Return a row for each rule and budget, where importance and rates do not correlate.

    `ratio` is a part of what the exact index keeps.
    """
    return closed_form(_by_rule, options, BUDGETS, say)


def _by_rule(pages: Population, seed: int, budget: float) -> Iterator[Row]:
    kept = by_rule(pages, seed, budget)
    yield from (unrun(name, value, kept[EXACT]) for name, value in kept.items())


def claims(found: list[Row]) -> list[Claim]:
    """Return what each rule keeps fresh beside what was measured before, and that the coarser, the less."""
    table = {name: along(found, name, BUDGETS, "value") for name in PRINTED}
    told = [
        Claim(f"{name}: freshness at 1 and 10 % (other pages)", listed(PRINTED[name]), listed(figures), None)
        for name, figures in table.items()
    ]
    worse = [*pairwise(DIVISORS), (EXACT, UNCONDITIONAL)]
    falls = all(more > less for one, other in worse for more, less in zip(table[one], table[other], strict=True))
    parts = [each for name in list(PRINTED)[1:] for each in along(found, name, BUDGETS)]
    told.append(Claim("bytes: whatever is not reckoned with costs freshness", "", listed(parts), falls))
    return told
