"""Checks before a backup: what is copied, and its target, must be such that copying loses nothing."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, StoreError
from evercrawl.small_file import small
from evercrawl.store.archive.pointer import ArchiveEnd
from evercrawl.store.birth import COPY, FILE, UNFINISHED, see_finished
from evercrawl.store.disk.crawl_files import CrawlFiles, CrawlFilesHere
from evercrawl.store.disk.lock import FILE as LOCK
from evercrawl.store.disk.moved import LEAVING
from evercrawl.store.disk.plain import see_plain
from evercrawl.store.journal.events import Visit
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.requisite_events import RequisiteFetched
from evercrawl.store.requisites.losing import record_of

if TYPE_CHECKING:
    from evercrawl.store.disk.disk import RealDisk

BACKUP_FILE: Final = "backup.json"
MOVING: Final = "moving.json"
"""File in a directory to which a partition is being moved."""
ARCHIVE: Final = "archive/"
JOURNAL: Final = "journal-"
"""Beginnings of the names of files of the archive, and of the journal."""
CUT_BYTES: Final = 4 << 20
"""The most that a crash cuts from a file; an original that lost more than this, or everything, is damaged."""
TAIL_BYTES: Final = 64 << 10
"""End of a copy that is compared with its original: they differ if a crash cut the original."""
_BEFORE: Final = frozenset({LOCK, MOVING, LEAVING, "archive"})
"""Files that may be in a directory before anything is copied there."""
_WITH_RECORDS: Final = frozenset(str(event.__struct_config__.tag) for event in (Visit, RequisiteFetched))


def see_target(originals: CrawlFiles, where: str, target: Path) -> None:
    """Check that there is a crawl to copy, and that its target is missing, empty, or an earlier backup of it.

    Raises
    ------
    ConfigError
        It is not so; the message says what to do.
    """
    see_finished(originals.size(UNFINISHED), Path(where))
    if not (originals.size(FILE) or originals.size(COPY)):
        raise ConfigError(f"there is no crawl in {where}; name its directory with --dir")
    if target.exists() and not target.is_dir():
        raise ConfigError(f"{target} is a file; name a directory for the backup")
    see_plain(target)
    if not target.exists():
        return
    with contextlib.closing(CrawlFilesHere(target)) as there:
        if there.size(FILE) or there.size(COPY):
            here, kept = _born(originals), _born(there)
            if (here and here.id) != (kept and kept.id):
                raise ConfigError(f"{target} holds another crawl; name an empty directory, or this crawl's own backup")
            if not there.size(UNFINISHED):
                see_no_newer(originals, where, there)
        elif not there.size(UNFINISHED) and {path.name for path in target.iterdir()} - _BEFORE:
            raise ConfigError(f"{target} is not empty, and holds no backup; name an empty directory")


def see_no_newer(originals: CrawlFiles, where: str, there: CrawlFilesHere) -> None:
    """Check that a target is a backup, and not the crawl itself, or a backup in which the crawl was continued.

    What happened there since would be lost. A backup may have more than the crawl where a crash cut that off.

    Raises
    ------
    ConfigError
        The target's journal has events that neither the crawl nor the last backup had.
    """
    names = [name for name in there.names(JOURNAL) if name.endswith(".log")]
    if all(_begins_with(originals, there, name) for name in names):
        return
    events, told = 0, _EventCount(0)
    with contextlib.suppress(StoreError):  # a damaged journal is compared and replaced
        events = Journal.open(there, writable=False).sequence
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
        told = json_of(small(there, BACKUP_FILE), _EventCount)
    if events > told.events:
        raise ConfigError(
            f"{there.directory} is no backup of {where}, but has gone on itself: its journal has events that would be "
            "lost, so nothing was copied; name another directory for the backup. To go back to a backup, move "
            f"{there.directory} away and copy the backup to its place"
        )


def _begins_with(originals: CrawlFiles, there: CrawlFilesHere, name: str) -> bool:
    """Return whether a file of the crawl begins with its copy, as far as the last bytes of that tell."""
    size = there.size(name)
    tail = min(size, TAIL_BYTES)
    return originals.size(name) >= size and originals.read(name, size - tail, tail) == there.read(
        name, size - tail, tail
    )


def see_whole(originals: CrawlFiles, where: str, kept: RealDisk, target: Path) -> None:
    """Check that the crawl still has what the target holds of it; else copying would destroy the last copy.

    Not in the first backup after an upgrade.

    Raises
    ------
    StoreError
        It has lost more than a crash cuts off.
    """
    if _born(originals) != _born(kept):
        return
    for prefix, ending in ((JOURNAL, ".log"), (ARCHIVE, ".warc.gz")):
        names = [name for name in kept.names(prefix) if name.endswith(ending) and kept.size(name)]
        missing = [name for name in names if originals.size(name) < kept.size(name)]
        acknowledged = _acknowledged(kept, names) if missing else {}
        for name in missing:
            there, size = acknowledged[name], originals.size(name)
            if there - size > CUT_BYTES or (there and not size):
                raise StoreError(
                    f"{name} has {size:,} bytes in {where} and {kept.size(name):,} in {target}, so "
                    "the crawl has lost data that the backup still holds, and nothing was copied; to restore it, "
                    f"run: evercrawl verify --repair --dir {where} --from {target}; if it is meant to be "
                    "gone, name another directory for the backup"
                )


def _acknowledged(kept: RealDisk, names: list[str]) -> dict[str, int]:
    """Return how many bytes of each file of the target, in their order, no crash cuts from the original.

    Records that no event names are cut off at the start after a crash, however many they are; the last file of
    the journal may have been begun just before.
    """
    sizes = {name: kept.size(name) for name in names}
    if names[-1].startswith(JOURNAL):
        return sizes | ({names[-1]: max(sizes[names[-1]] - CUT_BYTES, 0)} if len(names) > 1 else {})
    end = ArchiveEnd()
    with contextlib.suppress(StoreError):  # a journal that cannot be read is no reason to keep the copy as it is
        named = Journal.open(kept, writable=False).of_kinds(_WITH_RECORDS)
        end = max((where.end for _, _, event in named if (where := record_of(event))), default=end)
    for name in names:
        number = name.removesuffix(".warc.gz").rpartition("-")[2]
        segment = int(number) if number.isdecimal() else -1
        if segment >= end.segment:
            sizes[name] = min(end.size_bytes, sizes[name]) if segment == end.segment else 0
    return sizes


class _EventCount(msgspec.Struct):
    """What `backup.json` says of the journal's length at the last backup."""

    events: int


class _Born(msgspec.Struct):
    """What `crawl.json` says of a crawl that only an upgrade changes."""

    id: str
    format: int


def _born(originals: CrawlFiles | RealDisk) -> _Born | None:
    """Return id and format of a crawl, from either of two files; None if neither tells."""
    for name in (FILE, COPY):
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            return json_of(small(originals, name), _Born)
    return None
