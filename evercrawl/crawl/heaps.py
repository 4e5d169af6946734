"""What the process keeps of memory that nobody uses: areas of the C library, and code that only a start needs."""

import asyncio
import contextlib
import ctypes
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

AREAS: Final = 2
FIRST_S: Final = 3.0
EVERY_S: Final = 5.0
_M_ARENA_MAX: Final = -8  # of glibc's malloc.h
_LINKER: Final = "libllvmlite"
"""It links the kernels when they are first called, and is of no use afterwards: 43 MiB that are in a file, too."""
_RESIDENT, _OF_FILE = (np.uint64(1 << bit) for bit in (63, 61))  # in /proc/self/pagemap
_DROP: Final = 4  # MADV_DONTNEED


def share_areas() -> bool:
    """Have all threads that are to come share `AREAS` areas; return whether the C library knows of such a thing.

    By default each thread may have its own, eight a processor at most. In a crawl, most of whose threads write the
    search index or the disk now and then, these were a fifth of the process.
    """
    with contextlib.suppress(AttributeError, OSError):
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, AREAS))
    return False


def give_back() -> None:
    """Give memory back to the system that was freed within areas, and code that only a start needs.

    Areas shrink by themselves only where what was allocated last is freed. What is given back comes again, zeroed or
    read from its file, where it is used again.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(AttributeError, OSError, ValueError):
        _drop(_LINKER)


async def keep_giving_back() -> None:
    """Give it back after a few seconds, and then time and again, until cancelled; a thread of the loop's does it."""
    wait_s = FIRST_S
    while True:
        await asyncio.sleep(wait_s)
        wait_s = EVERY_S
        await asyncio.get_running_loop().run_in_executor(None, give_back)


def _drop(library: str) -> None:
    """Let go of those pages of a library that are as they are in its file."""
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pages:
        for start, stop in _mapped(library):
            pages.seek(8 * (start // mmap.PAGESIZE))
            state = np.frombuffer(pages.read(8 * ((stop - start) // mmap.PAGESIZE)), np.uint64)
            kept = ((state & _RESIDENT) != 0) & ((state & _OF_FILE) != 0)
            edges = np.flatnonzero(np.diff(kept, prepend=False, append=False)).reshape(-1, 2)
            for first, end in (start + edges * mmap.PAGESIZE).tolist():
                advise(first, end - first, _DROP)


def _mapped(library: str) -> Iterator[tuple[int, int]]:
    """Yield where a library that cannot be written to lies in memory."""
    for line in Path("/proc/self/maps").read_text("utf-8", "replace").splitlines():
        where, rights, *_ = words = line.split()
        if len(words) > 5 and library in words[5] and "w" not in rights:
            start, _, stop = where.partition("-")
            yield int(start, 16), int(stop, 16)
