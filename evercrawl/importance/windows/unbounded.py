"""No window: everything counts, as in OPIC."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.importance.windows.base import Past, Pasts, Window

if TYPE_CHECKING:
    from evercrawl.importance.base import Account
    from evercrawl.types import Floats


class Unbounded(Window):
    """All cash that a page ever moved; right for links that stay as they are.

    Examples
    --------
    >>> from evercrawl.importance.base import Account
    >>> Unbounded().add(Account(0.25, 1.5, 2.0), 3.0)
    Past(history=1.75, mark=3.0, kept=())

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 3.
    """

    def add(self, page: Account, now: float) -> Past:
        """Add the cash."""
        return Past(page.history + page.cash, now)

    def now(self, page: Pasts, cash: Floats, total: float) -> Floats:
        """Return (H + C) / G: what is held counts as if it were moved now."""
        found: Floats = (page.history + cash) / max(total, np.finfo(np.float64).tiny)
        return found
