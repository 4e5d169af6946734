"""Copies a partition to another directory, and switches the crawl to the new place.

The switch happens when `cluster.json` is replaced; a move that is interrupted earlier has changed nothing.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from evercrawl.cluster.belonging import is_part
from evercrawl.cluster.birth import alone, note_goal, part_directories, part_directory, read_birth, write_birth
from evercrawl.cluster.shares import written
from evercrawl.config import FILE_NAME
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, StoreError
from evercrawl.small_file import read_small
from evercrawl.store.backups.backup import BACKUP_FILE, MOVING, OF_PEOPLE, bring, removed_since
from evercrawl.store.disk.crawl_files import CrawlFiles, CrawlFilesHere
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.leaving import MOVE, close_to_people
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.modes import mode_of, narrow
from evercrawl.store.disk.moved import MOVED, moved_to
from evercrawl.store.orders import FILE as ORDERS
from evercrawl.store.orders_place import UNKNOWN, given_since, vouch

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDERS: Final = ("search", "derived")
"""Folders that can be rebuilt from the rest, and that may contain folders."""
_FILES: Final = ("cookies.json",)
_PIECE: Final = 4 << 20
LAGS: Final = -1
"""The result of copying the rest, if it is too much for a pause."""


class LagsError(StoreError):
    """Something was removed from a partition since the last copy, so that copying the rest may take long."""

    def __init__(self) -> None:
        super().__init__("things are being removed from the partition again and again; move it later")


def check_goal(directory: Path, number: int, goal: Path) -> None:
    """Check that a partition may be moved to `goal`, before anything is written.

    Raises
    ------
    ConfigError
        It may not; the message says why.
    """
    birth = read_birth(directory)
    if birth.places:
        raise ConfigError("the partitions of this crawl are on machines of a Ray cluster; name a machine instead")
    if not 0 <= number < birth.parts:
        raise ConfigError(f"there is no partition {number}; the last is {birth.parts - 1}")
    here = part_directories(directory)[number]
    if not here.is_dir():
        raise ConfigError(f"{here} is not there; is its disk mounted? A partition can be moved once it was crawled")
    if not goal.parent.is_dir():
        raise ConfigError(f"{goal.parent} is not there; make it first")
    _see_apart(directory, number, goal.resolve())
    if goal.is_dir() and any(goal.iterdir()) and marker(goal) != _mark(directory, number):
        raise ConfigError(f"{goal} is not empty; name a new or an empty directory")


def _see_apart(directory: Path, number: int, goal: Path) -> None:
    """Check that no part of the crawl is in, above or below the new directory."""
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
    """Return the marker of a goal while a partition is copied there, so that an interrupted copy can continue."""
    return [read_birth(directory).id, str(number), str(part_directories(directory)[number].resolve())]


def marker(goal: Path) -> list[str] | None:
    """Return which partition is being copied to a directory; None if none is."""
    try:
        return json_of(read_small(goal / MOVING), list[str])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def prepare(directory: Path, number: int, goal: Path) -> None:
    """Create the goal, with a marker."""
    note_goal(directory, number, str(goal))
    goal.mkdir(exist_ok=True)
    mark_begun(goal, _mark(directory, number))


def mark_begun(goal: Path, mark: list[str]) -> None:
    """Write which partition is being copied to a directory."""
    with contextlib.closing(RealDisk(goal)) as disk:
        disk.replace(MOVING, [msgspec.json.encode(mark)])


def copy_part(source: Path, goal: Path, see: Callable[[], None]) -> int:
    """Update the goal; return the number of bytes written. `see` is called at intervals, and may raise."""
    with contextlib.closing(FilesHere(source)) as files:
        return bring_part(files, str(source), goal, see)


def lags(files: CrawlFiles, goal: Path) -> bool:
    """Return whether the rest is too much to be copied in a pause."""
    with contextlib.closing(RealDisk(goal, read_only=True)) as disk:
        return removed_since(files, disk)


class PartFiles(CrawlFiles, Protocol):
    """All files of a partition, on this machine or on another one."""

    def tree(self) -> dict[str, tuple[int, int]]:
        """Return the files of `FOLDERS`: path -> size and modification time (ns)."""
        ...

    def given_since(self) -> int:
        """Return the offset from which on orders were given there; see `evercrawl.store.orders_place`."""
        ...

    def piece(self, path: str, at: int, size: int) -> bytes:
        """Return `size` bytes of one of these files; fewer at its end, none if it is gone."""
        ...


class FilesHere(CrawlFilesHere):
    """The files of a partition on this machine; see `PartFiles`."""

    def tree(self) -> dict[str, tuple[int, int]]:
        """Return the files of `FOLDERS`."""
        found = dict[str, tuple[int, int]]()
        for folder in FOLDERS:
            for above, _, names in os.walk(self.directory / folder):
                for name in names:
                    with contextlib.suppress(FileNotFoundError):
                        about = (Path(above) / name).stat()
                        path = (Path(above) / name).relative_to(self.directory)
                        found[path.as_posix()] = about.st_size, about.st_mtime_ns
        return found

    def mode(self, name: str) -> int:
        """Return the mode for a copy of a file, also of these."""
        return mode_of(self.directory, self.directory / within(name)) if name.count("/") > 1 else super().mode(name)

    def given_since(self) -> int:
        """Return the offset from which on orders were given here."""
        return given_since(self.directory / ORDERS)

    def piece(self, path: str, at: int, size: int) -> bytes:
        """Return bytes of one of these files."""
        try:
            with (self.directory / within(path)).open("rb") as file:
                file.seek(at)
                return file.read(size)
        except FileNotFoundError:
            return b""


def within(path: str) -> str:
    """Return the path of a file of `FOLDERS`, after a check.

    Raises
    ------
    StoreError
        It leads out of these folders.
    """
    steps = path.split("/")
    if steps[0] not in FOLDERS or {"", ".", ".."} & set(steps):
        raise StoreError(f"a partition names a file {path[:200]!r}, and none has such; see who runs on its machine")
    return path


def bring_part(files: PartFiles, where: str, goal: Path, see: Callable[[], None]) -> int:
    """Do the same with files that may be on another machine; `where` is a description of their place."""
    copied = bring(files, where, goal, time.time(), lambda what, done, total: see()).copied_bytes
    copied += _mirror(files, goal, see)
    if (since := files.given_since()) < UNKNOWN and (goal / ORDERS).is_file():
        vouch(goal / ORDERS, since)
    with contextlib.closing(RealDisk(goal)) as disk:
        for name in _FILES:
            if size := files.size(name):
                disk.replace(name, [files.read(name, 0, size)], private=True)
            else:
                disk.remove(name)
    return copied


def finish(directory: Path, number: int, goal: Path, see: Callable[[], None], *, soon: bool = False) -> tuple[int, str]:
    """Copy the rest of a paused partition and switch to it; return the number of bytes copied, and any warning.

    Raises
    ------
    LagsError
        `soon` is set, and the rest is too much.
    """
    source = part_directories(directory)[number]
    with Lock.take(source, MOVE, time.time()):
        close_to_people(source, OF_PEOPLE)
        with contextlib.closing(FilesHere(source)) as files:
            if soon and lags(files, goal):
                raise LagsError
        copied = copy_part(source, goal, see)
        return copied, _settle(directory, number, goal)


def _mirror(files: PartFiles, goal: Path, see: Callable[[], None]) -> int:
    """Copy what differs in folders, and remove what they no longer have; files may appear and vanish meanwhile."""
    copied, there = 0, files.tree()
    for path, (size, at) in there.items():
        see()
        other = goal / within(path)
        if other.is_file() and (other.stat().st_size, other.stat().st_mtime_ns) == (size, at):
            continue
        other.parent.mkdir(parents=True, exist_ok=True)
        mode = files.mode(path)
        narrow(other, mode)
        with os.fdopen(os.open(other, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode), "wb") as file:
            for start in range(0, size, _PIECE):
                file.write(files.piece(path, start, min(_PIECE, size - start)))
                see()
        os.utime(other, ns=(at, at))
        copied += size
    for folder in FOLDERS:
        for above, _, names in os.walk(goal / folder):
            for name in names:
                if (Path(above) / name).relative_to(goal).as_posix() not in there:
                    (Path(above) / name).unlink()
    return copied


@alone
def _settle(directory: Path, number: int, goal: Path) -> str:
    """Record that a partition is in its new directory; return a warning, or ""."""
    birth, old = read_birth(directory), part_directories(directory)[number]
    (goal / BACKUP_FILE).unlink(missing_ok=True)
    left = {place: each for place, each in birth.left.items() if place != str(goal)} | {str(old): number}
    homes, goals = {**birth.homes, number: str(goal)}, birth.without_goal(number, str(goal))
    write_birth(directory, msgspec.structs.replace(birth, homes=homes, left=left, goals=goals))
    with contextlib.suppress(OSError):
        (goal / MOVING).unlink()
    return mark_left(directory)


@alone
def mark_left(directory: Path) -> str:
    """Mark the directories from which partitions were moved, if they are not marked; return a warning, or "".

    An earlier process may have been killed before it did so; directories that are missing now are tried again later.
    """
    birth, troubles, marked = read_birth(directory), list[str](), set[str]()
    parts = part_directories(directory) if birth.left else []
    for place, number in birth.left.items():
        old, new = Path(place), parts[number]
        try:
            if old.is_dir() and is_part(old, birth.share(number), birth.secret):
                with contextlib.closing(RealDisk(old)) as disk:
                    disk.replace(MOVED, [moved_to(new, birth.lives)])
                marked.add(place)
        except ConfigError:  # already marked
            marked.add(place)
        except (OSError, StoreError) as error:
            troubles.append(
                f"the old directory {old} could not be marked ({error}); remove it, so that nobody crawls it"
            )
    if marked:
        left = {place: number for place, number in birth.left.items() if place not in marked}
        write_birth(directory, msgspec.structs.replace(birth, left=left))
    return "; ".join(troubles)


def is_there(directory: Path, number: int, goal: str) -> bool:
    """Return whether a partition is in its new place, whatever the order's file says."""
    birth = read_birth(directory)
    return birth.places[number] == goal if birth.places else birth.homes.get(number) == goal
