"""Removal of copies that moves of partitions have begun and not completed, unless the move is given again."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evercrawl.cluster.belonging import is_part
from evercrawl.cluster.birth import drop_goal, part_directories, read_birth
from evercrawl.cluster.moving.transfer import marker
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.backups.backup import MOVING
from evercrawl.store.birth import UNFINISHED
from evercrawl.store.disk.leaving import MOVE
from evercrawl.store.disk.lock import FILE as LOCK
from evercrawl.store.disk.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

KEPT_S: Final = 600.0
"""Time for which a move that was broken off can be given again, and goes on with what was copied."""
AGAIN_S: Final = 60.0
_MARKS: Final = frozenset({LOCK, MOVING, UNFINISHED})


def remove_goal(goal: Path, crawl: str, number: int) -> bool:
    """Remove an incomplete copy of a partition; return whether there was one.

    A directory without the mark of such a copy is left alone. The mark is removed last, so that a kill leaves nothing
    without it.

    Parameters
    ----------
    goal
        The directory.
    crawl, number
        Id of the crawl, and number of the partition.

    Raises
    ------
    OSError, StoreError
        It is in use, or cannot be removed.
    """
    if not goal.is_dir() or (marker(goal) or [])[:2] != [crawl, str(number)]:
        return False
    try:
        lock = Lock.take(goal, MOVE, time.time())
    except ConfigError:  # it was moved from here since
        return False
    with lock:
        for path in goal.iterdir():
            if path.name in (MOVING, LOCK):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name in (MOVING, LOCK):
            (goal / name).unlink(missing_ok=True)
        goal.rmdir()
    return True


def removed_goal(directory: Path, number: int, goal: str) -> str:
    """Remove an incomplete copy on this machine, and its entry in `cluster.json`; return what was done, or "".

    `cluster.json` may come from a stranger, so a directory is removed only if it has the crawl's secret, or nothing
    but marks.
    """
    birth, place = read_birth(directory), Path(goal)
    if not place.parent.is_dir():  # its disk is not mounted
        return ""
    try:
        here = place in part_directories(directory)
        names = {path.name for path in place.iterdir()} if place.is_dir() else set[str]()
        ours = not names - _MARKS or is_part(place, birth.share(number), birth.secret)
        found = ours and not here and remove_goal(place, birth.id, number)
    except ConfigError:  # a partition that was moved from there
        found = False
    except (OSError, StoreError) as error:
        return f"{place}, an incomplete copy of partition {number}, cannot be removed: {error}"
    drop_goal(directory, number, goal)
    return f"{place}, an incomplete copy of partition {number}, was removed" if found else ""


def other_goals(directory: Path, number: int, goal: str) -> list[tuple[int, str]]:
    """Return the partitions and places of all incomplete copies but one."""
    goals = read_birth(directory).goals
    return [(each, place) for each, places in goals.items() for place in places if (each, place) != (number, goal)]


class UnfinishedGoals:
    """Tells which incomplete copies have to be removed now.

    Parameters
    ----------
    directory
        The crawl's directory.
    clock
        Returns the time (s) by a clock that is never set.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._directory, self._clock = directory, clock
        self._due_at = dict[tuple[int, str], float]()

    def begun(self, number: int, goal: str) -> None:
        """Take note that a move to a goal begins, or goes on."""
        self._due_at.pop((number, goal), None)

    def placed(self, number: int) -> None:
        """Take note that a partition is in a new place, so that other copies of it are useless."""
        for goal in read_birth(self._directory).goals.get(number, []):
            self._due_at[number, goal] = self._clock()

    def due(self, disks: Collection[str] | None = None) -> tuple[int, str] | None:
        """Return the partition and the place of a copy that is to be removed; None if there is none.

        On a Ray cluster `disks` are the reachable ones.

        Call this only if no move is under way. A copy is returned again after a while, until it is removed.
        """
        now = self._clock()
        for number, goals in read_birth(self._directory).goals.items():
            for goal in goals:
                if disks is not None and goal not in disks:
                    continue
                if now >= self._due_at.setdefault((number, goal), now + KEPT_S):
                    self._due_at[number, goal] = now + AGAIN_S
                    return number, goal
        return None
