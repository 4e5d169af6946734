"""Backups of a crawl in partitions: a backup of each, cut off so that they fit together.

First each partition is copied as a crawl of its own, which may take long. Then archive and journal of each are brought
up to date once more. Nothing that was on the disks when the first pass ended is cut off, and no snapshot of
the first copies is ahead of the cut (`evercrawl.store.post.cut`). The crawl need not pause. Letters under way at the
cut are in the journals of their senders, and are sent again by whoever goes on from the backup. Partitions on other
machines are read through the process that runs the crawl (`evercrawl.cluster.hauling.lent_files`).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.ask.parts_line import part_states
from evercrawl.cluster.birth import FILE, ClusterBirth, part_directories, part_directory, read_birth, read_unfinished
from evercrawl.cluster.part_sources import part_sources
from evercrawl.config import FILE_NAME, has_settings
from evercrawl.errors import ConfigError, StoreError
from evercrawl.small_file import read_small
from evercrawl.store.backups.backup import BACKUP_FILE, bring, catch_up
from evercrawl.store.backups.checks import see_no_newer
from evercrawl.store.birth import UNFINISHED
from evercrawl.store.disk.crawl_files import CrawlFilesHere
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import FILE as LOCK
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.plain import see_plain
from evercrawl.store.disk.stamped import LESSONS, SNAPSHOT, forget_later
from evercrawl.store.journal.journal import Journal
from evercrawl.store.post.cut import END, JournalCut, LetterAccount, account_of, consistent, cut_journal

if TYPE_CHECKING:
    from collections.abc import Collection

    from evercrawl.store.backups.backup import Watch

_PURPOSE: Final = "evercrawl backup"
_TIMES: Final = 5


@dataclass(frozen=True, slots=True)
class PartedBackup:
    """The result of a backup of all partitions.

    Attributes
    ----------
    directory, target, at
        As in `evercrawl.store.backups.backup.BackupReport`.
    partitions
        Number of partitions in the backup; those that were never crawled have nothing to copy.
    events, left_out
        Number of events in the copied journals; and of those that were copied and cut off again.
    files, copied_bytes
        Number of files in the backup; number of bytes written.
    """

    directory: str
    target: str
    at: float
    partitions: int
    events: int
    left_out: int
    files: int
    copied_bytes: int


def backup_parted(
    directory: Path, target: Path, now: float, watch: Watch = lambda what, done, total: None
) -> PartedBackup:
    """Bring `target` up to date with all partitions of the crawl in `directory`, which may be running.

    Parameters
    ----------
    directory, target
        Directories; `target` is missing, empty, or an earlier backup of the same crawl.
    now, watch
        As in `evercrawl.store.backups.backup.backup`.

    Raises
    ------
    ConfigError
        `target` has something else, or a partition of this machine is missing.
    StoreError
        A crawl runs in `target`, a partition of another machine cannot be reached, or a file cannot be read or
        written; `NoRoomError` if the disk is full.
    """
    _check(directory, target)
    target.mkdir(parents=True, exist_ok=True)
    with Lock.take(target, _PURPOSE, now), contextlib.closing(RealDisk(target)) as disk:
        disk.replace(UNFINISHED, [b"evercrawl backup removes this file at its end\n"])
        _describe(directory, disk)
        for _ in range(_TIMES):
            files, copied = _copied(directory, target, now, watch)
            more = _caught_up(directory, target, files, now, watch)
            if more is not None:
                break
        else:
            raise StoreError(
                f"data is being forgotten or removed in {directory} continually, so its partitions cannot be copied to "
                "fit together; repeat the backup when that is over"
            )
        numbers = sorted(files)
        events, left_out = _fitted(target, numbers, read_birth(directory).parts)
        settings = read_small(directory / FILE_NAME)
        disk.replace(FILE_NAME, [settings], private=True)
        _describe(directory, disk, numbers)  # last, so that it knows the lives of all letters in the copies
        report = PartedBackup(
            str(directory), str(target), now, len(numbers), events, left_out, sum(files.values()) + 2, copied + more
        )
        disk.replace(BACKUP_FILE, [msgspec.json.encode(report) + b"\n"])
        disk.remove(UNFINISHED)
        return report


def _check(directory: Path, target: Path) -> None:
    birth, goal = read_birth(directory), target.resolve()
    for place in (directory, *part_directories(directory)):
        if goal == place.resolve() or place.resolve() in goal.parents:
            raise ConfigError(f"{target} is in the crawl itself ({place}); name a directory elsewhere")
    if not has_settings(directory):
        file = directory / FILE_NAME
        raise ConfigError(f"{file} is missing or empty; a crawl could not resume from a backup without it")
    sources = part_sources(directory).values()
    if any(source.here is None for source in sources):
        states = part_states(directory)
        for source in sources:
            source.see_reachable(states)
    if target.exists() and not target.is_dir():
        raise ConfigError(f"{target} is a file; name a directory for the backup")
    see_plain(target)
    if not target.exists():
        return
    if (target / FILE).is_file():
        if read_unfinished(target).id != birth.id:
            raise ConfigError(f"{target} holds another crawl; name an empty directory, or this crawl's own backup")
        if not (target / UNFINISHED).is_file():
            _see_no_newer(directory, target)
    elif not (target / UNFINISHED).is_file() and {path.name for path in target.iterdir()} - {LOCK}:
        raise ConfigError(f"{target} is not empty, and holds no backup of all partitions; name an empty directory")


def _see_no_newer(directory: Path, target: Path) -> None:
    """Check that the crawl was not continued in the target, before its description is replaced."""
    for number, source in part_sources(directory).items():
        if (copy := part_directory(target, number)).is_dir():
            with (
                contextlib.closing(source.files()) as originals,
                contextlib.closing(CrawlFilesHere(copy)) as there,
            ):
                see_no_newer(originals, source.where, there)


def _describe(directory: Path, disk: RealDisk, copied: Collection[int] | None = None) -> None:
    """Write `cluster.json` for a crawl whose begun partitions are all `copied`, and which has no second copies."""
    birth = read_birth(directory)
    begun = [number for number in birth.begun if copied is None or number in copied]  # one may have begun meanwhile
    here = ClusterBirth(birth.format, birth.id, birth.parts, birth.secret, birth.site_rules, birth.lives, begun=begun)
    disk.replace(FILE, [msgspec.json.encode(here)], private=True)


def _copied(directory: Path, target: Path, now: float, watch: Watch) -> tuple[dict[int, int], int]:
    """Copy each partition; return how many files each has, and the number of bytes written."""
    files, copied = dict[int, int](), 0
    for number in part_sources(directory):
        files[number], more = _brought(directory, number, target, now, watch)
        copied += more
    return files, copied


def _brought(directory: Path, number: int, target: Path, now: float, watch: Watch) -> tuple[int, int]:
    """Copy a partition from where it is; again if it was moved meanwhile, because the directory it left says so."""
    copied = 0
    for _ in range(_TIMES):
        source = part_sources(directory).get(number)
        if source is None:
            break
        with contextlib.closing(source.files()) as originals:
            made = bring(originals, source.where, part_directory(target, number), now, watch)
        copied += made.copied_bytes
        if part_sources(directory).get(number) == source:
            return made.files, copied
    raise StoreError(f"partition {number} is being moved again and again; repeat the backup when that is over")


def _caught_up(directory: Path, target: Path, files: dict[int, int], now: float, watch: Watch) -> int | None:
    """Bring each copy up to date once more; return the number of bytes written, or None if all must be copied again."""
    copied = 0
    for number, source in part_sources(directory).items():
        if number not in files:  # it is crawled since then
            files[number], more = _brought(directory, number, target, now, watch)
            copied += more
            continue
        with contextlib.closing(source.files()) as originals:
            caught = catch_up(originals, source.where, part_directory(target, number), now)
        if caught is None:
            return None
        copied += caught
    return copied


def _fitted(target: Path, numbers: list[int], parts: int) -> tuple[int, int]:
    """Cut off the journals of all copies so that they fit together; return how many events remain, and were cut off."""
    accounts = [LetterAccount(JournalCut(END, 0)) for _ in range(parts)]
    for number in numbers:
        with contextlib.closing(RealDisk(part_directory(target, number), read_only=True)) as disk:
            accounts[number] = account_of(Journal.open(disk, writable=False))
    ends, events, left_out = consistent(accounts), 0, 0
    for number in numbers:
        account, end = accounts[number], ends[number]
        events, left_out = events + end.sequence, left_out + account.end.sequence - end.sequence
        if end != account.end:
            with contextlib.closing(RealDisk(part_directory(target, number))) as disk:
                forget_later(disk, SNAPSHOT, end.sequence - 1)  # one at the very end says that no record is after it
                forget_later(disk, LESSONS, end.sequence)
                cut_journal(disk, end)
    return events, left_out
