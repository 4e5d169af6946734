"""Keeps the inactive rows of pages, folders and sites in files beside the crawl; memory holds the active ones."""

import asyncio
from pathlib import Path
from typing import Final

from evercrawl.arrays.shelf import Shelf
from evercrawl.crawl.loop import Crawl

EVERY_S: Final = 1.0
BUSY_S: Final = 0.05
"""The interval while more is to be written than a step may: at the start, all rows are in memory."""


class Shelving:
    """Keeps the inactive rows of a crawl of this process in files of its directory.

    Parameters
    ----------
    crawl
        The crawl.
    directory
        Its directory; the files have no names and disappear with the process.
    """

    def __init__(self, crawl: Crawl, directory: Path) -> None:
        self.shelf = Shelf(directory)
        self.shelf.keep(crawl.shelvables())

    async def keep(self) -> None:
        """Move one step's worth of rows each second, until cancelled."""
        more = False
        while True:
            await asyncio.sleep(BUSY_S if more else EVERY_S)
            more = self.shelf.tend()
