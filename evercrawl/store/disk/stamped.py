"""Files that say in their names how much of the journal they know, such as `snapshot-00000000000003e8.bin`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk

SNAPSHOT: Final = "snapshot"
LESSONS: Final = "lessons"
"""What a policy has learned; `evercrawl.model.policy.lessons_file` writes and reads it."""
KEPT: Final = 2
_BASE: Final = 16


def stamped(kind: str, sequence: int) -> str:
    """Return the name of the file that knows the first `sequence` events.

    >>> stamped("lessons", 1000)
    'lessons-00000000000003e8.bin'
    """
    return f"{kind}-{sequence:016x}.bin"


def stamp(name: str) -> int:
    """Return how many events a file knows by its name.

    >>> stamp("lessons-00000000000003e8.bin")
    1000
    """
    return int(name.rpartition("-")[2].removesuffix(".bin"), _BASE)


def names(disk: Disk, kind: str) -> list[str]:
    """Return the names of the files of a kind, newest first."""
    return sorted((name for name in disk.names(f"{kind}-") if _is_stamped(name)), reverse=True)


def forget_older(disk: Disk, kind: str) -> None:
    """Delete all files of a kind but the newest two."""
    for name in names(disk, kind)[KEPT:]:
        disk.remove(name)


def forget_later(disk: Disk, kind: str, sequence: int) -> None:
    """Delete the files that know more than `sequence` events: once there are as many again, they would be others."""
    for name in names(disk, kind):
        if stamp(name) > sequence:
            disk.remove(name)


def _is_stamped(name: str) -> bool:
    try:
        return stamped(name.rpartition("-")[0], stamp(name)) == name
    except ValueError:
        return False
