"""Reader of tables of URLs: columns separated by comma, semicolon or tab, named in the first line; or one URL per line.

With a column of dates, each line is a visit. A column of digests identifies the content that the visit found, and a
column of statuses says whether it found the page.
"""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from typing import ClassVar, Final

from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import NOT_DATED, PastCapture, UnusableError
from evercrawl.crawl.importing.dates import instant
from evercrawl.crawl.importing.forms.lines import NothingHereError, TextSource, address, dated
from evercrawl.decoding import whole_of
from evercrawl.errors import ConfigError

COLUMNS: Final = {
    "url": ("url", "uri", "loc", "address", "page", "link", "href", "original", "target"),
    "at": ("date", "at", "timestamp", "time", "visited", "visited_at", "fetched", "fetched_at", "crawled", "crawled_at",
           "seen", "seen_at", "accessed", "captured_at", "fetch_time", "last_crawled", "last_seen"),
    "changed": ("lastmod", "changed", "changed_at", "modified", "modified_at", "last_modified", "updated",
                "updated_at"),
    "digest": ("digest", "hash", "checksum", "signature", "sha1", "sha256", "md5", "etag"),
    "status": ("status", "code", "status_code", "http_status"),
}  # fmt: skip
"""Accepted names of columns; case does not matter, and blanks and hyphens count as underscores."""
_URL: Final = re.compile(r"https?://", re.I)


class TableSource(TextSource):
    """A table of URLs.

    Raises
    ------
    ConfigError
        No column contains URLs.
    """

    form: ClassVar[str] = "table of URLs"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            self._read_heading(path)
        except BaseException:
            self.close()
            raise

    def _read_heading(self, path: Path) -> None:
        first = next((line for _, line in files.lines(self._file) if line.strip()), b"")
        text = first.decode("utf-8-sig", "replace").strip()
        self._delimiter = max(",;\t", key=text.count) if not _URL.match(text) or text.count("\t") else ","
        self._first, self._columns = first, _columns(self._cells(text))
        if self._columns is None:
            self._columns, self._first = _guessed(self._cells(text)), b""
        if "url" not in self._columns:
            raise ConfigError(
                f"{path}: no column contains URLs; name a column `url` in the first line, and others `date`, "
                "`changed`, `status` or `digest`"
            )

    def captures(self, record: str) -> list[PastCapture]:
        """Return the capture that a line names."""
        if not record.strip() or record.startswith("#") or record.encode() == self._first:
            raise NothingHereError
        cells, columns = self._cells(record), self._columns or {}
        if len(cells) <= max(columns.values()):
            raise UnusableError(f"the line has {len(cells)} columns instead of {max(columns.values()) + 1} or more")
        facts = {name: cells[column].strip() for name, column in columns.items()}
        url, date, digest = address(facts["url"]), facts.get("at", ""), facts.get("digest", "")
        at = dated(instant(date), date) if date else NOT_DATED
        changed, text = instant(facts.get("changed", "")), facts.get("status", "")
        status = whole_of(text, 0, 999) if text else 200
        if status is None:
            raise UnusableError(f"{text[:20]!r} is not a status")
        if math.isnan(at):
            return [PastCapture(url, changed_at=changed)]
        return [PastCapture(url, at, status=status, digest=digest)]

    def _cells(self, record: str) -> list[str]:
        return next(csv.reader([record.lstrip("\ufeff").rstrip("\r\n")], delimiter=self._delimiter), list[str]())


def _columns(cells: list[str]) -> dict[str, int] | None:
    """Return the meanings of columns by their names; None if the first line has no column names."""
    if any(_URL.match(cell.strip()) for cell in cells):
        return None
    names = [re.sub(r"[\s-]+", "_", cell.strip().lower()) for cell in cells]
    found = {what: [names.index(name) for name in known if name in names] for what, known in COLUMNS.items()}
    return {what: columns[0] for what, columns in found.items() if columns}


def _guessed(cells: list[str]) -> dict[str, int]:
    """Return the meanings of columns, guessed from the content of the first line."""
    found: dict[str, int] = {}
    for column, cell in enumerate(cells):
        what = "url" if _URL.match(cell.strip()) else "at" if not math.isnan(instant(cell)) else ""
        if what:
            found.setdefault(what, column)
    return found
