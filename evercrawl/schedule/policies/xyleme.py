"""Xyleme: greedy by cash, interest and change; every fifth visit follows a cycle through all pages."""

import math
from typing import Final

import numpy as np

from evercrawl.schedule.abilities import Follows, Resumes
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.formulas.index import survival
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.parameters import Annotated, bounded, number
from evercrawl.schedule.shared.pacing import MeasuredPace
from evercrawl.types import Floats

CYCLE: Final = 0.2
"""Share of the visits that go to the page that has waited longest, regardless of its cash."""
OVERDUE: Final = 2.0**50
"""A value above any cash: pages taken up by the cycle have this value plus their waiting time (s)."""
_STEP: Final = 0.02  # change of the logarithm of the cycle's length for each visit not made by the cycle
_ROUNDS: Final = (0.05, 200.0)  # bounds of the cycle's length, in times in which all pages could be visited once


class Xyleme(Follows, Resumes, Policy):
    """Visit the page with the most cash x interest x (0.5 + P(changed)); one visit in five follows a cycle.

    The cash already includes the interest in the page (`Pages.cash`); the interest is 1 if no interest was configured.
    A page that was never read counts as changed.

    Greedy starves pages whose cash grows slowly. Therefore a page that has waited for `cycle_s` comes before all
    others; of several such pages, the one that has waited longest comes first. `cycle_s` is learned: each visit chosen
    by greedy shortens it by a small step, and each visit chosen by the cycle lengthens it by four times as much, so
    that one visit in five is the cycle's, whatever the batches and the number of hosts. Nothing is random.

    Parameters
    ----------
    cycle
        Share of the visits that follow the cycle.

    Raises
    ------
    ConfigError
        The value is not valid.

    Attributes
    ----------
    cycle_s
        Waiting time (s) after which the cycle takes a page up; infinity before the first visits.

    Examples
    --------
    All copies are equally old; the first page certainly has not changed, the second certainly has: 0.2 x (0.5 + 1)
    beats 0.5 x 0.5. The third was never read.

    >>> from evercrawl.schedule import Context, Pages
    >>> none, one = np.zeros(3), np.ones(3)
    >>> cash, scale_s = np.array([0.5, 0.2, 0.1]), np.array([1e18, 1e-9, 1.0])
    >>> visited_at = np.array([0.0, 0.0, np.nan])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, one, cash, one, scale_s, one, none, none)
    >>> Xyleme().value(pages, Context(3600.0))
    array([0.25, 0.3 , 0.15])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive on-line page importance computation: the crawler of Xyleme is close to
    greedy, and considers what its users request and how pages change. The paper gives no formula; this one is ours.
    """

    @bounded
    def __init__(self, cycle: Annotated[float, number(1e-3, 1)] = CYCLE) -> None:
        self._cycle = cycle
        self.cycle_s = math.inf
        self._rounds = 1 / cycle
        self._pace = MeasuredPace()

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return cash x (0.5 + P(changed)) of each page, with the absolute value of the cash; more for the cycle's."""
        waited_s = context.now - pages.visited_at
        same = survival(pages.shape, pages.scale_s, np.maximum(waited_s, 0.0)) * np.exp(-pages.neg_log_unchanged)
        worth = np.abs(pages.cash) * (1.5 - np.where(np.isnan(waited_s), 0.0, same))
        return np.where(waited_s >= self.cycle_s, OVERDUE + waited_s, np.minimum(worth, OVERDUE))

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Count the visits of the cycle and of greedy, and adjust the cycle's length accordingly."""
        cycled = int(np.count_nonzero(values > OVERDUE))
        step = _STEP * (cycled / self._cycle - len(values))
        self._rounds = min(max(self._rounds * math.exp(step), _ROUNDS[0]), _ROUNDS[1])
        self._pace.made(len(values), context.now)
        self.cycle_s = max(self._rounds * self._pace.cycle_s(context.known), 1e-3)

    def notes(self) -> dict[str, float]:
        """Return the time that a page waits until the cycle takes it up; nothing before the first visits."""
        return {"xyleme_cycle_s": self.cycle_s} if math.isfinite(self.cycle_s) else {}

    def resume(self, notes: dict[str, float]) -> None:
        """Resume with the stored length of the cycle, until visits of this run adjust it."""
        self.cycle_s = notes.get("xyleme_cycle_s", self.cycle_s)
