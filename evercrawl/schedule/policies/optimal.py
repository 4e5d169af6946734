"""Optimal: the exact optimum of freshness, missed changes or age, for the estimated rates of change."""

from typing import Final

import numpy as np

from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.objectives import FRESHNESS, OBJECTIVES
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.parameters import Annotated, bounded, choice
from evercrawl.schedule.shared.planned import PlannedRates
from evercrawl.types import Floats

_ENDS: Final = (*OBJECTIVES, "bytes")
_ROUNDS: Final = 3
_FETCHES: Final = (
    "the budget is in fetches, so objective = bytes is the same as freshness; --rate-bytes sets a budget in bytes"
)


class Optimal(PlannedRates):
    """Allocate visits by Lagrange's method, as if the estimated rates of change were known.

    The marginal value of a visit is the same for all visited pages. By freshness, pages that change too often for their
    importance are not visited as long as others wait; by the other objectives all pages are visited.

    Parameters
    ----------
    objective
        What is optimised: freshness; harmonic, the cost of missed changes; age; or bytes, freshness if the budget is in
        bytes, so that a visit to a changed page costs more.
    new_share, estimator, replan
        See `PlannedRates`.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none, one, lam = np.zeros(5), np.ones(5), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> pages = Pages(np.arange(5, dtype=np.uint32), none, one, none, 1e9 * one, 5e9 / lam, one, none, none)
    >>> policy = Optimal()
    >>> later = policy.plan(pages, 0, Context(0.0))
    >>> policy.rates(pages.slot).round(2)
    array([0.23, 0.27, 0.27, 0.23, 0.  ])

    References
    ----------
    Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, sections 4 to 6. The harmonic cost:
    Kolobov et al. (2019).
    """

    @bounded
    def __init__(
        self,
        objective: Annotated[str, choice(*_ENDS)] = "freshness",
        new_share: float = 0.5,
        estimator: str = "typical",
        replan: float = 0.125,
    ) -> None:
        super().__init__(new_share, estimator, replan)
        self.objective = objective

    def allocate(self, pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
        """Return the optimal rates."""
        if self.objective == "bytes":
            return _in_bytes(pages, weight, lam, budget_per_s)
        return allocation.optimum(weight, lam, budget_per_s, OBJECTIVES[self.objective]).rate

    def ineffective_option(self, context: Context) -> str:
        """Return that the objective bytes has no effect if all visits cost the same.

        >>> from evercrawl.schedule import Context
        >>> Optimal(objective="bytes").ineffective_option(Context(0.0))
        'the budget is in fetches, so objective = bytes is the same as freshness; --rate-bytes sets a budget in bytes'
        """
        return _FETCHES if self.objective == "bytes" and not context.in_bytes else ""


def _in_bytes(pages: Pages, weight: Floats, lam: Floats, budget_per_s: float) -> Floats:
    """Return the optimum for the cost of this many visits per second; that cost depends slightly on the optimum."""
    rate = np.full(len(lam), budget_per_s / len(lam))
    for _ in range(_ROUNDS):
        finds = -np.expm1(-lam / np.where(rate > 0, rate, np.inf))
        spent = float((rate * (pages.cost + pages.cost_changed * finds)).sum()) * budget_per_s / float(rate.sum())
        rate = allocation.optimum(weight, lam, spent, FRESHNESS, pages.cost, pages.cost_changed).rate
    return rate
