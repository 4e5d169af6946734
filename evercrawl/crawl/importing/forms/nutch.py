"""Reader of Nutch's crawl database as text, written by `nutch readdb CRAWLDB -dump FOLDER`, also with `-format csv`.

The fetch time in the database is the time of the next fetch; the last fetch was one interval earlier. If the database
states when a page was last modified, the page counts as unchanged from then until its last fetch. A page that Nutch
gave up counts as gone only if its protocol status says so; a page denied by robots.txt, or whose server failed, is a
URL to try.

References
----------
Nutch, `CrawlDbReader` and its `CrawlDatumCsvOutputFormat`, `CrawlDatum.toString` (version 7 of the datum) and
`ProtocolStatus`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import ClassVar, Final

from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import PastCapture, UnusableError
from evercrawl.crawl.importing.dates import instant
from evercrawl.crawl.importing.forms.lines import NothingHereError, TextSource, address, dated

LINE: Final = re.compile(rb"[a-zA-Z][a-zA-Z0-9+.-]*:\S*\tVersion: \d+|Url[,;]Status code[,;]Status name[,;]")
_ROW: Final = re.compile(rb'"[a-zA-Z][a-zA-Z0-9+.-]*:[^"]*"[,;]\d+[,;]"')
_STATUS: Final = re.compile(r"(\d+) \((\w+)\)")
_STATUSES: Final = {"db_fetched": 200, "db_notmodified": 200, "db_duplicate": 200, "db_gone": 404}
_PROTOCOL: Final = re.compile(r"_pst_[=:] *(\w+)\(\d+\)")
_COLUMNS: Final = (
    "URL", "Code", "Status", "Fetch time", "Modified time", "Retries", "Retry interval", "Days", "Score", "Signature",
)  # fmt: skip
_GONE: Final = {"gone": 410, "notfound": 404}


class NutchSource(TextSource):
    """One part of a dump."""

    form: ClassVar[str] = "Nutch dump"

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the entries: a line that begins with the URL, and the lines up to the next such line."""
        start, lines, size = 0, list[bytes](), 0
        for place, line in files.lines(self._file):
            if LINE.match(line) or _ROW.match(line):
                if lines:
                    yield start, b"".join(lines)
                start, lines, size = place, [], 0
            size += len(line)
            if size - len(line) <= files.MOST_LINE_BYTES:  # what is longer counts as unusable anyway
                lines.append(line)
        if lines:
            yield start, b"".join(lines)

    def captures(self, record: str) -> list[PastCapture]:
        """Return the captures in an entry."""
        if not record.strip() or record.startswith("Url"):
            raise NothingHereError
        text, facts = _of_a_row(record) if record.startswith('"') else _of_lines(record)
        found = _STATUS.fullmatch(facts.get("Status", ""))
        if not text or found is None:
            raise UnusableError("the entry has no URL or no status")
        if not text.startswith(("http:", "https:")):
            raise NothingHereError("not http or https")
        url, status = address(text), _STATUSES.get(found[2], 0)
        if status == 404 and (protocol := _PROTOCOL.search(record)) is not None:
            status = _GONE.get(protocol[1], 0)
        if not status:
            return [PastCapture(url)]  # unfetched, or a redirect whose target has an entry of its own
        at = dated(instant(facts.get("Fetch time", "")), facts.get("Fetch time", ""))
        at -= float(facts.get("Retry interval", "0").split()[0])
        digest = facts.get("Signature", "null")
        digest = "" if digest == "null" else digest
        last = PastCapture(url, dated(at, "fetch time less interval"), status=status, digest=digest)
        modified_at = instant(facts.get("Modified time", ""))
        if digest and 0.0 < modified_at < at:
            return [PastCapture(url, modified_at, status=status, digest=digest), last]
        return [last]


def _of_lines(record: str) -> tuple[str, dict[str, str]]:
    text, tab, _ = record.partition("\t")
    facts = dict(_fact(line) for line in record.partition("\n")[2].splitlines() if ": " in line)
    return text if tab else "", facts


def _of_a_row(record: str) -> tuple[str, dict[str, str]]:
    """Return the URL and the facts of a row of `-format csv`, under the names that a text entry uses."""
    between = record[record.index('"', 1) + 1]  # a comma, or a semicolon in old versions
    cells = next(csv.reader([record.partition("\n")[0]], delimiter=between))
    if len(cells) < len(_COLUMNS):
        raise UnusableError(f"the row has {len(cells)} columns instead of {len(_COLUMNS)} or more")
    facts = dict(zip(_COLUMNS, cells, strict=False))
    return cells[0], {**facts, "Status": f"{cells[1]} ({cells[2]})"}


def _fact(line: str) -> tuple[str, str]:
    name, _, value = line.partition(": ")
    return name.strip(), value.strip()
