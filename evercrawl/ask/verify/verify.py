"""Verification of a crawl directory: journal, snapshots, derived files and archive must agree."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from evercrawl.ask.verify.archive import ArchiveCheck
from evercrawl.ask.verify.beside import inspect_beside
from evercrawl.ask.verify.cash import check_cash
from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.index import inspect_index
from evercrawl.ask.verify.state import EventCheck, compare
from evercrawl.config import FILE_NAME, has_settings, load
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.policy.schemes import unswitched
from evercrawl.model.stored.reader import opened, sound
from evercrawl.store.disk.disk import Disk
from evercrawl.store.disk.lock import holder, last_begun
from evercrawl.store.folding import replay
from evercrawl.store.journal.events import Visit
from evercrawl.store.journal.requisite_events import RequisiteFetched
from evercrawl.store.journal.segment import segment_name, segments
from evercrawl.store.journal.tail import find_end
from evercrawl.store.orders import OrderFile, unread_in_words
from evercrawl.store.partition import Partition
from evercrawl.store.repair.damage import Part
from evercrawl.store.repair.journal import is_missing
from evercrawl.store.requisites.losing import gone_records, record_of
from evercrawl.store.snapshots import snapshot
from evercrawl.store.snapshots.head import DAMAGED, SnapshotHead
from evercrawl.store.state import State

Watch: TypeAlias = Callable[[str, int, int], None]

_EVERY = 1000  # events between two progress calls


def verify(directory: Path, watch: Watch = lambda what, done, total: None) -> Findings:
    """Check all invariants of the crawl in `directory`, without disturbing a running crawl.

    Parameters
    ----------
    directory
        The crawl directory.
    watch
        Progress callback: what is being checked, amount done, and total.

    Raises
    ------
    ConfigError
        There is no crawl in the directory.
    """
    found = Findings()
    running = holder(directory) is not None
    try:
        partition = opened(directory)
    except StoreError as error:
        found.blame(str(error), part=Part.JOURNAL)
        return found
    except AssertionError as error:
        found.blame(f"the journal contradicts itself: {error}", part=Part.JOURNAL)
        return found
    try:
        running = running or holder(directory) is not None
        inspect(partition, found, watch, running=running, interrupted=_interrupted(directory, partition.disk))
        _settings(directory, partition.state.steered.bounds, found)
        inspect_index(partition, found)
        if not running:
            inspect_beside(directory, partition.disk, found)
    finally:
        partition.close()
    return found


def inspect(
    partition: Partition,
    found: Findings,
    watch: Watch = lambda what, done, total: None,
    *,
    running: bool = False,
    interrupted: bool = False,
) -> None:
    """Check all invariants of a crawl that is open for reading.

    Parameters
    ----------
    partition
        The crawl, opened with `writable=False`, on any disk.
    found
        Receives the findings.
    watch
        As for `verify`.
    running
        Whether a crawl is writing at the same time, so that some files may be ahead of others.
    interrupted
        Whether the last run is known not to have ended cleanly, whatever the newest snapshot says.
    """
    upto = partition.journal.sequence
    head = _snapshots(partition, found)
    clean = head is not None and head.sequence == upto and not interrupted
    lost = head is not None and head.sequence > upto
    if lost:
        files = segments(partition.disk)
        name = files[-1].name if files else segment_name(0)
        what = f"{name}: acknowledged events are missing at its end; restore it from a copy of the directory"
        found.blame(what, part=Part.JOURNAL)
    for sentence in partition.repairs:
        if not running:
            torn = sentence == partition.journal.repaired and not clean and not lost
            (found.mends.append if torn else found.blame)(sentence)
    for number, why in partition.skipped.why.items():
        found.mends.append(f"event {number} of the journal is set aside: evercrawl fails on it ({why}); report it")
    if partition.unswitched and not running:
        found.mends.append(unswitched(partition))
    orders, steered = OrderFile(partition.directory), partition.state.steered
    if not orders.distrusted() and (unread := unread_in_words(orders, steered.upto, steered.last)):
        found.mends.append(f"{unread}; the next start refuses them")
    whole = _journal(partition.disk, upto, found)
    if not running and is_missing(partition.disk, upto):
        what = "the archive has records, and the journal no event: it was lost, or not copied; restore it from a copy"
        found.blame(what, part=Part.JOURNAL)
    folded = _events(partition, found, upto, watch, running=running, clean=clean)
    if whole and folded is not None:
        compare(partition.state, folded, found)
        watch("cash", 0, 1)
        check_cash(partition, folded, upto, found)


def _interrupted(directory: Path, disk: Disk) -> bool:
    """Return whether a run started after the newest snapshot: it did not end cleanly, or is still running."""
    begun = last_begun(directory)
    newest = next(iter(snapshot.names(disk)), None)
    return begun is not None and newest is not None and (directory / newest).stat().st_mtime < begun


def _snapshots(partition: Partition, found: Findings) -> SnapshotHead | None:
    """Check each snapshot; return the head of the newest, or None if it is damaged."""
    newest = None
    for place, name in enumerate(snapshot.names(partition.disk)):
        try:
            loaded = snapshot.read(partition.disk, name)
            snapshot.check(partition.disk, loaded)
        except (StoreError, *DAMAGED) as error:
            if partition.disk.size(name):  # otherwise the crawl has just removed it
                found.blame(f"{name} is damaged: {error}; remove it, and the next start works without it")
            continue
        found.count("snapshots")
        if loaded.head.epoch != partition.birth.made_at:
            found.blame(f"crawl.json and {name} have different start times of the crawl")
        newest = loaded.head if place == 0 else newest
    return newest


def _settings(directory: Path, rules: Iterable[str], found: Findings) -> None:
    if not has_settings(directory):
        if rules:
            what = (
                f"{FILE_NAME} is missing or empty, and the crawl had rules ({'; '.join(rules)}); restore it from a copy"
            )
            found.blame(what, part=Part.SETTINGS)
        return
    found.count("settings files")
    try:
        load(directory / FILE_NAME)
    except ConfigError as error:
        found.blame(str(error), part=Part.SETTINGS)


def _journal(disk: Disk, upto: int, found: Findings) -> bool:
    """Check every frame of the journal, independently of snapshots; return whether `upto` events are intact."""
    try:
        end = find_end(disk)
    except StoreError as error:
        found.blame(str(error), part=Part.JOURNAL)
        return False
    found.count("journal bytes", end.offset)
    if end.sequence < upto:
        found.blame(
            f"{segment_name(end.start)} is damaged at byte {end.offset - end.start}, after event {end.sequence} "
            f"of {upto}; restore the file from a copy of the directory",
            part=Part.JOURNAL,
        )
    return end.sequence >= upto


def _events(
    partition: Partition, found: Findings, upto: int, watch: Watch, *, running: bool, clean: bool
) -> State | None:
    """Fold the journal from its first event, checking each event and its archive record; None if that fails."""
    lost = gone_records(sound(partition, upto))
    folded = partition.empty_state()
    check = EventCheck(folded, partition.state, found)
    archive = ArchiveCheck(partition, folded, lost, found, running=running, clean=clean)
    seen = 0
    try:
        for pointer, number, whole in partition.journal.replay():
            if number >= upto:
                break
            event = partition.skipped.reduced(whole, number)
            if seen % _EVERY == 0:
                watch("events", seen, upto)
            if not check.event(event, number):
                return None
            replay(folded, event, pointer, number)
            if isinstance(whole, Visit) and whole.archive is not None:
                archive.visit(whole, number)
            elif isinstance(whole, RequisiteFetched) and record_of(whole) is not None:
                archive.requisite(whole, number, check.requisites[whole.number])
            seen += 1
    except StoreError as error:
        found.blame(str(error), part=Part.JOURNAL)
    except AssertionError as error:
        found.blame(f"the journal contradicts itself at event {seen}: {error}", part=Part.JOURNAL)
        return None
    found.count("events", seen)
    watch("events", seen, upto)
    if seen != upto:
        found.blame(f"the journal can be read only up to event {seen} of {upto}", part=Part.JOURNAL)
        return None
    archive.finish()
    folded.forget_pages()
    return folded
