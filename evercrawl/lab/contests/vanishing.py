"""Vanishing pages: the value of knowing their rate, if none, half or all of them return."""

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
"""Share of the pages that vanish in a cycle."""
RETURNS: Final = {0.0: "none returns", 0.5: "half return", 1.0: "all return"}
"""Names by the share of vanished pages that return, on average after a cycle."""
_STEPS: Final = 25


class Vanish(NamedTuple):
    """The parameters of `price`.

    Attributes
    ----------
    known
        Whether rates are known.
    returns
        Share of vanished pages that return.
    told
        Whether the policy knows the rate at which pages vanish.
    """

    known: bool
    returns: float
    told: bool

    @property
    def label(self) -> str:
        """The name of the row.

        >>> Vanish(known=True, returns=0.5, told=False).label
        'price, known rates, half return, not told'
        """
        known = "known rates, " if self.known else ""
        return f"price, {known}{RETURNS[self.returns]}, {'told' if self.told else 'not told'}"


class Vanishing(Comparison[Vanish]):
    """How fresh copies are if one page in twenty vanishes per cycle, and how many visits go to vanished pages.

    In rows named "told", `price` knows the rate at which pages vanish: the true one if rates are known, and a learned
    one otherwise. In rows named "not told" it does not. Of the vanished pages none, half or all return, on average
    after a cycle. The optimum knows every rate, and which pages exist.
    """

    title = "Pages that vanish, as a share of the optimum"
    budgets = BUDGETS

    def settings(self, options: LabOptions) -> list[Vanish]:
        """Return every combination: rates known or learned, each share that returns, told or not."""
        return [Vanish(*each) for each in product((True, False), RETURNS, (True, False))]

    @staticmethod
    def measured(case: Case[Vanish], pages: Population) -> Row:
        """Run it; `gone` is the share of visits to vanished pages, `again` to those already found vanished."""
        known, returns, told = case.setting
        conditions = Conditions(known=known, deaths=DEATHS, returns=returns, told_deaths=told, steps=_STEPS)
        found = PollingRun(Price(), pages, case.budget, case.seed, conditions).run(case.cycles, case.cycles / 2)
        return {
            "ratio": found.ratio, "value": found.value, "optimum": found.optimum, "gone": found.gone,
            "again": found.again, "abandoned": found.abandoned, "left": found.left,
        }  # fmt: skip

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Return the claims that knowing the rate of vanishing does not reduce freshness, for each case."""
        return [_worth(rows, known=known, returns=returns) for known, returns in product((True, False), RETURNS)]


def _worth(rows: list[Row], *, known: bool, returns: float) -> Claim:
    told, untold = (Vanish(known, returns, each).label for each in (True, False))
    fresh, others = (along(rows, label, BUDGETS, "value") for label in (told, untold))
    gone, again = (listed(along(rows, told, BUDGETS, name)) for name in ("gone", "again"))
    return Claim(
        f"{told}: freshness at 3 and 30 % is not lower than if not told", "",
        f"{listed(fresh)} vs. {listed(others)}; share of visits to vanished pages {gone}, repeated {again}",
        None if any(map(math.isnan, fresh)) else at_least(fresh, others),
    )  # fmt: skip
