"""No window: the whole history counts, as in OPIC."""

from typing import ClassVar, Literal

import numpy as np

from evercrawl.importance.base import Account, Past
from evercrawl.importance.windows.base import Pasts, Window
from evercrawl.types import Floats


class Unbounded(Window):
    """All cash that a page ever moved, over all cash ever moved; right for links that never change.

    It underestimates pages that became known late. A prior fills the time before a page became known.

    Examples
    --------
    >>> from evercrawl.importance.base import Account
    >>> Unbounded().add(Account(0.25, 1.5, 2.0), 3.0)
    Past(history=1.75, mark=3.0, kept=())

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.
    """

    counts: ClassVar[Literal["cash", "measures", "nothing"]] = "nothing"

    def add(self, page: Account, now: float) -> Past:
        """Add the cash, including initial cash, so that sum H = G."""
        return Past(page.history + page.cash, now)

    def _joined(self, page: Account, other: Account, now: float) -> Past:
        """Add the histories."""
        return Past(page.history + other.history, now)

    def now(self, page: Pasts, cash: Floats, total: float, guess: float | None = None) -> Floats:
        """Return (H + C) / G: cash held counts as if it were moved now."""
        clock = max(total, np.finfo(np.float64).tiny)
        found: Floats = (page.history + cash + (guess or 0.0) * np.minimum(page.born, clock)) / clock
        return found
