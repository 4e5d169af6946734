"""The window that spans the last k visits to a page."""

from typing import ClassVar, Literal, Self

import numpy as np

from evercrawl.importance.windows._measures import HeldMeasures, MeasureWindow, without_oldest
from evercrawl.importance.windows.base import FEWEST, LEAST, Pasts, weighed
from evercrawl.types import Floats


class Variable(MeasureWindow):
    """The last k measures: the cash of all but the oldest, over the time since the oldest.

    With fewer than k measures it is all cash, over the time since the page became known. Pages that are visited often
    have a short window, others a long one.

    Parameters
    ----------
    measures
        k.
    length
        As in every window.

    Examples
    --------
    Three measures of a page that became known at G = 1:

    >>> from evercrawl.importance.base import Account
    >>> window, page = Variable(3), Account(0, 0, born=1.0)
    >>> for cash, clock in ((0.3, 2.0), (0.1, 3.0), (0.5, 5.0)):
    ...     page = Account(0, *window.add(page._replace(cash=cash), clock))
    >>> page.kept, page.history
    ((2.0, 0.1, 3.0, 0.5, 5.0), 0.6)
    >>> window.now(Pasts(*(np.array([column]) for column in page[1:4]), np.zeros(1)), np.zeros(1), 5.0)
    array([0.2])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.
    """

    counts: ClassVar[Literal["cash", "measures", "nothing"]] = "measures"

    def __init__(self, measures: int = 4, length: float = 8.0) -> None:
        assert measures >= FEWEST, "one measure has no beginning"
        super().__init__(length, measures - 1)

    @classmethod
    def sized(cls, size: float) -> Self:
        """Return a window of `size` measures."""
        return cls(int(size))

    def hold(self, held: HeldMeasures, now: float) -> HeldMeasures:
        """Keep k - 1 measures, and the clock at the one before."""
        while len(held.measures) > self.places:
            held = without_oldest(held)
        return held

    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return the cash of the measures held and the waiting cash, over the time in which it came."""
        held = self._columns(page, total)
        span = np.maximum(total - held.start, 0.0)
        length = np.where(held.at[:, 0] > 0, np.maximum(span, LEAST), np.maximum(span, self.length))
        return weighed((held.cash.sum(axis=1) + cash) / length, span / length, guess)
