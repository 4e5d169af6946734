"""Copies a partition to another directory, and lets it be there.

It is in its new place once `cluster.json` says so; a move that is broken off before that has changed nothing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.cluster.birth import part_directories, part_directory, read_birth, write_birth
from evercrawl.cluster.shares import written
from evercrawl.config import FILE_NAME
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.backup import BACKUP_FILE, MOVING, backup
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.moved import MOVED, moved_to
from evercrawl.store.partition import birth_id

if TYPE_CHECKING:
    from collections.abc import Callable

_PURPOSE: Final = "evercrawl move"
_FOLDERS: Final = ("search", "derived")
_FILES: Final = ("cookies.json",)


def check_goal(directory: Path, number: int, goal: Path) -> None:
    """See that a partition may be moved there, before anything is written.

    Raises
    ------
    ConfigError
        It may not; the message says why.
    """
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


def prepare(directory: Path, number: int, goal: Path) -> None:
    """Make the goal, and have it say what is copied there."""
    goal.mkdir(exist_ok=True)
    with contextlib.closing(RealDisk(goal)) as disk:
        disk.replace(MOVING, [msgspec.json.encode(_mark(directory, number))])


def copy_part(source: Path, goal: Path, see: Callable[[], None]) -> int:
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


def finish(directory: Path, number: int, goal: Path, see: Callable[[], None]) -> tuple[int, str]:
    """Copy the rest of a partition that stands still, and let it be there; return bytes copied, and any trouble."""
    source = part_directories(directory)[number]
    with Lock.take(source, _PURPOSE, time.time()):
        copied = copy_part(source, goal, see)
        return copied, _settle(directory, number, goal)


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


def _settle(directory: Path, number: int, goal: Path) -> str:
    """Write down that a partition is where it was moved to; return what is to be told of that, or ""."""
    birth, old = read_birth(directory), part_directories(directory)[number]
    (goal / BACKUP_FILE).unlink(missing_ok=True)
    left = {place: each for place, each in birth.left.items() if place != str(goal)} | {str(old): number}
    write_birth(directory, msgspec.structs.replace(birth, homes={**birth.homes, number: str(goal)}, left=left))
    with contextlib.suppress(OSError):
        (goal / MOVING).unlink()
    return mark_left(directory)


def mark_left(directory: Path) -> str:
    """Have directories say so from which partitions were moved, where they do not; return what is to be told, or "".

    Whoever moved one may have been killed before; what is not there now is looked at the next time.
    """
    birth, troubles, marked = read_birth(directory), list[str](), set[str]()
    parts = part_directories(directory) if birth.left else []
    for place, number in birth.left.items():
        old, new = Path(place), parts[number]
        try:
            if old.is_dir() and _birth_of(old) == _birth_of(new):
                with contextlib.closing(RealDisk(old)) as disk:
                    disk.replace(MOVED, [moved_to(new, birth.lives)])
                marked.add(place)
        except ConfigError:  # it says so already
            marked.add(place)
        except (OSError, StoreError) as error:
            troubles.append(
                f"the old directory {old} could not be marked ({error}); remove it, so that nobody crawls it"
            )
    if marked:
        left = {place: number for place, number in birth.left.items() if place not in marked}
        write_birth(directory, msgspec.structs.replace(birth, left=left))
    return "; ".join(troubles)


def _birth_of(part: Path) -> str:
    with contextlib.closing(RealDisk(part, read_only=True)) as disk:
        return birth_id(disk)


def is_there(directory: Path, number: int, goal: Path) -> bool:
    """Whether a partition is where it was to be moved to, whatever else is said."""
    return read_birth(directory).homes.get(number) == str(goal)
