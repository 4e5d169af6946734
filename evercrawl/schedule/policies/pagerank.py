"""PageRank first: the page with the highest PageRank by the links known so far."""

from typing import ClassVar, Final

from evercrawl.schedule.pages import Pages
from evercrawl.schedule.shared.discovery import UnreadFirst
from evercrawl.types import Floats

_TIE: Final = 2.0**-50  # a page found 2^32 pages later ranks lower by four millionths, below the solver's precision


class Pagerank(UnreadFirst):
    """Visit the unread page with the highest PageRank in the graph of all known pages and links.

    PageRank is solved again after the number of visits has grown by a fifth; this stops the crawl for about a second
    per ten million links. Between two solutions, a newly found page has the rank passed on by the pages that link to
    it. All links are kept in memory, 4 bytes each, and are read again from the journal at each start. If the crawl
    weighs pages by something other than importance, the PageRank is multiplied by the ratio of that weight to the
    importance.

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
        """Return the rank times the weight of pages; of equal pages the one found first has the higher promise."""
        assert pages.rank is not None, "the caller gathers the columns that the policy needs"
        found: Floats = pages.rank * (1 - pages.slot * _TIE)
        return found if pages.weight_ratio is None else found * pages.weight_ratio
