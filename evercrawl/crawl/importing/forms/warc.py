"""Reader of WARC files of Heritrix, wget, warcio, Browsertrix, Common Crawl and evercrawl itself.

Answers are imported byte for byte. Some writers decode a body but keep the header fields that name the codings; such
fields are then renamed, as Common Crawl does. A `revisit` record, which says that its content equals that of an
earlier record, gets the content from there if one of the files has it.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, ClassVar, Final

from isal import isal_zlib

from evercrawl.crawl.importing import files
from evercrawl.crawl.importing.captures import LeftOut, PastCapture, Spot, Unusable, UnusableError, told
from evercrawl.crawl.importing.dates import instant
from evercrawl.crawl.importing.forms.answers import exchange_of
from evercrawl.errors import StoreError
from evercrawl.parse.urls import normalise
from evercrawl.store.archive.member import GZIP_MAGIC
from evercrawl.store.archive.warc_read import WarcRecord, parse

BEGIN: Final = b"WARC/"
_MEMBER: Final = b"\x1f\x8b\x08"
_PEEK: Final = 1 << 20
_PIECE: Final = 1 << 16
_KINDS: Final = {"response", "revisit", "resource"}
_OTHER: Final = re.compile(r"(?:image|audio|video|font)/|text/css|(?:application|text)/(?:x-)?(?:java|ecma)script"
                           r"|application/(?:font|vnd\.ms-fontobject|wasm|octet-stream|x-font)", re.I)  # fmt: skip
_SAME: Final = "identical-payload-digest"


def is_document(mime: str, url: str) -> bool:
    """Return whether content of a type is a page, not a requisite such as an image or a script.

    >>> is_document("text/html; charset=utf-8", "http://a/"), is_document("image/png", "http://a/"), is_document("", "http://a/")
    (True, False, True)
    """
    return not _OTHER.match(mime) and not url.partition("?")[0].endswith("/robots.txt")


class WarcSource:
    """One WARC file.

    Parameters
    ----------
    path
        The file: plain, or compressed record by record; a file compressed as a whole is decompressed first.
    originals
        The positions of contents by digest, shared by the files of one import.
    everything
        Whether images, styles and the like are imported too.
    """

    form: ClassVar[str] = "WARC"

    def __init__(self, path: Path, originals: RevisitContents, *, everything: bool = False) -> None:
        self.name, self.read_bytes = str(path), 0
        self._originals, self._everything = originals, everything
        self._file: BinaryIO = files.opened(path)
        self._packed = self._file.read(2) == GZIP_MAGIC
        if self._packed and _as_a_whole(self._file.fileno()):
            self._file.close()
            self._file, self._packed = files.plain(path), False
        self._file.seek(0, 2)
        self.size_bytes = self._file.tell()
        self._number = originals.add(self)

    def scan(self) -> Iterator[Spot | Unusable | LeftOut]:
        """Yield the records with answers."""
        if not self.size_bytes:
            return
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = 0
            while at < self.size_bytes:
                try:
                    length, record = self._record(data, at)
                    found = list(self._judged(record, at, length)) if length else []
                except MemoryError:
                    raise
                except Exception as error:
                    yield Unusable(f"{self.name}, byte {at}", told(error))
                    at = self._next(data, at + 1)
                    continue
                yield from found
                at += length or self.size_bytes
                self.read_bytes = at

    def load(self, place: int, length: int, part: int) -> PastCapture:
        """Return the answer in a record."""
        return self.capture(self.record_at(place, length))

    def record_at(self, place: int, length: int) -> WarcRecord:
        """Return the record at a position.

        Raises
        ------
        UnusableError
            The record is damaged.
        """
        data = files.read_at(self._file, place, length)
        try:
            return parse(files.unpacked(data) if self._packed else data)
        except StoreError as error:
            raise UnusableError(str(error)) from error

    def capture(self, record: WarcRecord) -> PastCapture:
        """Return the capture in a record."""
        url, at = self._about(record)
        if record.kind != "revisit":
            exchange = exchange_of(record, url, at)
        elif (original := self._originals.find(record)) is not None:
            exchange = exchange_of(record, url, at, original)
        elif record.fields.get("warc-profile", "").endswith(_SAME):
            return PastCapture(
                url, at, status=200, digest=record.fields.get("warc-payload-digest", "").rpartition(":")[2]
            )
        else:
            return PastCapture(url, at, status=304)
        return PastCapture(url, at, exchange, exchange.status)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _record(self, data: mmap.mmap, at: int) -> tuple[int, WarcRecord | None]:
        """Return the number of bytes that a record takes in the file, and the record; None if it is too large."""
        if not self._packed:
            while data[at : at + 1] in (b"\r", b"\n"):  # some writers put an extra empty line between records
                at += 1
            head = data[at : at + _PEEK]
            if not head:
                return 0, WarcRecord({}, b"", 0)
            record = parse(head)
            if at + record.size_bytes > self.size_bytes + len(b"\r\n\r\n"):
                raise StoreError("the file ends inside a record")  # without a copy of all the rest of the file
            if record.size_bytes > files.MOST_BYTES:
                return record.size_bytes, None
            if record.size_bytes > len(head):
                record = parse(data[at : at + record.size_bytes])
            return record.size_bytes, _whole(record)
        inflate, read, parts, size = isal_zlib.decompressobj(31), at, list[bytes](), 0
        while not inflate.eof:
            piece = data[read : read + _PIECE]
            if not piece:
                raise StoreError("the file ends inside a record")
            try:
                part = inflate.decompress(piece)  # a thousand times as many bytes at most
            except isal_zlib.error as error:
                raise StoreError(f"an archive record is damaged: {error}") from error
            size, read = size + len(part), read + len(piece)
            if size <= files.MOST_BYTES:
                parts.append(part)
        length = read - len(inflate.unused_data) - at
        return length, _whole(parse(b"".join(parts))) if size <= files.MOST_BYTES else None

    def _next(self, data: mmap.mmap, at: int) -> int:
        """Return the position at which the next record may begin after a damaged one."""
        found = data.find(_MEMBER if self._packed else b"\n" + BEGIN, at)
        return self.size_bytes if found < 0 else found + (not self._packed)

    def _judged(self, record: WarcRecord | None, at: int, length: int) -> Iterator[Spot | Unusable | LeftOut]:
        if record is None:
            yield LeftOut(f"larger than {files.MOST_BYTES >> 20} MiB")
            return
        if record.kind not in _KINDS:
            return  # requests and the like belong to an answer or to the file
        try:
            url, made_at = self._about(record)
        except UnusableError as error:
            yield Unusable(f"{self.name}, byte {at}", str(error))
            return
        if not record.url.startswith(("http:", "https:")):
            yield LeftOut("not http or https")
        elif not self._everything and not is_document(_mime(record), url):
            yield LeftOut("not a document")
        else:
            if record.kind == "response":
                self._originals.note(record, self._number, at, length)
            yield Spot(made_at, record.kind != "revisit" or self._originals.has(record), url, at, length)

    @staticmethod
    def _about(record: WarcRecord) -> tuple[str, float]:
        """Return the URL and the instant of a record.

        Raises
        ------
        UnusableError
            The URL or the date is invalid.
        """
        date, url = record.fields.get("warc-date", ""), normalise(record.url)
        if url is None and record.url.startswith(("http:", "https:")):
            raise UnusableError(f"{record.url[:200]!r} is not an http or https URL")
        at = instant(date)
        if not at > 0.0:
            raise UnusableError(f"WARC-Date {date[:60]!r} is not a date")
        return url or record.url, at


class RevisitContents:
    """The positions of contents in the files of one import, by the digests that records state."""

    def __init__(self) -> None:
        self._sources: list[WarcSource] = []
        self._places: dict[bytes, tuple[int, int, int]] = {}

    def add(self, source: WarcSource) -> int:
        """Register a file; return its number."""
        self._sources.append(source)
        return len(self._sources) - 1

    def note(self, record: WarcRecord, number: int, place: int, length: int) -> None:
        """Note the position of a record's content."""
        if digest := record.fields.get("warc-payload-digest", ""):
            self._places.setdefault(_key(digest), (number, place, length))

    def has(self, record: WarcRecord) -> bool:
        """Return whether the position of a record's content is known by now."""
        return _key(record.fields.get("warc-payload-digest", "")) in self._places

    def find(self, record: WarcRecord) -> WarcRecord | None:
        """Return the record with the content of a revisit; None if no file has the content."""
        found = self._places.get(_key(record.fields.get("warc-payload-digest", "")))
        if found is None:
            return None
        number, place, length = found
        return self._sources[number].record_at(place, length)


class WarcFiles:
    """The WARC files that indexes name.

    Parameters
    ----------
    folders
        The folders in which the files may be.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders, self._found = folders, dict[str, WarcSource | None]()

    def find(self, name: str) -> WarcSource | None:
        """Return a file that an index names; None if it is in none of the folders."""
        if not name:
            return None
        if name not in self._found:
            last = name.rpartition("/")[2]
            path = next((folder / last for folder in self._folders if (folder / last).is_file()), None)
            self._found[name] = WarcSource(path, RevisitContents()) if path is not None else None
        return self._found[name]

    @staticmethod
    def load(source: WarcSource, offset: int, length: int) -> PastCapture:
        """Return the answer at a position of a file."""
        return source.load(offset, length, 0)

    def close(self) -> None:
        """Close the files."""
        for source in self._found.values():
            if source is not None:
                source.close()


def _whole(record: WarcRecord) -> WarcRecord:
    if record.damaged:
        raise StoreError(record.problems[0])
    return record


def _key(digest: str) -> bytes:
    return digest.rpartition(":")[2].encode()[:40]


def _mime(record: WarcRecord) -> str:
    """Return the Content-Type of a record's content; for an answer, from the head of the answer."""
    if record.kind == "resource":
        return record.fields.get("content-type", "")
    found = _TYPE.search(record.block, 0, _PIECE)
    end = record.block.find(b"\r\n\r\n", 0, _PIECE)
    return found[1].decode("latin-1").strip() if found is not None and (end < 0 or found.start() <= end) else ""


_TYPE: Final = re.compile(rb"\n[Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Tt][Yy][Pp][Ee]:([^\r\n]*)")


def _as_a_whole(fd: int) -> bool:
    """Return whether a gzip file is one member with several records."""
    inflate = isal_zlib.decompressobj(31)
    try:
        data = inflate.decompress(os.pread(fd, _PEEK, 0), _PEEK)
        record = parse(data)
    except (isal_zlib.error, StoreError):
        return False
    return record.size_bytes < len(data) and data[record.size_bytes : record.size_bytes + len(BEGIN)] == BEGIN
