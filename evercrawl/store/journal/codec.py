"""Compact encoding of sets of slots: sorted, with the gaps as variable-length numbers (LEB128).

A gap of 0 means the next slot, so a run of new URLs costs a byte each.
"""

from array import array
from collections.abc import Sequence
from typing import Final

import numpy as np

from evercrawl.kernels import Library, pointer
from evercrawl.types import Ints, Slots

_KERNELS: Final = Library("evercrawl.store.journal._codec_kernels")


def encode_slots(slots: Slots) -> bytes:
    """Return the distinct numbers of `slots`, shape (n,), as bytes.

    >>> encode_slots(np.array([7, 8, 3, 3, 300], np.uint32)).hex(" ")
    '03 03 00 a3 02'
    """
    ascending = np.sort(slots).astype(np.uint32, copy=False)
    out = np.empty(5 * len(ascending), np.uint8)
    size = _KERNELS["encode"](pointer(ascending), len(ascending), pointer(out))
    return out[:size].tobytes()


def encode_links(slots: Slots, own: int, external: Sequence[int]) -> tuple[bytes, bytes, int]:
    """Encode those of distinct `slots`, shape (n,), that are known and not `own`; also count all that are not `own`.

    The result is their encoding by `encode_slots`; a bit for each, low bits first, that says whether it is among
    `external` (ascending indexes into `slots`), or no bits if none is; and the count.

    >>> targets, bits, others = encode_links(np.array([9, 0xFFFFFFFF, 2, 4], np.uint32), 4, [0])
    >>> targets.hex(" "), bits.hex(" "), others
    ('02 06', '02', 3)
    """
    n = len(slots)
    marked, room, out = array("q", external), np.empty(n + 3, np.uint64), np.empty(6 * n + 1, np.uint8)
    wanted = pointer(slots), n, own, pointer(marked), len(marked)
    _KERNELS["encode_links"](*wanted, pointer(room), pointer(out))
    size, bits, others = room[n:].tolist()
    data = out[: size + bits].tobytes()
    return data[:size], data[size:], others


def encode_slot(slot: int) -> bytes:
    """Return `encode_slots` of a single slot.

    >>> encode_slot(300).hex(" ")
    'ac 02'
    """
    data = bytearray()
    while slot >= 128:
        data.append(slot & 127 | 128)
        slot >>= 7
    data.append(slot)
    return bytes(data)


def decode_runs(data: bytes) -> Slots:
    """Return ascending slots, shape (n,), from the beginnings and ends of runs as packed by `encode_slots`.

    >>> decode_runs(encode_slots(np.array([3, 6, 9, 10], np.uint32))).tolist()
    [3, 4, 5, 9]
    """
    bounds: Ints = decode_slots(data).astype(np.int64)
    lengths: Ints = bounds[1::2] - bounds[::2]
    starts: Ints = bounds[1::2] - lengths.cumsum()
    slots: Slots = (starts.repeat(lengths) + np.arange(int(lengths.sum()))).astype(np.uint32)
    return slots


def decode_slots(data: bytes) -> Slots:
    """Return the ascending slots, shape (n,), of which `encode_slots` made `data`.

    >>> decode_slots(bytes.fromhex("03 03 00 a3 02"))
    array([  3,   7,   8, 300], dtype=uint32)
    """
    out = np.empty(len(data), np.uint32)
    count = _KERNELS["decode"](data, len(data), pointer(out))
    return out[:count]
