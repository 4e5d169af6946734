"""AOPIC: cash moved along the links of the visit, from a virtual page that spends at once; a window of the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evercrawl.importance.base import Account, Importance, Links, Transfer
from evercrawl.importance.interpolation import Interpolation

if TYPE_CHECKING:
    from evercrawl.types import Floats


class AOPIC(Importance):
    """Adaptive on-line page importance computation: how much cash a page moves per unit of G-time.

    Nothing is ever taken back, so the links held before are not needed; what a page gave along links that it no longer
    has is forgotten with the window. It settles like 1/G, where push settles geometrically.

    Parameters
    ----------
    tax, internal
        As in every scheme.
    window
        T of the interpolation, in units of all the cash there is. Greedy visits move 2.3 of them per visit a page, so
        the default is three to four visits a page: right for webs of which some percent change in that time.

    Examples
    --------
    A page visited at G = 2 and, with cash 0.5, at G = 4 (itself included), when half of the window has passed:

    >>> aopic = AOPIC(tax=0.15, internal=0.1, window=4.0)
    >>> moved = aopic.visit(Account(0.5, 1.0, 2.0), None, Links(1, 1, 2), 3.5, same=False)
    >>> moved.history, moved.mark, round(moved.internal, 6), round(moved.external, 6)
    (1.0, 4.0, 0.02125, 0.2125)

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation.
    """

    handout: ClassVar[bool] = True

    def __init__(self, tax: float = 0.15, internal: float = 1.0, window: float = 8.0) -> None:
        super().__init__(tax, internal)
        self.window = Interpolation(window)

    def visit(self, page: Account, held: Links | None, links: Links, total: float, *, same: bool) -> Transfer:
        """Move all the cash; the history counts what was moved."""
        now = total + page.cash
        history = self.window.add(page.history, page.cash, self._elapsed(page.mark, now))
        return Transfer(page.cash, history, now, *self.each(page.cash, links))

    def remove(self, page: Account, held: Links | None, total: float) -> Transfer:
        """Give the cash to the virtual page; forget the history."""
        return Transfer(page.cash, 0, total)

    def importance(self, cash: Floats, history: Floats, mark: Floats, total: float) -> Floats:
        """Return what the history would be after a visit now, so that a page that waits is not thought less of."""
        elapsed = np.maximum(total - mark, 0.0)
        elapsed = np.where(mark > 0, elapsed, np.minimum(elapsed, self.window.window))
        return np.maximum(self.window.now(history, cash, elapsed), 0.0)

    def _elapsed(self, mark: float, now: float) -> float:
        """Return the G-time since the last visit; before the first, at most a window: nobody notes when it began."""
        elapsed = max(now - mark, 0)  # a mark is kept with fewer digits than the clock
        return elapsed if mark else min(elapsed, self.window.window)
