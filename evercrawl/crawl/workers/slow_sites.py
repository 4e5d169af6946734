"""The sites whose bodies take long to parse."""

import time
from collections.abc import Callable
from typing import Final

from evercrawl.crawl.recent_keys import RecentKeys

REMEMBERED_S: Final = 600.0  # for which the bodies of a site are parsed apart
HUNG_MOST: Final = 2  # bodies of a site that hang, after which others get little time for a while
MOST_SITES: Final = 10_000  # sites


class SlowSites:
    """Sites one of whose bodies was slow, by kind: pages and documents are counted apart.

    Parameters
    ----------
    clock
        Returns seconds.

    Examples
    --------
    >>> now = 0.0
    >>> sites = SlowSites(lambda: now)
    >>> site = ("a.example", True)
    >>> sites.slow(site), sites.note(site), sites.slow(site), sites.impatient(site)
    (False, None, True, False)
    >>> sites.hung(site), sites.impatient(site), sites.hung(site), sites.impatient(site)
    (None, False, None, True)
    >>> now = 601.0
    >>> sites.slow(site), sites.impatient(site), sites.hung(site), sites.impatient(site)
    (False, False, None, True)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._slow = RecentKeys[tuple[str, bool]](REMEMBERED_S, MOST_SITES)
        self._hung = dict[tuple[str, bool], int]()

    @property
    def any(self) -> bool:
        """Whether there has been any slow site."""
        return bool(self._slow)

    def note(self, site: tuple[str, bool]) -> None:
        """Have the bodies of a site parsed apart for a while, because one of them takes long."""
        if (dropped := self._slow.note(site, self._clock())) is not None:
            self._hung.pop(dropped, None)

    def hung(self, site: tuple[str, bool]) -> None:
        """Count a body that was given up."""
        self.note(site)
        self._hung[site] = self._hung.get(site, 0) + 1

    def slow(self, site: tuple[str, bool]) -> bool:
        """Whether the bodies of a site are to be parsed apart."""
        return self._slow.has(site, self._clock())

    def impatient(self, site: tuple[str, bool]) -> bool:
        """Whether a body of a site gets only a short time, because others hung."""
        return self._hung.get(site, 0) >= HUNG_MOST and self.slow(site)
