"""Where a crawl's memory goes: items with their counts and bytes, beside what the process takes in all.

A running crawl writes them into a file of its directory now and then, for it alone knows; whoever asks reads them
there, and asks the system what the process takes at that moment.
"""

import contextlib
import mmap
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import NoRoomError
from evercrawl.store.disk.disk import Disk

FOOTPRINT_FILE: Final = "memory.json"
URL, PAGE, HOST, FOLDER, CRAWL = "URL", "page", "host", "folder", "crawl"
"""What an item is of: known URLs, visited pages, hosts and their sites, folders with clocks, the crawl as a whole."""


class MemoryItem(msgspec.Struct, frozen=True, array_like=True):
    """One kind of things in memory.

    Attributes
    ----------
    name, of
        What it is; of what there is one each: `URL`, `PAGE`, `HOST`, `FOLDER` or `CRAWL`.
    count
        How many of these there are.
    bytes
        Memory that they take together, room to grow in included.
    """

    name: str
    of: str
    count: int
    bytes: int


class Footprint(msgspec.Struct, frozen=True):
    """The memory of a crawl at one instant.

    Attributes
    ----------
    at
        Seconds since the epoch.
    pid
        Of the process.
    resident_bytes
        What the process took by the system's measure: program, libraries, buffers and the search index included.
    items
        What of it is known by name.
    shelved_bytes
        Rows that lie in files: those of them that are in memory are an item.
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
    """What one URL, page, host or folder takes.

    Attributes
    ----------
    of, count
        What, and how many of them there are.
    bytes
        Memory of all items that are of it.
    """

    of: str
    count: int
    bytes: int

    @property
    def each_bytes(self) -> float:
        """Bytes that one takes on the mean; 0 where there is none."""
        return self.bytes / self.count if self.count else 0.0


def units(items: tuple[MemoryItem, ...]) -> tuple[UnitFootprint, ...]:
    """Return the sums by what items are of.

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
    """Return the memory that a process takes, as the system has it; None where there is no such process."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return None


def keep_footprint(disk: Disk, footprint: Footprint) -> None:
    """Write it into the crawl's directory; where there is no room what was there stays."""
    with contextlib.suppress(NoRoomError):
        disk.replace(FOOTPRINT_FILE, [msgspec.json.encode(footprint) + b"\n"])


def kept_footprint(directory: Path) -> Footprint | None:
    """Return what the crawl wrote last; None where it never did, or the file is damaged."""
    try:
        return json_of((directory / FOOTPRINT_FILE).read_bytes(), Footprint)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
