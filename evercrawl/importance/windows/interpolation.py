"""The window of adaptive OPIC that needs only one sum: interpolation between a page's last visit and this one."""

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows._fading import Fading
from evercrawl.importance.windows.base import Pasts, earned, weighed
from evercrawl.types import Floats


class Interpolation(Fading):
    """About the last T of G-time, held as one sum of cash.

    Each visit keeps the part 1 - d/T of the old history, where d is the G-time since the last visit, and adds the cash.
    For a steady inflow x the history tends to xT, whenever the visits are. It is an average with the time constant T,
    not a sharp cut-off, so its averaging length is about 2T.

    The missing part of the window, 1 - w/T, decays as the history does, and is the one number kept beside it. The
    method as printed does not use it, which is equivalent to a prior of 0.

    Examples
    --------
    A page that gains 0.1 per unit of G; its first two visits are at G = 1 and G = 3, the third a whole window later:

    >>> from evercrawl.importance.base import Account
    >>> window = Interpolation(4.0)
    >>> first = window.add(Account(0.1, 0.0, born=0.0), 1.0)
    >>> second = window.add(Account(0.2, *first), 3.0)
    >>> first.history, second, window.add(Account(0.6, *second), 9.0).history
    (0.1, Past(history=0.25, mark=3.0, kept=(0.375,)), 0.4)

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.
    """

    def add(self, page: Account, now: float) -> Past:
        """Keep the less of the history the longer ago the last visit was, and add the cash."""
        before, came = self._before(page, now), earned(page)
        elapsed = max(now - before.mark, 0)  # a mark may be stored with fewer digits than the clock
        if elapsed >= self.length:
            return Past(came * self.length / elapsed, now, (0 * elapsed,))
        left = (self.length - elapsed) / self.length
        return Past(before.history * left + came, now, (before.kept[0] * left,))

    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the estimates as they would be after a visit now."""
        elapsed = np.maximum(total - self._since(page, total), 0.0)
        left = np.maximum(1 - elapsed / self.length, 0.0)
        history = page.history * left + cash * (self.length / np.maximum(elapsed, self.length))
        missing = np.where(page.mark > 0, page.kept[:, 0], 1.0) * left
        return weighed(history / self.length, 1 - missing, guess)
