"""Snapshots of memory, written block by block while the crawl continues, and only where it changed.

Each frame of blocks has the journal sequence at which it was copied. Loading takes them as they are and folds the
journal from the beginning of the snapshot: assignments give the same result twice, and sums skip cells that were
copied after the event. A snapshot is a small file that names the files of blocks (`blocklog`), so it is written
atomically. Two generations are kept; if one is damaged, the older one is used, and without any, the whole journal is
folded.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from evercrawl.decoding import msgpack_of
from evercrawl.errors import StoreError
from evercrawl.store.disk import stamped
from evercrawl.store.disk.stamped import END, packed, pieces
from evercrawl.store.snapshots import version8
from evercrawl.store.snapshots.columns import NameColumn, columns_of, sizes_of
from evercrawl.store.snapshots.frames import BlockSegment, PlacedFrame, data_of, frames
from evercrawl.store.snapshots.head import DAMAGED, KIND, MAGIC, VERSION, SnapshotHead
from evercrawl.store.table.folders import MARKED_BY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from evercrawl.store.archive.pointer import ArchiveEnd
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.journal.journal import Journal
    from evercrawl.store.snapshots.blocklog import BlockLog, ColumnSize
    from evercrawl.store.snapshots.columns import SavedColumn
    from evercrawl.store.state import State
    from evercrawl.types import Slots

COPIED_BYTES: Final = 1 << 20
"""Amount of a column that is copied at a time, within a millisecond."""
COPIED_NAMES: Final = 1 << 12
"""The same for names, each of which is an object."""


class Loaded(msgspec.Struct):
    """A snapshot with complete frames.

    Attributes
    ----------
    name, head
        Its file name, and its header.
    placed
        Its frames, in the order of writing; the last frame with a block counts.
    older
        Its content, if an older version wrote it.
    """

    name: str
    head: SnapshotHead
    placed: list[PlacedFrame]
    older: version8.Older | None = None


async def write(
    state: State,
    journal: Journal,
    log: BlockLog,
    disk: Disk,
    archive_end: ArchiveEnd,
    commit: Callable[[], Awaitable[None]],
    offload: Callable[..., Awaitable[Any]],
) -> str:
    """Write a snapshot, one piece at a time, and return its name.

    Parameters
    ----------
    log
        The blocks saved earlier; the new ones are added to it.
    commit
        Returns once all events so far are on the disk.
    offload
        Runs a function without blocking the crawl, and returns its result.
    """
    columns = columns_of(state)
    head = _head(state, journal, archive_end, columns)
    sizes, changed = sizes_of(columns), {name: each.changed.take(each.count) for name, each in columns.items()}
    try:
        due = await _due(log, columns, sizes, changed, offload)
        for name, blocks in _parts(due, columns):
            await offload(log.append, name, blocks, columns[name].copied(blocks), journal.sequence)
        head.away, head.wished = await offload(state.away.packed), await offload(state.wished.packed)
        state.urls.flush()
        state.known.flush()
        await commit()
        await offload(state.urls.sync)
        await offload(state.known.sync)
        head.segments = await offload(log.end, sizes)
        name = stamped.stamped(stamped.SNAPSHOT, head.sequence)
        await offload(disk.replace, name, [MAGIC, packed(msgspec.msgpack.encode(head)), END])
    except BaseException:
        for name, blocks in changed.items():
            columns[name].changed.put_back(blocks)
        raise
    finally:
        state.accounts.then = None
    await offload(_forget, disk, log)
    return name


async def _due(
    log: BlockLog,
    columns: dict[str, SavedColumn],
    sizes: dict[str, ColumnSize],
    changed: dict[str, Slots],
    offload: Callable[..., Awaitable[Any]],
) -> dict[str, Slots]:
    """Return the blocks to be saved, which are noted; of a large crawl, another thread looks for them."""
    if not log.is_large(sizes):
        due = log.due(sizes, changed)
        for name, blocks in due.items():
            columns[name].begin(blocks)
        return due
    for name, size in sizes.items():
        columns[name].begin(np.arange(size.blocks, dtype=np.uint32))
    found: dict[str, Slots] = await offload(log.due, sizes, changed)
    return found


def _head(state: State, journal: Journal, archive_end: ArchiveEnd, columns: dict[str, SavedColumn]) -> SnapshotHead:
    return SnapshotHead(
        VERSION, state.epoch, journal.sequence, journal.position, state.known.count, state.records.count,
        len(state.hosts), len(state.sites), state.urls.tail(), state.visits, state.changes, state.wire_bytes,
        archive_end, state.known.digest(), state.accounts.save(), dict(state.notes), state.site_rules,
        scheme=state.scheme, bits={name: column.changed.bits for name, column in columns.items()},
        steered=state.steered.copy(),
        hashes=state.hasher.mark,
        post=state.post.save() if state.post is not None else msgspec.UNSET, marked_by=MARKED_BY,
        render_gains=state.render_gains.save(),
    )  # fmt: skip


def _parts(due: dict[str, Slots], columns: dict[str, SavedColumn]) -> Iterator[tuple[str, Slots]]:
    """Yield the blocks to be copied at a time, beginning with those that must be as of the snapshot's instant."""
    for name in sorted(due, key="sites".__ne__):
        blocks, column = due[name], columns[name]
        some = (
            COPIED_NAMES >> column.changed.bits
            if isinstance(column, NameColumn)
            else COPIED_BYTES // column.block_bytes
        )
        many = max(some, 1)
        for first in range(0, len(blocks), many):
            yield name, blocks[first : first + many]


def _forget(disk: Disk, log: BlockLog) -> None:
    """Delete older snapshots, and files of blocks that neither they nor the others name.

    After a power cut, only the last deletions may have survived. So the blocks of a snapshot are deleted the next
    time, when the deletion of the snapshot is durable.
    """
    named = list[BlockSegment]()
    for name in names(disk):
        with contextlib.suppress(StoreError, *DAMAGED):
            named += _head_of(disk, name)[1].segments
    stamped.forget_older(disk, stamped.SNAPSHOT)
    log.forget(named)


def names(disk: Disk) -> list[str]:
    """Return the names of the snapshots, newest first."""
    return stamped.names(disk, stamped.SNAPSHOT)


def newest_head(disk: Disk) -> SnapshotHead | None:
    """Return the header of the newest readable snapshot; None if there is none."""
    for name in names(disk):
        with contextlib.suppress(StoreError, *DAMAGED):
            return _head_of(disk, name)[1]
    return None


def load(disk: Disk) -> tuple[Loaded | None, list[str]]:
    """Return the newest intact snapshot, and a sentence for each damaged one.

    Raises
    ------
    StoreError
        A snapshot was written by a newer version.
    """
    troubles: list[str] = []
    for name in names(disk):
        try:
            return read(disk, name), troubles
        except DAMAGED as error:
            troubles.append(f"snapshot {name} is damaged ({error}); an older one or the journal is used instead")
    return None, troubles


def read(disk: Disk, name: str) -> Loaded:
    """Return one snapshot after verifying the checksums of all frames.

    Raises
    ------
    ValueError, msgspec.MsgspecError, zstandard.ZstdError
        It is damaged.
    StoreError
        It was written by a newer version.
    """
    older, head = _head_of(disk, name)
    return Loaded(name, head, list(frames(disk, KIND, head.segments)), older)


def check(disk: Disk, loaded: Loaded) -> None:
    """Read all data of a snapshot.

    Raises
    ------
    ValueError, msgspec.MsgspecError, zstandard.ZstdError
        It is damaged.
    """
    for frame in loaded.placed:
        if len(data_of(disk, KIND, frame)) != frame.raw_bytes:
            raise ValueError(f"{frame.column} has another size at byte {frame.offset} of file {frame.segment}")
    for _ in loaded.older.rows() if loaded.older is not None else ():
        pass


def version_of(disk: Disk, name: str) -> int | None:
    """Return the version of a snapshot's format; None if it is damaged."""
    try:
        found = pieces(disk.read(name, 0, disk.size(name)), MAGIC)
        return msgpack_of(found[0], _Versioned).version
    except DAMAGED:
        return None


class _Versioned(msgspec.Struct):
    version: int


def _head_of(disk: Disk, name: str) -> tuple[version8.Older | None, SnapshotHead]:
    found = pieces(disk.read(name, 0, disk.size(name)), MAGIC)
    version = msgpack_of(found[0], _Versioned).version
    if version > VERSION:
        raise StoreError(
            f"{name} was made by a newer evercrawl (format {version}, this one reads {VERSION}); upgrade evercrawl"
        )
    if version == version8.VERSION:
        older = version8.read(found)
        return older, version8.head_of(older)
    if version < version8.VERSION:
        raise ValueError("it was made by an older evercrawl")
    return None, msgpack_of(found[0], SnapshotHead)
