"""What a policy has learned, kept on disk between two runs, so that the journal need not be read from its beginning.

The file can be lost: the journal has all of it. It says up to where of the journal it goes, and what follows is learned
from there. One that is damaged, of another policy or of another version is passed over.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
import zstandard

from evercrawl.errors import StoreError
from evercrawl.parse.digest import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.schedule.base import Policy
    from evercrawl.store.partition import Partition

FILE: Final = "lessons.bin"
_VERSION: Final = 1
_LEVEL: Final = 1
_DIGEST_BYTES: Final = 8


class _Head(msgspec.Struct, array_like=True):
    version: int
    policy: str
    epoch: float
    sequence: int
    position: int


class Kept(NamedTuple):
    """What was kept: the journal's offset up to which it goes, and the arrays."""

    position: int
    memory: dict[str, NDArray[Any]]


def keep(partition: Partition, policy: Policy, memory: dict[str, NDArray[Any]]) -> None:
    """Write what a policy has learned from the journal as it is now, all of it being written.

    Raises
    ------
    NoRoomError
        The disk is full; what was kept before is still there.
    """
    journal, arrays = partition.journal, io.BytesIO()
    np.savez(arrays, allow_pickle=False, **memory)
    head = _Head(_VERSION, type(policy).__name__, partition.state.epoch, journal.sequence, journal.position)
    body = msgspec.msgpack.encode((head, zstandard.compress(arrays.getbuffer(), _LEVEL)))
    partition.disk.replace(FILE, [digest(body).to_bytes(_DIGEST_BYTES, "little"), body])


def forget(partition: Partition) -> None:
    """Delete what was kept."""
    partition.disk.remove(FILE)


def kept_of(partition: Partition, policy: Policy) -> Kept | None:
    """Return what was kept of a policy, None where nothing is that the journal bears out."""
    try:
        data = partition.disk.read(FILE, 0, partition.disk.size(FILE))
        if digest(data[_DIGEST_BYTES:]) != int.from_bytes(data[:_DIGEST_BYTES], "little"):
            return None
        head, body = msgspec.msgpack.decode(data[_DIGEST_BYTES:], type=tuple[_Head, bytes])
        if (head.version, head.policy, head.epoch) != (_VERSION, type(policy).__name__, partition.state.epoch):
            return None
        if head.sequence > partition.journal.sequence or head.position > partition.journal.position:
            return None
        with np.load(io.BytesIO(zstandard.decompress(body)), allow_pickle=False) as arrays:
            return Kept(head.position, {name: arrays[name] for name in arrays.files})
    except (StoreError, OSError, ValueError, KeyError, msgspec.MsgspecError, zstandard.ZstdError):
        return None
