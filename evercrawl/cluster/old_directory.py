"""The directory that a partition has left: it is marked and renamed, so that no process uses it."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from evercrawl.cluster.birth import part_directory
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.leaving import MOVE
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.moved import MOVED, moved_to
from evercrawl.store.keeper.restoring import line_of

if TYPE_CHECKING:
    from pathlib import Path


def old_name(directory: Path, life: int) -> Path:
    """Return the new name of the old directory of a partition, which the process numbered `life` replaced."""
    return directory.with_name(f"{directory.name}-before-{life}")


def set_aside(root: Path, number: int, goal: str, life: int) -> None:
    """Mark the directory from which a partition was moved, and move it away; do nothing if it is gone.

    Parameters
    ----------
    root, number
        Folder of this machine's partitions, and number of the partition.
    goal, life
        A description of its new place; the number of processes that had been started when it was moved.

    Raises
    ------
    OSError, StoreError
        The directory cannot be marked or moved.
    """
    directory = part_directory(root, number)
    if not directory.is_dir():
        return
    try:
        with Lock.take(directory, MOVE, time.time()), contextlib.closing(RealDisk(directory)) as disk:
            if line_of(disk) > life:
                raise StoreError(f"{directory} was opened from a second copy since")
            disk.replace(MOVED, [moved_to(goal, life)])
    except ConfigError:  # already marked
        pass
    move_away(directory, life)


def move_away(directory: Path, life: int) -> None:
    """Rename a directory that is no longer the partition's; `life` as above.

    Raises
    ------
    OSError, StoreError
        The directory cannot be renamed, for example because a process has it open.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(ConfigError):  # no process uses a directory with a mark
            held.enter_context(Lock.take(directory, MOVE, time.time()))
        directory.rename(old_name(directory, life))
