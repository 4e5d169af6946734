"""Crawl directories of older formats: their versions, and the conversion of files. Older formats also open as they are.

A change of a format adds its older version to `FORMATS` and, if files have to be converted, a step to `STEPS`. A step
may be interrupted at any point: it writes the new file before it removes the old one, and is repeated otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from evercrawl.clock import SystemClock
from evercrawl.crawl.mending.repairing import settled
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.policy import lessons_file
from evercrawl.store.birth import FORMAT, SHARED_FORMAT, is_crawl
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.journal import segment
from evercrawl.store.rekeying import give_secret
from evercrawl.store.repair.birth import read_birth
from evercrawl.store.snapshots import head, snapshot, version8

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import Disk

DIRECTORY: Final = "directory"
JOURNAL: Final = "journal"
SNAPSHOT: Final = "snapshot"
LESSONS: Final = "lessons"


class KnownFormat(NamedTuple):
    """The versions of one part of a crawl directory.

    Attributes
    ----------
    newest, older
        The version that is written, and the older ones that can be read.
    kept
        Why an older version is not converted; "" if it is.
    """

    newest: int
    older: tuple[int, ...] = ()
    kept: str = ""


FORMATS: Final = {
    DIRECTORY: KnownFormat(FORMAT, (1,)),
    JOURNAL: KnownFormat(segment.VERSION),
    SNAPSHOT: KnownFormat(head.VERSION, (version8.VERSION,)),
    LESSONS: KnownFormat(
        lessons_file.VERSION, (lessons_file.BEFORE, lessons_file.WHOLE), "the next run writes the new one"
    ),
}
"""All parts with versions."""


@dataclass(frozen=True, slots=True)
class FormatState:
    """The version of a part of a crawl directory, and what an upgrade does to it.

    Attributes
    ----------
    part
        A key of `FORMATS`.
    found, newest
        The version on the disk, None if there is no such file; and the version that is written today.
    then
        "current", "converted" (or to be converted), or "kept": an older version stays and is read.
    why
        Why it is kept; otherwise "".
    """

    part: str
    found: int | None
    newest: int
    then: str
    why: str = ""


def formats(directory: Path) -> list[FormatState]:
    """Return the version of each part, and what an upgrade does to it; nothing is changed.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    StoreError
        It is damaged, or was made by a newer evercrawl.
    """
    if not is_crawl(directory):
        raise ConfigError(f"there is no crawl in {directory}; name its directory with --dir")
    disk = RealDisk(directory, read_only=True)
    try:
        return [_judged(part, found) for part, found in _found(disk).items()]
    finally:
        disk.close()


def upgrade(directory: Path, tell: Callable[[FormatState], None] = lambda _: None) -> list[FormatState]:
    """Convert the parts of older versions that can be converted; return the versions found before.

    Parameters
    ----------
    directory
        A crawl directory in which no crawl runs.
    tell
        Called before each conversion.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    StoreError
        A crawl runs there; it is damaged, or was made by a newer evercrawl.
    """
    found = formats(directory)
    for state in found:
        if state.then == "converted":
            tell(state)
            STEPS[state.part](directory)
    return found


def _found(disk: Disk) -> dict[str, int | None]:
    birth = read_birth(disk)
    if birth is None:
        raise StoreError("crawl.json and its copy are damaged; repair them with: evercrawl verify --repair")
    first = next(iter(segment.segments(disk)), None)
    if first is not None:
        segment.read_header(disk, first)  # raises if it is newer
    snapshots = [snapshot.version_of(disk, name) for name in snapshot.names(disk)]
    return {
        DIRECTORY: birth.format,
        JOURNAL: segment.VERSION if first is not None else None,
        SNAPSHOT: min((version for version in snapshots if version is not None), default=None),
        LESSONS: next((_lessons(disk, name) for name in stamped.names(disk, stamped.LESSONS)), None),
    }


def _lessons(disk: Disk, name: str) -> int | None:
    try:
        piece = stamped.pieces(disk.read(name, 0, disk.size(name)), lessons_file.MAGIC)[0]
        return msgspec.msgpack.decode(piece, type=tuple[int, ...], strict=False)[0]
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return None


def _judged(part: str, found: int | None) -> FormatState:
    known = FORMATS[part]
    if part == DIRECTORY and found == SHARED_FORMAT:
        return FormatState(part, found, SHARED_FORMAT, "current")
    if found is not None and found > known.newest:
        what = f"the {part} was made by a newer evercrawl (format {found}, this one reads {known.newest})"
        raise StoreError(f"{what}; upgrade evercrawl")
    if found is None or found == known.newest:
        return FormatState(part, found, known.newest, "current")
    if found not in known.older:
        return FormatState(part, found, known.newest, "converted" if part in STEPS else "kept", "it is not read")
    return FormatState(part, found, known.newest, "kept" if known.kept else "converted", known.kept)


def _directory(directory: Path) -> None:
    """Give the crawl a secret, and rebuild its state from the journal under it."""
    lock = Lock.take(directory, "evercrawl upgrade", SystemClock().now())
    disk = RealDisk(directory)
    try:
        give_secret(disk, os.urandom)
    finally:
        disk.close()
        lock.release()
    settled(directory)


def _snapshot(directory: Path) -> None:
    """Write a snapshot of the crawl's state, then remove those of older versions."""
    settled(directory)
    disk = RealDisk(directory)
    try:
        for name in snapshot.names(disk):
            if (snapshot.version_of(disk, name) or 0) < head.VERSION:
                disk.remove(name)
    finally:
        disk.close()


STEPS: Final[dict[str, Callable[[Path], None]]] = {DIRECTORY: _directory, SNAPSHOT: _snapshot}
"""The conversion of each part from an older version."""
