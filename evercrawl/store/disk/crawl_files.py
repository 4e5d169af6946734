"""Reading the files of a crawl directory to copy them: bytes, modes, hashes, and databases as of one instant."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from typing import TYPE_CHECKING, Protocol

from evercrawl.store.disk.database_image import differing_bytes, see_room
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.modes import mode_of
from evercrawl.store.disk.plain import place_of

if TYPE_CHECKING:
    from pathlib import Path


class CrawlFiles(Protocol):
    """The files of a crawl directory to be copied, on any machine; see `evercrawl.store.disk.disk.Disk`."""

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset`; fewer at the end of the file, none if the file is missing."""
        ...

    def size(self, name: str) -> int:
        """Return the size in bytes; 0 if the file is missing."""
        ...

    def names(self, prefix: str = "") -> list[str]:
        """Return the names that begin with `prefix`, sorted."""
        ...

    def written_ns(self, name: str) -> int:
        """Return the modification time of a file (ns); -1 if it is missing."""
        ...

    def mode(self, name: str) -> int:
        """Return the mode for a copy; see `evercrawl.store.disk.modes.mode_of`."""
        ...

    def digest(self, name: str, offset: int, size: int) -> bytes:
        """Return a hash of what `read` returns, so that equal bytes need not be sent."""
        ...

    def copy_database(self, name: str, goal: Path, before: Path) -> int:
        """Copy a SQLite database to an empty file as of one instant.

        Return the number of bytes that differ from an earlier copy, `before`, which may be missing. If the result is 0,
        the two copies are equal or the database cannot be read, and `goal` must not be used.

        Raises
        ------
        NoRoomError
            There is no room for the copy.
        """
        ...

    def close(self) -> None:
        """Close the open files."""
        ...


class CrawlFilesHere(RealDisk):
    """The files of a crawl directory on this machine; see `CrawlFiles`."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, read_only=True)

    def written_ns(self, name: str) -> int:
        """Return the modification time of a file (ns); -1 if it is missing."""
        try:
            return place_of(self.directory, name).stat().st_mtime_ns
        except FileNotFoundError:
            return -1

    def mode(self, name: str) -> int:
        """Return the mode for a copy of a file."""
        return mode_of(self.directory, place_of(self.directory, name))

    def digest(self, name: str, offset: int, size: int) -> bytes:
        """Return a hash of bytes of a file."""
        return digest_of(self.read(name, offset, size))

    def copy_database(self, name: str, goal: Path, before: Path) -> int:
        """Copy a database; one that cannot be read is left out, because its loss costs only a few requests."""
        try:
            with contextlib.closing(sqlite3.connect(goal)) as made:
                self.copy_into(name, made)
        except sqlite3.Error as error:
            see_room(error, goal.parent)
            return 0
        return differing_bytes(before, goal)

    def copy_into(self, name: str, made: sqlite3.Connection) -> None:
        """Copy a database as of one instant into an open database.

        Raises
        ------
        sqlite3.Error
            The database cannot be read, or the copy cannot be written.
        """
        place = place_of(self.directory, name).absolute()
        with contextlib.closing(sqlite3.connect(f"{place.as_uri()}?mode=ro", uri=True)) as begun:
            begun.backup(made)


def digest_of(data: bytes) -> bytes:
    """Return a cryptographic hash of data (BLAKE2b, 32 bytes)."""
    return hashlib.blake2b(data, digest_size=32).digest()
