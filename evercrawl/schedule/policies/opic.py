"""OPIC: the unread page with the most cash."""

from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.discovery import UnreadFirst
from evercrawl.types import Floats


class Opic(UnreadFirst):
    """Visit the unread page with most cash; `greedy` considers all pages, and visits some again.

    Examples
    --------
    The last page was already read; its cash does not matter, and it waits for its turn.

    >>> import numpy as np
    >>> from evercrawl.schedule import Context, Pages
    >>> none, visited_at, cash = np.zeros(3), np.array([np.nan, np.nan, 50.0]), np.array([0.1, 0.2, 0.7])
    >>> pages = Pages(np.arange(3, dtype=np.uint32), visited_at, none, cash, *[none] * 5)
    >>> Opic().value(pages, Context(90.0)).argsort()[::-1]
    array([1, 0, 2])

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive on-line page importance computation. As an order of discovery:
    Baeza-Yates, Castillo, Marin, Rodriguez (2005). Crawling a country, section 3.
    """

    def promise(self, pages: Pages) -> Floats:
        """Return the cash, which may be negative."""
        return pages.cash
