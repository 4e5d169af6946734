"""Limits on what one site adds to a count of rare events over all sites, such as pages that vanish.

Each site has credit for a few events, plus a few times as many as are expected given its observations. Events beyond
that do not count: a site that removes all its pages, or removes and restores them at will, says little about others.
If one site has all observations, its credit grows with the rate estimated from its events, until all of them count.
"""

from typing import Final

from evercrawl.arrays.rows import Rows

FIRST: Final = 5.0
"""Number of events of a site that always count."""
TIMES: Final = 3.0
"""Greatest ratio of the further events of a site that count to the number expected."""


class EventCredits:
    """The credits of sites, in 8 bytes per site.

    Examples
    --------
    Of eight events, where 0.5 were expected, six count:

    >>> credits = EventCredits()
    >>> credits.expect(4, 0.5)
    >>> [credits.take(4) for _ in range(8)]
    [True, True, True, True, True, True, False, False]
    """

    def __init__(self) -> None:
        self._more = Rows("f8")

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return self._more.nbytes

    def expect(self, site: int, events: float) -> None:
        """Add credit for an observation of a site in which this number of events was expected."""
        self._more.upto(site + 1)[site] += TIMES * events

    def take(self, site: int) -> bool:
        """Return whether an event of a site counts; if so, use up one credit."""
        credit = self._more.upto(site + 1)
        if credit[site] < 1.0 - FIRST:
            return False
        credit[site] -= 1.0
        return True
