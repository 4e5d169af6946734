"""Vanishing pages: the value of knowing how fast, if none, some or all of them come back."""

import math
from itertools import product
from typing import Final, NamedTuple

from evercrawl.lab.base import Claim, LabOptions, Row
from evercrawl.lab.contests.comparison import Case, Comparison
from evercrawl.lab.polling.polling import Conditions, PollingRun
from evercrawl.lab.polling.population import Population
from evercrawl.lab.tables import along, at_least, listed
from evercrawl.schedule.policies.price.price import Price

BUDGETS: Final = (0.03, 0.3)
DEATHS: Final = 0.05
"""Part of the pages that vanish in a cycle."""
RETURNS: Final = {0.0: "none returns", 0.5: "half return", 1.0: "all return"}
"""By the part of those that vanish that come back, after a cycle on the mean."""
_STEPS: Final = 25


class Vanish(NamedTuple):
    """The parameters of `price`.

    Attributes
    ----------
    known
        Whether rates are known.
    returns
        Part of those that vanish that come back.
    told
        Whether it is told how fast pages vanish.
    """

    known: bool
    returns: float
    told: bool

    @property
    def label(self) -> str:
        """What the row is called.

        >>> Vanish(known=True, returns=0.5, told=False).label
        'price, known rates, half return, not told'
        """
        known = "known rates, " if self.known else ""
        return f"price, {known}{RETURNS[self.returns]}, {'told' if self.told else 'not told'}"


class Vanishing(Comparison[Vanish]):
    """How fresh copies are if one page in twenty vanishes per cycle, and what is spent on vanished ones.

    `price` is told how fast pages vanish, truly where rates are known, and else as it is learned, or it is told nothing
    of it. None of those that vanish comes back, or half of them, or all, after a cycle on the mean. The optimum is that
    of who knows every rate, and which pages are there.
    """

    title = "Pages that vanish, as a part of the optimum"
    budgets = BUDGETS

    def settings(self, options: LabOptions) -> list[Vanish]:
        """Return rates known and learned, and each part that comes back, told of it or not."""
        return [Vanish(*each) for each in product((True, False), RETURNS, (True, False))]

    @staticmethod
    def measured(case: Case[Vanish], pages: Population) -> Row:
        """Run it; `gone` and `again` are shares of visits, to pages that are gone and that were found so before."""
        known, returns, told = case.setting
        conditions = Conditions(known=known, deaths=DEATHS, returns=returns, told_deaths=told, steps=_STEPS)
        found = PollingRun(Price(), pages, case.budget, case.seed, conditions).run(case.cycles, case.cycles / 2)
        return {
            "ratio": found.ratio, "value": found.value, "optimum": found.optimum, "gone": found.gone,
            "again": found.again, "abandoned": found.abandoned, "left": found.left,
        }  # fmt: skip

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Return, for rates known and learned and each part that comes back, that it is worth something to be told."""
        return [_worth(rows, known=known, returns=returns) for known, returns in product((True, False), RETURNS)]


def _worth(rows: list[Row], *, known: bool, returns: float) -> Claim:
    told, untold = (Vanish(known, returns, each).label for each in (True, False))
    fresh, others = (along(rows, label, BUDGETS, "value") for label in (told, untold))
    gone, again = (listed(along(rows, told, BUDGETS, name)) for name in ("gone", "again"))
    return Claim(
        f"{told}: freshness at 3 and 30 % is not less than not told", "",
        f"{listed(fresh)} for {listed(others)}; of the visits {gone} to pages that were gone, {again} so before",
        None if any(map(math.isnan, fresh)) else at_least(fresh, others),
    )  # fmt: skip
