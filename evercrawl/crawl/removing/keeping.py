"""Removes old versions from the archive: by their age, by the number per page, and by the size of the archive.

The newest content of each page always stays, and so does the record of its last visit, together with the record that
holds the body of either. The same holds for each requisite. Removal happens between two runs of a crawl, which
resumes by itself.
"""

from __future__ import annotations

import asyncio
import os
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from evercrawl import __version__
from evercrawl.clock import SystemClock
from evercrawl.model.stored.derived.kinds import brings_version
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.small_file import read_small
from evercrawl.store import keeping
from evercrawl.store.archive.archive import FOLDER
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.archive.warc import ID_BYTES
from evercrawl.store.disk.lock import PURPOSE, Lock
from evercrawl.store.disk.taken import taken_bytes
from evercrawl.store.journal.events import Event, Lost, Visit
from evercrawl.store.journal.requisite_events import LOST_REQUISITE, RequisiteFetched
from evercrawl.store.partition import Partition
from evercrawl.store.repair.archive import standing
from evercrawl.store.requisites.losing import gone_of, record_of
from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from evercrawl.config import Config
    from evercrawl.types import Flags, Ints

STAMP: Final = f"{FOLDER}kept.json"
"""The file whose modification time is that of the last removal, and whose content is the settings used."""
EVERY_S: Final = 86_400.0
FULL_S: Final = 3_600.0
"""The interval of removals while the archive exceeds its size limit."""
WHY: Final = "the crawl keeps no older versions of this page"
_DAY_S: Final = 86_400.0
_CODES: Final = {"number": "Q", "slot": "I", "host": "I", "requisite": "q", "at": "d", "outcome": "B", "flags": "I",
                 "same": "B", "segment": "I", "offset": "Q", "length": "I", "pointer": "Q", "content": "Q"}  # fmt: skip
_NO_REQUISITE: Final = -1


class KeptLess(NamedTuple):
    """The result of a removal: records removed, their bytes, and the archive's size on disk after it."""

    records: int
    removed_bytes: int
    disk_bytes: int


def wanted(config: Config) -> bool:
    """Whether any setting limits what is kept."""
    return bool(config.keep_days or config.keep_bytes or config.keep_versions)


def due(directory: Path, config: Config, now: float) -> bool:
    """Whether a removal is due; if the settings have changed since the last one, it is due at once."""
    if not wanted(config):
        return False
    try:
        passed_s = now - (directory / STAMP).stat().st_mtime
        by = read_small(directory / STAMP)
    except OSError:
        return True
    if by != _stamp(config):
        return True
    full = bool(config.keep_bytes) and passed_s > FULL_S and on_disk(directory) > 1.05 * config.keep_bytes
    return full or not 0.0 <= passed_s < EVERY_S


def bounds_kept(config: Config) -> dict[str, float]:
    """Return the settings that limit what is kept, by name."""
    return {name: getattr(config, name) for name in ("keep_days", "keep_bytes", "keep_versions")}


def _stamp(config: Config) -> bytes:
    return msgspec.json.encode(bounds_kept(config)) + b"\n"


def on_disk(directory: Path) -> int:
    """Return the disk space that the archive takes, in bytes."""
    return taken_bytes((directory / FOLDER).glob("*.warc.gz"))


def keep_less(directory: Path, config: Config, now: float | None = None) -> KeptLess:
    """Remove from the archive what the settings no longer keep; no crawl may run in the directory.

    Raises
    ------
    StoreError
        The directory is damaged or in use, or the disk fails. The next call continues.
    """
    now = SystemClock().now() if now is None else now
    partition = Partition(
        directory, os.urandom, now=now, software=f"evercrawl/{__version__}", site=found_site,
        site_rules=site_rules(), lock=Lock.take(directory, PURPOSE, now), forgiving=True,
    )  # fmt: skip
    try:
        disk, archive = partition.disk, partition.archive
        visits = _gathered(partition)
        room = max(on_disk(directory) - config.keep_bytes, 0) if config.keep_bytes else 0
        going = _going(visits, config, now, room)
        spans = _spans(partition, visits, going)
        removed = 0
        if spans:
            plan = keeping.write_plan(disk, spans, now, os.urandom(ID_BYTES))
            for span in spans:
                partition.remember(_gone(span, now))
            _stored(partition)  # with a snapshot, so that no start has to read these events from the journal
            removed = keeping.overwrite(directory, disk, archive, plan, [span.archive for span in spans])
        partition.index_archive()
        disk.replace(STAMP, [_stamp(config)])
        return KeptLess(len(spans), removed, on_disk(directory))
    finally:
        partition.close()


def _stored(partition: Partition) -> None:
    async def commit() -> None:
        partition.flush()
        partition.archive.sync()
        partition.journal.write(partition.journal.seal())

    async def offload(function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)

    asyncio.run(partition.snapshot(commit, offload))


def _gone(span: keeping.RemovedSpan, now: float) -> Event:
    """Return the event that marks a record as removed: one of a page, or of a requisite."""
    if span.slot == NO_SLOT:
        return RequisiteFetched(span.host, now, 0, LOST_REQUISITE, span.archive)
    return Lost(span.slot, span.host, now, span.archive, WHY, current=False)


def _gathered(partition: Partition) -> dict[str, NDArray[Any]]:
    """Return columns of all visits and requisites whose records exist, in the order of the journal."""
    columns: dict[str, array[Any]] = {name: array(code) for name, code in _CODES.items()}
    lost, content = dict[Pointer, int](), dict[int, int]()
    for pointer, number, event in partition.journal.replay(follow=True):
        if (gone := gone_of(event)) is not None:
            lost[Pointer(*gone)] = number
        elif (record := record_of(event)) is not None:
            row: tuple[Any, ...]
            if isinstance(event, RequisiteFetched):
                has = content.get(event.number, 0) if event.unchanged else pointer
                content[event.number] = has
                row = number, NO_SLOT, 0, event.number, event.at, 0, 0, event.unchanged, *record, pointer, has
            else:
                assert isinstance(event, Visit)
                page = number, event.slot, event.host, _NO_REQUISITE, event.at, event.outcome, event.flags, False
                row = *page, *record, pointer, event.content
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    found = {name: np.array(column) for name, column in columns.items()}
    if lost:
        where = zip(*(found[name].tolist() for name in ("number", "segment", "offset", "length")), strict=True)
        there = np.array([lost.get(Pointer(*one), -1) < number for number, *one in where], np.bool_)
        found = {name: column[there] for name, column in found.items()}
    return found


def _going(visits: dict[str, NDArray[Any]], config: Config, now: float, room: int) -> Ints:
    """Return the visits whose records are to be removed, in the order of the journal."""
    of_page = visits["requisite"] == _NO_REQUISITE
    age, whose = np.arange(len(of_page)), np.where(of_page, visits["slot"], -2 - visits["requisite"])
    order = np.lexsort((age, whose))
    last = np.flatnonzero(np.diff(whose[order], append=np.iinfo(np.int64).max))  # of each page, and of each requisite
    starts = np.concatenate(([0], last[:-1] + 1)).astype(np.int64)
    brings = np.where(of_page, brings_version(visits["outcome"], visits["flags"]), visits["same"] == 0)[order]
    upto = np.cumsum(brings)
    total = np.repeat(upto[last] if len(last) else upto[:0], np.diff(starts, append=len(order)))
    newer: Ints = total - upto  # newer versions of the page than that of each visit
    stays = np.zeros(len(order), np.bool_)
    stays[last] = True
    stays |= brings & (newer == 0)
    going = np.zeros(len(order), np.bool_)
    if config.keep_versions:
        going |= newer >= config.keep_versions
    if config.keep_days:
        going |= visits["at"][order] < now - config.keep_days * _DAY_S
    stays = _with_bodies(visits, order, stays)
    going &= ~stays
    chosen = np.zeros(len(order), np.bool_)
    chosen[order] = going
    if room:
        free = np.zeros(len(order), np.bool_)
        free[order] = ~stays & ~going
        room -= int(visits["length"][chosen].sum())
        oldest = np.flatnonzero(free)
        chosen[oldest[np.cumsum(visits["length"][oldest]) - visits["length"][oldest] < room]] = True
    chosen[_bodies(visits, ~chosen)] = False  # records that stay may refer to them
    if len(chosen):
        chosen[-1] = False  # it tells a start where the archive ends
    return np.flatnonzero(chosen)


def _with_bodies(visits: dict[str, NDArray[Any]], order: Ints, stays: Flags) -> Flags:
    """Return the flags of visits that stay, with those added that hold the bodies of others."""
    found = np.zeros(len(order), np.bool_)
    found[order] = stays
    found[_bodies(visits, found)] = True
    whole: Flags = found[order]
    return whole


def _bodies(visits: dict[str, NDArray[Any]], which: Flags) -> Ints:
    """Return the visits whose records hold the bodies of the given ones, which are revisits."""
    wanted = np.unique(visits["content"][which])
    wanted = wanted[wanted != 0]
    place = np.searchsorted(visits["pointer"], wanted)
    place = place[place < len(visits["pointer"])]
    found: Ints = place[np.isin(visits["pointer"][place], wanted)]
    return found


def _spans(partition: Partition, visits: dict[str, NDArray[Any]], going: Ints) -> list[keeping.RemovedSpan]:
    """Return the spans to remove: the answer of each visit, and the request that precedes it."""
    order = np.lexsort((visits["offset"], visits["segment"]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    spans = list[keeping.RemovedSpan]()
    for visit in going.tolist():
        segment, offset, length = (int(visits[name][visit]) for name in ("segment", "offset", "length"))
        before, last = 0, int(order[place[visit] - 1])
        if place[visit] and int(visits["segment"][last]) == segment:
            before = int(visits["offset"][last]) + int(visits["length"][last])
        start = _request(partition, segment, before, offset)
        slot, requisite = int(visits["slot"][visit]), int(visits["requisite"][visit])
        whose = int(visits["host"][visit]) if requisite == _NO_REQUISITE else requisite
        spans.append(keeping.RemovedSpan(slot, whose, start, Pointer(segment, offset, length)))
    return spans


def _request(partition: Partition, segment: int, before: int, offset: int) -> int:
    """Return where the request of an answer begins; it directly precedes the answer."""
    begins = offset
    for one in standing(partition.disk, partition.archive.name(segment), before, offset):
        begins = one.start if one.record is not None and one.record.kind == "request" else offset
    return begins
