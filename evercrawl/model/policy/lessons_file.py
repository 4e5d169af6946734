"""A policy's lessons, saved with each snapshot so that the journal need not be replayed from its beginning.

The files can be rebuilt from the journal. Each notes its offset in the journal, and later events are replayed from
there. Two generations are kept; if one is damaged, the older is read, and failing that the journal. Rows are in
separate files of blocks (`lessons_log`); files of version 2 contained everything, and those of version 3 one row that
is no longer used.
"""

import ast
import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from evercrawl.arrays.blocks import blocks_of
from evercrawl.arrays.names import NumberedNames
from evercrawl.arrays.saved import SavedRows
from evercrawl.decoding import msgpack_of
from evercrawl.errors import NoRoomError, StoreError
from evercrawl.parse.digest import checksum
from evercrawl.schedule.abilities import Learns
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import Disk
from evercrawl.store.disk.stamped import END, LEARNED, packed, pieces
from evercrawl.store.partition import Partition
from evercrawl.store.snapshots.filling import fill, live_blocks
from evercrawl.store.snapshots.frames import BlockSegment, PlacedFrame, frames

VERSION: Final = 4
WHOLE: Final = 2
"""The version whose files held all there was."""
BEFORE: Final = 3
"""The version before this one."""
_FORMER: Final = frozenset({"cohorts_most"})
"""Columns that the version before had besides."""
MAGIC: Final = b"EVERLESS"
_LEVEL: Final = -1  # faster than a copy into newly allocated memory
_PIECE_BYTES: Final = 1 << 20


class _Array(msgspec.Struct, array_like=True):
    name: str
    kind: str  # dtype of its rows, as in `numpy.lib.format`
    shape: tuple[int, ...]


class _Column(msgspec.Struct, array_like=True):
    name: str
    kind: str
    shape: tuple[int, ...]  # the first: the number of rows
    bits: int  # a block has 2^bits rows


class LessonsHead(msgspec.Struct, array_like=True):
    """The header of a lessons file; its first piece.

    Attributes
    ----------
    version, policy, epoch
        The format's version; the policy's class; when the crawl began.
    sites, sites_digest
        Number of sites, and a digest of their names, because visits refer to sites by number.
    sequence, position
        Number of events learned from, and the journal offset to resume at.
    arrays
        The arrays that follow, in pieces.
    columns, segments
        Rows saved in blocks, and the files that contain them.
    hashes
        A fingerprint of the crawl's hash secret, under which folders are hashed.
    """

    version: int
    policy: str
    epoch: float
    sites: int
    sites_digest: int
    sequence: int
    position: int
    arrays: list[_Array]
    columns: list[_Column] = []
    segments: list[BlockSegment] = []
    hashes: int = 0


class Kept(NamedTuple):
    """Saved lessons.

    Attributes
    ----------
    position
        The journal offset up to which they go.
    memory
        The arrays in the file.
    placed
        Where the blocks are; an older version has none, and its rows are among the arrays.
    """

    position: int
    memory: dict[str, NDArray[Any]]
    placed: list[PlacedFrame]


def head_of(
    partition: Partition, policy: Learns, memory: Mapping[str, NDArray[Any]], rows: Mapping[str, SavedRows]
) -> LessonsHead:
    """Return the header for lessons learned from the journal as it is now."""
    journal, state = partition.journal, partition.state
    columns = [
        _Column(name, repr(_described(each.kind.base)), (len(each), *each.kind.shape), each.bits)
        for name, each in rows.items()
    ]
    return LessonsHead(
        VERSION, type(policy).__name__, state.epoch, len(state.sites), state.sites.digest(), journal.sequence,
        journal.position, [_Array(name, repr(_described(rows.dtype)), rows.shape) for name, rows in memory.items()],
        columns, hashes=state.hasher.mark,
    )  # fmt: skip


def file_of(head: LessonsHead, memory: Mapping[str, NDArray[Any]]) -> list[bytes]:
    """Return the lessons file in parts; arrays are compressed to about a quarter."""
    file = [MAGIC, packed(msgspec.msgpack.encode(head))]
    press = zstandard.ZstdCompressor(level=_LEVEL).compress
    for rows in memory.values():
        raw = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)
        file += [packed(press(raw[first : first + _PIECE_BYTES].data)) for first in range(0, len(raw), _PIECE_BYTES)]
    return [*file, END]


def keep(disk: Disk, sequence: int, file: list[bytes]) -> None:
    """Write the lessons learned from the first `sequence` events, which are on disk.

    If the disk is full, the former file stays.
    """
    with contextlib.suppress(NoRoomError):
        disk.replace(stamped.stamped(stamped.LESSONS, sequence), file)
        stamped.forget_older(disk, stamped.LESSONS)


def segments_named(disk: Disk) -> list[BlockSegment]:
    """Return the block files that some lessons file refers to."""
    named = list[BlockSegment]()
    for name in stamped.names(disk, stamped.LESSONS):
        with contextlib.suppress(*_DAMAGED):
            named += _read(disk, name)[0].segments
    return named


def kept_of(
    partition: Partition,
    policy: Learns,
    upto: int,
    rows: Mapping[str, SavedRows],
    rest: Mapping[str, NDArray[Any]],
) -> tuple[Kept | None, list[str]]:
    """Return the newest saved lessons of a policy, and a sentence for each damaged file.

    Parameters
    ----------
    upto
        Number of events to learn from: files that go further are ignored, as are those of other policies or versions.
    rows
        Filled from the saved blocks, if there are any.
    rest
        Arrays of the types that are required beside them.
    """
    disk, troubles = partition.disk, list[str]()
    for name in stamped.names(disk, stamped.LESSONS):
        try:
            head, parts = _read(disk, name)
            if head.sequence <= upto and _fits(head, partition, policy) and _alike(head, rows, rest):
                memory = {array.name: _array(array, parts) for array in head.arrays}
                return Kept(head.position, memory, _filled(disk, head, rows)), troubles
        except _DAMAGED as error:
            if disk.size(name):  # otherwise a running crawl has just deleted it
                troubles.append(f"{name} is damaged ({error}); what it knew is learned again from the journal")
    return None, troubles


_DAMAGED: Final = (
    StoreError,
    ValueError,
    TypeError,
    SyntaxError,
    MemoryError,
    OverflowError,
    RecursionError,
    msgspec.MsgspecError,
    zstandard.ZstdError,
)


def _filled(disk: Disk, head: LessonsHead, rows: Mapping[str, SavedRows]) -> list[PlacedFrame]:
    """Fill rows from blocks, after checking that all blocks are present and whole."""
    placed = list(frames(disk, LEARNED, head.segments))
    blocks = {column.name: blocks_of(column.shape[0], column.bits) for column in head.columns}
    for name, count in blocks.items():
        for _ in live_blocks(placed, name, count):
            pass
    for column in head.columns:
        if column.name not in _FORMER:
            rows[column.name].load(column.shape[0])
            fill(rows[column.name].in_blocks(), placed, column.name, LEARNED, disk)
    return [frame for frame in placed if frame.column not in _FORMER]


def _read(disk: Disk, name: str) -> tuple[LessonsHead, Iterator[memoryview]]:
    found = pieces(disk.read(name, 0, disk.size(name)), MAGIC)
    return msgpack_of(found[0], LessonsHead), iter(found[1:])


def _alike(head: LessonsHead, rows: Mapping[str, SavedRows], rest: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether rows have the expected types, and what else is required; an older version is checked later."""
    if head.version == WHOLE:
        return True
    kinds = {name: (repr(_described(each.kind.base)), each.kind.shape, each.bits) for name, each in rows.items()}
    arrays = {array.name: array for array in head.arrays}
    there = all(
        name in arrays
        and arrays[name].kind == repr(_described(each.dtype))
        and (each.dtype.names is not None or arrays[name].shape == each.shape)  # the number of records may vary
        for name, each in rest.items()
    )
    columns = [column for column in head.columns if head.version == VERSION or column.name not in _FORMER]
    return there and kinds == {column.name: (column.kind, column.shape[1:], column.bits) for column in columns}


def _fits(head: LessonsHead, partition: Partition, policy: Learns) -> bool:
    """Return whether the header is of this policy, this crawl and this journal."""
    state = partition.state
    if (head.policy, head.epoch) != (type(policy).__name__, state.epoch) or head.version not in (
        WHOLE,
        BEFORE,
        VERSION,
    ):
        return False
    if head.hashes != state.hasher.mark or head.sites > len(state.sites):
        return False
    if head.sites_digest != _digest(state.sites, head.sites):
        return False
    _, number, _ = next(partition.journal.replay(head.position), (0, head.sequence, None))
    return number == head.sequence


def _digest(names: NumberedNames, first: int) -> int:
    """Return the digest of the first names."""
    if first == len(names):
        return names.digest()
    return checksum("\n".join(names[:first]).encode("utf-8", "surrogatepass"))


def _array(said: _Array, rest: Iterator[memoryview]) -> NDArray[Any]:
    """Assemble an array from its pieces."""
    kind = np.lib.format.descr_to_dtype(ast.literal_eval(said.kind))
    raw = np.empty(math.prod(said.shape) * kind.itemsize, np.uint8)
    for first in range(0, len(raw), _PIECE_BYTES):
        target = raw[first : first + _PIECE_BYTES]
        target[:] = np.frombuffer(zstandard.decompress(next(rest, b""), len(target)), np.uint8)
    return raw.view(kind).reshape(said.shape)


def _described(kind: np.dtype[Any]) -> Any:
    return np.lib.format.dtype_to_descr(kind)
