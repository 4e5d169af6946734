"""The codec's inner loops, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evercrawl.kernels.build import compiled, entry, i64, pointer, view

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evercrawl.types import Slots


@entry(i64, pointer(np.uint32), i64, pointer(np.uint8))
def encode(ascending: Any, n: int, out: Any) -> int:
    """Write the gaps between the distinct numbers of `ascending`, seven bits a byte, the low ones first.

    Return how many bytes they take; there is room for 5 * n.
    """
    return _encode(view(ascending, n), view(out, 5 * n))


@entry(i64, pointer(np.uint8), i64, pointer(np.uint32))
def decode(data: Any, n: int, out: Any) -> int:
    """Write what `encode` was given, without repetitions; return how many numbers. There is room for n."""
    return _decode(view(data, n), view(out, n))


@compiled
def _encode(ascending: Slots, out: NDArray[np.uint8]) -> int:
    size = 0
    least = np.int64(0)
    for slot in ascending:
        gap = np.int64(slot) - least
        if gap < 0:  # the same again
            continue
        least = np.int64(slot) + 1
        while gap >= 128:
            out[size] = (gap & 127) | 128
            size += 1
            gap >>= 7
        out[size] = gap
        size += 1
    return size


@compiled
def _decode(data: NDArray[np.uint8], out: Slots) -> int:
    count = 0
    least = np.int64(0)
    gap = np.int64(0)
    shift = 0
    for byte in data:
        gap |= np.int64(byte & 127) << shift
        shift += 7
        if byte < 128:
            out[count] = least + gap
            count += 1
            least += gap + 1
            gap = np.int64(0)
            shift = 0
    return count
