"""Flickering pages: the value of distinguishing lasting changes from passing ones."""

import math
from itertools import product
from typing import Final, NamedTuple

from evercrawl.lab.base import Claim, LabOptions, Row
from evercrawl.lab.contests.comparison import Case, Comparison
from evercrawl.lab.polling.flickering import Flickering, flickering, in_closed_form
from evercrawl.lab.polling.polling import PollingRun
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import along, at_least, listed
from evercrawl.schedule.policies.price.price import Price

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
    """What `price` is run with, rates learned; or, of pages that flicker now and then, what closed forms say.

    Attributes
    ----------
    share
        Of the pages that flicker.
    each_look
        Whether they do at each look.
    closed
        Whether it is in closed form, rates known, and which pages flicker where that is heeded.
    heeded
        Whether what lasts of changes has a say.
    """

    share: float
    each_look: bool
    closed: bool
    heeded: bool

    @property
    def label(self) -> str:
        """What the row is called.

        >>> Flicker(0.3, each_look=True, closed=False, heeded=False).label
        'price, 30 % flicker at each look, all changes alike'
        >>> Flicker(0.0, each_look=False, closed=False, heeded=True).label
        'price, none flickers, what lasts'
        """
        which = f"{100 * self.share:g} % flicker {HOW[self.each_look]}" if self.share else "none flickers"
        what = "what lasts" if self.heeded else "all changes alike"
        return f"{'closed form' if self.closed else 'price'}, {which}, {what}"


class Flickers(Comparison[Flicker]):
    """How fresh lasting content is kept if some pages change nothing but an advertisement.

    It is another at each look, or as often as other pages change, and what is had of it counts nothing. `price` takes
    all changes alike, or heeds what lasts of them, as `--lasting` does: told by half of a similarity hash, visit by
    visit, of pages that are replaced as a whole at each change. Rates are learned. Closed forms say what there is to
    be had, for who knows all rates, and which pages flicker. The optimum is that.
    """

    title = "Pages that flicker, as a part of the optimum"
    budgets = BUDGETS

    def settings(self, options: LabOptions) -> list[Flicker]:
        """Return every case, all changes alike and by what lasts."""
        return [Flicker(*case, heeded) for case, heeded in product(CASES, (False, True))]

    @staticmethod
    def measured(case: Case[Flicker], pages: Population) -> Row:
        """Run it; `flickered` is the share of the visits that went to pages that flicker, nan in closed form."""
        share, each_look, closed, heeded = case.setting
        flickers = flickering(case.pages, share, case.seed)
        if closed:
            alike, best = in_closed_form(pages, flickers, case.budget)
            value, spent = best if heeded else alike, math.nan
        else:
            world = Flickering(pages, flickers, case.seed, each_look=each_look, heeded=heeded)
            polling = PollingRun(Price(), pages, case.budget, case.seed, world=world)
            found = polling.run(case.cycles, case.cycles / 2)
            value, best, spent = found.value, found.optimum, world.wasted / world.visits
        return {"ratio": value / best, "value": value, "optimum": best, "flickered": spent}

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Return, for each way to flicker and each share, that it is worth something to heed what lasts."""
        return [_worth(rows, *case) for case in CASES]


def _worth(rows: list[Row], share: float, each_look: bool, closed: bool) -> Claim:
    heeded, alike = (Flicker(share, each_look, closed, each).label for each in (True, False))
    fresh, others = (along(rows, label, BUDGETS, "value") for label in (heeded, alike))
    spent = [listed(along(rows, label, BUDGETS, "flickered")) for label in (heeded, alike)]
    visits = "" if closed else f"; {spent[0]} of the visits for {spent[1]} to what flickers"
    return Claim(
        f"{heeded}: freshness at 3 and 30 % is not less than where all changes are alike", "",
        f"{listed(fresh)} for {listed(others)}{visits}",
        None if any(map(math.isnan, fresh)) else at_least(fresh, others),
    )  # fmt: skip
