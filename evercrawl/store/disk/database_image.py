"""Copies of SQLite databases as of one instant, compared with earlier copies in blocks so that few bytes are sent.

SQLite copies a database page by page and leaves each page in its place. So copies that were made one after the other
differ only in the blocks in which something was written meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.errors import NoRoomError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

BLOCK_BYTES: Final = 16 << 10
DIGEST_BYTES: Final = 32
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class DatabaseImage:
    """A copy of a database in a file without a name, read in blocks of `BLOCK_BYTES`.

    Parameters
    ----------
    copy
        Copies the database into another one that is open.
    folder
        Where there is room for the copy.

    Raises
    ------
    sqlite3.Error, OSError
        The database cannot be read, or the folder has no room.
    """

    def __init__(self, copy: Callable[[sqlite3.Connection], None], folder: Path) -> None:
        self._fd, name = tempfile.mkstemp(prefix="image-", dir=folder)
        path = Path(name)
        try:
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as made:
                made.execute("PRAGMA journal_mode = OFF")
                made.execute("PRAGMA synchronous = OFF")
                path.unlink()  # so that a process that is killed leaves nothing behind
                copy(made)
            self.size = os.fstat(self._fd).st_size
        except BaseException:
            path.unlink(missing_ok=True)
            os.close(self._fd)
            raise

    def digests(self) -> bytes:
        """Return the digests of all blocks, one after the other."""
        return b"".join(digest_of(self._block(number)) for number in range(blocks_in(self.size)))

    def blocks(self, numbers: Sequence[int]) -> bytes:
        """Return some blocks, one after the other."""
        return b"".join(map(self._block, numbers))

    def _block(self, number: int) -> bytes:
        return os.pread(self._fd, BLOCK_BYTES, number * BLOCK_BYTES)

    def close(self) -> None:
        """Remove the copy."""
        os.close(self._fd)


def see_room(error: sqlite3.Error | OSError, folder: Path) -> None:
    """Raise an error if a database could not be copied because the disk of the copy is full.

    Raises
    ------
    NoRoomError
        The disk is full.
    """
    full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if full or (isinstance(error, OSError) and error.errno in _NO_ROOM):
        raise NoRoomError(f"{folder} has no room for a copy of a database; free some space") from error


def blocks_in(size: int) -> int:
    """Return how many blocks a file of `size` bytes has; the last one may be shorter.

    >>> blocks_in(0), blocks_in(BLOCK_BYTES), blocks_in(BLOCK_BYTES + 1)
    (0, 1, 2)
    """
    return -(-size // BLOCK_BYTES)


def digest_of(block: bytes) -> bytes:
    """Return a hash that two blocks share only if they are equal."""
    return hashlib.blake2b(block, digest_size=DIGEST_BYTES).digest()


def differing(before: Path, digests: bytes) -> list[int]:
    """Return the numbers of the blocks, given by their digests, that an earlier copy lacks; all if there is none."""
    numbers = range(len(digests) // DIGEST_BYTES)
    if not before.is_file():
        return list(numbers)
    with before.open("rb") as file:
        return [
            number
            for number in numbers
            if digest_of(file.read(BLOCK_BYTES)) != digests[number * DIGEST_BYTES : (number + 1) * DIGEST_BYTES]
        ]


def differing_bytes(before: Path, copy: Path) -> int:
    """Return the size of the blocks in which a copy differs from an earlier one, at least 1 if it does at all."""
    if not before.is_file():
        return copy.stat().st_size
    with before.open("rb") as one, copy.open("rb") as other:
        blocks = iter(lambda: other.read(BLOCK_BYTES), b"")
        found = sum(len(block) for block in blocks if block != one.read(BLOCK_BYTES))
    return found or int(before.stat().st_size != copy.stat().st_size)


def renewed(before: Path, goal: Path, size: int, blocks: Iterable[tuple[Sequence[int], bytes]]) -> None:
    """Write an earlier copy with some blocks replaced to a file, and sync it.

    Parameters
    ----------
    before, goal
        The earlier copy, which may be missing; the file, which exists.
    size
        The size of the result in bytes.
    blocks
        Numbers of blocks, and their contents one after the other.
    """
    if before.is_file():
        shutil.copyfile(before, goal)
    with goal.open("r+b") as file:
        for numbers, data in blocks:
            for place, number in enumerate(numbers):
                file.seek(number * BLOCK_BYTES)
                file.write(data[place * BLOCK_BYTES : (place + 1) * BLOCK_BYTES])
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())
