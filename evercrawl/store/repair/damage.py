"""What is damaged in a crawl directory, as whoever mends it has to know it."""

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

from evercrawl.store.archive.pointer import Pointer


class Part(enum.StrEnum):
    """The parts of a crawl directory that are mended in different ways."""

    JOURNAL = "journal"
    STATE = "snapshots and what is derived from the journal"
    ARCHIVE = "archive"
    ARCHIVE_INDEX = "indexes of the archive"
    SEARCH_INDEX = "search index"
    SETTINGS = "settings"
    BESIDE = "files beside the journal"


class ArchiveSpan(NamedTuple):
    """Bytes [start, end) of an archive segment."""

    segment: int
    start: int
    end: int


@dataclass(slots=True)
class Damage:
    """Where a crawl directory is damaged.

    Attributes
    ----------
    parts
        In which of its parts.
    records
        Pointers of archive records that events name and that are not what they should be.
    spans
        Bytes of segments in which no event names a record, and that are not whole records.
    strangers
        Files that are none of this crawl's.
    beside
        Damaged files that a crawl can do without, or makes again.
    """

    parts: set[Part] = field(default_factory=set[Part])
    records: list[Pointer] = field(default_factory=list[Pointer])
    spans: list[ArchiveSpan] = field(default_factory=list[ArchiveSpan])
    strangers: list[str] = field(default_factory=list[str])
    beside: list[str] = field(default_factory=list[str])
