"""Repair of damaged bytes of the archive: from a backup, or by a filler record that says what was there.

A filler has the length of what it replaces, so that every pointer still leads to its record, and any WARC reader can
read the segment from beginning to end.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.errors import StoreError
from evercrawl.store.archive.cdxj import index_name
from evercrawl.store.archive.member import unpack
from evercrawl.store.archive.warc import ID_BYTES, VERSION, iso_date, record_id
from evercrawl.store.archive.warc_read import WarcRecord, parse, walk
from evercrawl.store.disk.inflating import Inflated
from evercrawl.store.repair.damage import ArchiveSpan
from evercrawl.store.repair.kept import FOLDER, keep_bytes, patch

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.archive.archive import Archive
    from evercrawl.store.disk.disk import Disk

_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_SEEN: Final = _HEADER[:8]
_STORED: Final = 0xFFFF
_END: Final = b"\r\n\r\n"


class ArchivePiece(NamedTuple):
    """Bytes [start, end) of some data, and whether they are one complete record."""

    start: int
    end: int
    whole: bool


class StandingPiece(NamedTuple):
    """Bytes [start, end) of a segment, and the record that they are; None where they are damaged."""

    start: int
    end: int
    record: WarcRecord | None


def pieces(data: bytes) -> Iterator[ArchivePiece]:
    """Yield the records of `data` and the pieces between them, in order."""
    at = 0
    while at < len(data):
        end = _record_end(data, at)
        if end:
            yield ArchivePiece(at, end, whole=True)
            at = end
            continue
        later = data.find(_SEEN, at + 1)
        while later >= 0 and not _record_end(data, later):
            later = data.find(_SEEN, later + 1)
        yield ArchivePiece(at, later if later >= 0 else len(data), whole=False)
        at = later if later >= 0 else len(data)


def standing(disk: Disk, name: str, start: int, end: int) -> Iterator[StandingPiece]:
    """Yield what stands in bytes [start, end) of a segment, in order, whatever is damaged there.

    Such bytes may be of records that were given up, as with a damaged disk, and then nobody has filled them.
    """
    at = start
    try:
        for one in walk(_Stretch(disk, start, end), name):  # type: ignore[arg-type]
            if one.record.damaged:
                break
            yield StandingPiece(at, start + one.offset + one.length, one.record)
            at = start + one.offset + one.length
    except StoreError:
        pass
    data = disk.read(name, at, end - at) if at < end else b""
    for piece in pieces(data):
        record = parse(unpack(data[piece.start : piece.end])) if piece.whole else None
        yield StandingPiece(at + piece.start, at + piece.end, record)


def filler(size_bytes: int, at: float, noise: bytes, what: str, *, fill: bytes = b" ") -> bytes:
    """Return a record of exactly `size_bytes` bytes; b"" if that is too small.

    Parameters
    ----------
    size_bytes
        Size of the gzip member.
    at, noise
        The record's date, in seconds since the epoch, and 16 random bytes for its name.
    what
        Text of the record.
    fill
        Padding byte after the text.

    Examples
    --------
    >>> [len(filler(size, 0.0, bytes(16), "gone")) for size in (100, 400, 65_559, 200_000)]
    [0, 400, 65559, 200000]
    """
    blocks = size_bytes // _STORED + 1
    room = size_bytes - len(_HEADER) - 8 - 5 * blocks
    head = (
        f"{VERSION}\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:{record_id(noise)}>\r\n"
        f"WARC-Date: {iso_date(at)}\r\nContent-Type: text/plain\r\nContent-Length: "
    ).encode()
    width = len(str(size_bytes))
    length = room - len(head) - width - 2 * len(_END)
    if length < 0:
        return b""
    text = b"%b%0*d%b%b%b" % (head, width, length, _END, what.encode()[:length].ljust(length, fill), _END)
    parts = [_HEADER]
    for number in range(blocks):
        part = text[number * _STORED : (number + 1) * _STORED]
        parts += (struct.pack("<BHH", number == blocks - 1, len(part), len(part) ^ _STORED), part)
    parts.append(struct.pack("<II", zlib.crc32(text), len(text)))
    return b"".join(parts)


class _Stretch:
    """Some bytes of a file, as if they were a file."""

    def __init__(self, disk: Disk, start: int, end: int) -> None:
        self._disk, self._start, self._end = disk, start, end

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end."""
        start = self._start + offset
        return self._disk.read(name, start, max(min(size, self._end - start), 0))

    def size(self, _: str) -> int:
        """Return the size in bytes."""
        return self._end - self._start


class ArchiveMending:
    """Repairs the segments of one crawl.

    Parameters
    ----------
    directory, archive, disk
        The crawl's directory, archive and disk.
    backup
        Disk of a backup of the same crawl, read-only; None if there is none.
    now, random
        Date of new records, and the source of their names.
    """

    def __init__(
        self,
        directory: Path,
        archive: Archive,
        disk: Disk,
        backup: Disk | None,
        now: float,
        random: Callable[[int], bytes],
    ) -> None:
        self._directory, self._archive, self._disk, self._backup = directory, archive, disk, backup
        self._now, self._random = now, random

    def restore(self, span: ArchiveSpan) -> bool:
        """Restore bytes from the backup, if it has complete records there; return whether it had."""
        name, size = self._archive.name(span.segment), span.end - span.start
        data = self._backup.read(name, span.start, size) if self._backup is not None else b""
        if len(data) < size or not all(piece.whole for piece in pieces(data)):
            return False
        keep_bytes(self._directory, name, span.start, span.end)
        patch(self._directory, name, span.start, data)
        self.forget_index(span.segment)
        return True

    def fill(self, span: ArchiveSpan) -> list[ArchiveSpan]:
        """Fill the incomplete parts of a span with records, up to the end of the file; return these parts.

        Raises
        ------
        StoreError
            Some part is too small for a record.
        """
        name = self._archive.name(span.segment)
        end = min(span.end, self._disk.size(name))
        filled = list[ArchiveSpan]()
        if end <= span.start:
            return filled
        self.forget_index(span.segment)
        for piece in pieces(self._disk.read(name, span.start, end - span.start)):
            if piece.whole:
                continue
            start, stop = span.start + piece.start, span.start + piece.end
            keep_bytes(self._directory, name, start, stop)
            what = f"{stop - start} damaged bytes were here; they are kept in {FOLDER}/"
            data = filler(stop - start, self._now, self._random(ID_BYTES), what)
            if data:
                patch(self._directory, name, start, data)
            elif stop == self._disk.size(name):
                self._disk.truncate(name, start)
            else:
                raise StoreError(f"{name}: {stop - start} damaged bytes at byte {start} are too few for a record")
            filled.append(ArchiveSpan(span.segment, start, stop))
        return filled

    def forget_index(self, segment: int) -> None:
        """Remove the index of a segment, so that it is rebuilt."""
        self._archive.forget_index(segment)
        self._disk.remove(index_name(self._archive.name(segment)))


def _record_end(data: bytes, at: int) -> int:
    """Return the end of the record at `data[at:]`; 0 if there is no complete record."""
    if not data.startswith(_SEEN, at):
        return 0
    inflate = Inflated()
    try:
        inflate.feed(data[at:])
        whole = inflate.ended and not parse(inflate.data).damaged
    except StoreError:
        return 0
    return len(data) - len(inflate.rest) if whole else 0
