"""Moves of partitions to other directories or machines: most bytes are copied while one runs, the rest in a pause.

`move_part` writes an order into the crawl's directory. The process that runs the crawl executes the order; if none
runs, the caller does.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from evercrawl.ask.parts_line import part_states
from evercrawl.cluster.birth import part_directories
from evercrawl.cluster.transfer import LagsError, check_goal, copy_part, finish, is_there, mark_left, prepare
from evercrawl.cluster.unfinished import UnfinishedGoals, other_goals, removed_goal
from evercrawl.decoding import json_of
from evercrawl.errors import EvercrawlError, StoreError
from evercrawl.small_file import read_small
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import holder, lock_for_crawl

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


FILE: Final = "move.json"
LAG_BYTES: Final = 1 << 20
"""Maximum number of bytes left to copy while the partition is paused."""
ROUNDS: Final = 12
"""Maximum number of copies before a pause; fewer if they no longer get smaller."""
IN_VAIN: Final = 3
PAUSES: Final = 3
"""Number of pauses that may be broken off because something was removed just before."""
LOOK_S: Final = 0.2
DRAIN: Final = -1
LIFT: Final = -2
BALANCE: Final = -3
AGAIN_S: Final = 60.0
"""Interval after a failed move without an order until the next one."""
ASKED_S: Final = 5.0
"""Interval between two checks whether the process that runs the crawl answers."""
HUNG_S: Final = 30.0
"""After this time without an answer, the caller stops waiting for that process."""


class PartHolder(Protocol):
    """Controls the processes of partitions."""

    async def rest(self, number: int) -> None:
        """Return once a partition has no process; it gets none until `resume`."""
        ...

    async def resume(self, number: int) -> None:
        """Return once a partition has a process again that has reported."""
        ...

    def well(self, number: int) -> bool:
        """Return whether the process of a partition has reported, and all that counts is also in its second copy."""
        ...


class UnplacedError(StoreError):
    """It is unknown where a partition is, so it must not be started anywhere."""


class PartMove(msgspec.Struct, frozen=True):
    """An order to move a partition or to empty a machine, and its result.

    Attributes
    ----------
    id, number, goal
        Id of the order, number of the partition, and its new place: a directory, or a machine of a cluster. The
        number is `DRAIN` or `LIFT` if that machine must be emptied, or no longer; `BALANCE` if all machines must get
        their share.
    error
        Why it was not moved; "" if it was, or is still to be moved.
    done
        Whether the order is finished.
    copied_bytes, pause_s
        Number of bytes written, and for how long the partition was paused.
    source
        The disk from which a partition of a cluster moves.
    steps
        Of an order that all machines get their share: how many partitions have to move for that.
    """

    id: str
    number: int
    goal: str
    error: str = ""
    done: bool = False
    copied_bytes: int = 0
    pause_s: float = 0.0
    source: str = ""
    steps: int = 0


class PartTransfer(Protocol):
    """Copies partitions to new places, and switches the crawl to them."""

    def turn(self, holds: PartHolder, see: Callable[[], None]) -> PartMove | Coroutine[Any, Any, None] | None:
        """Return a move without an order, or other work; None if there is nothing to do.

        `see` is called at intervals during that work, and may raise.
        """
        ...

    def placed(self, move: PartMove) -> PartMove:
        """Return an order with its place in canonical form; an order about a machine is executed at once.

        Raises
        ------
        ConfigError
            The order cannot be executed; nothing was written.
        """
        ...

    async def prepare(self, move: PartMove, see: Callable[[], None]) -> None:
        """Prepare the goal. `see` is called at intervals, and may raise."""
        ...

    async def copy(self, move: PartMove, see: Callable[[], None]) -> int:
        """Update the goal; return the number of bytes written."""
        ...

    async def finish(self, move: PartMove, see: Callable[[], None]) -> tuple[int, str]:
        """Copy the rest of a paused partition, and switch to it; return the bytes copied, and any warning.

        Raises
        ------
        LagsError
            The rest is too much for a pause: nothing was changed, and the partition can continue.
        """
        ...

    async def end(self) -> None:
        """End the processes of a move, so that no directory stays open."""
        ...

    def counts(self, number: int) -> None:
        """Take note that something of a partition counts now at its place; called before it takes effect."""
        ...

    def lost(self, number: int) -> bool:
        """Take note that a partition is no longer at its place; return whether it can go back to an old one."""
        ...


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

    def counts(self, number: int) -> None:
        """Do nothing: the new directory is on this machine too."""

    def lost(self, number: int) -> bool:
        """Return that it cannot go back."""
        return False


def read_move(directory: Path) -> PartMove | None:
    """Return the latest order; None if there is none."""
    try:
        return json_of(read_small(directory / FILE), PartMove)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _write(directory: Path, move: PartMove) -> None:
    with contextlib.closing(RealDisk(directory)) as disk:
        disk.replace(FILE, [msgspec.json.encode(move)])


def ordered(directory: Path, move: PartMove, tell: Callable[[str], None]) -> PartMove:
    """Give an order to the running crawl, and return the result."""
    before = read_move(directory)
    if before is not None and not before.done:
        first = f"partition {before.number} is being moved to {before.goal}"
        raise StoreError(f"{first if before.number >= 0 else 'another order is carried out'}; wait for that first")
    if move.number >= 0:
        tell("the crawl is running, and moves it")
    _write(directory, move)
    return _awaited(directory, move)


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
    check_goal(directory, number, goal)
    move = PartMove(secrets.token_hex(8), number, str(goal))
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


def _awaited(directory: Path, move: PartMove) -> PartMove:
    """Wait until the running crawl has finished a move."""
    line = _Answering(directory)
    while True:
        over, now = holder(directory) is None, read_move(directory)
        ended = now is None or now.id != move.id or bool(now.error) or (over and not now.done)
        if ended and move.number >= 0 and is_there(directory, move.number, move.goal):
            return msgspec.structs.replace(move, done=True)
        if now is None or now.id != move.id:
            raise StoreError(f"{directory / FILE} was changed by somebody else; see where the partition is")
        if now.done:
            if now.error:
                raise StoreError(_outcome(now))
            return now
        if over:
            (directory / FILE).unlink(missing_ok=True)
            raise StoreError(f"the crawl ended before {_about(move)}; {_again(move)}")
        if trouble := line.trouble():
            raise StoreError(f"{trouble}. If it continues, it does that too; if not, {_again(move)}")
        time.sleep(LOOK_S)


def _about(move: PartMove) -> str:
    if move.number == BALANCE:
        return "the order was taken"
    what = "moved" if move.number >= 0 else "emptied" if move.number == DRAIN else "used again"
    return f"{f'partition {move.number}' if move.number >= 0 else f'the machine {move.goal}'} was {what}"


def _again(move: PartMove) -> str:
    return "move it again" if move.number >= 0 else "give the order again"


def _outcome(moved: PartMove) -> str:
    """Return a sentence about the result of an order."""
    if moved.number == BALANCE:
        what = "1 partition moves" if moved.steps == 1 else f"{moved.steps} partitions move"
        if not moved.steps:
            return moved.error or "each machine has its share of the partitions; nothing moves"
        return moved.error or f"{what}, one after the other, so that each machine has its share"
    if moved.number < 0:
        done = "is emptied" if moved.number == DRAIN else "may have partitions again"
        return f"the machine {moved.goal} {f'cannot be: {moved.error}' if moved.error else done}"
    if moved.error:
        return f"partition {moved.number} was not moved: {moved.error}"
    return f"partition {moved.number} is in {moved.goal}; it paused {moved.pause_s:.1f} s"


class _Answering:
    """Whether the process that runs a crawl has answered recently."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._heard_at, self._asked_at = directory, time.monotonic(), time.monotonic()

    def trouble(self) -> str:
        """Return that the process hangs, and what to do; "" if it answers, or nobody listens for questions."""
        if time.monotonic() < self._asked_at + ASKED_S:
            return ""
        try:
            part_states(self._directory)
            self._heard_at = time.monotonic()
        except StoreError as error:
            if time.monotonic() >= self._heard_at + HUNG_S:
                return str(error)
        finally:
            self._asked_at = time.monotonic()
        return ""


class PartMoves:
    """Executes orders to move partitions while the crawl runs.

    Parameters
    ----------
    directory
        The crawl's directory.
    holds
        Controls the processes.
    tell
        Receives a sentence about each result.
    transfer
        Copies partitions, and records where they are; None if they are on this machine.
    """

    def __init__(
        self, directory: Path, holds: PartHolder, tell: Callable[[str], None], transfer: PartTransfer | None = None
    ) -> None:
        self._directory, self._holds, self._tell = directory, holds, tell
        self._task: asyncio.Task[None] | None = None
        self._over, self._again_at = False, float("-inf")
        (directory / FILE).unlink(missing_ok=True)  # of an earlier run
        self._transfer: PartTransfer = FolderTransfer(directory, tell) if transfer is None else transfer

    def turn(self) -> None:
        """Start the requested work, or work that is due without an order."""
        if self._over or self._task is not None:
            return
        move: PartMove | Coroutine[Any, Any, None] | None = read_move(self._directory)
        if not isinstance(move, PartMove) or move.done:
            move = self._transfer.turn(self._holds, self._see) if time.monotonic() >= self._again_at else None
        if isinstance(move, PartMove):
            self._task = asyncio.ensure_future(self._carry_out(move))
        elif move is not None:
            self._task = asyncio.ensure_future(self._work(move))

    def counts(self, number: int) -> None:
        """Take note that something of a partition counts now; see `PartTransfer`."""
        self._transfer.counts(number)

    def lost(self, number: int) -> bool:
        """Take note that a partition is no longer at its place; return whether it can go back to an old one."""
        return self._transfer.lost(number)

    def stop(self) -> None:
        """Start no more moves, and interrupt the current one."""
        self._over = True

    async def close(self) -> None:
        """Do the same, and return once no move is under way."""
        self.stop()
        if self._task is not None:
            await self._task

    async def _work(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # the crawl continues
            self._tell(f"what a move had left to do failed: {type(error).__name__}: {error}")
        finally:
            self._task = None

    async def _carry_out(self, move: PartMove) -> None:
        try:
            placed = move
            try:
                placed = self._transfer.placed(move)
                moved = await self._moved(placed) if move.number >= 0 else msgspec.structs.replace(placed, done=True)
            except Exception as error:  # unforeseen errors too: the caller gets an answer, and the crawl continues
                known = isinstance(error, (EvercrawlError, OSError))
                why = str(error) if known else f"{type(error).__name__}: {error}"
                there = move.number >= 0 and not isinstance(error, UnplacedError)
                there = there and is_there(self._directory, move.number, placed.goal)
                moved = msgspec.structs.replace(placed, done=True, error="" if there else why)
            if move.id:
                self._write_down(moved)
            elif moved.error:
                self._again_at = time.monotonic() + AGAIN_S
            self._tell(_outcome(moved))
        finally:
            self._task = None

    def _write_down(self, moved: PartMove) -> None:
        try:
            _write(self._directory, moved)
        except StoreError as error:  # such as a full disk; the caller sees that the order is gone
            self._tell(f"the result of moving partition {moved.number} cannot be saved: {error}")
            with contextlib.suppress(OSError):
                (self._directory / FILE).unlink(missing_ok=True)
            self._over = self._over or (self._directory / FILE).exists()

    def _see(self) -> None:
        if self._over:
            raise StoreError("the crawl ended")

    async def _moved(self, move: PartMove) -> PartMove:
        copied, pauses = 0, 0
        try:
            await self._transfer.prepare(move, self._see)
            while True:
                copied += await self._caught_up(move)
                began, pauses = time.monotonic(), pauses + 1
                try:
                    rest, trouble = await self._paused(move)
                except LagsError:
                    if pauses == PAUSES:
                        raise
                    continue
                break
        finally:
            await self._transfer.end()
        if trouble:
            self._tell(trouble)
        return msgspec.structs.replace(move, done=True, copied_bytes=copied + rest, pause_s=time.monotonic() - began)

    async def _caught_up(self, move: PartMove) -> int:
        """Copy in rounds until little is left, or rounds no longer shrink; return the number of bytes copied."""
        copied, least, in_vain = 0, float("inf"), 0
        for _ in range(ROUNDS):
            written = await self._transfer.copy(move, self._see)
            copied += written
            self._see()
            in_vain = 0 if written < least / 2 else in_vain + 1
            least = min(least, written)
            if written < LAG_BYTES or in_vain == IN_VAIN:
                break
        return copied

    async def _paused(self, move: PartMove) -> tuple[int, str]:
        """End the process of a partition, let the transfer switch, and begin a process again."""
        placed, lags = True, False
        try:
            await self._holds.rest(move.number)
            return await self._transfer.finish(move, self._see)
        except UnplacedError:
            placed = False
            raise
        except LagsError:
            lags = True
            raise
        finally:
            if not lags:
                await self._transfer.end()
            if placed:
                await self._holds.resume(move.number)
