"""Pages that vanish: what it is worth to know how fast, where none, some or all of them come back."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.lab.base import Claim, Experiment, Findings
from evercrawl.lab.cells import drawn
from evercrawl.lab.contest import PAGES, TURNS, listed, mean, plain, seeds, tried
from evercrawl.schedule.price import Price
from evercrawl.simulate.polling import Conditions, Polling

if TYPE_CHECKING:
    from evercrawl.lab.base import Options, Row, Say

BUDGETS: Final = (0.03, 0.3)
DEATHS: Final = 0.05
"""Part of the pages that vanish in a cycle."""
RETURNS: Final = {0.0: "none returns", 0.5: "half return", 1.0: "all return"}
"""By the part of those that vanish that come back, after a cycle on the mean."""
_STEPS: Final = 25


class Vanish(NamedTuple):
    """One run of `price`.

    Attributes
    ----------
    known, told
        Whether rates are known, and whether it is told how fast pages vanish.
    returns
        Part of those that vanish that come back.
    pages, seed, budget, cycles
        As in a `Cell`.
    """

    known: bool
    told: bool
    returns: float
    pages: int
    seed: int
    budget: float
    cycles: float

    @property
    def label(self) -> str:
        """What the row is called."""
        return label(known=self.known, told=self.told, returns=self.returns)

    def __str__(self) -> str:
        """Return what is told of it."""
        return f"{self.label}, seed {self.seed}, {100 * self.budget:g} %"

    def row(self) -> Row:
        """Run it; `gone` and `again` are shares of visits, to pages that are gone and that were found so before."""
        began, pages = time.perf_counter(), drawn(self.pages, self.seed, 0.0)
        conditions = Conditions(
            known=self.known, deaths=DEATHS, returns=self.returns, told_deaths=self.told, steps=_STEPS
        )
        found = Polling(Price(), pages, self.budget, self.seed, conditions).run(self.cycles, self.cycles / 2)
        return {
            "policy": self.label, "correlation": 0.0, "seed": self.seed, "budget": self.budget, "ratio": found.ratio,
            "value": found.value, "optimum": found.optimum, "gone": found.gone, "again": found.again,
            "abandoned": found.abandoned, "left": found.left, "seconds": time.perf_counter() - began,
        }  # fmt: skip


def label(*, known: bool, told: bool, returns: float) -> str:
    """Return what a row is called.

    >>> label(known=True, told=False, returns=0.5)
    'price, known rates, half return, not told'
    """
    return f"price, {'known rates, ' if known else ''}{RETURNS[returns]}, {'told' if told else 'not told'}"


class Vanishing(Experiment):
    """How fresh copies are kept where one page in twenty vanishes in a cycle, and what is spent on those that did.

    `price` is told how fast pages vanish, truly where rates are known, and else as it is learned, or it is told nothing
    of it. None of those that vanish comes back, or half of them, or all, after a cycle on the mean. The optimum is that
    of who knows every rate, and which pages are there.
    """

    pages = PAGES
    turns = TURNS

    def run(self, options: Options, say: Say) -> Findings:
        """Run them all, where importance and rates do not correlate."""
        plain(options, "vanishing")
        pages, cycles = options.pages or PAGES, float(options.turns or TURNS)
        runs = [
            Vanish(known, told, returns, pages, seed, budget, cycles)
            for seed in seeds(options, pages) for budget in BUDGETS for known in (True, False) for returns in RETURNS
            for told in (True, False)
        ]  # fmt: skip
        found = tried("Pages that vanish, as a part of the optimum", runs, options, say)
        found.claims = claims(found.rows)
        return found


def claims(rows: list[Row]) -> list[Claim]:
    """Return, for rates known and learned and each part that comes back, that it is worth something to be told."""
    return [_worth(rows, known=known, returns=returns) for known in (True, False) for returns in RETURNS]


def _worth(rows: list[Row], *, known: bool, returns: float) -> Claim:
    told, untold = (label(known=known, told=each, returns=returns) for each in (True, False))
    fresh = [[mean(rows, "value", policy=of, budget=budget) for budget in BUDGETS] for of in (told, untold)]
    spent = [[mean(rows, name, policy=told, budget=budget) for budget in BUDGETS] for name in ("gone", "again")]
    holds = all(one >= other for one, other in zip(*fresh, strict=True))
    some = f"{listed(fresh[0])} for {listed(fresh[1])}; of the visits {listed(spent[0])} to pages that were gone, "
    return Claim(
        f"{told}: freshness at 3 and 30 % is not less than not told", "", f"{some}{listed(spent[1])} so before",
        None if any(math.isnan(each) for each in fresh[0]) else holds,
    )  # fmt: skip
