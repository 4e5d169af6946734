"""Backups of a crawl directory, made while the crawl runs; a backup can be opened as a crawl directory.

Journal and archive only grow, so a copy of their beginnings is an earlier state of the crawl. A record is in the
archive before the journal refers to it; hence the order: archive, journal, and the archive's last records. Snapshots
are read before the journal and written after it, so that none is ever ahead of it. A first backup that was interrupted
is marked, and cannot be opened; nor can a later one while it compares everything, as after a removal. Any other
later one can, in the worst case at the state of the one before. A repeated backup copies only what changed. Data that
can be rebuilt, such as the search index, is left out. After a removal, each piece of 4 MiB is compared by its hash.
Where the crawl has lost much of its journal or archive, nothing is copied: the backup may be all that is left of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from evercrawl.config import FILE_NAME
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.backups.checks import ARCHIVE, BACKUP_FILE, JOURNAL, MOVING, TAIL_BYTES, see_target, see_whole
from evercrawl.store.birth import COPY, FILE, KEY, UNFINISHED
from evercrawl.store.disk.crawl_files import CrawlFiles, CrawlFilesHere, digest_of
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import FILE as LOCK
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.modes import ORDINARY, narrow, shut_to_others
from evercrawl.store.disk.moved import LEAVING
from evercrawl.store.disk.plain import place_of, see_utf8
from evercrawl.store.disk.stamped import LEARNED, LESSONS, SNAPSHOT
from evercrawl.store.forgetting import PLAN
from evercrawl.store.forgotten import FILES as FORGOTTEN
from evercrawl.store.journal.journal import Journal
from evercrawl.store.keeping import BLOCK_BYTES, REMOVED, punch
from evercrawl.store.keeping import PLAN as KEEP_PLAN
from evercrawl.store.live_line import NAME as SOCKET
from evercrawl.store.orders_place import PLACE_FILE, SECRET_FILE
from evercrawl.store.repair.kept import patch
from evercrawl.store.snapshots.head import KIND

__all__ = [
    "BACKUP_FILE",
    "MOVING",
    "OF_PEOPLE",
    "BackupReport",
    "backup",
    "bring",
    "catch_up",
]

_PURPOSE: Final = "evercrawl backup"
_BLOCKS: Final = (f"{KIND}-", f"{LEARNED}-")
_MANIFESTS: Final = (SNAPSHOT, LESSONS)
OF_PEOPLE: Final = ("usage.jsonl", "orders.jsonl")
"""Files to which people append while the crawl runs and while it does not."""
_GROWING: Final = ("known.bin", "urls.log", "urls.idx", *OF_PEOPLE)
_LEFT_OUT: Final = (
    "search/", "derived/", LOCK, SOCKET, "questions.sock", BACKUP_FILE, UNFINISHED, MOVING, LEAVING, "cookies.json",
    SECRET_FILE, PLACE_FILE,
)  # fmt: skip
_OF_TARGET: Final = (BACKUP_FILE, UNFINISHED)
"""Files of a backup that are not copies."""
_BESIDE: Final = (".sqlite-wal", ".sqlite-shm")
"""Files of SQLite beside a database; the copy of that is made by SQLite, and complete without them."""
_LAST: Final = (*FORGOTTEN, PLAN, KEEP_PLAN, REMOVED)
"""They say that the other files of the copy lack all that was forgotten or removed earlier."""
_TIMES: Final = 5
PIECE_BYTES: Final = 4 << 20

Watch: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class BackupReport:
    """The result of a backup.

    Attributes
    ----------
    directory, target
        The crawl directory, and the backup.
    at
        Start of the backup, in seconds since the epoch.
    events
        Number of events in the copied journal.
    files, copied_bytes
        Number of files in the backup; number of bytes written.
    """

    directory: str
    target: str
    at: float
    events: int
    files: int
    copied_bytes: int


def backup(source: Path, target: Path, now: float, watch: Watch = lambda what, done, total: None) -> BackupReport:
    """Bring `target` up to date with the crawl in `source`, which may be running.

    Parameters
    ----------
    source, target
        Directories; `target` is missing, empty, or an earlier backup of the same crawl.
    now
        Seconds since the epoch.
    watch
        Called with the progress: file, bytes done and bytes in total.

    Raises
    ------
    ConfigError
        There is no crawl in `source`, or `target` has something else.
    StoreError
        A crawl runs in `target`, a file cannot be read or written, or the crawl has lost much of what the backup
        holds; `NoRoomError` if the disk is full.
    """
    see_utf8(target)
    if target.resolve() == source.resolve() or source.resolve() in target.resolve().parents:
        raise ConfigError(f"{target} is in the crawl directory itself; name a directory elsewhere")
    with contextlib.closing(CrawlFilesHere(source)) as originals:
        return bring(originals, str(source), target, now, watch)


def catch_up(originals: CrawlFiles, where: str, target: Path, now: float) -> int | None:
    """Bring archive and journal of a backup up to date; the rest, such as snapshots, stays as it is.

    Parameters
    ----------
    originals, where, target, now
        As in `bring`, which was called before.

    Returns
    -------
    int or None
        The number of bytes written; None if `bring` must be called again, because something was forgotten or removed,
        or because the journal is not a later state of the copied one.
    """
    with Lock.take(target, _PURPOSE, now):
        return _Copying(originals, where, target, lambda what, done, total: None).follow()


def removed_since(originals: CrawlFiles, target: CrawlFiles | RealDisk) -> bool:
    """Return whether something was forgotten or removed since the last copy, so any part of that may differ."""
    marks = any(_whole(target, name) != _whole(originals, name) for name in (*FORGOTTEN, REMOVED))
    return marks or any(disk.size(plan) for disk in (originals, target) for plan in (PLAN, KEEP_PLAN))


def _whole(disk: CrawlFiles | RealDisk, name: str) -> bytes:
    return disk.read(name, 0, disk.size(name))


def bring(
    originals: CrawlFiles, where: str, target: Path, now: float, watch: Watch = lambda what, done, total: None
) -> BackupReport:
    """Update `target` from a crawl whose files may be on another machine; see `backup`.

    Parameters
    ----------
    originals, where
        The files, and a description of where they are.
    target, now, watch
        As in `backup`.
    """
    see_target(originals, where, target)
    shut_to_others()
    target.mkdir(parents=True, exist_ok=True)
    with Lock.take(target, _PURPOSE, now):
        return _Copying(originals, where, target, watch).run(now)


def _of_forgotten(last: dict[str, tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """Return the files about forgotten data: what else is removed meanwhile is left to the next backup."""
    return {name: what for name, what in last.items() if name not in (REMOVED, KEEP_PLAN)}


class _Copying:
    """One backup in progress."""

    def __init__(self, originals: CrawlFiles, where: str, target: Path, watch: Watch) -> None:
        self._from, self._to = where, target
        self._source, self._target = originals, RealDisk(target, mode=self._mode)
        self._watch = watch
        self._files, self._copied = set[str](), 0
        # Removed data may be anywhere in the files, so that copying only what is new would not be enough.
        self._anew = removed_since(self._source, self._target)
        self._total = sum(self._source.size(name) for name in self._source.names())

    def _mode(self, name: str) -> int:
        """Return the mode of a file of the target: nobody reads a copy who could not read its original."""
        return ORDINARY if name in _OF_TARGET else self._source.mode(name)

    def run(self, now: float) -> BackupReport:
        """Copy all files that belong to a backup."""
        try:
            see_whole(self._source, self._from, self._target, self._to)
            if self._anew or not self._target.size(BACKUP_FILE):
                self._mark()
            for _ in range(_TIMES):
                before = self._last()
                self._copy()
                if _of_forgotten(self._last()) == _of_forgotten(before):
                    break
                self._mark()
                self._anew, self._files = True, set[str]()
            else:
                raise StoreError(
                    f"data is being forgotten in {self._from} continually, so {self._to} may still have some of "
                    "it; repeat the backup when that is over"
                )
            self._end(before)
            self._forget()
            events = Journal.open(self._target, writable=False).sequence
            report = BackupReport(self._from, str(self._to), now, events, len(self._files), self._copied)
            self._target.replace(BACKUP_FILE, [msgspec.json.encode(report) + b"\n"])
            self._target.remove(UNFINISHED)
            return report
        finally:
            self._target.close()

    def follow(self) -> int | None:
        """Copy new data of archive and journal; return the bytes written, or None if that makes no valid backup."""
        try:
            if self._anew:
                return None
            before = self._last()
            for prefix in (ARCHIVE, JOURNAL, ARCHIVE):
                self._grow_all(prefix)
            return None if self._target.size(UNFINISHED) or self._last() != before else self._copied
        finally:
            self._target.close()

    def _mark(self) -> None:
        """Mark the target: until the end it is no backup that could be opened."""
        if not self._target.size(UNFINISHED):
            self._target.replace(UNFINISHED, [b"evercrawl backup removes this file at its end\n"])

    def _copy(self) -> None:
        """Copy all files but the last ones."""
        for name in (FILE, COPY, KEY):
            self._replace(name)
        self._grow_all(ARCHIVE)
        manifests = {name: _whole(self._source, name) for name in self._names() if name.startswith(_MANIFESTS)}
        if self._anew:  # until the journal is there again
            for name in [name for name in self._target.names() if name.startswith(_MANIFESTS)]:
                self._target.remove(name)
        self._grow_all(_BLOCKS)
        self._grow_all(JOURNAL)
        self._grow_all(ARCHIVE)
        for name in _GROWING:  # before the snapshots, which say how much of them there is at least
            self._grow(name)
        for name, data in manifests.items():
            self._named(name, data)
        before = (*_MANIFESTS, *_BLOCKS, JOURNAL, *_GROWING, *_LAST)
        self._replace_all(lambda name: not name.startswith(before))

    def _last(self) -> dict[str, tuple[int, bytes]]:
        """Return the files about forgotten data, with their modification times."""
        there = [name for name in _LAST if self._source.size(name)]
        found = dict[str, tuple[int, bytes]]()
        for name in there:
            if (at := self._source.written_ns(name)) >= 0:
                found[name] = at, _whole(self._source, name)
        return found

    def _end(self, last: dict[str, tuple[int, bytes]]) -> None:
        """Write the files about forgotten data; until then, the next backup compares everything."""
        for name, (_, data) in last.items():
            self._files.add(name)
            self._target.replace(name, [data], private=True)
            self._count(name, len(data))

    def _names(self) -> Iterator[str]:
        names = (name for name in self._source.names() if not name.startswith(_LEFT_OUT))
        return (name for name in names if not name.endswith(_BESIDE))

    def _grow_all(self, prefix: str | tuple[str, ...]) -> None:
        for name in [name for name in self._names() if name.startswith(prefix)]:
            if name.endswith((".log", ".bin", ".warc.gz")):
                self._grow(name)

    def _replace_all(self, wanted: Callable[[str], bool]) -> None:
        for name in [name for name in self._names() if wanted(name) and not name.endswith(".warc.gz")]:
            self._replace(name)

    def _grow(self, name: str) -> None:
        """Update the copy of a file that only grows."""
        size, there = self._source.size(name), self._target.size(name)
        if not size and not there:
            return
        anew = self._anew and name not in self._files
        self._files.add(name)
        self._narrow(name)
        if there > size:
            self._target.truncate(name, size)
            there = size
        tail = min(there, TAIL_BYTES)
        if anew:
            self._renew(name, there)
        elif self._source.read(name, there - tail, tail) != self._target.read(name, there - tail, tail):
            self._mark()
            self._target.truncate(name, 0)  # a crash cut the original, and it has grown since
            there = 0
        while there < size and (data := self._source.read(name, there, min(PIECE_BYTES, size - there))):
            self._target.append(name, data)
            if name.startswith(ARCHIVE) and bytes(BLOCK_BYTES) in data:  # records were removed there
                punch(self._to, name, there, there + len(data))
            there += len(data)
            self._count(name, len(data))
        self._target.sync(name)

    def _renew(self, name: str, size: int) -> None:
        """Copy the pieces of a file that differ, because something was removed from any of them."""
        for at in range(0, size, PIECE_BYTES):
            length = min(PIECE_BYTES, size - at)
            if self._source.digest(name, at, length) == digest_of(self._target.read(name, at, length)):
                continue
            data = self._source.read(name, at, length)
            patch(self._to, name, at, data, sync=False)
            if name.startswith(ARCHIVE):
                punch(self._to, name, at, at + len(data))
            self._count(name, len(data))

    def _replace(self, name: str) -> None:
        """Copy a file that is always replaced as a whole; skip it if it has vanished."""
        if name.endswith(".sqlite"):
            self._files.add(name)
            self._copy_database(name)
            return
        size = self._source.size(name)
        if not size:
            return
        self._files.add(name)
        self._narrow(name)
        if self._target.size(name) == size and self._equal(name, size):
            return
        pieces = (self._source.read(name, at, PIECE_BYTES) for at in range(0, size, PIECE_BYTES))
        self._target.replace(name, pieces, private=name in (FILE, COPY, KEY, FILE_NAME))
        self._count(name, size)

    def _copy_database(self, name: str) -> None:
        """Copy a database to another file, which takes the place of the copy if that differs."""
        path, draft = self._to / name, self._to / f"{name}.new"
        draft.unlink(missing_ok=True)  # of an interrupted backup
        self._narrow(name)
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, self._source.mode(name)))
        if changed := self._source.copy_database(name, draft, path):
            draft.replace(path)
            self._count(name, changed)
        else:
            draft.unlink()  # it could not be copied, or is the same

    def _narrow(self, name: str) -> None:
        """Remove rights from an existing copy: one made by an earlier version may have more than its original."""
        narrow(place_of(self._to, name), self._source.mode(name))

    def _equal(self, name: str, size: int) -> bool:
        """Return whether the copy has the same content already."""
        return all(
            self._source.digest(name, at, PIECE_BYTES) == digest_of(self._target.read(name, at, PIECE_BYTES))
            for at in range(0, size, PIECE_BYTES)
        )

    def _named(self, name: str, data: bytes) -> None:
        """Write a file that was read before the files to which it refers, and is written after them."""
        if data:  # else it was removed meanwhile
            self._files.add(name)
            self._narrow(name)
            if self._anew or self._target.size(name) != len(data):  # the name determines the content
                self._target.replace(name, [data])
                self._count(name, len(data))

    def _forget(self) -> None:
        """Remove files that the crawl no longer has, such as older snapshots."""
        for name in self._target.names():
            if name not in self._files and not name.startswith(_LEFT_OUT):
                self._target.remove(name)

    def _count(self, name: str, size_bytes: int) -> None:
        self._copied += size_bytes
        self._watch(name, self._copied, max(self._total, self._copied))
