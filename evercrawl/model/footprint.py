"""Memory use of a crawl: items with their counts and bytes, and the process's resident size.

Only the running crawl knows these, so it writes them to a file in its directory at intervals. Other processes read
the file, and ask the system for the resident size at that moment.
"""

import contextlib
import mmap
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import NoRoomError
from evercrawl.small_file import LIST_BYTES, read_small
from evercrawl.store.disk.disk import Disk

FOOTPRINT_FILE: Final = "memory.json"
URL, PAGE, HOST, FOLDER, CRAWL = "URL", "page", "host", "folder", "crawl"
"""What an item is of: known URLs, visited pages, hosts and their sites, folders with clocks, the crawl as a whole."""


class MemoryItem(msgspec.Struct, frozen=True, array_like=True):
    """One kind of data in memory.

    Attributes
    ----------
    name, of
        Its name; the entity it is kept for: `URL`, `PAGE`, `HOST`, `FOLDER` or `CRAWL`.
    count
        Number of these entities.
    bytes
        Memory in all, including reserved capacity.
    """

    name: str
    of: str
    count: int
    bytes: int


class Footprint(msgspec.Struct, frozen=True):
    """The memory use of a crawl at one instant.

    Attributes
    ----------
    at
        Seconds since the epoch.
    pid
        Process id.
    resident_bytes
        Resident size by the system's measure, including program, libraries, buffers and the search index.
    items
        The parts known by name.
    shelved_bytes
        Rows kept in files; those of them cached in memory are an item.
    """

    at: float
    pid: int
    resident_bytes: int
    items: tuple[MemoryItem, ...]
    shelved_bytes: int = 0

    @property
    def named_bytes(self) -> int:
        """The sum of the items."""
        return sum(item.bytes for item in self.items)


class UnitFootprint(msgspec.Struct, frozen=True):
    """The memory use per URL, page, host or folder.

    Attributes
    ----------
    of, count
        The entity, and how many there are.
    bytes
        Memory of all its items.
    """

    of: str
    count: int
    bytes: int

    @property
    def each_bytes(self) -> float:
        """Mean bytes per entity; 0 if there are none."""
        return self.bytes / self.count if self.count else 0.0


def units(items: tuple[MemoryItem, ...]) -> tuple[UnitFootprint, ...]:
    """Return the sums per entity.

    Examples
    --------
    >>> items = (
    ...     MemoryItem("records", PAGE, 10, 960), MemoryItem("queues", PAGE, 8, 130), MemoryItem("table", URL, 90, 9),
    ... )
    >>> [(unit.of, unit.count, unit.each_bytes) for unit in units(items)]
    [('URL', 90, 0.1), ('page', 10, 109.0)]
    """
    return tuple(
        UnitFootprint(of, max(item.count for item in items if item.of == of), sum(i.bytes for i in items if i.of == of))
        for of in (URL, PAGE, HOST, FOLDER)
        if any(item.of == of for item in items)
    )


def resident_bytes(pid: int | str = "self") -> int | None:
    """Return a process's resident memory as the system reports it; None if there is no such process."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return None


def keep_footprint(disk: Disk, footprint: Footprint) -> None:
    """Write the footprint to the crawl's directory; if the disk is full, the former file stays."""
    with contextlib.suppress(NoRoomError):
        disk.replace(FOOTPRINT_FILE, [msgspec.json.encode(footprint) + b"\n"])


def kept_footprint(directory: Path) -> Footprint | None:
    """Return the footprint that the crawl wrote last; None if there is none or the file is damaged."""
    try:
        return json_of(read_small(directory / FOOTPRINT_FILE, LIST_BYTES), Footprint)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
