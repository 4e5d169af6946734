"""Description of the damage in a crawl directory, for repair."""

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

from evercrawl.store.archive.pointer import Pointer


class Part(enum.StrEnum):
    """The parts of a crawl directory, by way of repair."""

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
    """The damage in a crawl directory.

    Attributes
    ----------
    parts
        The damaged parts.
    records
        Pointers of invalid archive records that events name.
    spans
        Spans of segments that no event names and that are not complete records.
    strangers
        Files that do not belong to this crawl.
    beside
        Damaged files that a crawl can do without, or rebuilds.
    """

    parts: set[Part] = field(default_factory=set[Part])
    records: list[Pointer] = field(default_factory=list[Pointer])
    spans: list[ArchiveSpan] = field(default_factory=list[ArchiveSpan])
    strangers: list[str] = field(default_factory=list[str])
    beside: list[str] = field(default_factory=list[str])
