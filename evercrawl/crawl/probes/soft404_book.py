"""Known answers of hosts to paths that cannot exist, kept across restarts; recognises visits that show the same."""

import contextlib
import sqlite3
from collections import Counter, OrderedDict
from typing import Final, NamedTuple

import msgspec

from evercrawl.crawl.probes.soft404 import (
    MOST_BYTES,
    AbsentPathAnswer,
    folder_of,
    leads_alike,
    near_in_size,
    page_answer,
    says_alike,
)
from evercrawl.fetch.answer import unwrap
from evercrawl.model.rules import cache_file
from evercrawl.model.stored.reading import Before, Reading
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname, origin, path_query
from evercrawl.types import Exchange

SOFT404_FILE: Final = "soft404.sqlite"
KEPT_S: Final = 7 * 86_400.0
"""How long an answer is valid (s); after that the host has to be suspected again."""
MOST_FOLDERS: Final = 4
"""Maximum number of folders of one origin that are tested within `KEPT_S`, in addition to its root."""
MOST_HELD_BYTES: Final = 32 << 20
"""Maximum size of all answers, in memory and on disk; the oldest are dropped first."""
MOST_OF_SITE: Final = MOST_HELD_BYTES // 16
"""Maximum size of the answers of one site, whatever the number of its hosts."""
ROW_BYTES: Final = 500
"""Overhead of a folder, in addition to its name and its answers."""
_HTML: Final = ("text/html", "application/xhtml+xml", "")
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS soft404 (
    folder TEXT PRIMARY KEY, asked_at REAL NOT NULL, answers BLOB NOT NULL
) WITHOUT ROWID
"""
_LONGEST: Final = (128 << 10, 16 << 10)
"""Maximum sizes of the answers and of the name of a folder in a row that was written here."""
_ANSWERS: Final = msgspec.msgpack.Decoder(tuple[AbsentPathAnswer, ...])


class _Row(NamedTuple):
    """A tested folder: its site, when it was tested, the answers, and their size in bytes."""

    site: str
    asked_at: float
    answers: tuple[AbsentPathAnswer, ...]
    size: int


class Soft404Book:
    """Soft 404 answers by origin and folder; a proper 404 leaves an empty entry.

    Parameters
    ----------
    path
        A SQLite file; ":memory:" stores nothing. A damaged file is replaced.

    Attributes
    ----------
    size_bytes
        Size of the answers, as counted against `MOST_HELD_BYTES`.
    """

    def __init__(self, path: str) -> None:
        self._file = cache_file.opened(path, _SCHEMA, "SELECT folder, asked_at, answers FROM soft404 LIMIT 1")
        self._rows: OrderedDict[str, _Row] = OrderedDict()  # by folder, oldest first
        self._of: dict[str, set[str]] = {}  # folders by origin
        self._of_site: dict[str, OrderedDict[str, None]] = {}  # folders by site, oldest first
        self._false: Counter[str] = Counter()  # folders with soft 404 answers, by origin
        self.size_bytes, self._bytes_of = 0, Counter[str]()  # by site
        with contextlib.suppress(sqlite3.Error):
            self._file.execute("DELETE FROM soft404 WHERE length(answers) > ? OR length(folder) > ?", _LONGEST)
            rows = self._file.execute("SELECT folder, asked_at, answers FROM soft404 ORDER BY asked_at")
            for folder, asked_at, answers in rows.fetchall():
                try:
                    self._learn(folder, float(asked_at), _ANSWERS.decode(answers))
                except (msgspec.MsgspecError, TypeError, ValueError):  # damaged, or of an earlier version
                    self._file.execute("DELETE FROM soft404 WHERE folder = ?", (folder,))

    def wanted(self, url: str, now: float, beside: int = 0) -> bool:
        """Whether to test the folder of a URL: it was not tested lately, nor were too many others of its origin.

        `beside` is the number of folders of the origin under test.
        """
        folder, root = folder_of(url), f"{origin(url)}/"
        lately = {tested for tested in self._of.get(origin(url), ()) if self._rows[tested].asked_at + KEPT_S > now}
        return folder not in lately and (folder == root or len(lately - {root}) + beside < MOST_FOLDERS)

    def keep(self, folder: str, now: float, answers: tuple[AbsentPathAnswer, ...]) -> None:
        """Store the answers of a folder; expired ones are dropped."""
        with contextlib.suppress(sqlite3.Error):  # if the disk is full, for example: memory has it anyway
            self._file.execute("REPLACE INTO soft404 VALUES (?, ?, ?)", (folder, now, msgspec.msgpack.encode(answers)))
        self._learn(folder, now, answers)
        while self._rows and (oldest := next(iter(self._rows))) and self._rows[oldest].asked_at + KEPT_S <= now:
            self._drop(oldest)

    def _learn(self, folder: str, asked_at: float, answers: tuple[AbsentPathAnswer, ...]) -> None:
        self._forget(folder)
        home, site = origin(folder), found_site(hostname(folder))
        size = ROW_BYTES + len(folder) + sum(len(answer.words) + len(answer.target) for answer in answers)
        self._rows[folder] = _Row(site, asked_at, answers, size)
        self._of.setdefault(home, set()).add(folder)
        self._of_site.setdefault(site, OrderedDict())[folder] = None
        if answers:
            self._false[home] += 1
        self.size_bytes += size
        self._bytes_of[site] += size
        while self._bytes_of[site] > MOST_OF_SITE:
            self._drop(next(iter(self._of_site[site])))
        while self.size_bytes > MOST_HELD_BYTES:
            self._drop(next(iter(self._rows)))

    def _drop(self, folder: str) -> None:
        """Remove a folder from memory and from the file."""
        self._forget(folder)
        with contextlib.suppress(sqlite3.Error):
            self._file.execute("DELETE FROM soft404 WHERE folder = ?", (folder,))

    def _forget(self, folder: str) -> None:
        row = self._rows.pop(folder, None)
        if row is None:
            return
        home = origin(folder)
        self._of[home].remove(folder)
        if not self._of[home]:
            del self._of[home]
        del self._of_site[row.site][folder]
        self.size_bytes -= row.size
        self._bytes_of[row.site] -= row.size
        if not self._of_site[row.site]:
            del self._of_site[row.site], self._bytes_of[row.site]
        if row.answers:
            self._false[home] -= 1
            if not self._false[home]:
                del self._false[home]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def doubts(self, url: str, before: Before, now: float) -> bool:
        """Whether the page of a copy may be a soft 404, so that its whole body has to be fetched."""
        if not before.digest or origin(url) not in self._false or _exempt(url, before):
            return False
        return any(near_in_size(url, before.size_bytes, answers) for answers in self._pages(url, now))

    def why_no_page(self, reading: Reading, now: float) -> str:
        """Return why a visit counts as a soft 404; "" if it does not."""
        url = reading.exchange.request.url
        if origin(url) not in self._false or _exempt(url, reading.before):
            return ""
        if reading.redirect:
            target = self._leads(url, reading.redirect, now)
            return f"soft 404: a path that cannot exist leads to {target} as well" if target else ""
        says = _readable(reading) and self._says(reading, now)
        return "soft 404: it says what a path that cannot exist says" if says else ""

    def _pages(self, url: str, now: float) -> list[tuple[AbsentPathAnswer, ...]]:
        """Return the answers to paths that cannot exist in the folder of a URL, or above it."""
        above = [folder for folder in self._of.get(origin(url), ()) if url.startswith(folder)]
        rows = [self._rows[folder] for folder in above]
        return [row.answers for row in rows if row.answers and row.asked_at + KEPT_S > now]

    def _leads(self, url: str, target: str, now: float) -> str:
        """Return the target of `url` if paths that cannot exist, in its folder or above, lead there too; else ""."""
        for folder in sorted(self._of[origin(url)]):
            row = self._rows[folder]
            if row.asked_at + KEPT_S > now and url.startswith(folder) and (alike := leads_alike(target, row.answers)):
                return alike
        return ""

    def _says(self, reading: Reading, now: float) -> bool:
        url = reading.exchange.request.url
        known = [answers for answers in self._pages(url, now) if near_in_size(url, reading.size_bytes, answers)]
        if not known:
            return False
        kind = reading.exchange.headers.get("content-type", "")
        page = page_answer(url, _body(reading.exchange), kind, reading.size_bytes)
        return any(says_alike(page, answers) for answers in known)


def _exempt(url: str, before: Before) -> bool:
    """Whether a page is exempt from the test: a seed, or a front page."""
    return before.depth == 0 or path_query(url) == "/"


def _readable(reading: Reading) -> bool:
    """Whether a visit brought a page whose words can be compared."""
    read = reading.content is not None and not reading.failed and reading.whole
    return read and reading.mime in _HTML


def _body(exchange: Exchange) -> bytes:
    """Return the beginning of the page: as a browser rendered it, or else of the decoded body."""
    if exchange.rendered is not None:
        return exchange.rendered.dom[:MOST_BYTES]
    request = msgspec.structs.replace(exchange.request, max_body_bytes=MOST_BYTES)
    copy = Exchange(
        request, exchange.at, wire=exchange.wire, headers=exchange.headers, http_version=exchange.http_version
    )
    unwrap(copy)
    return copy.body
