"""Sets of slots as few bytes: sorted, and the gaps between them as variable-length numbers (LEB128).

A gap of 0 means the very next slot, so a run of new URLs costs a byte each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evercrawl.types import Slots


def encode_slots(slots: Slots) -> bytes:
    """Return the distinct numbers of `slots`, shape (n,), as bytes.

    >>> encode_slots(np.array([7, 8, 3, 3, 300], np.uint32)).hex(" ")
    '03 03 00 a3 02'
    """
    from evercrawl.store._codec_kernels import encode  # late: the compiler takes half a second to load

    return encode(np.sort(slots)).tobytes()


def decode_slots(data: bytes) -> Slots:
    """Return the slots in ascending order, shape (n,), that `encode_slots` made `data` of.

    >>> decode_slots(bytes.fromhex("03 03 00 a3 02"))
    array([  3,   7,   8, 300], dtype=uint32)
    """
    from evercrawl.store._codec_kernels import decode

    return decode(np.frombuffer(data, np.uint8))
