"""The sites whose bodies take long to parse."""

import time
from collections.abc import Callable
from typing import Final

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
        self._until = dict[tuple[str, bool], float]()
        self._hung = dict[tuple[str, bool], int]()

    @property
    def any(self) -> bool:
        """Whether there has been any slow site."""
        return bool(self._until)

    def note(self, site: tuple[str, bool]) -> None:
        """Have the bodies of a site parsed apart for a while, because one of them takes long."""
        self._until.pop(site, None)
        self._until[site] = self._clock() + REMEMBERED_S
        if len(self._until) > MOST_SITES:
            first = next(iter(self._until))
            del self._until[first]
            self._hung.pop(first, None)

    def hung(self, site: tuple[str, bool]) -> None:
        """Count a body that was given up."""
        self.note(site)
        self._hung[site] = self._hung.get(site, 0) + 1

    def slow(self, site: tuple[str, bool]) -> bool:
        """Whether the bodies of a site are to be parsed apart."""
        return self._clock() < self._until.get(site, 0.0)

    def impatient(self, site: tuple[str, bool]) -> bool:
        """Whether a body of a site gets only a short time, because others hung."""
        return self._hung.get(site, 0) >= HUNG_MOST and self.slow(site)
