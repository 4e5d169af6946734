"""Repairs a crawl directory: a plan is made first, then carried out; an interrupted repair is planned again.

No intact data is lost: what has to be removed is kept in the folder `damaged`. The journal is repaired first, because
everything else is rebuilt from it. Then comes the archive, whose damaged records are filled in place, so that no
pointer moves.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evercrawl import __version__
from evercrawl.clock import SystemClock
from evercrawl.config import FILE_NAME, has_settings, load
from evercrawl.config.secrets import write_private
from evercrawl.crawl.learn.reindex import reindex
from evercrawl.crawl.mending.salvaging import SALVAGED_FILE, known_again, salvage
from evercrawl.errors import ConfigError, StoreError
from evercrawl.parse.sites import site, site_rules
from evercrawl.search.index import FOLDER as SEARCH_FOLDER
from evercrawl.store.archive.archive import Archive
from evercrawl.store.archive.pointer import ArchiveEnd, Pointer
from evercrawl.store.birth import UNFINISHED, is_crawl, write_birth
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import Disk, RealDisk
from evercrawl.store.disk.lock import Lock, holder
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.tail import find_end
from evercrawl.store.partition import Partition
from evercrawl.store.repair import journal as mending
from evercrawl.store.repair.archive import ArchiveMending
from evercrawl.store.repair.birth import read_birth, worked_out
from evercrawl.store.repair.damage import ArchiveSpan, Damage, Part
from evercrawl.store.repair.kept import FOLDER, keep_bytes, move_away
from evercrawl.store.requisites.losing import record_of
from evercrawl.store.snapshots.head import KIND

DERIVED: Final = ("known.bin", "urls.log", "urls.idx", "urls.dict")
_PURPOSE: Final = "evercrawl verify --repair"
_WHY: Final = "its record in the archive was damaged"
_CUT_WITH: Final = "name a backup with --from DIRECTORY, or give up what follows with --cut"


@dataclass(frozen=True, slots=True)
class RepairStep:
    """One step of a repair.

    Attributes
    ----------
    what
        A sentence for people.
    act
        Does the step; returns a sentence for each loss.
    """

    what: str
    act: Callable[[], list[str]]


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """The steps of a repair, in order, and a sentence for each damage that cannot be repaired."""

    steps: list[RepairStep]
    unmendable: list[str]


def plan(
    directory: Path, damage: Damage, mends: list[str], backup: Path | None = None, *, cut: bool = False
) -> RepairPlan:
    """Plan the repair of a crawl directory; nothing is changed.

    Parameters
    ----------
    directory
        A crawl directory in which no crawl runs.
    damage, mends
        What verify found, and what it says that the next start repairs.
    backup
        A directory with a backup of the same crawl, from which bytes are restored.
    cut
        Whether acknowledged events after damage in the journal may be given up.

    Raises
    ------
    ConfigError
        There is no crawl in the directory, or the backup is of another crawl.
    StoreError
        A crawl runs there.
    """
    who = holder(directory)
    if who is not None:
        raise StoreError(f"a process uses {directory} (pid {who.get('pid', 'unknown')}); stop it before the repair")
    with contextlib.ExitStack() as stack:
        disk = RealDisk(directory, read_only=True)
        stack.callback(disk.close)
        other = None if backup is None else _backup(backup, disk)
        if other is not None:
            stack.callback(other.close)
        if disk.size(UNFINISHED):
            return RepairPlan([], [f"this is a backup that was interrupted: run `evercrawl backup {directory}` again"])
        early = _birth(directory, disk, other)
        if early is None and Part.JOURNAL in damage.parts:
            early = _journal(directory, disk, backup, other, cut=cut)
        return early if early is not None else _later(directory, damage, mends, backup)


def _backup(backup: Path, disk: Disk) -> RealDisk:
    if not is_crawl(backup):
        raise ConfigError(f"there is no backup in {backup}; name the directory that evercrawl backup wrote")
    other = RealDisk(backup, read_only=True)
    theirs, ours = read_birth(other), read_birth(disk)
    if theirs is None or (ours is not None and ours.id != theirs.id):
        raise ConfigError(f"{backup} holds another crawl; name a backup of this one")
    return other


def _writable(directory: Path, act: Callable[[RealDisk], None]) -> list[str]:
    """Change files of a crawl while holding its lock."""
    lock = Lock.take(directory, _PURPOSE, SystemClock().now())
    disk = RealDisk(directory)
    try:
        act(disk)
    finally:
        disk.close()
        lock.release()
    return []


# What must exist before a crawl can be opened


def _birth(directory: Path, disk: Disk, backup: Disk | None) -> RepairPlan | None:
    if read_birth(disk) is not None:
        return None
    known = read_birth(backup) if backup is not None else worked_out(disk)
    if known is None:
        return RepairPlan([], ["crawl.json and its copy are damaged; name a backup with --from DIRECTORY"])
    source = "from the backup" if backup is not None else "from the newest snapshot and the names of archive files"
    what = f"crawl.json and its copy are written again, {source}"
    return RepairPlan([RepairStep(what, lambda: _writable(directory, lambda own: write_birth(own, known)))], [])


def _journal(directory: Path, disk: Disk, backup: Path | None, other: Disk | None, *, cut: bool) -> RepairPlan | None:
    """Plan the repair of the journal; None if its bytes are sound, so that this cannot repair it."""
    sound = mending.sound_journal(disk)
    events = max(map(stamped.stamp, stamped.names(disk, stamped.SNAPSHOT)), default=0)
    missing = mending.is_missing(disk, sound.events)
    if events <= sound.events and not missing and not _damaged(disk):
        return None
    where = f"the journal is intact up to event {sound.events:,}"
    if other is not None and _reaches(other) > sound.events:

        def put_back() -> list[str]:
            return _writable(directory, lambda own: _restored(directory, own, other))  # it is read again

        return RepairPlan([RepairStep(f"{where}; its damaged or lost parts are restored from {backup}", put_back)], [])
    gone = f"{events - sound.events:,} events at the end" if events > sound.events else "what follows that"
    if not cut and (sound.rest_bytes or missing or events > sound.events):
        left = f"{sound.rest_bytes:,} bytes follow, and events in them build on what is damaged"
        return RepairPlan([], [f"{where}; {left if sound.rest_bytes else f'{gone} are missing'}: {_CUT_WITH}"])
    if sound.events:
        again = "pages that they visited are fetched again if earlier events or intact later parts made them known"
    else:
        again = "the crawl starts again: give its seeds to the next `evercrawl crawl`"
    lost = f"{gone} of the journal cannot be recovered; {again}"

    def give_up() -> list[str]:
        _writable(directory, lambda own: _cut(directory, own))
        return [lost]

    what = (
        f"{where} and continues from there; what follows is kept in {FOLDER}/, with its records of the archive, and "
        "URLs that intact parts of it made known stay known"
    )
    return RepairPlan([RepairStep(what, give_up)], [])


def _damaged(disk: Disk) -> bool:
    """Whether the journal has damage that no interrupted write explains."""
    try:
        find_end(disk)
    except StoreError:
        return True
    return False


def _reaches(backup: Disk) -> int:
    return mending.sound_journal(backup).events


def _restored(directory: Path, disk: Disk, backup: Disk) -> None:
    if not mending.restore(directory, disk, backup):
        raise StoreError("the backup's journal does not fit this one: they differ where both are intact; use --cut")


def _cut(directory: Path, disk: RealDisk) -> None:
    """Cut journal and archive where the journal's sound part ends; keep what follows in the folder `damaged`."""
    sound = mending.sound_journal(disk)
    salvage(disk, sound)
    mending.cut(directory, disk, sound)
    end, events = ArchiveEnd(), 0
    journal = Journal.open(disk, writable=False)
    for _, _, event in journal.replay():
        events += 1
        if (record := record_of(event)) is not None:
            end = max(end, record.end)
    for name in disk.names("archive/"):
        number = name.removesuffix(".warc.gz").rpartition("-")[2]
        if name.endswith(".warc.gz") and number.isdigit() and int(number) >= end.segment:
            keep_bytes(directory, name, end.size_bytes if int(number) == end.segment else 0, disk.size(name))
    birth = read_birth(disk)
    assert birth is not None, "it is repaired before the journal"
    archive = Archive(disk, birth.id, os.urandom, software="", agent="")
    if archive.end > end:
        archive.cut(*end)
    for name in stamped.names(disk, stamped.SNAPSHOT):
        if stamped.stamp(name) > events:
            disk.remove(name)


# What can be repaired once the crawl can be opened


def _later(directory: Path, damage: Damage, mends: list[str], backup: Path | None) -> RepairPlan:
    steps = list[RepairStep]()
    if Part.SETTINGS in damage.parts and (backup is not None or has_settings(directory)):
        steps.append(_settings(directory, backup))
    away = [*damage.beside, *damage.strangers]
    if away:
        what = f"{', '.join(away)}: moved to {FOLDER}/; the next run rebuilds what it needs"
        steps.append(RepairStep(what, lambda: _writable(directory, lambda _: _moved(directory, away))))
    state = Part.STATE in damage.parts
    if state:
        what = f"snapshots, {', '.join(DERIVED)} are removed, and rebuilt from the journal"
        steps.append(RepairStep(what, lambda: _writable(directory, _without_derived)))
    if damage.records or damage.spans:
        count = len(set(damage.records)) + len(set(damage.spans))
        what = f"{count:,} damaged places of the archive are "
        what += f"restored from {backup}, or else " if backup is not None else ""
        what += (
            f"kept in {FOLDER}/ and filled with records that say so; pages whose content was there are fetched again"
        )
        steps.append(RepairStep(what, lambda: _archive(directory, damage, backup)))
    steps += [RepairStep(f"tidied up: {sentence}", list) for sentence in mends]
    if (directory / SALVAGED_FILE).is_file():
        what = "the URLs saved from the end of the journal are made known again"
        steps.append(RepairStep(what, lambda: _known_again(directory)))
    if state or damage.records or damage.spans or mends or Part.ARCHIVE_INDEX in damage.parts:
        what = "the crawl is opened, the indexes of its archive completed, and a snapshot written"
        index = Part.ARCHIVE_INDEX in damage.parts
        steps.append(RepairStep(what, lambda: settled(directory, anew=index)))
    if Part.SEARCH_INDEX in damage.parts:
        steps.append(RepairStep("the search index is rebuilt from the archive", lambda: _indexed(directory)))
    return RepairPlan(steps, [])


def _settings(directory: Path, backup: Path | None) -> RepairStep:
    if backup is not None:
        with contextlib.suppress(ConfigError):
            load(backup / FILE_NAME)
            what = f"{FILE_NAME} is moved to {FOLDER}/ and restored from {backup}"
            return RepairStep(what, lambda: _writable(directory, lambda _: _copied(directory, backup)))

    def act() -> list[str]:
        _writable(directory, lambda _: move_away(directory, FILE_NAME))
        return [f"the settings of the crawl: write a new {FILE_NAME} before the next run, see {FOLDER}/{FILE_NAME}"]

    return RepairStep(f"{FILE_NAME} is moved to {FOLDER}/; the next run needs a new one", act)


def _copied(directory: Path, backup: Path) -> None:
    draft = directory / f"{FILE_NAME}.new"
    write_private(draft, (backup / FILE_NAME).read_bytes())
    move_away(directory, FILE_NAME)
    draft.replace(directory / FILE_NAME)


def _moved(directory: Path, names: list[str]) -> None:
    for name in names:
        move_away(directory, name)


def _without_derived(disk: RealDisk) -> None:
    for name in [*stamped.names(disk, stamped.SNAPSHOT), *disk.names(f"{KIND}-"), *DERIVED]:
        disk.remove(name)


def _opened(directory: Path) -> Partition:
    now = SystemClock().now()
    try:
        return Partition(
            directory, os.urandom, now=now, software=f"evercrawl/{__version__}", site=site,
            site_rules=site_rules(), lock=Lock.take(directory, _PURPOSE, now), forgiving=True,
        )  # fmt: skip
    except AssertionError as error:
        raise StoreError(f"the journal contradicts itself ({error}); restore the directory from a backup") from error


def _archive(directory: Path, damage: Damage, backup: Path | None) -> list[str]:
    spans, told = [*dict.fromkeys(damage.spans), *map(_span, sorted(set(damage.records)))], list[str]()
    left = set(spans)
    if backup is not None:  # before the crawl is opened, which gives up missing records
        _writable(directory, lambda disk: left.difference_update(_put_back(directory, disk, backup, spans)))
    partition = _opened(directory)
    try:
        now = max(SystemClock().now(), partition.state.last_at())
        mend = ArchiveMending(directory, partition.archive, partition.disk, None, now, os.urandom)
        for span in filter(left.__contains__, spans):
            filled = mend.fill(span)
            if span in damage.spans:
                name = partition.archive.name(span.segment)
                told += [f"{end - start} bytes at byte {start} of {name}: no answer" for _, start, end in filled]
        for lost in partition.give_up({record for record in damage.records if _span(record) in left}, now, _WHY):
            what = "the page is fetched again" if lost.current else "newer content of it is there"
            url, name = partition.state.urls.get(lost.slot), partition.archive.name(lost.archive.segment)
            told.append(f"{url}: the content at byte {lost.archive.offset} of {name}; {what}")
    finally:
        partition.close()
    return told


def _span(record: Pointer) -> ArchiveSpan:
    return ArchiveSpan(record.segment, record.offset, record.offset + record.length)


def _put_back(directory: Path, disk: RealDisk, backup: Path, spans: list[ArchiveSpan]) -> list[ArchiveSpan]:
    """Restore bytes of the archive from a backup; return the restored spans."""
    birth, other, now = read_birth(disk), RealDisk(backup, read_only=True), SystemClock().now()
    assert birth is not None, "it was opened before"
    archive = Archive(disk, birth.id, os.urandom, software="", agent="")
    mend = ArchiveMending(directory, archive, disk, other, now, os.urandom)
    try:
        return [span for span in spans if mend.restore(span)]
    finally:
        other.close()


def settled(directory: Path, *, anew: bool = False) -> list[str]:
    """Open the crawl as a start does, and close it as a clean stop does; `anew` rebuilds the indexes of its archive."""
    partition = _opened(directory)
    try:
        if anew:
            for segment in partition.archive.segments():
                partition.archive.forget_index(segment)

        async def commit() -> None:
            partition.flush()
            partition.archive.sync()
            partition.journal.write(partition.journal.seal())

        async def offload(function: Callable[..., Any], *arguments: Any) -> Any:
            return function(*arguments)

        asyncio.run(partition.snapshot(commit, offload))
        partition.index_archive()
    finally:
        partition.close()
    return []


def _known_again(directory: Path) -> list[str]:
    partition = _opened(directory)
    try:
        known_again(partition, max(SystemClock().now(), partition.state.last_at()))
    finally:
        partition.close()
    return settled(directory)


def _indexed(directory: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(directory / SEARCH_FOLDER)
    return reindex(directory).troubles
