"""Sets of slots as few bytes: sorted, and the gaps between them as variable-length numbers (LEB128).

A gap of 0 means the very next slot, so a run of new URLs costs a byte each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.kernels import Library, pointer

if TYPE_CHECKING:
    from evercrawl.types import Slots

_KERNELS: Final = Library("evercrawl.store._codec_kernels")


def encode_slots(slots: Slots) -> bytes:
    """Return the distinct numbers of `slots`, shape (n,), as bytes.

    >>> encode_slots(np.array([7, 8, 3, 3, 300], np.uint32)).hex(" ")
    '03 03 00 a3 02'
    """
    ascending = np.sort(slots).astype(np.uint32, copy=False)
    out = np.empty(5 * len(ascending), np.uint8)
    size = _KERNELS["encode"](pointer(ascending), len(ascending), pointer(out))
    return out[:size].tobytes()


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


def decode_slots(data: bytes) -> Slots:
    """Return the slots in ascending order, shape (n,), that `encode_slots` made `data` of.

    >>> decode_slots(bytes.fromhex("03 03 00 a3 02"))
    array([  3,   7,   8, 300], dtype=uint32)
    """
    out = np.empty(len(data), np.uint32)
    count = _KERNELS["decode"](data, len(data), pointer(out))
    return out[:count]
