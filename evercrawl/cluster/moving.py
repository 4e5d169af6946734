"""Orders to move partitions to other directories: most of the bytes while they run, the rest while they stand still.

Whoever wants one moved writes an order into the crawl's directory. The process that runs the crawl carries it out, or
the one that gives it where none does.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from evercrawl.ask.parts_line import part_states
from evercrawl.cluster.birth import part_directories
from evercrawl.cluster.transfer import check_goal, copy_part, finish, is_there, mark_left, prepare
from evercrawl.decoding import json_of
from evercrawl.errors import EvercrawlError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import holder, lock_for_crawl

if TYPE_CHECKING:
    from collections.abc import Callable


FILE: Final = "move.json"
LAG_BYTES: Final = 1 << 20
"""So much may be left to be copied while the partition stands still."""
ROUNDS: Final = 6
LOOK_S: Final = 0.2
ASKED_S: Final = 5.0
"""Between two looks at whether the process that runs the crawl answers."""
HUNG_S: Final = 30.0
"""One that has not answered for so long is not waited for."""


class PartHolder(Protocol):
    """Holds the processes of partitions."""

    async def rest(self, number: int) -> None:
        """Return once a partition has no process; it gets none until `resume`."""
        ...

    async def resume(self, number: int) -> None:
        """Return once a partition has a process again that says how it is."""
        ...


class PartMove(msgspec.Struct, frozen=True):
    """A partition that is to be moved, and what became of it.

    Attributes
    ----------
    id, number, goal
        Of the order; which partition, and where to.
    error
        Why it was not moved; "" where it was, or is yet to be.
    done
        Whether it is over.
    copied_bytes, pause_s
        How many bytes were written, and for how long the partition stood still.
    """

    id: str
    number: int
    goal: str
    error: str = ""
    done: bool = False
    copied_bytes: int = 0
    pause_s: float = 0.0


def read_move(directory: Path) -> PartMove | None:
    """Return the move that was asked for last; None where none was."""
    try:
        return json_of((directory / FILE).read_bytes(), PartMove)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _write(directory: Path, move: PartMove) -> None:
    with contextlib.closing(RealDisk(directory)) as disk:
        disk.replace(FILE, [msgspec.json.encode(move)])


def move_part(directory: Path, number: int, goal: Path, tell: Callable[[str], None]) -> PartMove:
    """Move a partition, and return what became of it; the crawl may be running.

    Parameters
    ----------
    directory, number
        Of the crawl, and which partition.
    goal
        Where to: a directory that is not there or empty, in one that is there.
    tell
        Told who does it.

    Raises
    ------
    ConfigError
        It cannot be moved there.
    StoreError
        It was not moved; the message says why.
    """
    goal = goal.absolute()
    check_goal(directory, number, goal)
    move = PartMove(secrets.token_hex(8), number, str(goal))
    if holder(directory) is not None:
        before = read_move(directory)
        if before is not None and not before.done:
            raise StoreError(f"partition {before.number} is being moved to {before.goal}; wait for that first")
        tell("the crawl is running, and moves it")
        _write(directory, move)
        return _awaited(directory, move)
    with lock_for_crawl(directory):
        if trouble := mark_left(directory):
            tell(trouble)
        began = time.monotonic()
        prepare(directory, number, goal)
        copied, trouble = finish(directory, number, goal, lambda: None)
    if trouble:
        tell(trouble)
    return msgspec.structs.replace(move, done=True, copied_bytes=copied, pause_s=time.monotonic() - began)


def _awaited(directory: Path, move: PartMove) -> PartMove:
    """Wait until a move is over that the running crawl carries out."""
    line = _Answering(directory)
    while True:
        over, now = holder(directory) is None, read_move(directory)
        ended = now is None or now.id != move.id or bool(now.error) or (over and not now.done)
        if ended and is_there(directory, move.number, Path(move.goal)):
            return msgspec.structs.replace(move, done=True)
        if now is None or now.id != move.id:
            raise StoreError(f"{directory / FILE} was changed by somebody else; see where the partition is")
        if now.done:
            if now.error:
                raise StoreError(f"partition {move.number} was not moved: {now.error}")
            return now
        if over:
            (directory / FILE).unlink(missing_ok=True)
            raise StoreError(f"the crawl ended before partition {move.number} was moved; move it again")
        if trouble := line.trouble():
            raise StoreError(f"{trouble}. If it continues, it moves partition {move.number} too; if not, move it again")
        time.sleep(LOOK_S)


class _Answering:
    """Tells whether the process that runs a crawl has answered lately."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._heard_at, self._asked_at = directory, time.monotonic(), time.monotonic()

    def trouble(self) -> str:
        """Return that it hangs, and what to do; "" where it does not, or nobody listens for questions."""
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
    """Carries out moves while the crawl runs.

    Parameters
    ----------
    directory
        Of the crawl.
    holds
        Who has the processes.
    tell
        Told what is done.
    """

    def __init__(self, directory: Path, holds: PartHolder, tell: Callable[[str], None]) -> None:
        self._directory, self._holds, self._tell = directory, holds, tell
        self._task: asyncio.Task[None] | None = None
        self._over = False
        (directory / FILE).unlink(missing_ok=True)  # of a run before
        if trouble := mark_left(directory):
            tell(trouble)

    def turn(self) -> None:
        """Begin what is asked for."""
        if not self._over and self._task is None and (move := read_move(self._directory)) is not None and not move.done:
            self._task = asyncio.ensure_future(self._carry_out(move))

    def stop(self) -> None:
        """Begin nothing more, and break off what is under way."""
        self._over = True

    async def close(self) -> None:
        """Do the same, and return once nothing is under way."""
        self.stop()
        if self._task is not None:
            await self._task

    async def _carry_out(self, move: PartMove) -> None:
        try:
            try:
                moved = await self._moved(move)
            except Exception as error:  # one that nobody foresaw too: whoever waits is told, and the crawl goes on
                known = isinstance(error, (EvercrawlError, OSError))
                why = str(error) if known else f"{type(error).__name__}: {error}"
                there = is_there(self._directory, move.number, Path(move.goal))
                moved = msgspec.structs.replace(move, done=True, error="" if there else why)
            self._write_down(moved)
            said = (
                f"was not moved: {moved.error}"
                if moved.error
                else f"is in {moved.goal}; it paused {moved.pause_s:.1f} s"
            )
            self._tell(f"partition {move.number} {said}")
        finally:
            self._task = None

    def _write_down(self, moved: PartMove) -> None:
        try:
            _write(self._directory, moved)
        except StoreError as error:  # such as a full disk: whoever waits hears that there is no order any more
            self._tell(f"what became of the move of partition {moved.number} cannot be written down: {error}")
            with contextlib.suppress(OSError):
                (self._directory / FILE).unlink(missing_ok=True)
            self._over = self._over or (self._directory / FILE).exists()

    def _see(self) -> None:
        if self._over:
            raise StoreError("the crawl ended")

    async def _moved(self, move: PartMove) -> PartMove:
        check_goal(self._directory, move.number, Path(move.goal))
        loop, copied = asyncio.get_running_loop(), 0
        source, goal = part_directories(self._directory)[move.number], Path(move.goal)
        prepare(self._directory, move.number, goal)
        for _ in range(ROUNDS):
            written = await loop.run_in_executor(None, copy_part, source, goal, self._see)
            copied += written
            self._see()
            if written < LAG_BYTES:
                break
        began = time.monotonic()
        await self._holds.rest(move.number)
        try:
            rest, trouble = await loop.run_in_executor(None, finish, self._directory, move.number, goal, self._see)
        finally:
            await self._holds.resume(move.number)
        copied += rest
        if trouble:
            self._tell(trouble)
        return msgspec.structs.replace(move, done=True, copied_bytes=copied, pause_s=time.monotonic() - began)
