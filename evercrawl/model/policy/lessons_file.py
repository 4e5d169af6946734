"""What a policy has learned, kept on disk with each snapshot, so that the journal need not be read from its beginning.

The files can be lost: the journal has all of it. Each says up to where of the journal it goes, and what follows is
learned from there. Two generations are kept; a damaged one gives way to the older, and that to the journal.
"""

import ast
import contextlib
import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from evercrawl.arrays.names import NumberedNames
from evercrawl.errors import NoRoomError, StoreError
from evercrawl.parse.digest import digest
from evercrawl.schedule.abilities import Learns
from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import Disk
from evercrawl.store.disk.stamped import END, packed, pieces
from evercrawl.store.partition import Partition

VERSION: Final = 2
MAGIC: Final = b"EVERLESS"
_LEVEL: Final = -1  # faster than copying would be where memory has to be asked for
_PIECE_BYTES: Final = 1 << 20


class _Array(msgspec.Struct, array_like=True):
    name: str
    kind: str  # of its rows, as `numpy.lib.format` describes it
    shape: tuple[int, ...]


class LessonsHead(msgspec.Struct, array_like=True):
    """What a file is of; its first piece.

    Attributes
    ----------
    version, policy, epoch
        Of the format; the policy's class; when the crawl began.
    sites, sites_digest
        How many there were, and a digest of their names, for visits are told with their numbers.
    sequence, position
        Events learned from, and the journal offset from which to go on.
    arrays
        What follows, in pieces.
    """

    version: int
    policy: str
    epoch: float
    sites: int
    sites_digest: int
    sequence: int
    position: int
    arrays: list[_Array]


class Kept(NamedTuple):
    """What was kept: the journal's offset up to which it goes, and the arrays."""

    position: int
    memory: dict[str, NDArray[Any]]


def head_of(partition: Partition, policy: Learns, memory: dict[str, NDArray[Any]]) -> LessonsHead:
    """Return what to say of that which a policy has learned from the journal as it is now."""
    journal, state = partition.journal, partition.state
    return LessonsHead(
        VERSION, type(policy).__name__, state.epoch, len(state.sites), state.sites.digest(), journal.sequence,
        journal.position, [_Array(name, repr(_described(rows.dtype)), rows.shape) for name, rows in memory.items()],
    )  # fmt: skip


def file_of(head: LessonsHead, memory: dict[str, NDArray[Any]]) -> list[bytes]:
    """Return the file that keeps what a policy has learned, in parts: pressed, it takes a quarter of the room."""
    file = [MAGIC, packed(msgspec.msgpack.encode(head))]
    press = zstandard.ZstdCompressor(level=_LEVEL).compress
    for rows in memory.values():
        raw = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)
        file += [packed(press(raw[first : first + _PIECE_BYTES].data)) for first in range(0, len(raw), _PIECE_BYTES)]
    return [*file, END]


def keep(disk: Disk, sequence: int, file: list[bytes]) -> None:
    """Write what a policy has learned from the first `sequence` events, which are on the disk.

    Where there is no room for it, what was kept before stays.
    """
    with contextlib.suppress(NoRoomError):
        disk.replace(stamped.stamped(stamped.LESSONS, sequence), file)
        stamped.forget_older(disk, stamped.LESSONS)


def kept_of(partition: Partition, policy: Learns, upto: int) -> tuple[Kept | None, list[str]]:
    """Return the newest that was kept of a policy, and a sentence for each file that is damaged.

    Parameters
    ----------
    upto
        Number of events that are to be learned from: what knows more is passed over, as is what another policy learned,
        or another version wrote.
    """
    disk, troubles = partition.disk, list[str]()
    for name in stamped.names(disk, stamped.LESSONS):
        try:
            head, rest = _read(disk, name)
            if head.sequence <= upto and _fits(head, partition, policy):
                return Kept(head.position, {array.name: _array(array, rest) for array in head.arrays}), troubles
        except (StoreError, ValueError, TypeError, SyntaxError, msgspec.MsgspecError, zstandard.ZstdError) as error:
            if disk.size(name):  # else a crawl that runs has just deleted it
                troubles.append(f"{name} is damaged ({error}); what it knew is learned again from the journal")
    return None, troubles


def _read(disk: Disk, name: str) -> tuple[LessonsHead, Iterator[memoryview]]:
    found = pieces(disk.read(name, 0, disk.size(name)), MAGIC)
    return msgspec.msgpack.decode(found[0], type=LessonsHead), iter(found[1:])


def _fits(head: LessonsHead, partition: Partition, policy: Learns) -> bool:
    """Whether that is what this version's policy learned in this crawl, from this very journal."""
    state = partition.state
    if (head.version, head.policy, head.epoch) != (VERSION, type(policy).__name__, state.epoch):
        return False
    if head.sites > len(state.sites) or head.sites_digest != _digest(state.sites, head.sites):
        return False
    _, number, _ = next(partition.journal.replay(head.position), (0, head.sequence, None))
    return number == head.sequence


def _digest(names: NumberedNames, first: int) -> int:
    """Return the digest of the first names."""
    return names.digest() if first == len(names) else digest("\n".join(names[:first]).encode("utf-8", "surrogatepass"))


def _array(said: _Array, rest: Iterator[memoryview]) -> NDArray[Any]:
    """Put an array together of its pieces."""
    kind = np.lib.format.descr_to_dtype(ast.literal_eval(said.kind))
    raw = np.empty(math.prod(said.shape) * kind.itemsize, np.uint8)
    for first in range(0, len(raw), _PIECE_BYTES):
        target = raw[first : first + _PIECE_BYTES]
        target[:] = np.frombuffer(zstandard.decompress(next(rest, b""), len(target)), np.uint8)
    return raw.view(kind).reshape(said.shape)


def _described(kind: np.dtype[Any]) -> Any:
    return np.lib.format.dtype_to_descr(kind)
