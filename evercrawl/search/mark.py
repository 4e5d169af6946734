"""Progress of the index: one small file beside it, replaced atomically after each commit.

Also the set of indexed slots, one bit each.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import StoreError
from evercrawl.search.schema import VERSION
from evercrawl.search.trouble import remedy
from evercrawl.small_file import LIST_BYTES, read_small


class Members:
    """A set of slots, as a bitmap over all slots.

    Examples
    --------
    >>> members = Members([3, 70])
    >>> members.discard(3)
    >>> members.add(9)
    >>> 3 in members, 9 in members, 70 in members, 1_000_000 in members
    (False, True, True, False)
    """

    def __init__(self, slots: Iterable[int] = ()) -> None:
        self._bits = bytearray()
        for slot in slots:
            self.add(slot)

    def __contains__(self, slot: int) -> bool:
        return slot >> 3 < len(self._bits) and bool(self._bits[slot >> 3] & (1 << (slot & 7)))

    def add(self, slot: int) -> None:
        """Add a slot."""
        missing = (slot >> 3) + 1 - len(self._bits)
        if missing > 0:
            self._bits.extend(bytes(max(missing, len(self._bits))))
        self._bits[slot >> 3] |= 1 << (slot & 7)

    def discard(self, slot: int) -> None:
        """Remove a slot, if present."""
        if slot in self:
            self._bits[slot >> 3] &= ~(1 << (slot & 7))


FILE: Final = "index.json"
NOTHING: Final = -1


class Mark(msgspec.Struct, frozen=True):
    """The contents of the file.

    Attributes
    ----------
    at
        Journal sequence up to which the index covers all events; -1 for none.
    version
        The index's version.
    """

    at: int = NOTHING
    version: int = VERSION


def read(directory: Path) -> Mark:
    """Return the mark of an index; without a file, one that covers no events.

    Raises
    ------
    StoreError
        It is damaged, or of another version.
    """
    path = directory / FILE
    try:
        mark = json_of(read_small(path, LIST_BYTES), Mark)
    except FileNotFoundError:
        return Mark()
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} is damaged ({error}); {remedy(directory)}") from error
    if mark.version != VERSION:
        raise StoreError(
            f"the search index {directory} is of version {mark.version}, and this program writes version {VERSION}; "
            f"{remedy(directory)}"
        )
    return mark


def write(directory: Path, mark: Mark) -> None:
    """Replace the mark atomically: readers find the old one or the new one."""
    path, temporary = directory / FILE, directory / f"{FILE}.part"
    with temporary.open("wb") as file:
        file.write(msgspec.json.encode(mark) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def stamp(directory: Path) -> tuple[int, int]:
    """Return two numbers that change when the mark is replaced; zeros without a mark."""
    try:
        found = (directory / FILE).stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns
