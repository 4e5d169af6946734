"""The files of the journal, `journal-<offset>.log`, named by the offset of their first byte in 16 hex digits.

Each begins with 24 bytes, little endian: magic, format version (u32), checksum (u32), number of events before it
(u64).
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

import xxhash

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import Disk
from evercrawl.store.journal.frame import Frame, claimed_size, parse

VERSION: Final = 1
_PREFIX, _SUFFIX = "journal-", ".log"
_MAGIC: Final = b"evjournl"
_HEADER: Final = struct.Struct("<8sIIQ")
HEADER_BYTES: Final = _HEADER.size
_CHUNK_BYTES: Final = 1 << 20  # read ahead while walking
_GUESS_BYTES: Final = 8 << 10  # nearly every frame is smaller


class Segment(NamedTuple):
    """One file of the journal: the offset of its first byte, and of the end of the file when it was listed."""

    start: int
    end: int

    @property
    def name(self) -> str:
        """Return the file's name."""
        return segment_name(self.start)

    def damaged(self, offset: int, what: str) -> StoreError:
        """Return the error for damage at an offset of the journal."""
        place = f"{self.name}, byte {offset - self.start} (journal offset {offset})"
        return StoreError(
            f"the journal is damaged: {place}: {what}; restore the file from a copy of the crawl directory"
        )


def segment_name(start: int) -> str:
    """Return the name of the file whose first byte is at offset `start` of the journal.

    >>> segment_name(4096)
    'journal-0000000000001000.log'
    """
    return f"{_PREFIX}{start:016x}{_SUFFIX}"


def segments(disk: Disk) -> list[Segment]:
    """Return the files of the journal in order.

    Raises
    ------
    StoreError
        One is missing, or its length does not fit the next one's name.
    """
    starts = [int(name[len(_PREFIX) : -len(_SUFFIX)], 16) for name in disk.names(_PREFIX) if _is_ours(name)]
    found = [Segment(start, start + disk.size(segment_name(start))) for start in starts]
    expected = 0
    for before, segment in zip([None, *found], found, strict=False):
        if segment.start != expected:
            missing = (
                f"{segment_name(expected)} is missing" if before is None else "the files before and after do not meet"
            )
            raise segment.damaged(segment.start, f"{missing} (the journal reaches {expected} without it)")
        expected = segment.end
    return found


def header(sequence: int) -> bytes:
    """Return the header of a file that has `sequence` events before it."""
    return _HEADER.pack(_MAGIC, VERSION, _checksum(VERSION, sequence), sequence)


def read_header(disk: Disk, segment: Segment) -> int | None:
    """Return the number of events before the file; None if its header is incomplete.

    Raises
    ------
    StoreError
        The format of the file is unknown to this version.
    """
    data = disk.read(segment.name, 0, HEADER_BYTES)
    if len(data) < HEADER_BYTES or not data.startswith(_MAGIC):
        return None
    _, version, checksum, sequence = _HEADER.unpack(data)
    if version != VERSION:
        message = f"{segment.name} was made by a newer evercrawl (journal format {version}, this one reads {VERSION})"
        raise StoreError(f"{message}; upgrade evercrawl to open this crawl")
    return sequence if checksum == _checksum(version, sequence) else None


def read_frame(disk: Disk, start: int, offset: int) -> Frame | None:
    """Return the frame at `offset`, in the file that starts at `start`; None unless it is complete and valid."""
    name, at = segment_name(start), offset - start
    data = disk.read(name, at, _GUESS_BYTES)
    size = claimed_size(data)
    if size > len(data) and at + size <= disk.size(name):
        data = disk.read(name, at, size)
    return parse(data, 0, offset)


def frames(disk: Disk, start: int, offset: int) -> Iterator[Frame]:
    """Yield the frames from `offset` on, in the file that starts at `start`, up to the first invalid one."""
    buffer, at = b"", 0
    while True:
        frame = parse(buffer, at, offset)
        if frame is None:
            buffer, at = disk.read(segment_name(start), offset - start, _CHUNK_BYTES), 0
            frame = parse(buffer, at, offset) or read_frame(disk, start, offset)
            if frame is None:
                return
        yield frame
        offset += frame.size
        at += frame.size


def _is_ours(name: str) -> bool:
    digits = name[len(_PREFIX) : -len(_SUFFIX)]
    return name.endswith(_SUFFIX) and len(digits) == 16 and not set(digits) - set("0123456789abcdef")


def _checksum(version: int, sequence: int) -> int:
    return xxhash.xxh3_64_intdigest(_HEADER.pack(_MAGIC, version, 0, sequence)) & 0xFFFFFFFF
