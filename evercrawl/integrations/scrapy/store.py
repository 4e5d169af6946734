"""Requests in an SQLite file of the crawl directory: those of pages, and those made once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from evercrawl.integrations.scrapy.requests import page_url
from evercrawl.store.disk.database import open_database

FILE: Final = "requests.sqlite"
_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS pages (url TEXT PRIMARY KEY, request BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unsettled (number INTEGER PRIMARY KEY, url TEXT NOT NULL, seed INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS once (number INTEGER PRIMARY KEY AUTOINCREMENT, priority INTEGER NOT NULL,
                                 url TEXT NOT NULL, request BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS prints (print BLOB PRIMARY KEY) WITHOUT ROWID;
"""
_INSTEAD: Final = (
    "restore it from a backup, or remove it: the pages stay known, and those that are unread are given to the "
    "spider's parse"
)


class RequestStore:
    """The requests of one spider.

    Changes survive a crash of the process after `commit`, and a crash of the machine after `sync`.

    Parameters
    ----------
    directory
        The crawl directory.

    Raises
    ------
    StoreError
        The file is damaged, or was written by a newer version.
    """

    def __init__(self, directory: Path) -> None:
        path = directory / FILE
        self._file = open_database(path, _SCHEMA, _VERSION, synchronous="NORMAL", instead=_INSTEAD)
        self._log = os.open(f"{path}-wal", os.O_RDONLY | os.O_CLOEXEC)
        self._open = False
        self._pages = dict[str, tuple[bytes, int]]()  # not in the file yet

    def commit(self) -> None:
        """Commit changes, so that they survive a crash of the process."""
        self._flush()
        if self._open:
            self._file.execute("COMMIT")
            self._open = False

    def sync(self) -> None:
        """Sync committed changes to disk, so that they survive a crash of the machine; any thread may call this."""
        os.fdatasync(self._log)

    def close(self) -> None:
        """Commit, and close the file."""
        self.commit()
        os.close(self._log)
        self._file.close()

    # Pages

    def add_page(self, url: str, request: bytes, *, seed: bool) -> None:
        """Store the request of a page; the page is unsettled until the crawl's journal has its URL."""
        self._pages[url] = request, int(seed)

    def page(self, url: str) -> bytes | None:
        """Return the request of a page; None if there is none."""
        if url in self._pages:
            return self._pages[url][0]
        row = self._file.execute("SELECT request FROM pages WHERE url = ?", (url,)).fetchone()
        return row[0] if row is not None else None

    def unsettled(self) -> tuple[list[tuple[str, bool]], int]:
        """Return the unsettled pages, each with whether it is a seed, and the number of the last."""
        rows = self._file.execute("SELECT number, url, seed FROM unsettled ORDER BY number").fetchall()
        return [(url, bool(seed)) for _, url, seed in rows], rows[-1][0] if rows else 0

    def last(self) -> int:
        """Return the number of the last unsettled page."""
        self._flush()
        (number,) = self._file.execute("SELECT coalesce(max(number), 0) FROM unsettled").fetchone()
        return int(number)

    def settle(self, number: int) -> None:
        """Mark pages up to a number as settled: the journal has them."""
        self._write("DELETE FROM unsettled WHERE number <= ?", (number,))

    # Requests made once

    def add_once(self, priority: int, url: str, request: bytes) -> int:
        """Store a request that is made once, and return its number."""
        self._begin()
        made = self._file.execute(
            "INSERT INTO once (priority, url, request) VALUES (?, ?, ?)", (priority, url, request)
        )
        assert made.lastrowid is not None
        return made.lastrowid

    def waiting(self) -> Iterable[tuple[int, int]]:
        """Yield priority and number of the pending requests, in order of arrival."""
        yield from self._file.execute("SELECT priority, number FROM once ORDER BY number").fetchall()

    def once(self, number: int) -> tuple[str, bytes]:
        """Return URL and bytes of a request."""
        row = self._file.execute("SELECT url, request FROM once WHERE number = ?", (number,)).fetchone()
        assert row is not None, "it is removed when it has been made"
        return row[0], row[1]

    def made(self, number: int) -> None:
        """Remove a request that was made."""
        self._write("DELETE FROM once WHERE number = ?", (number,))

    def forget(self, forgotten: Callable[[str], bool]) -> None:
        """Delete the requests for forgotten URLs, with every trace of them."""
        self.commit()
        self._file.execute("PRAGMA secure_delete = ON")
        for table in ("pages", "unsettled", "once"):
            rows = self._file.execute(f"SELECT DISTINCT url FROM {table}")
            urls = [(url,) for (url,) in rows if forgotten(page_url(url) or url)]
            self._file.executemany(f"DELETE FROM {table} WHERE url = ?", urls)
        self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # Fingerprints

    def seen(self, fingerprint: bytes) -> bool:
        """Return whether a fingerprint was seen before, and record it."""
        self._begin()
        made = self._file.execute("INSERT OR IGNORE INTO prints VALUES (?)", (fingerprint,))
        return made.rowcount == 0

    def _flush(self) -> None:
        """Write pages in one batch, which takes half the time of single writes."""
        if not self._pages:
            return
        self._begin()
        pages, self._pages = self._pages, dict[str, tuple[bytes, int]]()
        self._file.executemany("REPLACE INTO pages VALUES (?, ?)", [(url, data) for url, (data, _) in pages.items()])
        self._file.executemany(
            "INSERT INTO unsettled (url, seed) VALUES (?, ?)", [(url, seed) for url, (_, seed) in pages.items()]
        )

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        self._begin()
        self._file.execute(statement, values)

    def _begin(self) -> None:
        if not self._open:
            self._file.execute("BEGIN")
            self._open = True
