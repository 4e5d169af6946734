"""The CDXJ index of a segment: which capture of which URL is where, for replay tools such as pywb."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quoted
from typing import Final

from evercrawl.errors import StoreError
from evercrawl.store.archive.answer import Stored, stored
from evercrawl.store.archive.surt import surt_key
from evercrawl.store.archive.warc import EntryKind
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.disk.disk import Disk

SEGMENT_SUFFIX: Final = ".warc.gz"
INDEX_SUFFIX: Final = ".cdxj"
REVISIT: Final = "warc/revisit"
UNKNOWN: Final = "unk"
_BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Capture:
    """One line of the index.

    Attributes
    ----------
    url, at
        What was asked, and when in seconds since the epoch.
    mime
        Media type without parameters, "unk" where none was given, "warc/revisit" for a revisit record.
    status
        HTTP status, 0 where there is none.
    digest
        Digest of the body (for a revisit, of the body it stands for), with or without label; "" where not known.
    offset, length
        Where in the segment the record is, in bytes.
    """

    url: str
    at: float
    mime: str
    status: int
    digest: str
    offset: int
    length: int


def media_type(content_type: str) -> str:
    """Return the media type that a Content-Type names.

    >>> media_type("Text/HTML; charset=utf-8"), media_type("")
    ('text/html', 'unk')
    """
    words = content_type.replace(";", " ").split()
    return words[0].lower() if words else UNKNOWN


def line(capture: Capture, filename: str) -> str:
    """Return one line of the index, without its end.

    >>> page = Capture("http://www.example.org/a", 0.5, "text/html", 200, "sha1:ABC", 300, 99)
    >>> line(page, "x.warc.gz")  # doctest: +ELLIPSIS
    'org,example)/a 19700101000000 {"url": "http://www.example.org/a", "mime": "text/html", "status": "200", ...
    """
    fields = [f'"url": {quoted(capture.url)}, "mime": {quoted(capture.mime)}']
    if capture.status:
        fields.append(f'"status": "{capture.status}"')
    if capture.digest:
        fields.append(f'"digest": {quoted(capture.digest.removeprefix("sha1:"))}')
    fields.append(f'"length": "{capture.length}", "offset": "{capture.offset}", "filename": {quoted(filename)}')
    return f"{surt_key(capture.url)} {_stamp(round(capture.at * 1e6) // 1_000_000)} {{{', '.join(fields)}}}"


@lru_cache(maxsize=4)  # captures come in order of time
def _stamp(second: int) -> str:
    """Return a second since the epoch as WARC-Date has it, but for the signs between."""
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(second))


def lines(captures: Iterable[Capture], filename: str) -> list[str]:
    """Return the index of one segment, in the order that searches expect; `filename` is the segment's, no folder."""
    return sorted(line(capture, filename) for capture in captures)


def index_name(segment: str) -> str:
    """Return the name of a segment's index.

    >>> index_name("archive/x-00000.warc.gz")
    'archive/x-00000.cdxj'
    """
    return segment.removesuffix(SEGMENT_SUFFIX) + INDEX_SUFFIX


def write(disk: Disk, segment: str, captures: Iterable[Capture]) -> int:
    """Write the index of the segment with this file name beside it and return how many captures it has.

    Whoever has the captures from elsewhere should leave out those of a 304, as `captures` does.

    Raises
    ------
    NoRoomError
        The disk is full; the index is as it was.
    """
    found = lines(captures, segment.rpartition("/")[2])
    chunks = ("".join(f"{row}\n" for row in found[at : at + _BATCH]).encode() for at in range(0, len(found), _BATCH))
    disk.replace(index_name(segment), chunks)
    return len(found)


def index_segment(disk: Disk, segment: str) -> int:
    """Write the index of a segment from what the segment itself holds and return how many captures it has.

    Raises
    ------
    StoreError
        A record is damaged; `Archive.cut` removes what a crash left half-written.
    """
    return write(disk, segment, captures(disk, segment))


def captures(disk: Disk, segment: str) -> Iterator[Capture]:
    """Yield a capture for each response and revisit record of a segment, but for what a 304 left there.

    Replay tools would serve the 304 itself, which shows nothing; without it they serve the capture that it confirmed.

    Raises
    ------
    StoreError
        A record is damaged.
    """
    for found in walk(disk, segment):
        if found.record.damaged:
            raise StoreError(f"{segment}, byte {found.offset}: {found.record.problems[0]}")
        if found.record.kind not in ("response", "revisit"):
            continue
        answer = stored(found.record)
        if answer.kind is not EntryKind.NOT_MODIFIED:
            yield capture_of(answer, found.offset, found.length)


def capture_of(answer: Stored, offset: int, length: int) -> Capture:
    """Return the index's view of an archived answer."""
    revisit = answer.kind is not EntryKind.RESPONSE
    mime = REVISIT if revisit else media_type(answer.headers.get("content-type", ""))
    return Capture(answer.url, answer.at, mime, answer.status, answer.digest, offset, length)
