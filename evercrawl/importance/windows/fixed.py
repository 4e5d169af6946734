"""The window of fixed length: each measure counts fully or not at all."""

from typing import ClassVar

import numpy as np

from evercrawl.importance.windows._measures import WHOLE, HeldMeasures, MeasureWindow, merged, without_oldest
from evercrawl.importance.windows.base import Pasts, weighed
from evercrawl.types import Floats


class Fixed(MeasureWindow):
    """The cash of all measures of the last T, over T, or over the page's age if that is less.

    The first of these measures covers an interval that began before the window. So, as in the method as printed, a
    seldom visited page is overestimated by up to one interval.

    Parameters
    ----------
    length
        T.
    places
        Maximum number of measures held: if more fall into the window, consecutive old ones are merged.

    Examples
    --------
    At G = 9 with T = 4, of four measures two count:

    >>> from evercrawl.importance.base import Account
    >>> window, page = Fixed(4.0, places=5), Account(0, 0, born=1.0)
    >>> for cash, clock in ((0.3, 2.0), (0.1, 4.0), (0.5, 5.0), (0.3, 9.0)):
    ...     page = Account(0, *window.add(page._replace(cash=cash), clock))
    >>> page.kept
    (4.0, 0, 0, 0, 0, 0, 0, 0.5, 5.0, 0.3, 9.0)
    >>> window.now(Pasts(*(np.array([column]) for column in page[1:4]), np.zeros(1)), np.zeros(1), 9.0)
    array([0.2])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.
    """

    exact: ClassVar[bool] = False

    def __init__(self, length: float = 8.0, places: int = 16) -> None:
        assert places > WHOLE + 1, "the newest measures are never merged, so there has to be place for older ones"
        super().__init__(length, places)

    def hold(self, held: HeldMeasures, now: float) -> HeldMeasures:
        """Keep the measures of the window."""
        while held.measures[0].at < now - self.length:
            held = without_oldest(held)
        return merged(held, self.places)

    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the cash in the window and the waiting cash, over the window's length."""
        held = self._columns(page, total)
        inside = np.where(held.at >= total - self.length, held.cash, 0.0).sum(axis=1)
        seen = np.clip((total - held.start) / self.length, 0.0, 1.0)
        return weighed((inside + cash) / self.length, seen, guess)
