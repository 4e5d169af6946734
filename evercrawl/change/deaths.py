"""The rate at which pages vanish."""

from typing import Final

from evercrawl.change.credits import EventCredits

RETURNS: Final = 0.5
"""Assumed fraction of the pages found gone that are back at the next visit; the same for pages found gone again."""
_EXPECTED_S: Final = 365.25 * 86_400.0  # prior observed time per vanished page


class Deaths:
    """The rate at which pages vanish, over the whole crawl: pages found gone, divided by the total observed time.

    The prior is one per page and year, with the weight of one page observed for a year, so that a few pages found gone
    soon after the start have little influence. For each site, the number of pages that count is limited
    (`EventCredits`).

    Parameters
    ----------
    gone
        Number of pages that existed once and were found gone.
    watched_s
        Time from each visit that found a page to the next informative visit, over all pages.

    Attributes
    ----------
    elsewhere
        The same two numbers for pages of other partitions.

    Examples
    --------
    A thousand pages, five of which were gone after 73 days:

    >>> deaths = Deaths()
    >>> for page in range(1000):
    ...     deaths.learn(73 * 86_400.0, gone=page < 5)
    >>> deaths.gone, round(1 / deaths.per_s / 86_400.0)
    (5, 12228)

    References
    ----------
    Ntoulas, Cho, Olston (2004). What's New on the Web? The Evolution of the Web from a Search Engine Perspective. By
    their estimate a fifth of all pages exists after a year, so 1.6 vanish per page and year.
    """

    def __init__(self, gone: float = 0, watched_s: float = 0.0) -> None:
        self.gone, self.watched_s = gone, watched_s
        self.elsewhere = 0.0, 0.0
        self._credits = EventCredits()

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return self._credits.nbytes

    def learn(self, interval_s: float, *, gone: int) -> None:
        """Learn the result for a page that existed an interval ago; or for many, by the sum of their intervals."""
        self.gone += gone
        self.watched_s += interval_s

    def learn_of_site(self, site: int, interval_s: float, *, gone: bool) -> None:
        """Learn like `learn` from one page of a site; vanished pages beyond the limit for the site do not count."""
        self._credits.expect(site, self.per_s * interval_s)
        self.learn(interval_s, gone=int(gone and self._credits.take(site)))

    @property
    def per_s(self) -> float:
        """The fraction of the existing pages that vanish per second; above 0."""
        gone, watched_s = self.elsewhere
        return (self.gone + gone + 1.0) / (self.watched_s + watched_s + _EXPECTED_S)
