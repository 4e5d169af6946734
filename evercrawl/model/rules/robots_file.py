"""A crawl's robots.txt files on disk: a table of bounded size, with a quota per site."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.fetch.robots import MAX_ROBOTS_BYTES
from evercrawl.model.rules import cache_file
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname

if TYPE_CHECKING:
    from pathlib import Path

ROBOTS_FILE: Final = "robots.sqlite"
CLOSED: Final = "disallow_all"
"""Verdict of an origin whose file could not be fetched."""
MOST_BYTES: Final = 256 << 20
SITE_PART: Final = 64  # of the total, a site's quota; at least two files
ROW_BYTES: Final = 200  # overhead of a row beside origin and body, including two index entries
_LEFT: Final = 0.9  # of the limit, left in use after eviction
_AT_ONCE: Final = 256  # rows deleted in one batch
_SITES: Final = 1 << 12  # whose sums are cached
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS robots (
    origin TEXT PRIMARY KEY, verdict TEXT NOT NULL, body BLOB NOT NULL, expires_at REAL NOT NULL
) WITHOUT ROWID
"""
_ADDED: Final = {"site": "TEXT NOT NULL DEFAULT ''", "size": "INTEGER NOT NULL DEFAULT 0",
                 "failures": "INTEGER NOT NULL DEFAULT 0", "run": "INTEGER NOT NULL DEFAULT 0"}  # fmt: skip
_INDEXES: Final = (
    "CREATE INDEX IF NOT EXISTS robots_by_site ON robots (site, expires_at, size)",
    "CREATE INDEX IF NOT EXISTS robots_by_age ON robots (expires_at, size)",
)


class RobotsRow(NamedTuple):
    """The stored row of an origin.

    Attributes
    ----------
    verdict, body
        As in `fetch.robots_policy.verdict`; the file, or the reason why it could not be fetched.
    expires_at
        Expiry, in seconds since the epoch.
    failures
        Consecutive failures to fetch it.
    """

    verdict: str
    body: bytes
    expires_at: float
    failures: int = 0


_WRONG: Final = (
    "typeof(verdict) != 'text' OR typeof(body) != 'blob' OR typeof(expires_at) NOT IN ('real', 'integer') "
    "OR typeof(size) != 'integer' OR size NOT BETWEEN 0 AND 1e12 OR typeof(failures) != 'integer' "
    "OR failures NOT BETWEEN 0 AND 1e9 OR typeof(run) != 'integer' OR run NOT BETWEEN 0 AND 1e15"
)
"""Rows that nobody has put in: SQLite keeps whatever value a column is given."""


class RobotsFile:
    """Files by origin; those that expire first are evicted first. Missing ones are requested again.

    Parameters
    ----------
    path
        SQLite file; ":memory:" stores nothing. A file of version 0.1 is migrated.
    most_bytes
        Size limit, counting bodies, origins and rows.
    """

    def __init__(self, path: str, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_of_site = most_bytes, max(most_bytes // SITE_PART, 2 * MAX_ROBOTS_BYTES)
        self._sites: OrderedDict[str, int] = OrderedDict()
        self._table = cache_file.opened(path, _SCHEMA, "SELECT origin, body, expires_at FROM robots LIMIT 1")
        self._bytes, self._run = 0, 1
        with contextlib.suppress(sqlite3.Error):
            self._complete()
            self._table.execute(f"DELETE FROM robots WHERE {_WRONG}")
            self._bytes = self._one("SELECT COALESCE(SUM(size), 0) FROM robots")
            self._run = 1 + self._one("SELECT COALESCE(MAX(run), 0) FROM robots")
            if self._bytes > most_bytes:
                self._make_room()

    @property
    def size_bytes(self) -> int:
        """Size in bytes, as counted against the limit."""
        return self._bytes

    def get(self, origin: str) -> RobotsRow | None:
        """Return the row of an origin; for an unreachable one, only what this run found out."""
        try:
            asked = "SELECT verdict, body, expires_at, failures, run FROM robots WHERE origin = ?"
            found = self._table.execute(asked, (origin,)).fetchone()
        except sqlite3.Error:
            return None
        if found is None or (found[0] == CLOSED and found[4] != self._run):
            return None
        return RobotsRow(*found[:4])

    def put(self, origin: str, row: RobotsRow) -> None:
        """Store the row of an origin; if the disk is full, nothing is stored."""
        site, size = _site_of(origin), len(row.body) + 2 * (len(origin) + ROW_BYTES)
        with contextlib.suppress(sqlite3.Error):
            was = self._table.execute("SELECT size FROM robots WHERE origin = ?", (origin,)).fetchone()
            self._table.execute(
                "REPLACE INTO robots (origin, verdict, body, expires_at, site, size, failures, run) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (origin, row.verdict, row.body, row.expires_at, site, size, row.failures, self._run),
            )
            grown = size - (was[0] if was else 0)
            self._bytes += grown
            if self._of_site(site, grown) > self._most_of_site:
                self._make_room_of(site)
            if self._bytes > self._most:
                self._make_room()

    def drop(self, origin: str) -> None:
        """Remove the row of an origin."""
        with contextlib.suppress(sqlite3.Error):
            self._delete("SELECT origin, site, size FROM robots WHERE origin = ? LIMIT ?", 1.0, origin)

    def close(self) -> None:
        """Close the file."""
        self._table.close()

    def _complete(self) -> None:
        """Add the columns that a table of an older version lacks."""
        there = {name for _, name, *_ in self._table.execute("PRAGMA table_info(robots)")}
        for name, kind in _ADDED.items():
            if name not in there:
                self._table.execute(f"ALTER TABLE robots ADD COLUMN {name} {kind}")
        if not _ADDED.keys() <= there:
            self._table.create_function("site_of", 1, _site_of)
            self._table.execute(
                "UPDATE robots SET site = site_of(origin), size = length(body) + 2 * (length(origin) + ?)", (ROW_BYTES,)
            )
        for index in _INDEXES:
            self._table.execute(index)

    def _of_site(self, site: str, grown: int) -> int:
        """Return the bytes of a site, which has just grown by the given amount."""
        known = self._sites.pop(site, None)
        if known is None:
            known = self._one("SELECT COALESCE(SUM(size), 0) FROM robots WHERE site = ?", site) - grown
        self._sites[site] = known + grown
        if len(self._sites) > _SITES:
            self._sites.popitem(last=False)
        return known + grown

    def _make_room(self) -> None:
        while self._bytes > self._most * _LEFT and self._delete(
            "SELECT origin, site, size FROM robots ORDER BY expires_at LIMIT ?", self._bytes - self._most * _LEFT
        ):
            pass

    def _make_room_of(self, site: str) -> None:
        while self._sites[site] > self._most_of_site * _LEFT and self._delete(
            "SELECT origin, site, size FROM robots WHERE site = ? ORDER BY expires_at LIMIT ?",
            self._sites[site] - self._most_of_site * _LEFT, site,
        ):  # fmt: skip
            pass

    def _delete(self, query: str, least_bytes: float, *values: str) -> int:
        """Delete the first rows of a query until the given space is free; return their number."""
        gone = list[tuple[str]]()
        freed = 0
        for origin, site, size in self._table.execute(query, (*values, _AT_ONCE)).fetchall():
            if freed >= least_bytes:
                break
            gone.append((origin,))
            freed += size
            if site in self._sites:
                self._sites[site] -= size
        self._table.executemany("DELETE FROM robots WHERE origin = ?", gone)
        self._bytes -= freed
        return len(gone)

    def _one(self, query: str, *values: str) -> int:
        return int(self._table.execute(query, values).fetchone()[0])


def _site_of(origin: str) -> str:
    return found_site(hostname(f"{origin}/"))


def unreachable(path: Path) -> dict[str, str]:
    """Return the origins in a crawl's cache whose robots.txt could not be fetched, with reasons; {} on failure."""
    rows = cache_file.read(path, "SELECT origin, body FROM robots WHERE verdict = ? ORDER BY origin", CLOSED)
    return {origin: bytes(body).decode(errors="replace") for origin, body in rows}


def stored(path: Path, origin: str) -> tuple[bytes, float] | None:
    """Return the robots.txt of an origin in a crawl's cache, and its expiry; None if there is none."""
    query = "SELECT body, expires_at FROM robots WHERE origin = ? AND verdict != ?"
    return next(((bytes(body), float(at)) for body, at in cache_file.read(path, query, origin, CLOSED)), None)
