"""The memory use of a crawl, written to its directory now and then for other processes to read."""

import asyncio
import contextlib
import os
from typing import Final

from msgspec.structs import replace

from evercrawl.arrays.shelf import Shelf
from evercrawl.clock import Clock
from evercrawl.crawl.loop import Crawl
from evercrawl.errors import StoreError
from evercrawl.model.footprint import PAGE, Footprint, MemoryItem, keep_footprint, resident_bytes

FIRST_S: Final = 2.0
EVERY_S: Final = 30.0


class MemoryMeasuring:
    """Measures the memory use of a crawl in this process, and writes it to the crawl directory.

    Parameters
    ----------
    crawl, clock
        The crawl, and the time.
    shelf
        The shelf with the crawl's rarely used rows.
    """

    def __init__(self, crawl: Crawl, clock: Clock, shelf: Shelf) -> None:
        self._crawl, self._clock, self._shelf = crawl, clock, shelf
        self._writing: asyncio.Future[None] | None = None

    def measure(self) -> Footprint:
        """Return the current memory use of the crawl."""
        return self._with_rows(self._named())

    def _named(self) -> Footprint:
        """Return the memory use without rows in files; only the system knows how many of those are in memory."""
        items = self._crawl.footprint()
        return Footprint(self._clock.now(), os.getpid(), resident_bytes() or 0, items, self._shelf.moved_bytes)

    def _with_rows(self, footprint: Footprint) -> Footprint:
        """Add the rows in files; the time that takes grows with the pages read, so a thread of the loop does it."""
        pages = max((item.count for item in footprint.items if item.of == PAGE), default=0)
        present = MemoryItem("rows in files that are also in memory", PAGE, pages, self._shelf.resident_bytes())
        return replace(footprint, items=(*footprint.items, present))

    async def keep(self) -> None:
        """Write the memory use after two seconds, and then every thirty seconds, until cancelled."""
        wait_s = FIRST_S
        while True:
            await asyncio.sleep(wait_s)
            wait_s = EVERY_S
            self._writing = asyncio.get_running_loop().run_in_executor(None, self._keep, self._named())
            with contextlib.suppress(StoreError):
                await asyncio.shield(self._writing)

    async def finish(self) -> None:
        """Wait for a write under way, then write the memory use once more."""
        with contextlib.suppress(StoreError):
            if self._writing is not None:
                await self._writing
            self._keep(self._named())

    def _keep(self, footprint: Footprint) -> None:
        keep_footprint(self._crawl.partition.disk, self._with_rows(footprint))
