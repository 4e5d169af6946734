"""How many areas the C library takes memory from: as many as threads would each keep what they once needed at most."""

import contextlib
import ctypes
from typing import Final

AREAS: Final = 2
_M_ARENA_MAX: Final = -8  # of glibc's malloc.h


def share_areas() -> bool:
    """Have all threads that are to come share `AREAS` areas; return whether the C library knows of such a thing.

    By default each thread may have its own, eight a processor at most. In a crawl, most of whose threads write the
    search index or the disk now and then, these were a fifth of the process.
    """
    with contextlib.suppress(AttributeError, OSError):
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, AREAS))
    return False
