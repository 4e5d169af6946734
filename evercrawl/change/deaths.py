"""How fast pages vanish."""

from typing import Final

RETURNS: Final = 0.5
"""Part of the pages found gone that are taken to be back at the next visit; of those found gone again, as many."""
_EXPECTED_S: Final = 365.25 * 86_400.0  # watched until one vanished, before any was


class Deaths:
    """The rate at which pages vanish, over all of a crawl: those found gone, by the time for which all were watched.

    Before any was it is one in a page's year, which counts as if one page had been watched for that year: few that are
    gone soon after the crawl began say little.

    Parameters
    ----------
    gone
        Pages that were there once and were found gone.
    watched_s
        Time from each visit that found a page there to the next visit that told whether it still was, over all pages.

    Attributes
    ----------
    elsewhere
        The same two of pages that others watch.

    Examples
    --------
    A thousand pages, of which five were gone after 73 days:

    >>> deaths = Deaths()
    >>> for page in range(1000):
    ...     deaths.learn(73 * 86_400.0, gone=page < 5)
    >>> deaths.gone, round(1 / deaths.per_s / 86_400.0)
    (5, 12228)

    References
    ----------
    Ntoulas, Cho, Olston (2004). What's New on the Web? The Evolution of the Web from a Search Engine Perspective. By
    their estimate a fifth of all pages is there after a year, so that 1.6 vanish in a page's year.
    """

    def __init__(self, gone: float = 0, watched_s: float = 0.0) -> None:
        self.gone, self.watched_s = gone, watched_s
        self.elsewhere = 0.0, 0.0

    def learn(self, interval_s: float, *, gone: int) -> None:
        """Take note of a page that was there an interval ago; or of many, by the sum of their intervals."""
        self.gone += gone
        self.watched_s += interval_s

    @property
    def per_s(self) -> float:
        """Part of the pages that are there that vanish in a second; above 0."""
        gone, watched_s = self.elsewhere
        return (self.gone + gone + 1.0) / (self.watched_s + watched_s + _EXPECTED_S)
