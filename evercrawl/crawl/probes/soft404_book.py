"""Known answers of hosts to paths that cannot exist, kept across restarts; recognises visits that show the same."""

import contextlib
import sqlite3
from typing import Final

import msgspec

from evercrawl.crawl.probes.soft404 import (
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
from evercrawl.parse.urls import origin, path_query
from evercrawl.types import Exchange

SOFT404_FILE: Final = "soft404.sqlite"
KEPT_S: Final = 7 * 86_400.0
"""How long an answer is valid (s); after that the host has to be suspected again."""
MOST_FOLDERS: Final = 4
"""The number of folders of one origin that are tested in that time."""
_HTML: Final = ("text/html", "application/xhtml+xml", "")
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS soft404 (
    folder TEXT PRIMARY KEY, asked_at REAL NOT NULL, answers BLOB NOT NULL
) WITHOUT ROWID
"""
_ANSWERS: Final = msgspec.msgpack.Decoder(tuple[AbsentPathAnswer, ...])


class Soft404Book:
    """Soft 404 answers by origin and folder; a proper 404 leaves an empty entry.

    Parameters
    ----------
    path
        A SQLite file; ":memory:" stores nothing. A damaged file is replaced.
    """

    def __init__(self, path: str) -> None:
        self._file = cache_file.opened(path, _SCHEMA, "SELECT folder, asked_at, answers FROM soft404 LIMIT 1")
        self._of: dict[str, dict[str, tuple[float, tuple[AbsentPathAnswer, ...]]]] = {}
        self._false: set[str] = set()  # origins that give soft 404 answers
        with contextlib.suppress(sqlite3.Error):
            for folder, asked_at, answers in self._file.execute("SELECT folder, asked_at, answers FROM soft404"):
                with contextlib.suppress(msgspec.MsgspecError, TypeError, ValueError):
                    self._learn(folder, float(asked_at), _ANSWERS.decode(answers))

    def wanted(self, url: str, now: float, beside: int = 0) -> bool:
        """Whether to test the folder of a URL: it was not tested lately, nor were too many others of its origin.

        `beside` is the number of folders of the origin under test.
        """
        folders = self._of.get(origin(url), {})
        lately = [folder for folder, (asked_at, _) in folders.items() if asked_at + KEPT_S > now]
        return len(lately) + beside < MOST_FOLDERS and folder_of(url) not in lately

    def keep(self, folder: str, now: float, answers: tuple[AbsentPathAnswer, ...]) -> None:
        """Store the answers of a folder."""
        self._learn(folder, now, answers)
        with contextlib.suppress(sqlite3.Error):  # if the disk is full, for example: memory has it anyway
            self._file.execute("REPLACE INTO soft404 VALUES (?, ?, ?)", (folder, now, msgspec.msgpack.encode(answers)))

    def _learn(self, folder: str, asked_at: float, answers: tuple[AbsentPathAnswer, ...]) -> None:
        self._of.setdefault(origin(folder), {})[folder] = asked_at, answers
        if answers:
            self._false.add(origin(folder))

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
        """Return the answers to paths of an origin that cannot exist."""
        folders = self._of.get(origin(url), {}).values()
        return [answers for asked_at, answers in folders if answers and asked_at + KEPT_S > now]

    def _leads(self, url: str, target: str, now: float) -> str:
        """Return the target of `url` if paths that cannot exist, in its folder or above, lead there too; else ""."""
        for folder, (asked_at, answers) in self._of[origin(url)].items():
            if asked_at + KEPT_S > now and url.startswith(folder) and (alike := leads_alike(target, answers)):
                return alike
        return ""

    def _says(self, reading: Reading, now: float) -> bool:
        url = reading.exchange.request.url
        known = [answers for answers in self._pages(url, now) if near_in_size(url, reading.size_bytes, answers)]
        if not known:
            return False
        page = page_answer(url, _body(reading.exchange), reading.exchange.headers.get("content-type", ""))
        return any(says_alike(page, answers) for answers in known)


def _exempt(url: str, before: Before) -> bool:
    """Whether a page is exempt from the test: a seed, or a front page."""
    return before.depth == 0 or path_query(url) == "/"


def _readable(reading: Reading) -> bool:
    """Whether a visit brought a page whose words can be compared."""
    read = reading.content is not None and not reading.failed and reading.whole
    return read and reading.mime in _HTML


def _body(exchange: Exchange) -> bytes:
    """Return the decoded body, no matter which process has parsed it."""
    copy = Exchange(
        exchange.request, exchange.at, wire=exchange.wire, headers=exchange.headers, http_version=exchange.http_version
    )
    unwrap(copy)
    return copy.body
