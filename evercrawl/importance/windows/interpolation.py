"""The window of adaptive OPIC that needs two numbers a page: interpolation between its last visit and this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.importance.windows.base import Past, Pasts, Window

if TYPE_CHECKING:
    from evercrawl.importance.base import Account
    from evercrawl.types import Floats


class Interpolation(Window):
    """About the last T of G-time, held as one sum of cash.

    Each visit keeps the part 1 - d/T of the old history, d being the G-time since the last visit, and adds the cash.
    For a steady inflow x the history tends to xT, whenever the visits are. It is an average with the time constant T,
    not a cut, so its averaging length is about 2T.

    Examples
    --------
    A page that gains 0.1 per unit of G; its first two visits are at G = 1 and G = 3, the third a whole window later:

    >>> from evercrawl.importance.base import Account
    >>> window = Interpolation(4.0)
    >>> window.add(Account(0.1, 0.0, 0.0), 1.0).history, window.add(Account(0.2, 0.1, 1.0), 3.0).history
    (0.1, 0.25)
    >>> window.add(Account(0.6, 0.25, 3.0), 9.0).history
    0.4

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.
    """

    def add(self, page: Account, now: float) -> Past:
        """Keep less of the history the longer the last visit is ago, and add the cash."""
        elapsed = self._elapsed(page.mark, now)
        if elapsed < self.length:
            return Past(page.history * (self.length - elapsed) / self.length + page.cash, now)
        return Past(page.cash * self.length / elapsed, now)

    def now(self, page: Pasts, cash: Floats, total: float) -> Floats:
        """Return what the history would be after a visit now, so that a page that waits is not thought less of."""
        elapsed = np.maximum(total - page.mark, 0.0)
        elapsed = np.where(page.mark > 0, elapsed, np.minimum(elapsed, self.length))
        kept = np.maximum(1 - elapsed / self.length, 0.0)
        found: Floats = (page.history * kept + cash * (self.length / np.maximum(elapsed, self.length))) / self.length
        return found

    def _elapsed(self, mark: float, now: float) -> float:
        """Return the G-time since the last visit; before the first, at most a window: nobody notes when it began."""
        elapsed = max(now - mark, 0)  # a mark is kept with fewer digits than the clock
        return elapsed if mark else min(elapsed, self.length)
