"""The return of unused memory to the system: arenas of the C library, and code that is needed only at a start."""

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
"""The library that links kernels at their first call. Afterwards its 43 MiB are unused, and the file still has them."""
_RESIDENT, _OF_FILE = (np.uint64(1 << bit) for bit in (63, 61))  # in /proc/self/pagemap
_DROP: Final = 4  # MADV_DONTNEED


def share_areas() -> bool:
    """Let all future threads share `AREAS` arenas of malloc; return whether the C library supports that.

    By default each thread may have its own arena, with a maximum of eight per processor. Most threads of a crawl only
    write to the search index or the disk now and then; their arenas were a fifth of the process.
    """
    with contextlib.suppress(AttributeError, OSError):
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, AREAS))
    return False


def give_back() -> None:
    """Return to the system memory that was freed within arenas, and code that is needed only at a start.

    By itself an arena shrinks only if the memory allocated last is freed. Returned memory reappears, zeroed or read
    from its file, when it is used again.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(AttributeError, OSError, ValueError):
        _drop(_LINKER)


async def keep_giving_back() -> None:
    """Return unused memory after `FIRST_S`, and then every `EVERY_S`, in a thread of the loop, until cancelled."""
    wait_s = FIRST_S
    while True:
        await asyncio.sleep(wait_s)
        wait_s = EVERY_S
        await asyncio.get_running_loop().run_in_executor(None, give_back)


def _drop(library: str) -> None:
    """Drop the resident memory pages of a library that equal its file."""
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
    """Yield the address ranges (start, stop) of a library's mappings that are not writable."""
    for line in Path("/proc/self/maps").read_text("utf-8", "replace").splitlines():
        where, rights, *_ = words = line.split()
        if len(words) > 5 and library in words[5] and "w" not in rights:
            start, _, stop = where.partition("-")
            yield int(start, 16), int(stop, 16)
