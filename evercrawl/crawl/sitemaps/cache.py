"""Stores all known sitemaps across restarts; if the file is lost, they are only requested again."""

import contextlib
import sqlite3
from dataclasses import dataclass
from typing import Final

from evercrawl.model.rules import cache_file
from evercrawl.parse.urls import origin

SITEMAPS_FILE: Final = "sitemaps.sqlite"
_COLUMNS: Final = (
    "url, owners, level, by_page, kind, etag, last_modified, digest, urls, wait_s, asked_at, read_at, next_at"
)
_BARE_BYTES: Final = 400
"""The size of a sitemap whose texts are empty, including its entry in the queue."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS sitemaps (
    url TEXT PRIMARY KEY, owners TEXT NOT NULL, level INTEGER NOT NULL, by_page INTEGER NOT NULL, kind TEXT NOT NULL,
    etag TEXT NOT NULL, last_modified TEXT NOT NULL, digest INTEGER NOT NULL, urls INTEGER NOT NULL,
    wait_s REAL NOT NULL, asked_at REAL NOT NULL, read_at REAL NOT NULL, next_at REAL NOT NULL
) WITHOUT ROWID
"""


@dataclass(slots=True, eq=False)
class Listing:
    """One sitemap or feed.

    Attributes
    ----------
    url
        The normalised URL, as robots.txt or an index names it.
    owners
        Hosts (with ports) whose robots.txt or pages vouch for it: it may list any URL of theirs. It counts towards the
        limits of the first owner.
    level
        The number of indexes between robots.txt and it.
    by_page
        Whether a page named it rather than robots.txt; then it is requested only if robots.txt allows it.
    kind
        Its kind when it was last read, see `Sitemap`; "" before that, and for a file that is no sitemap.
    etag, last_modified, digest
        Validators and digest of the content last read; "" and 0 for none.
    urls
        The number of pages that it listed then.
    wait_s
        The last wait between two requests.
    asked_at, read_at, next_at
        When it was last requested, when its content was last read (0 for never), and when to request it again.
    moved, hops, busy
        The URL after redirects and their number in a row; whether it is being requested or read.
    counted
        The bytes counted for it in its book, see `nbytes`.
    stale
        Whether another host came to vouch for it while it was requested or read, so that it has to be read again.
    """

    url: str
    owners: tuple[str, ...]
    level: int = 0
    by_page: bool = False
    kind: str = ""
    etag: str = ""
    last_modified: str = ""
    digest: int = 0
    urls: int = 0
    wait_s: float = 0.0
    asked_at: float = 0.0
    read_at: float = 0.0
    next_at: float = 0.0
    moved: str = ""
    hops: int = 0
    busy: bool = False
    counted: int = 0
    stale: bool = False

    @property
    def nbytes(self) -> int:
        """The approximate size in memory (bytes); its size in the file is half of that."""
        texts = (self.url, self.etag, self.last_modified, self.moved, *self.owners)
        return _BARE_BYTES + sum(map(len, texts))

    @property
    def invited(self) -> bool:
        """Whether the origin to be asked named it itself, so that it may be requested whatever the rules there say."""
        return not self.by_page and not self.moved and origin(self.url).partition("//")[2] in self.owners

    def forget(self) -> None:
        """Drop validators and digest, so that the content is requested and read again."""
        self.etag = self.last_modified = ""
        self.digest = 0


class SitemapCache:
    """A table of sitemaps in SQLite.

    Parameters
    ----------
    path
        A SQLite file; ":memory:" stores nothing. A damaged file is replaced.

    Examples
    --------
    >>> cache = SitemapCache(":memory:")
    >>> cache.keep(Listing("http://example.org/sitemap.xml", ("example.org",), urls=3))
    >>> [(listing.url, listing.owners, listing.urls) for listing in cache.all()]
    [('http://example.org/sitemap.xml', ('example.org',), 3)]
    >>> cache.close()
    """

    def __init__(self, path: str) -> None:
        self._file = cache_file.opened(path, _SCHEMA, f"SELECT {_COLUMNS} FROM sitemaps LIMIT 1")

    def keep(self, listing: Listing) -> None:
        """Store the state of a sitemap."""
        row = (
            listing.url, " ".join(listing.owners), listing.level, int(listing.by_page), listing.kind, listing.etag,
            listing.last_modified, _signed(listing.digest), listing.urls, listing.wait_s, listing.asked_at,
            listing.read_at, listing.next_at,
        )  # fmt: skip
        with contextlib.suppress(sqlite3.Error):  # if the disk is full, for example: memory has it anyway
            self._file.execute(f"REPLACE INTO sitemaps ({_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)

    def drop(self, url: str) -> None:
        """Remove a sitemap."""
        with contextlib.suppress(sqlite3.Error):
            self._file.execute("DELETE FROM sitemaps WHERE url = ?", (url,))

    def all(self) -> list[Listing]:
        """Return every sitemap; rows that cannot be read are left out."""
        found: list[Listing] = []
        with contextlib.suppress(sqlite3.Error):
            for row in self._file.execute(f"SELECT {_COLUMNS} FROM sitemaps ORDER BY url"):
                with contextlib.suppress(ValueError, TypeError, AttributeError):
                    found.append(_listing(row))
        return found

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _listing(row: tuple[str, str, int, int, str, str, str, int, int, float, float, float, float]) -> Listing:
    url, owners, level, by_page, kind, etag, last_modified, digest, *numbers = row
    urls, wait_s, asked_at, read_at, next_at = numbers
    made = Listing(url, tuple(owners.split()), level, bool(by_page), kind, etag, last_modified, digest % (1 << 64))
    made.urls, made.wait_s, made.asked_at, made.read_at, made.next_at = int(urls), wait_s, asked_at, read_at, next_at
    if not made.owners:
        raise ValueError("a sitemap that nobody vouches for")
    return made


def _signed(number: int) -> int:
    """Return an unsigned 64-bit number in SQLite's signed form."""
    return number - (1 << 64) if number >= 1 << 63 else number
