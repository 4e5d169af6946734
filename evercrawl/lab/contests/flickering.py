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
"""Shares of the pages that flicker."""
CASES: Final = (
    (0.0, False, False), *((share, True, False) for share in SHARES), *((share, False, False) for share in SHARES),
    *((share, False, True) for share in SHARES),
)  # fmt: skip
"""Share of flickering pages, whether they flicker at each look, and whether the row is in closed form."""
HOW: Final = {True: "at each look", False: "now and then"}
"""When a page flickers: at every visit, or as often as other pages change."""


class Flicker(NamedTuple):
    """A row: `price` with learned rates, or the closed form of pages that flicker now and then.

    Attributes
    ----------
    share
        Share of the pages that flicker.
    each_look
        Whether they flicker at each look.
    closed
        Whether the row is in closed form: rates are known, and with `heeded` also which pages flicker.
    heeded
        Whether lasting changes are distinguished from passing ones.
    """

    share: float
    each_look: bool
    closed: bool
    heeded: bool

    @property
    def label(self) -> str:
        """The name of the row.

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

    The advertisement is new at each look, or as often as other pages change; a fresh copy of it has no value. `price`
    treats all changes alike, or distinguishes lasting ones as `--lasting` does, by half of a similarity hash at each
    visit; a change replaces the whole page. Rates are learned. The closed forms are the optimum: they know all rates,
    and which pages flicker.
    """

    title = "Pages that flicker, as a share of the optimum"
    budgets = BUDGETS

    def settings(self, options: LabOptions) -> list[Flicker]:
        """Return every case, with all changes treated alike and with lasting changes distinguished."""
        return [Flicker(*case, heeded) for case, heeded in product(CASES, (False, True))]

    @staticmethod
    def measured(case: Case[Flicker], pages: Population) -> Row:
        """Run it; `flickered` is the share of visits to pages that flicker, nan in closed form."""
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
        """Return the claims that distinguishing lasting changes does not reduce freshness, for each case."""
        return [_worth(rows, *case) for case in CASES]


def _worth(rows: list[Row], share: float, each_look: bool, closed: bool) -> Claim:
    heeded, alike = (Flicker(share, each_look, closed, each).label for each in (True, False))
    fresh, others = (along(rows, label, BUDGETS, "value") for label in (heeded, alike))
    spent = [listed(along(rows, label, BUDGETS, "flickered")) for label in (heeded, alike)]
    visits = "" if closed else f"; share of visits to pages that flicker: {spent[0]} vs. {spent[1]}"
    return Claim(
        f"{heeded}: freshness at 3 and 30 % is not lower than with all changes treated alike", "",
        f"{listed(fresh)} vs. {listed(others)}{visits}",
        None if any(map(math.isnan, fresh)) else at_least(fresh, others),
    )  # fmt: skip
