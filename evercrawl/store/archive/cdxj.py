"""The CDXJ index of a segment: the positions of captures by URL, for replay tools such as pywb."""

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
        The requested URL, and the time in seconds since the epoch.
    mime
        Media type without parameters; "unk" if none was given, "warc/revisit" for a revisit record.
    status
        HTTP status; 0 if there is none.
    digest
        Digest of the body (for a revisit, of the original body), with or without label; "" if unknown.
    offset, length
        Position and size of the record in the segment, in bytes.
    """

    url: str
    at: float
    mime: str
    status: int
    digest: str
    offset: int
    length: int


def media_type(content_type: str) -> str:
    """Return the media type in a Content-Type header.

    >>> media_type("Text/HTML; charset=utf-8"), media_type("")
    ('text/html', 'unk')
    """
    words = content_type.replace(";", " ").split()
    return words[0].lower() if words else UNKNOWN


def line(capture: Capture, filename: str) -> str:
    """Return one line of the index, without a line end.

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


@lru_cache(maxsize=4)  # captures arrive in order of time
def _stamp(second: int) -> str:
    """Return a second since the epoch as in WARC-Date, without the separators."""
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(second))


def lines(captures: Iterable[Capture], filename: str) -> list[str]:
    """Return the index of one segment in the order that searches expect; `filename` has no folder."""
    return sorted(line(capture, filename) for capture in captures)


def index_name(segment: str) -> str:
    """Return the file name of a segment's index.

    >>> index_name("archive/x-00000.warc.gz")
    'archive/x-00000.cdxj'
    """
    return segment.removesuffix(SEGMENT_SUFFIX) + INDEX_SUFFIX


def write(disk: Disk, segment: str, captures: Iterable[Capture]) -> int:
    """Write the index of the segment with this file name beside it; return the number of captures.

    Callers must leave out the captures of 304 answers, as `captures` does.

    Raises
    ------
    NoRoomError
        The disk is full; the index is unchanged.
    """
    found = lines(captures, segment.rpartition("/")[2])
    chunks = ("".join(f"{row}\n" for row in found[at : at + _BATCH]).encode() for at in range(0, len(found), _BATCH))
    disk.replace(index_name(segment), chunks)
    return len(found)


def index_segment(disk: Disk, segment: str) -> int:
    """Write the index of a segment from its content; return the number of captures.

    Raises
    ------
    StoreError
        A record is damaged; `Archive.cut` removes incomplete records after a crash.
    """
    return write(disk, segment, captures(disk, segment))


def captures(disk: Disk, segment: str) -> Iterator[Capture]:
    """Yield a capture for each response and revisit record of a segment, except those of 304 answers.

    Replay tools would serve the empty 304 itself; without it they serve the capture that it confirmed.

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
    """Return the index entry of an archived answer."""
    revisit = answer.kind is not EntryKind.RESPONSE
    mime = REVISIT if revisit else media_type(answer.headers.get("content-type", ""))
    return Capture(answer.url, answer.at, mime, answer.status, answer.digest, offset, length)
