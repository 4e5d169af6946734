"""The window of fixed length that holds at least three measures."""

import numpy as np

from evercrawl.importance.windows._measures import WHOLE, HeldMeasures, merged, without_oldest
from evercrawl.importance.windows.base import LEAST, Pasts, weighed
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.types import Floats


class Improved(Fixed):
    """The fixed window, except that with fewer than three measures in it, the last three count over their own span.

    So the estimate of a seldom visited page does not depend on the accident of one visit.

    Parameters
    ----------
    length, places
        As in the fixed window.

    Examples
    --------
    At G = 9 with T = 4, the last three of four measures, whose cash came since G = 2:

    >>> from evercrawl.importance.base import Account
    >>> window, page = Improved(4.0, places=5), Account(0, 0, born=1.0)
    >>> for cash, clock in ((0.3, 2.0), (0.1, 4.0), (0.5, 5.0), (0.8, 9.0)):
    ...     page = Account(0, *window.add(page._replace(cash=cash), clock))
    >>> page.kept
    (2.0, 0, 0, 0, 0, 0.1, 4.0, 0.5, 5.0, 0.8, 9.0)
    >>> window.now(Pasts(*(np.array([column]) for column in page[1:4]), np.zeros(1)), np.zeros(1), 9.0)
    array([0.2])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.
    """

    def hold(self, held: HeldMeasures, now: float) -> HeldMeasures:
        """Keep the measures of the window, and at least the last three."""
        while len(held.measures) > WHOLE and held.measures[0].at < now - self.length:
            held = without_oldest(held)
        return merged(held, self.places)

    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the fixed window's estimate, or that of the last three measures and the waiting cash."""
        held = self._columns(page, total)
        inside = (held.at > 0) & (held.at >= total - self.length)
        few = inside.sum(axis=1) < WHOLE
        before = np.where(held.at[:, -WHOLE - 1] > 0, held.at[:, -WHOLE - 1], held.start)
        span = np.maximum(total - before, LEAST)
        length = np.where(few & (held.at[:, -WHOLE] > 0), span, np.maximum(span, self.length))
        last = (held.cash[:, -WHOLE:].sum(axis=1) + cash) / length
        return np.where(few, weighed(last, span / length, guess), super().now(page, cash, total, guess))
