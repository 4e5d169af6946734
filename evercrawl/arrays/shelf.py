"""Rows that are seldom looked at, in files without names: memory holds those that were in use of late.

The full part of an array that was reserved (`arrays/reserved.py`) is written to such a file and mapped from there, at
the addresses that it had, so whoever points to its rows goes on. The mapping is private: what is written to its rows
stays in memory until the next round writes it to the file. So a full disk, which would end a process that writes to a
shared mapping, only leaves rows in memory. Nothing is read from these files by another process, or after this one.
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
"""The last of an array that is no full chunk stays in memory: that is where it grows."""
STEP_BYTES: Final = 4 << 20
"""Written at a time, about: within a few milliseconds."""
LOOK_BYTES: Final = 128 << 20
"""Looked through for what was written to, at a time, at most."""
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
    """A table with an array that may lie in a file.

    Attributes
    ----------
    moved_bytes
        How much of it does; the shelf says so.
    """

    moved_bytes: int

    def reserved(self) -> tuple[NDArray[Any], int] | None:
        """Return the array, always the same one as long as it is in use, and how many of its entries are.

        None where there is none that was reserved.
        """
        ...


class _ShelvedArray:
    """One array: which part of it is mapped from which file."""

    def __init__(self, array: NDArray[Any], folder: Path) -> None:
        self.array = array  # held, so that no other memory can come to lie there
        self.address = array.ctypes.data
        self.moved = self.next = 0  # bytes mapped from the file; the byte at which the next round goes on
        self._bytes = array.view(np.uint8).reshape(-1).data
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115

    def close(self) -> None:
        """Close the file; what is mapped stays."""
        self._file.close()

    def write(self, start: int, stop: int) -> None:
        """Write bytes [start, stop) to their place in the file."""
        while start < stop:
            start += os.pwrite(self._file.fileno(), self._bytes[start:stop], start)

    def move(self, stop: int) -> None:
        """Have the bytes up to `stop` lie in the file too."""
        self.write(self.moved, stop)
        size = stop - self.moved
        protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _FIXED | _NORESERVE
        where = _map(self.address + self.moved, size, protection, flags, self._file.fileno(), self.moved)
        if where == _FAILED:
            raise OSError(ctypes.get_errno(), "cannot map a file")
        _advise(self.address + self.moved, size, _RANDOM)
        self.moved = stop

    def drop(self, start: int, stop: int) -> None:
        """Give memory of bytes that the file has back to the system."""
        _advise(self.address + start, stop - start, _DROP)


class Shelf:
    """Keeps arrays of which most is seldom looked at in files, as large as they are full.

    Parameters
    ----------
    folder
        Where the files lie; they are gone with the process.
    pages
        Path that says which memory of this process is resident; where it cannot be read, all is taken for written to.

    Attributes
    ----------
    moved_bytes
        What the files have.
    full
        Whether the last write failed: then memory holds what could not be written.

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
        """Bytes that the files have."""
        return sum(each.moved for _, each in self._shelved if each is not None)

    def resident_bytes(self) -> int:
        """Return how much of what the files have lies in memory now."""
        return sum(self._resident(each, 0, each.moved) for _, each in [*self._shelved] if each is not None)

    def tend(self, most_bytes: int = STEP_BYTES, most_looked_at: int = LOOK_BYTES) -> bool:
        """Write some of what is new or was written to, and have memory hold no more of that part.

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
        """Move what became full of a table; return how many bytes."""
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
        """Go on with the round through all that was moved, until so much was written, or looked at, or it is over."""
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
        """Write what was written to between two bytes, give the memory back, and return how many bytes that were."""
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
        """Return what the system says of each page of memory between two bytes."""
        first, count = (each.address + start) // _PAGE, (stop - start) // _PAGE
        try:
            with self._pages.open("rb", buffering=0) as file:
                said = os.pread(file.fileno(), 8 * count, 8 * first)
        except OSError:
            said = b""
        whole = np.frombuffer(said, np.uint64)
        return whole if len(whole) == count else np.full(count, _RESIDENT)
