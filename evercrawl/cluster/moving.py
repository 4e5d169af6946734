"""Moves partitions to other directories: most of the bytes while they run, the rest while they stand still.

Whoever wants one moved writes an order into the crawl's directory. The process that runs the crawl carries it out, or
the one that gives it where none does. A partition is in its new place once `cluster.json` says so; a move that is
broken off before that has changed nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from evercrawl.cluster.birth import part_directories, part_directory, read_birth, write_birth
from evercrawl.cluster.shares import written
from evercrawl.config import FILE_NAME
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, EvercrawlError, StoreError
from evercrawl.store.backup import BACKUP_FILE, MOVING, backup
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock, holder, lock_for_crawl
from evercrawl.store.disk.moved import MOVED, moved_to

if TYPE_CHECKING:
    from collections.abc import Callable


FILE: Final = "move.json"
LAG_BYTES: Final = 1 << 20
"""So much may be left to be copied while the partition stands still."""
ROUNDS: Final = 6
LOOK_S: Final = 0.2
_PURPOSE: Final = "evercrawl move"
_FOLDERS: Final = ("search", "derived")
_FILES: Final = ("cookies.json",)


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


def _check(directory: Path, number: int, goal: Path) -> None:
    """See that a partition may be moved there, before anything is written."""
    birth = read_birth(directory)
    if birth.places:
        raise ConfigError("the partitions of this crawl are on machines of a Ray cluster, and stay on their disks")
    if not 0 <= number < birth.parts:
        raise ConfigError(f"there is no partition {number}; the last is {birth.parts - 1}")
    here = part_directories(directory)[number]
    if not here.is_dir():
        raise ConfigError(f"{here} is not there; is its disk mounted? A partition can be moved once it was crawled")
    if not goal.parent.is_dir():
        raise ConfigError(f"{goal.parent} is not there; make it first")
    _see_apart(directory, number, goal.resolve())
    if goal.is_dir() and any(goal.iterdir()) and _marker(goal) != _mark(directory, number):
        raise ConfigError(f"{goal} is not empty; name a new or an empty directory")


def _see_apart(directory: Path, number: int, goal: Path) -> None:
    """See that nothing of the crawl is where a partition is to go, or above, or below."""
    parts = [part.resolve() for part in part_directories(directory)]
    if goal in parts:
        raise ConfigError(f"{goal} has a partition of this crawl already")
    settings, kept = written(directory), list[Path]()
    if settings is None:
        raise ConfigError(f"{directory / FILE_NAME} cannot be read; correct it first")
    if settings.keeper_dir:
        kept.append(Path(settings.keeper_dir).resolve())
    home = part_directory(directory, number).resolve()
    for place in (*parts, *kept, directory.resolve()):
        within = place in (goal, *goal.parents) and not (goal == home and place == directory.resolve())
        if within or goal in place.parents:
            what = (
                "the second copies" if place in kept else "the crawl" if place == directory.resolve() else "a partition"
            )
            raise ConfigError(
                f"{goal} is in or above {place}, where {what} of this crawl is; name a directory elsewhere"
            )


def _mark(directory: Path, number: int) -> list[str]:
    """Return what a goal says while a partition is copied there: one that was broken off may be gone on with."""
    return [read_birth(directory).id, str(number), str(part_directories(directory)[number].resolve())]


def _marker(goal: Path) -> list[str] | None:
    try:
        return json_of((goal / MOVING).read_bytes(), list[str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _prepare(directory: Path, move: PartMove) -> None:
    """Make the goal, and have it say what is copied there."""
    goal = Path(move.goal)
    goal.mkdir(exist_ok=True)
    with contextlib.closing(RealDisk(goal)) as disk:
        disk.replace(MOVING, [msgspec.json.encode(_mark(directory, move.number))])


def _copy(source: Path, goal: Path, see: Callable[[], None]) -> int:
    """Bring the goal up to date; return how many bytes were written. `see` is called now and then, and may raise."""
    copied = backup(source, goal, time.time(), lambda what, done, total: see()).copied_bytes
    for folder in _FOLDERS:
        copied += _mirror(source / folder, goal / folder, see)
    for name in _FILES:
        if (source / name).is_file():
            shutil.copy2(source / name, goal / name)
        else:
            (goal / name).unlink(missing_ok=True)
    return copied


def _finish(directory: Path, move: PartMove, see: Callable[[], None]) -> tuple[int, str]:
    """Copy the rest of a partition that stands still, and let it be there; return bytes copied, and any trouble."""
    source = part_directories(directory)[move.number]
    with Lock.take(source, _PURPOSE, time.time()):
        copied = _copy(source, Path(move.goal), see)
        return copied, _settle(directory, move)


def _mirror(source: Path, goal: Path, see: Callable[[], None]) -> int:
    """Copy what a folder has otherwise, and remove what it has no more; files may come and go meanwhile."""
    copied, there = 0, set[str]()
    for above, _, names in os.walk(source):
        for name in names:
            see()
            one = Path(above) / name
            other = goal / one.relative_to(source)
            there.add(str(other))
            with contextlib.suppress(FileNotFoundError):
                about, size = one.stat(), other.stat().st_size if other.exists() else -1
                if size != about.st_size or other.stat().st_mtime_ns != about.st_mtime_ns:
                    other.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(one, other)
                    copied += about.st_size
    for above, _, names in os.walk(goal):
        for name in names:
            if str(Path(above) / name) not in there:
                (Path(above) / name).unlink()
    return copied


def _settle(directory: Path, move: PartMove) -> str:
    """Write down that a partition is where it was moved to; return what is to be told of that, or ""."""
    birth, old = read_birth(directory), part_directories(directory)[move.number]
    (Path(move.goal) / BACKUP_FILE).unlink(missing_ok=True)
    write_birth(directory, msgspec.structs.replace(birth, homes={**birth.homes, move.number: move.goal}))
    with contextlib.suppress(OSError):
        (Path(move.goal) / MOVING).unlink()
    try:
        with contextlib.closing(RealDisk(old)) as disk:
            disk.replace(MOVED, [moved_to(Path(move.goal), birth.lives)])
    except StoreError as error:
        return f"the old directory {old} could not be marked ({error}); remove it, so that nobody crawls it"
    return ""


def _is_there(directory: Path, move: PartMove) -> bool:
    """Whether a partition is where it was to be moved to, whatever else is said."""
    return read_birth(directory).homes.get(move.number) == move.goal


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
    _check(directory, number, goal)
    move = PartMove(secrets.token_hex(8), number, str(goal))
    if holder(directory) is not None:
        before = read_move(directory)
        if before is not None and not before.done:
            raise StoreError(f"partition {before.number} is being moved to {before.goal}; wait for that first")
        tell("the crawl is running, and moves it")
        _write(directory, move)
        return _awaited(directory, move)
    with lock_for_crawl(directory):
        began = time.monotonic()
        _prepare(directory, move)
        copied, trouble = _finish(directory, move, lambda: None)
    if trouble:
        tell(trouble)
    return msgspec.structs.replace(move, done=True, copied_bytes=copied, pause_s=time.monotonic() - began)


def _awaited(directory: Path, move: PartMove) -> PartMove:
    """Wait until a move is over that the running crawl carries out."""
    while True:
        over, now = holder(directory) is None, read_move(directory)
        ended = now is None or now.id != move.id or bool(now.error) or (over and not now.done)
        if ended and _is_there(directory, move):
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
        time.sleep(LOOK_S)


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
            moved = await self._moved(move)
        except (EvercrawlError, OSError) as error:
            error_text = "" if _is_there(self._directory, move) else str(error)
            moved = msgspec.structs.replace(move, done=True, error=error_text)
        try:
            _write(self._directory, moved)
        except StoreError as error:  # such as a full disk: whoever waits hears that there is no order any more
            self._tell(f"what became of the move of partition {move.number} cannot be written down: {error}")
            with contextlib.suppress(OSError):
                (self._directory / FILE).unlink(missing_ok=True)
            self._over = self._over or (self._directory / FILE).exists()
        said = (
            f"was not moved: {moved.error}" if moved.error else f"is in {moved.goal}; it paused {moved.pause_s:.1f} s"
        )
        self._tell(f"partition {move.number} {said}")
        self._task = None

    def _see(self) -> None:
        if self._over:
            raise StoreError("the crawl ended")

    async def _moved(self, move: PartMove) -> PartMove:
        _check(self._directory, move.number, Path(move.goal))
        loop, copied = asyncio.get_running_loop(), 0
        source, goal = part_directories(self._directory)[move.number], Path(move.goal)
        _prepare(self._directory, move)
        for _ in range(ROUNDS):
            written = await loop.run_in_executor(None, _copy, source, goal, self._see)
            copied += written
            self._see()
            if written < LAG_BYTES:
                break
        began = time.monotonic()
        await self._holds.rest(move.number)
        try:
            rest, trouble = await loop.run_in_executor(None, _finish, self._directory, move, self._see)
        finally:
            await self._holds.resume(move.number)
        copied += rest
        if trouble:
            self._tell(trouble)
        return msgspec.structs.replace(move, done=True, copied_bytes=copied, pause_s=time.monotonic() - began)
