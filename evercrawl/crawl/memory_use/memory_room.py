"""The memory limit of the crawl's process: near the limit nothing new is requested, and then the run ends.

Known URLs and read pages take memory permanently, so waiting seldom helps; bodies under way and a snapshot take some
only for a moment. A crawl whose process the system kills for lack of memory resumes too; with the limit, it ends in
order and reports why.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

LOOK_S: Final = 1.0
SHARE: Final = 0.8
"""Share of a container's limit that this process may use: other processes and cached file pages count too."""
_LIMITS: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_NONE_BYTES: Final = 1 << 60  # the system writes this value or more if there is no limit


class MemoryRoom:
    """Checks whether the process is close to its memory limit.

    Parameters
    ----------
    limit_bytes
        Memory that the process may use; 0 for no limit.
    used
        Returns the memory that the process uses now, in bytes.

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
        """Return whether more than 95 % of the limit is in use, as measured once a second."""
        if self.limit_bytes and now - self._looked_at >= LOOK_S:
            self._looked_at, used = now, self._used()
            over = used > 0.95 * self.limit_bytes
            taken = f"the crawl takes {used / 1e6:,.0f} MB of memory and may take {self.limit_bytes / 1e6:,.0f} MB"
            self.message = f"{taken}; give it more with --max-memory, and start it again" if over else ""
        return bool(self.message)


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def container_limit_bytes(files: tuple[str, ...] = _LIMITS) -> int:
    """Return the default limit of this process: `SHARE` of its container's limit, in bytes; 0 if there is none."""
    for name in files:
        try:
            limit = int(Path(name).read_text("ascii"))
        except (OSError, ValueError):
            continue
        if limit < _NONE_BYTES:
            return int(SHARE * limit)
    return 0
