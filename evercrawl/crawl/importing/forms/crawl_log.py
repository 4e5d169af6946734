"""Reader of Heritrix's crawl.log: one line for each URL that was tried, with status, digest and date.

References
----------
Heritrix 3 wiki, "Heritrix Logs": timestamp, status, size, URI, discovery path, referrer, MIME type, thread, begin and
duration of the fetch, digest, source tag, annotations.
"""

from __future__ import annotations

import re
from typing import ClassVar, Final

from evercrawl.crawl.importing.captures import PastCapture, UnusableError
from evercrawl.crawl.importing.dates import instant
from evercrawl.crawl.importing.forms.lines import NothingHereError, TextSource, address, dated
from evercrawl.crawl.importing.forms.warc import is_document

LINE: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\s+-?\d+\s+(?:\d+|-)\s+\S+")
_LEAST: Final = 10  # columns
_HTTP: Final = range(100, 1000)


class CrawlLogSource(TextSource):
    """A crawl.log of Heritrix."""

    form: ClassVar[str] = "Heritrix crawl.log"

    def captures(self, record: str) -> list[PastCapture]:
        """Return the capture that a line names."""
        cells = record.split()
        if not cells:
            raise NothingHereError
        if len(cells) < _LEAST:
            raise UnusableError(f"the line has {len(cells)} columns instead of {_LEAST} or more")
        logged, code, _, target, _, _, mime, _, fetched, digest = cells[:_LEAST]
        if not re.fullmatch(r"-?\d+", code):
            raise UnusableError(f"{code[:20]!r} is not a status")
        if not target.startswith(("http:", "https:")):
            raise NothingHereError("not http or https")
        if target.partition("?")[0].endswith("/robots.txt") or not is_document(mime, target):
            raise NothingHereError("not a document")
        url, begun = address(target), fetched.partition("+")[0]
        at = dated(instant(begun if begun != "-" else logged), begun)
        if int(code) not in _HTTP:
            return [PastCapture(url)]  # never answered: the URL becomes known, without a visit
        return [PastCapture(url, at, status=int(code), digest="" if digest == "-" else digest.rpartition(":")[2])]
