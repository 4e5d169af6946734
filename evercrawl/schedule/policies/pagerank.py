"""PageRank first: the page that matters most by the links known so far."""

from typing import ClassVar, Final

from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.discovery import UnreadFirst
from evercrawl.types import Floats

_TIE: Final = 2.0**-50  # a page found 2^32 pages later counts for four millionths less, and less than one solves for


class Pagerank(UnreadFirst):
    """Visit the unread page with the highest PageRank in the graph of all known pages and links.

    It is solved anew when a fifth more visits were made, which holds the crawl up for about a second for ten million
    links; in between, a page just found has what the pages pass on that link to it. All links are kept in memory, 4
    bytes each, and read anew from the journal at each start. Where the crawl weighs pages by something else than
    importance, each counts so many times its PageRank as it is worth its importance.

    Examples
    --------
    >>> import numpy as np
    >>> from evercrawl.schedule import Context, Pages
    >>> none, never = np.zeros(3), np.full(3, np.nan)
    >>> pages = Pages(np.arange(3, dtype=np.uint32), never, *[none] * 7, rank=np.array([0.1, 0.4, 0.4]))
    >>> Pagerank().value(pages, Context(0.0)).argsort()[::-1]
    array([1, 2, 0])

    References
    ----------
    Cho, Garcia-Molina, Page (1998). Efficient crawling through URL ordering. Between two solutions: Baeza-Yates,
    Castillo, Marin, Rodriguez (2005). Crawling a country, section 3, partial PageRank.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"rank"})

    def promise(self, pages: Pages) -> Floats:
        """Return the rank, times what pages are weighed; of equal ones the page found first promises more."""
        assert pages.rank is not None, "who gathers the columns asks what the policy needs"
        found: Floats = pages.rank * (1 - pages.slot * _TIE)
        return found if pages.weight_ratio is None else found * pages.weight_ratio
