"""In-degree: the page with the most known links to it."""

from typing import ClassVar

from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.discovery import UnreadFirst, counted
from evercrawl.types import Floats


class InDegree(UnreadFirst):
    """Visit the unread page with most links from read pages; of equal ones the one found first.

    The policy keeps a counter of 4 bytes for each known URL, and counts again from the journal at each start. If the
    crawl weighs pages by something other than importance, the number of links plus one is multiplied by the ratio of
    that weight to the importance.

    Examples
    --------
    >>> import numpy as np
    >>> from evercrawl.schedule import Context, Pages
    >>> none, never = np.zeros(3), np.full(3, np.nan)
    >>> pages = Pages(np.arange(3, dtype=np.uint32), never, *[none] * 7, in_links=np.array([1.0, 5.0, 5.0]))
    >>> InDegree().value(pages, Context(0.0)).argsort()[::-1]
    array([1, 2, 0])

    References
    ----------
    Cho, Garcia-Molina, Page (1998). Efficient crawling through URL ordering, section 2: backlink count.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"in_links"})

    def promise(self, pages: Pages) -> Floats:
        """Return the number of known links, weighted if the crawl weighs pages."""
        if pages.in_links is None or pages.weight_ratio is None:
            return counted(pages.in_links, pages)
        return counted((pages.in_links + 1.0) * pages.weight_ratio, pages)
