"""The places for pages in a browser: sites take turns, so that pages of one do not keep those of others waiting."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncGenerator

__all__ = ["BrowserPlaces"]


class BrowserPlaces:
    """A limited number of places, of which a site has more than one only if no other site with fewer waits.

    Of the sites with the fewest places, the one that got or gave back a place longest ago is next; the pages of a site
    keep their order.

    Parameters
    ----------
    places
        The number of places.
    """

    def __init__(self, places: int) -> None:
        self._places = self._free = places
        self._held = Counter[str]()  # by site
        self._waiting: dict[str, deque[tuple[int, asyncio.Future[None]]]] = {}  # by site, in the order of their turns

    def contested(self, site: str) -> bool:
        """Whether pages of other sites wait."""
        return len(self._waiting) > (site in self._waiting)

    @contextlib.asynccontextmanager
    async def place(self, site: str, *, alone: bool = False) -> AsyncGenerator[None]:
        """Wait for one place, or for all of them if `alone`, and hold it."""
        wanted = self._places if alone else 1
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(site, deque()).append((wanted, granted))
        self._grant()
        try:
            await granted
            yield
        finally:
            if not granted.cancelled():
                self._free += wanted
                self._held[site] -= wanted
                if not self._held[site]:
                    del self._held[site]
                if site in self._waiting:
                    self._waiting[site] = self._waiting.pop(site)  # behind the others
            elif (wanted, granted) in self._waiting.get(site, ()):
                self._waiting[site].remove((wanted, granted))
                if not self._waiting[site]:
                    del self._waiting[site]
            self._grant()

    def _grant(self) -> None:
        """Give free places to the pages whose turn it is; who wants all of them keeps its turn until they are free."""
        while self._waiting:
            site = min(self._waiting, key=self._held.__getitem__)
            wanted, granted = self._waiting[site][0]
            if wanted > self._free and not granted.cancelled():
                return
            queue = self._waiting.pop(site)
            queue.popleft()
            if queue:
                self._waiting[site] = queue
            if not granted.cancelled():
                self._free -= wanted
                self._held[site] += wanted
                granted.set_result(None)
