"""Pages that flicker: what it is worth to tell what lasts of a change from what does not."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.lab.base import Claim, Experiment, Findings
from evercrawl.lab.cells import drawn
from evercrawl.lab.contest import PAGES, TURNS, listed, mean, plain, seeds, tried
from evercrawl.schedule.price import Price
from evercrawl.simulate.flickering import Flickering, flickering, in_closed_form
from evercrawl.simulate.polling import Polling

if TYPE_CHECKING:
    from evercrawl.lab.base import Options, Row, Say

BUDGETS: Final = (0.03, 0.3)
SHARES: Final = (0.1, 0.3, 0.5)
"""Of the pages that flicker."""
CASES: Final = (
    (0.0, False, False), *((share, True, False) for share in SHARES), *((share, False, False) for share in SHARES),
    *((share, False, True) for share in SHARES),
)  # fmt: skip
"""Share, whether they do at each look, and whether it is in closed form."""
HOW: Final = {True: "at each look", False: "now and then"}
"""They show something else: whenever somebody looks, or as often as other pages change."""


class Flicker(NamedTuple):
    """One run of `price`, rates learned; or, of pages that flicker now and then, what closed forms say.

    Attributes
    ----------
    share
        Of the pages that flicker.
    each_look
        Whether they do at each look.
    heeded
        Whether what lasts of changes has a say.
    closed
        Whether it is in closed form, rates known, and which pages flicker where that is heeded.
    pages, seed, budget, cycles
        As in a `Cell`.
    """

    share: float
    each_look: bool
    heeded: bool
    closed: bool
    pages: int
    seed: int
    budget: float
    cycles: float

    @property
    def label(self) -> str:
        """What the row is called."""
        return label(self.share, each_look=self.each_look, heeded=self.heeded, closed=self.closed)

    def __str__(self) -> str:
        """Return what is told of it."""
        return f"{self.label}, seed {self.seed}, {100 * self.budget:g} %"

    def row(self) -> Row:
        """Run it; `flickered` is the share of the visits that went to pages that flicker, nan in closed form."""
        began, pages = time.perf_counter(), drawn(self.pages, self.seed, 0.0)
        flickers = flickering(self.pages, self.share, self.seed)
        if self.closed:
            alike, best = in_closed_form(pages, flickers, self.budget)
            value, spent = best if self.heeded else alike, math.nan
        else:
            world = Flickering(pages, flickers, self.seed, each_look=self.each_look, heeded=self.heeded)
            found = Polling(Price(), pages, self.budget, self.seed, world=world).run(self.cycles, self.cycles / 2)
            value, best, spent = found.value, found.optimum, world.wasted / world.visits
        return {
            "policy": self.label, "correlation": 0.0, "seed": self.seed, "budget": self.budget, "ratio": value / best,
            "value": value, "optimum": best, "flickered": spent, "seconds": time.perf_counter() - began,
        }  # fmt: skip


def label(share: float, *, each_look: bool, heeded: bool, closed: bool) -> str:
    """Return what a row is called.

    >>> label(0.3, each_look=True, heeded=False, closed=False)
    'price, 30 % flicker at each look, all changes alike'
    >>> label(0.0, each_look=False, heeded=True, closed=False)
    'price, none flickers, what lasts'
    """
    which = f"{100 * share:g} % flicker {HOW[each_look]}" if share else "none flickers"
    return f"{'closed form' if closed else 'price'}, {which}, {'what lasts' if heeded else 'all changes alike'}"


class Flickers(Experiment):
    """How fresh copies are kept of what lasts, where on some pages an advertisement is all that ever changes.

    It is another at each look, or as often as other pages change, and what is had of it counts nothing. `price` takes
    all changes alike, or heeds what lasts of them, as `--lasting` does: told by half of a similarity hash, visit by
    visit, of pages that are replaced as a whole at each change. Rates are learned. Closed forms say what there is to
    be had, for who knows all rates, and which pages flicker. The optimum is that.
    """

    pages = PAGES
    turns = TURNS

    def run(self, options: Options, say: Say) -> Findings:
        """Run them all, where importance and rates do not correlate."""
        plain(options, "flickering")
        pages, cycles = options.pages or PAGES, float(options.turns or TURNS)
        runs = [
            Flicker(share, each_look, heeded, closed, pages, seed, budget, cycles)
            for seed in seeds(options, pages) for budget in BUDGETS for share, each_look, closed in CASES
            for heeded in (False, True)
        ]  # fmt: skip
        found = tried("Pages that flicker, as a part of the optimum", runs, options, say)
        found.claims = claims(found.rows)
        return found


def claims(rows: list[Row]) -> list[Claim]:
    """Return, for each way to flicker and each share, that it is worth something to heed what lasts."""
    return [_worth(rows, share, each_look=each_look, closed=closed) for share, each_look, closed in CASES]


def _worth(rows: list[Row], share: float, *, each_look: bool, closed: bool) -> Claim:
    heeded, alike = (label(share, each_look=each_look, heeded=each, closed=closed) for each in (True, False))
    fresh = [[mean(rows, "value", policy=of, budget=budget) for budget in BUDGETS] for of in (heeded, alike)]
    spent = [[mean(rows, "flickered", policy=of, budget=budget) for budget in BUDGETS] for of in (heeded, alike)]
    holds = all(one >= other for one, other in zip(*fresh, strict=True))
    visits = "" if closed else f"; {listed(spent[0])} of the visits for {listed(spent[1])} to what flickers"
    return Claim(
        f"{heeded}: freshness at 3 and 30 % is not less than where all changes are alike", "",
        f"{listed(fresh[0])} for {listed(fresh[1])}{visits}", None if any(map(math.isnan, fresh[0])) else holds,
    )  # fmt: skip
