"""Reader of archive indexes: CDXJ as pywb and Common Crawl write it, and CDX with columns.

A line names a capture and the digest of its content. If the WARC file that the line names is beside the index, the
content is read from that file; otherwise only the history is imported.

References
----------
CDXJ, https://specs.webrecorder.net/cdxj/0.1.0/; CDX, https://iipc.github.io/warc-specifications/
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from evercrawl.crawl.importing.captures import PastCapture, UnusableError
from evercrawl.crawl.importing.dates import instant
from evercrawl.crawl.importing.forms.lines import NothingHereError, TextSource, address, dated
from evercrawl.crawl.importing.forms.warc import WarcFiles, is_document
from evercrawl.decoding import whole_of

CDXJ_LINE: Final = re.compile(rb"\S+ \d{4,17} \{")
CDX_LINE: Final = re.compile(rb"\S+ \d{14} https?://\S+ \S+ (?:\d{3}|-) \S+ ")
_ELEVEN: Final = ["N", "b", "a", "m", "s", "k", "r", "M", "S", "V", "g"]
_NINE: Final = ["N", "b", "a", "m", "s", "k", "r", "V", "g"]
_TEN: Final = ["N", "b", "a", "m", "s", "k", "r", "M", "V", "g"]
_NAMES: Final = {"b": "timestamp", "a": "url", "m": "mime", "s": "status", "k": "digest", "S": "length", "V": "offset",
                 "g": "filename"}  # fmt: skip
_BY_COUNT: Final = {11: _ELEVEN, 10: _TEN, 9: _NINE}
REVISIT: Final = "warc/revisit"


class CdxSource(TextSource):
    """An index of an archive."""

    form: ClassVar[str] = "CDXJ index"

    def __init__(self, path: Path, archive: WarcFiles | None = None) -> None:
        super().__init__(path)
        self._archive = archive or WarcFiles([path.parent, path.parent.parent / "archive", path.parent.parent])
        self._columns: list[str] = []

    def captures(self, record: str) -> list[PastCapture]:
        """Return the capture that a line names."""
        if record.startswith((" CDX ", "CDX ")):
            self._columns = record.split()[1:]
            raise NothingHereError
        if not record.strip() or record.startswith(("!", "#", "@")):
            raise NothingHereError
        facts = self._facts(record)
        url = address(str(facts.get("url", "")))
        at = dated(instant(str(facts.get("timestamp", ""))), str(facts.get("timestamp", "")))
        mime = str(facts.get("mime", facts.get("mime-detected", "")))
        if mime not in (REVISIT, "-") and not is_document(mime, url):
            raise NothingHereError("not a document")
        status = whole_of(str(facts.get("status", "-")), 0, 999) or 0
        place = self._archive.find(str(facts.get("filename", "")))
        offset, size = (whole_of(str(facts.get(name, "")), 0, 1 << 62) for name in ("offset", "length"))
        if place is not None and offset is not None and size is not None:
            return [self._archive.load(place, offset, size)]
        return [PastCapture(url, at, status=status or (200 if mime == REVISIT else 0), digest=_digest(facts))]

    def close(self) -> None:
        """Close the files."""
        super().close()
        self._archive.close()

    def _facts(self, record: str) -> dict[str, Any]:
        _, _, rest = record.partition(" ")
        timestamp, _, rest = rest.partition(" ")
        if rest.startswith("{"):
            try:
                return {"timestamp": timestamp, **msgspec.json.decode(rest.encode(), type=dict[str, Any])}
            except (msgspec.MsgspecError, UnicodeError) as error:
                raise UnusableError(f"the text after the timestamp is not a JSON object: {error}") from error
        cells = record.split()
        columns = self._columns or _BY_COUNT.get(len(cells), [])
        if len(columns) != len(cells):
            raise UnusableError(f"the line has {len(cells)} columns instead of {len(columns) or '9, 10 or 11'}")
        return {_NAMES[letter]: cell for letter, cell in zip(columns, cells, strict=True) if letter in _NAMES}


def _digest(facts: dict[str, Any]) -> str:
    """Return the digest without its label, which only some programs write."""
    digest = str(facts.get("digest", "")).rpartition(":")[2]
    return "" if digest == "-" else digest
