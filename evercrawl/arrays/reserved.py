"""Arrays that grow without being copied: all address space is reserved at once, memory is allocated when touched."""

import contextlib
import mmap
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evercrawl.errors import StoreError

_NORESERVE: Final = 0x4000  # MAP_NORESERVE of Linux; Python has the name from 3.13 on
_HUGE: Final[int | None] = getattr(mmap, "MADV_HUGEPAGE", None)
_SMALL_BYTES: Final = 2 << 20  # of each array in small pages, so that a small crawl uses no more memory than it needs
_LEAST: Final = 1 << 16  # entries; with less than this a crawl is not worth starting


def reserve(dtype: DTypeLike, capacity: int = 1 << 30, *, least: int = 0) -> NDArray[Any]:
    """Return an array of zeros, shape (at most `capacity`,), that costs memory only where it has been written.

    Parameters
    ----------
    dtype
        Type of an entry.
    capacity
        Entries to reserve; halved until the kernel agrees.
    least
        Capacity below which to give up; 0 means 65,536 entries, or `capacity` if that is less.

    Raises
    ------
    StoreError
        The kernel refuses even the least.

    Examples
    --------
    Four megabytes, of which one page exists:

    >>> cells = reserve(np.float32, 1 << 20)
    >>> cells[7] += 2
    >>> float(cells.sum()), len(cells)
    (2.0, 1048576)
    """
    return reserve_together([dtype], capacity, least=least)[0]


def reserve_together(
    dtypes: Sequence[DTypeLike], capacity: int, *, least: int = 0, large_pages: bool = False
) -> list[NDArray[Any]]:
    """Return one array of zeros for each dtype, all of the same length (at most `capacity`).

    With `large_pages`, memory beyond the first 2 MiB of each array comes in large pages, if the kernel has them: in a
    large array, address translation takes as long as the access itself.

    Raises
    ------
    StoreError
        The kernel refuses even the least.
    """
    types = [np.dtype(dtype) for dtype in dtypes]
    size = capacity
    while True:
        try:
            return [_mapped(dtype, size, large_pages) for dtype in types]
        except OSError as refusal:
            if size // 2 < (least or min(_LEAST, capacity)):
                raise StoreError(
                    f"cannot reserve address space for {size:,} entries ({refusal}): raise `ulimit -v`, or set the "
                    "kernel's vm.overcommit_memory to 0 or 1"
                ) from refusal
            size //= 2


def too_many(what: str, most: int) -> str:
    """Return a message for people whose crawl has reached a ceiling.

    >>> too_many("hosts", 1 << 20)
    "this partition has as many hosts as it can have (1,048,576): narrow the crawl's scope, or begin a crawl with more
    partitions"
    """
    return (
        f"this partition has as many {what} as it can have ({most:,}): narrow the crawl's scope, or begin a crawl with "
        "more partitions"
    )


def _mapped(dtype: np.dtype[Any], capacity: int, large_pages: bool) -> NDArray[Any]:
    """Return `capacity` entries of private anonymous memory that does not count towards the commit limit."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", _NORESERVE)
    memory = mmap.mmap(-1, max(1, capacity * dtype.itemsize), flags=flags)
    if large_pages and _HUGE is not None and len(memory) > _SMALL_BYTES:
        with contextlib.suppress(OSError):  # a kernel without them
            memory.madvise(_HUGE, _SMALL_BYTES, len(memory) - _SMALL_BYTES)
    return np.frombuffer(memory, dtype, capacity)
