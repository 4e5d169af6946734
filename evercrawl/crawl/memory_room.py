"""How much memory the crawl's own process has left: near the limit nothing new is requested, and then the run ends.

What is known and what was read takes memory for good, so waiting seldom helps; but bodies under way and a snapshot take
some for a moment. A process that a system kills for want of memory resumes too; this ends it in order, and says why.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

LOOK_S: Final = 1.0
SHARE: Final = 0.8
"""Of a container's limit that this process may take: others run in it, and pages that were read from files count."""
_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_NONE_BYTES: Final = 1 << 60  # what the system writes where there is no limit


class MemoryRoom:
    """Says whether memory is short.

    Parameters
    ----------
    limit_bytes
        What the process may take; 0 for no limit.
    used
        Returns what it takes now.

    Examples
    --------
    >>> room = MemoryRoom(1_000_000_000, lambda: 960_000_000)
    >>> room.short(now=0.0)
    True
    >>> room.message
    'the crawl takes 960 MB of memory and may take 1,000 MB; give it more with --max-memory, and start it again'
    """

    def __init__(self, limit_bytes: int, used: Callable[[], int]) -> None:
        self.limit_bytes, self._used = limit_bytes, used
        self._looked_at = float("-inf")
        self.message = ""

    def short(self, now: float) -> bool:
        """Return whether more than nineteen twentieths are taken; it is looked at once a second."""
        if self.limit_bytes and now - self._looked_at >= LOOK_S:
            self._looked_at, used = now, self._used()
            over = used > 0.95 * self.limit_bytes
            taken = f"the crawl takes {used / 1e6:,.0f} MB of memory and may take {self.limit_bytes / 1e6:,.0f} MB"
            self.message = f"{taken}; give it more with --max-memory, and start it again" if over else ""
        return bool(self.message)


def resident_bytes() -> int:
    """Return the memory that this process takes; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def container_limit_bytes(files: tuple[str, ...] = _LIMITS) -> int:
    """Return what this process may take by default: a part of its container's limit; 0 where there is none."""
    for name in files:
        try:
            limit = int(Path(name).read_text("ascii"))
        except (OSError, ValueError):
            continue
        if limit < _NONE_BYTES:
            return int(SHARE * limit)
    return 0
