"""Larger sites: a page of the site with the most waiting pages."""

from typing import ClassVar

from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.discovery import UnreadFirst, among_equals, counted
from evercrawl.types import Floats


class LargerSites(UnreadFirst):
    """Visit an unread page of the site with most unread pages, so that no large site is left at the end.

    Requests to a site are rate-limited, so the remaining pages of the largest site decide when a crawl is complete. Its
    pages come in the order of discovery, or by weight if the crawl weighs pages by something other than importance.

    Examples
    --------
    >>> import numpy as np
    >>> from evercrawl.schedule import Context, Pages
    >>> none, never = np.zeros(3), np.full(3, np.nan)
    >>> pages = Pages(np.arange(3, dtype=np.uint32), never, *[none] * 7, backlog=np.array([10.0, 70.0, 70.0]))
    >>> LargerSites().value(pages, Context(0.0)).argsort()[::-1]
    array([1, 2, 0])

    References
    ----------
    Baeza-Yates, Castillo, Marin, Rodriguez (2005). Crawling a country: better strategies than breadth-first for web
    page ordering, section 3.
    """

    in_order: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"backlog"})

    def promise(self, pages: Pages) -> Floats:
        """Return the number of waiting pages of the site, plus less than 1 for the page's weight if there is one."""
        if pages.backlog is None or pages.weight_ratio is None:
            return counted(pages.backlog, pages)
        return pages.backlog + among_equals(pages.importance)
