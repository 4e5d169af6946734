"""Limits what one site adds to a count of rare events over all sites, such as pages that vanish.

A site has credit for a few events, and for a few times as many as are expected of what was observed of it. Events
beyond are its own affair: a site that removes all its pages, or that removes and returns them at will, says little of
others.
If a site has all of the observations, its credit grows with the rate that it makes known, until all its events count.
"""

from typing import Final

from evercrawl.arrays.rows import Rows

FIRST: Final = 5.0
"""Events of a site that always count."""
TIMES: Final = 3.0
"""Greatest ratio of its further events to those expected of it."""


class EventCredits:
    """The credit of each site, 8 bytes per site.

    Examples
    --------
    Eight events, where 0.5 are expected:

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
        """Add the number of events expected of an observation of a site."""
        self._more.upto(site + 1)[site] += TIMES * events

    def take(self, site: int) -> bool:
        """Return whether an event of a site counts, which uses up one credit."""
        credit = self._more.upto(site + 1)
        if credit[site] < 1.0 - FIRST:
            return False
        credit[site] -= 1.0
        return True
