"""Rarely used rows in unnamed temporary files; memory holds only the recently used ones.

The full part of a reserved array (`arrays/reserved.py`) is written to such a file and mapped from there at its former
addresses, so pointers to its rows stay valid. The mapping is private: changed rows stay in memory until the next round
writes them to the file. So a full disk, which would kill a process that writes to a shared mapping, only leaves rows in
memory. No other process reads these files, and they do not outlive this one.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.types import Ints

CHUNK_BYTES: Final = 1 << 18
"""Granularity of moves; the incomplete last chunk of an array, where it grows, stays in memory."""
STEP_BYTES: Final = 4 << 20
"""Approximate number of bytes written at a time, within a few milliseconds."""
LOOK_BYTES: Final = 128 << 20
"""Maximum number of bytes scanned for changes at a time."""
_PAGE: Final = mmap.PAGESIZE
_RESIDENT, _SWAPPED, _OF_FILE = (np.uint64(1 << bit) for bit in (63, 62, 61))  # in /proc/self/pagemap
_FIXED: Final = 0x10  # MAP_FIXED
_NORESERVE: Final = getattr(mmap, "MAP_NORESERVE", 0x4000)
_DROP: Final = 4  # MADV_DONTNEED
_RANDOM: Final = 1  # MADV_RANDOM
_FAILED: Final = ctypes.c_void_p(-1).value
_libc: Final = ctypes.CDLL(None, use_errno=True)
_map: Final = _libc.mmap
_map.restype = ctypes.c_void_p
_map.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
_advise: Final = _libc.madvise
_advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class Shelvable(Protocol):
    """A table with an array that may be kept in a file.

    Attributes
    ----------
    moved_bytes
        Bytes of the array that are in the file; the shelf sets this.
    """

    moved_bytes: int

    def reserved(self) -> tuple[NDArray[Any], int] | None:
        """Return the array, always the same one as long as it is in use, and how many of its entries are.

        None where there is none that was reserved.
        """
        ...


class _ShelvedArray:
    """One array, the file that it is mapped from, and the part that is mapped."""

    def __init__(self, array: NDArray[Any], folder: Path) -> None:
        self.array = array  # held, so that no other memory can come to lie there
        self.address = array.ctypes.data
        self.moved = self.next = 0  # bytes mapped from the file; the byte at which the next round goes on
        self._bytes = array.view(np.uint8).reshape(-1).data
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115

    def close(self) -> None:
        """Close the file; mappings stay valid."""
        self._file.close()

    def write(self, start: int, stop: int) -> None:
        """Write bytes [start, stop) to their place in the file."""
        while start < stop:
            start += os.pwrite(self._file.fileno(), self._bytes[start:stop], start)

    def move(self, stop: int) -> None:
        """Map the bytes up to `stop` from the file."""
        self.write(self.moved, stop)
        size = stop - self.moved
        protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _FIXED | _NORESERVE
        where = _map(self.address + self.moved, size, protection, flags, self._file.fileno(), self.moved)
        if where == _FAILED:
            raise OSError(ctypes.get_errno(), "cannot map a file")
        _advise(self.address + self.moved, size, _RANDOM)
        self.moved = stop

    def drop(self, start: int, stop: int) -> None:
        """Return the memory of bytes that are in the file to the system."""
        _advise(self.address + start, stop - start, _DROP)


class Shelf:
    """A store for rarely used arrays, which keeps their full parts in files.

    Parameters
    ----------
    folder
        Directory of the files, which are deleted with the process.
    pages
        File that tells which memory of this process is resident; if it cannot be read, all pages count as changed.

    Attributes
    ----------
    moved_bytes
        Bytes in the files.
    full
        Whether the last write failed: memory then holds what could not be written.

    Examples
    --------
    >>> from evercrawl.arrays.rows import Rows
    >>> rows = Rows("u8")
    >>> rows.upto(1 << 18)[:] = 7  # 2 MiB
    >>> shelf = Shelf(Path("/tmp"))
    >>> shelf.keep([rows])
    >>> shelf.tend()
    False
    >>> rows.moved_bytes, rows.nbytes, int(rows.all().sum()) == 7 << 18
    (2097152, 0, True)
    >>> shelf.close()
    """

    def __init__(self, folder: Path, pages: Path = Path("/proc/self/pagemap")) -> None:
        self._folder, self._pages = folder, pages
        self._shelved: list[tuple[Shelvable, _ShelvedArray | None]] = []
        self.full = False

    def keep(self, tables: Iterable[Shelvable]) -> None:
        """Keep the arrays of tables in files from now on."""
        self._shelved += [(table, None) for table in tables]

    @property
    def moved_bytes(self) -> int:
        """Number of bytes in the files."""
        return sum(each.moved for _, each in self._shelved if each is not None)

    def resident_bytes(self) -> int:
        """Return how many of the bytes in the files are resident in memory now."""
        return sum(self._resident(each, 0, each.moved) for _, each in [*self._shelved] if each is not None)

    def tend(self, most_bytes: int = STEP_BYTES, most_looked_at: int = LOOK_BYTES) -> bool:
        """Write some new or changed rows to the files, and free their memory.

        Return whether there was more to write than `most_bytes`.
        """
        self.full = False
        try:
            left = most_bytes
            for number in range(len(self._shelved)):
                left -= self._move(number, left)
                if left <= 0:
                    return True
            return self._round(left, most_looked_at)
        except OSError:  # no room, or a file system that cannot: memory holds it, as before
            self.full = True
            return False

    def close(self) -> None:
        """Close the files; the arrays stay as they are."""
        for _, each in self._shelved:
            if each is not None:
                each.close()
        self._shelved.clear()

    def _move(self, number: int, most_bytes: int) -> int:
        """Move the full chunks of a table to its file; return the number of bytes."""
        table, each = self._shelved[number]
        array, count = table.reserved() or (None, 0)
        if each is not None and array is not each.array:  # it has another one now
            each.close()
            table.moved_bytes, each = 0, None
            self._shelved[number] = table, None
        full = count * array.strides[0] // CHUNK_BYTES * CHUNK_BYTES if array is not None else 0
        if array is None or full <= table.moved_bytes:
            return 0
        if each is None:
            each = _ShelvedArray(array, self._folder)
            self._shelved[number] = table, each
        before = each.moved
        each.move(min(full, before + max(most_bytes // CHUNK_BYTES, 1) * CHUNK_BYTES))
        each.drop(before, each.moved)
        table.moved_bytes = each.moved
        return each.moved - before

    def _round(self, most_bytes: int, most_looked_at: int) -> bool:
        """Continue the round through all moved bytes, until a limit is reached or the round is complete."""
        shelved = [each for _, each in self._shelved if each is not None]
        for each in shelved:
            while each.next < each.moved:
                if most_bytes <= 0 or most_looked_at <= 0:
                    return most_bytes <= 0
                stop = min(each.next + STEP_BYTES, each.moved)
                most_bytes -= self._settle(each, each.next, stop)
                most_looked_at -= stop - each.next
                each.next = stop
        for each in shelved:
            each.next = 0
        return False

    def _settle(self, each: _ShelvedArray, start: int, stop: int) -> int:
        """Write changed pages between two bytes to the file, free their memory, and return the bytes written."""
        state = self._state(each, start, stop)
        own = ((state & _RESIDENT) != 0) & ((state & _OF_FILE) == 0) | ((state & _SWAPPED) != 0)
        edges: Ints = np.flatnonzero(np.diff(own, prepend=False, append=False))
        for first, end in edges.reshape(-1, 2).tolist():
            each.write(start + first * _PAGE, start + end * _PAGE)
        each.drop(start, stop)
        return int(np.count_nonzero(own)) * _PAGE

    def _resident(self, each: _ShelvedArray, start: int, stop: int) -> int:
        return int(np.count_nonzero(self._state(each, start, stop) & _RESIDENT)) * _PAGE

    def _state(self, each: _ShelvedArray, start: int, stop: int) -> NDArray[np.uint64]:
        """Return the page map entry of each page of memory between two bytes."""
        first, count = (each.address + start) // _PAGE, (stop - start) // _PAGE
        try:
            with self._pages.open("rb", buffering=0) as file:
                said = os.pread(file.fileno(), 8 * count, 8 * first)
        except OSError:
            said = b""
        whole = np.frombuffer(said, np.uint64)
        return whole if len(whole) == count else np.full(count, _RESIDENT)
