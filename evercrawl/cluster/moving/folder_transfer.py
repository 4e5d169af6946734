"""Moves of partitions to other directories of one machine."""

from __future__ import annotations

import asyncio
import secrets
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from evercrawl.cluster.birth import part_directories
from evercrawl.cluster.moving.order import PartMove, ordered
from evercrawl.cluster.moving.transfer import check_goal, copy_part, finish, is_there, mark_left, prepare
from evercrawl.cluster.moving.unfinished import UnfinishedGoals, other_goals, removed_goal
from evercrawl.errors import StoreError
from evercrawl.store.disk.lock import holder, lock_for_crawl

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from evercrawl.cluster.asking import PartLoan
    from evercrawl.cluster.moving.interfaces import PartHolder


class FolderTransfer:
    """Copies partitions to other directories of this machine; see `PartTransfer`.

    Parameters
    ----------
    directory, tell
        The crawl's directory; receives a sentence about each problem.
    """

    def __init__(self, directory: Path, tell: Callable[[str], None]) -> None:
        self._directory, self._tell = directory, tell
        self._unfinished = UnfinishedGoals(directory)
        if trouble := mark_left(directory):
            tell(trouble)

    def turn(self, holds: PartHolder, see: Callable[[], None]) -> Coroutine[Any, Any, None] | None:
        """Return the removal of an incomplete copy, if one is due."""
        due = self._unfinished.due()
        return None if due is None else self._remove(*due)

    async def _remove(self, number: int, goal: str) -> None:
        loop = asyncio.get_running_loop()
        if said := await loop.run_in_executor(None, removed_goal, self._directory, number, goal):
            self._tell(said)

    def placed(self, move: PartMove) -> PartMove:
        """Check that a partition may be moved there."""
        check_goal(self._directory, move.number, Path(move.goal))
        return move

    async def prepare(self, move: PartMove, see: Callable[[], None]) -> None:
        """Create the directory."""
        self._unfinished.begun(move.number, move.goal)
        prepare(self._directory, move.number, Path(move.goal))

    async def copy(self, move: PartMove, see: Callable[[], None]) -> int:
        """Copy what is new."""
        source = part_directories(self._directory)[move.number]
        return await asyncio.get_running_loop().run_in_executor(None, copy_part, source, Path(move.goal), see)

    async def finish(self, move: PartMove, see: Callable[[], None]) -> tuple[int, str]:
        """Copy the rest, and record where the partition is."""
        loop, goal = asyncio.get_running_loop(), Path(move.goal)
        found = await loop.run_in_executor(None, partial(finish, self._directory, move.number, goal, see, soon=True))
        self._unfinished.placed(move.number)
        return found

    async def end(self) -> None:
        """Do nothing: no process was started."""

    async def lent(self, number: int) -> PartLoan:
        """Raise a `StoreError`: the files can be read without help."""
        raise StoreError("it is on the machine where the crawl runs")

    def counts(self, number: int) -> None:
        """Do nothing: the new directory is on this machine too."""

    def lost(self, number: int) -> bool:
        """Return that it cannot go back."""
        return False


def move_part(directory: Path, number: int, goal: Path, tell: Callable[[str], None]) -> PartMove:
    """Move a partition and return the result; the crawl may be running.

    Parameters
    ----------
    directory, number
        The crawl's directory, and the partition's number.
    goal
        The new directory: absent or empty, in an existing one.
    tell
        Receives a sentence about which process executes the order.

    Raises
    ------
    ConfigError
        The partition cannot be moved there.
    StoreError
        The partition was not moved; the message says why.
    """
    goal = goal.absolute()
    move = PartMove(secrets.token_hex(8), number, str(goal))
    if is_there(directory, number, move.goal):
        return _ended(directory, move, tell)
    check_goal(directory, number, goal)
    if holder(directory) is not None:
        return ordered(directory, move, tell)
    with lock_for_crawl(directory):
        if trouble := mark_left(directory):
            tell(trouble)
        for each, place in other_goals(directory, number, str(goal)):
            if said := removed_goal(directory, each, place):
                tell(said)
        began = time.monotonic()
        prepare(directory, number, goal)
        copied, trouble = finish(directory, number, goal, lambda: None)
    if trouble:
        tell(trouble)
    return msgspec.structs.replace(move, done=True, copied_bytes=copied, pause_s=time.monotonic() - began)


def _ended(directory: Path, move: PartMove, tell: Callable[[str], None]) -> PartMove:
    """Do what is left of a move that was killed once its partition was there; a running crawl has done it."""
    if holder(directory) is None:
        with lock_for_crawl(directory):
            if trouble := mark_left(directory):
                tell(trouble)
    return msgspec.structs.replace(move, done=True)
