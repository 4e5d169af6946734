"""Site weight: the importance of a page's site, by OPIC on links between sites, shared among the site's pages."""

from collections.abc import Callable
from typing import Final

import numpy as np

from evercrawl.importance.sites.site_cash import SiteCash
from evercrawl.model.stored.reader import events
from evercrawl.model.stored.remembered import Remembered
from evercrawl.model.web.links_away import links_away
from evercrawl.model.worth.weights import BEGIN, FLOOR, MEASURELESS, Weight
from evercrawl.schedule.pages import Pages
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Floats, Slots

_GROWN: Final = 1.05  # growth of visits and known pages after which the sums over sites' pages are recomputed
_PIECE: Final = 1 << 16
_UNKNOWN: Final = "no page with links to other sites was visited yet; until then pages are worth their importance"


class FollowedSiteCash:
    """The cash of a crawl's sites, a fold over its journal: replayed at a start, updated with each visit."""

    def __init__(self, partition: Partition) -> None:
        self._state = partition.state
        self.sites = SiteCash()
        for _, _, event in events(partition, partition.journal.sequence):
            if isinstance(event, Visit):
                self._visited(event)

    def learned(self, visit: Remembered) -> None:
        """Take in a visit that was just remembered."""
        self._visited(visit.event)

    def importance(self) -> Floats:
        """Return the importance of each site, shape (sites,)."""
        return self.sites.importance(len(self._state.sites))

    def _visited(self, event: Visit) -> None:
        if not event.flags & HAS_LINKS:
            return
        own, slots = int(self._state.site_of[event.host]), links_away(event)
        known = self._state.known
        others = np.unique(self._state.site_of[known.hosts_of(slots[slots < known.count])])
        self.sites.visit(own, [other for other in others.tolist() if other != own])


class SiteWeight(Weight):
    """A site's importance, distributed over its pages in proportion to theirs; a tenth stays as it was.

    Parameters
    ----------
    partition
        The crawl. Its journal is read once from end to end.

    References
    ----------
    Abiteboul, Preda, Cobena (2003). Adaptive On-Line Page Importance Computation, section 4.5.
    """

    def __init__(self, partition: Partition) -> None:
        self._state = partition.state
        self._cash = FollowedSiteCash(partition)
        self._plain: Callable[[Slots], Pages] | None = None
        self._due = 0.0
        self._have: Floats = np.zeros(0)

    @property
    def message(self) -> str:
        """Whether nothing is known about sites."""
        return "" if self._cash.sites.total else _UNKNOWN

    @property
    def listener(self) -> FollowedSiteCash:
        """The listener to visits."""
        return self._cash

    def begin(self, plain: Callable[[Slots], Pages]) -> None:
        """Learn the importance of pages from `plain`."""
        self._plain = plain

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return the worth of pages, shape (n,)."""
        times = self._times()
        if not len(times):
            return importance
        sites = self._sites(slots)
        inside = sites < len(times)
        return importance * np.where(inside, times[np.where(inside, sites, 0)], 1.0)

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return the importance of the `site`, in units of the mean site, and that of its pages.

        Empty if no cash has moved.
        """
        found = self._cash.importance()
        site = int(self._sites(np.array([slot], np.uint32))[0])
        if not self._cash.sites.total or site >= len(found):
            return {}
        return {"now": float(found[site]) * len(found)}

    def _sites(self, slots: Slots) -> Slots:
        sites: Slots = self._state.site_of[self._state.known.hosts_of(slots)]
        return sites

    def _times(self) -> Floats:
        """Return worth divided by importance for the pages of each site; empty if nothing is known."""
        have, found = self._pages_have(), self._cash.importance()[: len(self._have)]
        whole = float(have.sum())
        if not whole or not self._cash.sites.total:
            return np.zeros(0)
        of_pages = have / whole
        times = np.where(of_pages > 0, found / np.maximum(of_pages, 1e-300), 1.0)
        return FLOOR + (1 - FLOOR) * times

    def _pages_have(self) -> Floats:
        """Return the total importance of each site's pages, shape (sites,), as last computed."""
        known, plain = self._state.known.count, self._plain
        assert plain is not None, BEGIN
        seen = known + self._state.visits
        if seen >= self._due:
            self._due, self._have = _GROWN * seen, np.zeros(len(self._state.sites))
            for first in range(0, known, _PIECE):
                slots = np.arange(first, min(first + _PIECE, known), dtype=np.uint32)
                importance = plain(slots).importance
                importance = np.where(importance < MEASURELESS, importance, 0.0)
                self._have += np.bincount(self._sites(slots), importance, len(self._have))
        return self._have
