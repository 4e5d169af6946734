"""Positions in the archive, as stored in events and snapshots."""

from typing import NamedTuple


class ArchiveEnd(NamedTuple):
    """The end of the archive: the number of the last segment, and its size."""

    segment: int = 0
    size_bytes: int = 0


class Pointer(NamedTuple):
    """The position of a record: number of the segment, offset and length of its gzip member.

    >>> Pointer(2, 100, 50).end
    ArchiveEnd(segment=2, size_bytes=150)
    """

    segment: int
    offset: int
    length: int

    @property
    def end(self) -> ArchiveEnd:
        """The end of the archive after the record was written."""
        return ArchiveEnd(self.segment, self.offset + self.length)
