"""Places in the archive, as events and snapshots have them."""

from typing import NamedTuple


class ArchiveEnd(NamedTuple):
    """Where the archive ends: its last segment, and how large that is."""

    segment: int = 0
    size_bytes: int = 0


class Pointer(NamedTuple):
    """Where a record is: number of the segment, first byte and length of its gzip member.

    >>> Pointer(2, 100, 50).end
    ArchiveEnd(segment=2, size_bytes=150)
    """

    segment: int
    offset: int
    length: int

    @property
    def end(self) -> ArchiveEnd:
        """Where the archive ended when the record was written."""
        return ArchiveEnd(self.segment, self.offset + self.length)
