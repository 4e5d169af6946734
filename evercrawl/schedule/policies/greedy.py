"""Greedy: the page with the most cash."""

import numpy as np

from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.types import Floats


class Greedy(Policy):
    """Visit the page whose visit moves most cash, read or unread; removed links can make cash negative.

    This learns importance fastest, and ignores the freshness of the copies.

    Examples
    --------
    >>> from evercrawl.schedule import Context, Pages
    >>> none, cash = np.zeros(3), np.array([0.2, -0.5, 0.3])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), none, none, cash, none, none, none, none, none)
    >>> Greedy().value(pages, Context(0.0)).argsort()[::-1]
    array([1, 2, 0])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive on-line page importance computation, section 3.
    """

    def value(self, pages: Pages, context: Context) -> Floats:
        """Return the cash that a visit would move, as an absolute value."""
        return np.abs(pages.cash)
