"""Reader of sitemap and feed files: URLs, and the dates of their last changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Final

from evercrawl.change.dates import w3c_date
from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import NOT_DATED, LeftOut, PastCapture, Spot, Unusable
from evercrawl.parse.listings.sitemap import SitemapReader

_MOST_URLS: Final = 10_000_000


class SitemapSource:
    """A sitemap in a local file; its entries count as statements of the site.

    Parameters
    ----------
    path
        The file.
    """

    form: ClassVar[str] = "sitemap"

    def __init__(self, path: Path) -> None:
        with files.plain(path) as file:
            data = file.read(files.MOST_BYTES)
            self._cut = bool(file.read(1))
        self.name, self.size_bytes, self.read_bytes = str(path), len(data), 0
        reader = SitemapReader(data, "http://localhost/", "", _MOST_URLS, files.MOST_BYTES)
        while reader.step():
            pass
        self._sitemap = reader.sitemap

    def scan(self) -> Iterator[Spot | Unusable | LeftOut]:
        """Yield the entries."""
        for place, entry in enumerate(self._sitemap.pages):
            yield Spot(NOT_DATED, False, entry.url, place, 0)
        for _ in self._sitemap.children:
            yield LeftOut("another sitemap, whose file must be imported too")
        self.read_bytes = self.size_bytes
        if self._cut:
            yield Unusable(self.name, f"what follows the first {files.MOST_BYTES >> 20} MiB is not read")
        elif self._sitemap.trouble:
            yield Unusable(self.name, self._sitemap.trouble)

    def load(self, place: int, length: int, part: int) -> PastCapture:
        """Return an entry."""
        entry = self._sitemap.pages[place]
        changed = w3c_date(entry.dated) if entry.dated else None
        return PastCapture(entry.url, changed_at=NOT_DATED if changed is None else changed)

    def close(self) -> None:
        """Release the entries."""
        self._sitemap.pages.clear()
