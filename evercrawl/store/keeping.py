"""Removal of archive records beyond the retention limits: they are overwritten in place, and their blocks freed.

The plan is written first. Then the journal records that these records are gone, and only then are they overwritten.
So whenever the process is killed, the journal names no damaged record, and the next start completes the removal.
"""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Final

import msgspec
import xxhash

from evercrawl.decoding import msgpack_of
from evercrawl.store.archive.archive import FOLDER
from evercrawl.store.archive.cdxj import index_name
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.disk.plain import place_of
from evercrawl.store.repair.archive import filler
from evercrawl.store.repair.kept import patch

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from evercrawl.store.archive.archive import Archive
    from evercrawl.store.disk.disk import Disk

PLAN: Final = "keep.plan"
_VERSION: Final = 1
_GONE: Final = "records were here that the crawl was told not to keep any longer"
REMOVED: Final = f"{FOLDER}removed.json"
"""Tells the last removal from those before; whoever has a copy of the archive and another file, or none, is behind."""
BLOCK_BYTES: Final = 4096
"""What file systems give back at once."""
_MOST: Final = 4 << 20
_PUNCH: Final = 0x03  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class RemovedSpan(msgspec.Struct, array_like=True, frozen=True):
    """A visit whose records are removed: page, host, offset of the first record, and pointer to the answer.

    For a requisite, the page is `NO_SLOT`, and its number is in the place of the host.
    """

    slot: int
    host: int
    start: int
    archive: Pointer


class KeepPlan(msgspec.Struct, array_like=True, frozen=True):
    """All records to be removed."""

    version: int
    at: float
    noise: bytes
    spans: list[RemovedSpan]


def write_plan(disk: Disk, spans: list[RemovedSpan], at: float, noise: bytes) -> KeepPlan:
    """Write a plan of removals, and return it; nothing else changes yet."""
    plan = KeepPlan(_VERSION, at, noise, spans)
    data = msgspec.msgpack.encode(plan)
    disk.replace(PLAN, [xxhash.xxh3_64_digest(data), data], private=True)
    return plan


def read_plan(disk: Disk) -> KeepPlan | None:
    """Return the unfinished plan; None if there is none, or it is damaged."""
    data = disk.read(PLAN, 0, disk.size(PLAN))
    if not data or xxhash.xxh3_64_digest(data[8:]) != data[:8]:
        return None
    try:
        plan = msgpack_of(data[8:], KeepPlan)
    except msgspec.MsgspecError:
        return None
    return plan if plan.version == _VERSION else None


def overwrite(directory: Path, disk: Disk, archive: Archive, plan: KeepPlan, gone: Iterable[Pointer]) -> int:
    """Overwrite the records that the journal marks as gone, and remove the plan; return the number of removed bytes.

    Raises
    ------
    StoreError
        The disk fails; the next start continues.
    """
    count, touched, lost = 0, set[int](), set(gone)
    spans = [span for span in plan.spans if span.archive in lost]
    if spans:
        disk.replace(REMOVED, [msgspec.json.encode({"at": plan.at, "id": plan.noise.hex()})])
    for segment, start, end in _joined(spans):
        name = archive.name(segment)
        if end > disk.size(name):
            continue
        data = filler(end - start, plan.at, plan.noise, _GONE, fill=b"\0")
        if not data:
            continue
        patch(directory, name, start, data, sync=False)
        touched.add(segment)
        count += end - start
    for segment in touched:
        disk.sync(archive.name(segment))
        archive.forget_index(segment)
        disk.remove(index_name(archive.name(segment)))
    for segment, start, end in _joined(spans):
        punch(directory, archive.name(segment), start, end)
    disk.remove(PLAN)
    return count


def _joined(spans: Iterable[RemovedSpan]) -> list[tuple[int, int, int]]:
    """Return segment, start and end of ranges of adjacent records, each of a few MiB at most."""
    found = list[tuple[int, int, int]]()
    for span in sorted(spans, key=lambda one: (one.archive.segment, one.start)):
        segment, end = span.archive.segment, span.archive.offset + span.archive.length
        if found and found[-1][0] == segment and found[-1][2] == span.start and end - found[-1][1] <= _MOST:
            found[-1] = segment, found[-1][1], end
        else:
            found.append((segment, span.start, end))
    return found


def punch(directory: Path, name: str, start: int, end: int) -> None:
    """Release blocks of zeros to the file system, if it supports that; the content reads the same."""
    fd = os.open(place_of(directory, name), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        at = -(-start // BLOCK_BYTES) * BLOCK_BYTES
        data = os.pread(fd, max(end - at, 0), at)
        holes = list[tuple[int, int]]()
        for offset in range(0, len(data) - BLOCK_BYTES + 1, BLOCK_BYTES):
            if not data[offset : offset + BLOCK_BYTES].strip(b"\0"):
                begins = at + offset
                if holes and holes[-1][1] == begins:
                    holes[-1] = holes[-1][0], begins + BLOCK_BYTES
                else:
                    holes.append((begins, begins + BLOCK_BYTES))
        for begins, ends in holes:
            fallocate = _LIBC.fallocate
            if fallocate(fd, _PUNCH, ctypes.c_int64(begins), ctypes.c_int64(ends - begins)):
                return  # a file system without holes keeps the zeros
    finally:
        os.close(fd)
