"""Rows of pages, folders and sites that rest lie in files beside the crawl; memory holds those that it works on."""

import asyncio
from pathlib import Path
from typing import Final

from evercrawl.arrays.shelf import Shelf
from evercrawl.crawl.loop import Crawl

EVERY_S: Final = 1.0
BUSY_S: Final = 0.05
"""While there is more to write than a step may: a start has all rows in memory."""


class Shelving:
    """Has what a crawl of this process knows of pages lie in files of its directory.

    Parameters
    ----------
    crawl
        Which one.
    directory
        Its directory; the files have no names, and are gone with the process.
    """

    def __init__(self, crawl: Crawl, directory: Path) -> None:
        self.shelf = Shelf(directory)
        self.shelf.keep(crawl.shelvables())

    async def keep(self) -> None:
        """Move a step's worth each second, until cancelled."""
        more = False
        while True:
            await asyncio.sleep(BUSY_S if more else EVERY_S)
            more = self.shelf.tend()
