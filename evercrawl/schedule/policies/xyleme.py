"""Xyleme: greedy with an eye to what is wanted and what has changed, and every fifth visit goes round all pages."""

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
"""Share of the visits that go to whichever page has waited longest, whatever it holds."""
OVERDUE: Final = 2.0**50
"""A value that no cash reaches: of pages that are the cycle's, to which the time waited (s) is added."""
_STEP: Final = 0.02  # of the logarithm of the cycle's length, for each visit that is not the cycle's
_ROUNDS: Final = (0.05, 200.0)  # of all pages, in which the cycle may take a page up


class Xyleme(Follows, Resumes, Policy):
    """Visit the page with the most cash x interest x (0.5 + P(changed)); one visit in five follows a cycle.

    The cash comes with the interest in the page already: whoever gathers the columns multiplies by it (`Pages.cash`),
    and it is 1 where nobody asked for more of anything. A page that was never read counts as changed.

    Greedy starves pages whose cash grows slowly. So a page that has waited for `cycle_s` comes before all others, and
    of several the one that has waited longest. How long that is, is learned: it is shortened by a little at each visit
    that was greedy's and lengthened by four times as much at each of the cycle's, so that one in five is the cycle's,
    in whatever batches and on however many hosts pages are chosen. Nothing is random.

    Parameters
    ----------
    cycle
        Share of the visits that follow the cycle.

    Raises
    ------
    ConfigError
        Where it is none.

    Attributes
    ----------
    cycle_s
        A page that was left alone for so long is the cycle's; infinity before the first visits.

    Examples
    --------
    All held as long, and the first surely the same as then, the second surely another: 0.2 x (0.5 + 1) beats 0.5 x 0.5.
    The third was never read.

    >>> from evercrawl.schedule import Context, Pages
    >>> none, one = np.zeros(3), np.ones(3)
    >>> cash, scale_s = np.array([0.5, 0.2, 0.1]), np.array([1e18, 1e-9, 1.0])
    >>> visited_at = np.array([0.0, 0.0, np.nan])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, one, cash, one, scale_s, one, none, none)
    >>> Xyleme().value(pages, Context(3600.0))
    array([0.25, 0.3 , 0.15])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive on-line page importance computation: the crawler of Xyleme, close to
    greedy, uses what its users ask for and how pages change. The paper gives no formula; this one is ours.
    """

    @bounded
    def __init__(self, cycle: Annotated[float, number(1e-3, 1)] = CYCLE) -> None:
        self._cycle = cycle
        self.cycle_s = math.inf
        self._rounds = 1 / cycle
        self._pace = MeasuredPace()

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return cash x (0.5 + P(changed)) of each page, in whichever direction the cash moves; more of the cycle's."""
        waited_s = context.now - pages.visited_at
        same = survival(pages.shape, pages.scale_s, np.maximum(waited_s, 0.0)) * np.exp(-pages.neg_log_unchanged)
        worth = np.abs(pages.cash) * (1.5 - np.where(np.isnan(waited_s), 0.0, same))
        return np.where(waited_s >= self.cycle_s, OVERDUE + waited_s, np.minimum(worth, OVERDUE))

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        """Count whose visits these are, and let the cycle take pages up sooner or later accordingly."""
        cycled = int(np.count_nonzero(values > OVERDUE))
        step = _STEP * (cycled / self._cycle - len(values))
        self._rounds = min(max(self._rounds * math.exp(step), _ROUNDS[0]), _ROUNDS[1])
        self._pace.made(len(values), context.now)
        self.cycle_s = max(self._rounds * self._pace.cycle_s(context.known), 1e-3)

    def notes(self) -> dict[str, float]:
        """Return how long a page waits until the cycle takes it up; nothing before the first visits."""
        return {"xyleme_cycle_s": self.cycle_s} if math.isfinite(self.cycle_s) else {}

    def resume(self, notes: dict[str, float]) -> None:
        """Go on with the cycle there was, until the visits of this run say more."""
        self.cycle_s = notes.get("xyleme_cycle_s", self.cycle_s)
