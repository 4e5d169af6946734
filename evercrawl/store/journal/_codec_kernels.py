"""The compiled inner loops of the codec."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled, entry, i64, pointer, view
from evercrawl.types import NO_SLOT, Ints, Keys, Slots


@entry(i64, pointer(np.uint32), i64, pointer(np.uint8))
def encode(ascending: Any, n: int, out: Any) -> int:
    """Write the gaps between the distinct numbers of `ascending`, seven bits per byte, low bits first.

    Return the number of bytes; `out` has space for 5 * n.
    """
    return _encode(view(ascending, n), view(out, 5 * n))


@entry(i64, pointer(np.uint8), i64, pointer(np.uint32))
def decode(data: Any, n: int, out: Any) -> int:
    """Write the numbers that `encode` was given, without repetitions; return their number. `out` has space for n."""
    return _decode(view(data, n), view(out, n))


@entry(i64, pointer(np.uint32), i64, i64, pointer(np.int64), i64, pointer(np.uint64), pointer(np.uint8))
def encode_links(slots: Any, n: int, own: int, external: Any, leaving: int, room: Any, out: Any) -> int:
    """Write the known ones of distinct slots as `encode` does, followed by a bit for each: whether it is external.

    `room` has n + 3 elements, the last of which receive: bytes of slots; bytes of bits, 0 if none is set; number of
    slots that are not `own`. `out` has space for 6 * n + 1.
    """
    order = view(room, n + 3)
    others, known = _gather(view(slots, n), own, view(external, leaving), order)
    _sort(order[:known])
    size, bits = _encode_marked(order[:known], view(out, 6 * n + 1))
    order[n], order[n + 1], order[n + 2] = np.uint64(size), np.uint64(bits), np.uint64(others)
    return 0


@compiled
def _gather(slots: Slots, own: int, external: Ints, out: Keys) -> tuple[int, int]:
    """Write 2 * slot, + 1 if external, for each known slot; return their number, and how many slots are not `own`."""
    others = known = at = 0
    for i in range(len(slots)):
        leaves = at < len(external) and external[at] == i
        at += leaves
        others += slots[i] != own
        if slots[i] != own and slots[i] != NO_SLOT:
            out[known] = np.uint64(slots[i]) << np.uint64(1) | np.uint64(leaves)
            known += 1
    return others, known


@compiled
def _sort(numbers: Keys) -> None:
    """Sort in place (Shell 1959; the gaps are Knuth's)."""
    gap = 1
    while gap < len(numbers) // 3:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, len(numbers)):
            number, j = numbers[i], i
            while j >= gap and numbers[j - gap] > number:
                numbers[j] = numbers[j - gap]
                j -= gap
            numbers[j] = number
        gap //= 3


@compiled
def _encode_marked(ascending: Keys, out: NDArray[np.uint8]) -> tuple[int, int]:
    """Write the gaps between the halves of numbers, followed by their lowest bits; return the bytes of each part."""
    size, leaving = 0, np.uint64(0)
    least = np.int64(0)
    for number in ascending:
        slot = np.int64(number >> np.uint64(1))
        gap, least = slot - least, slot + 1
        leaving += number & np.uint64(1)
        while gap >= 128:
            out[size] = (gap & 127) | 128
            size += 1
            gap >>= 7
        out[size] = gap
        size += 1
    marked = len(ascending) if leaving else 0
    bits = (marked + 7) // 8
    for i in range(bits):
        out[size + i] = 0
    for i in range(marked):
        out[size + i // 8] |= (ascending[i] & np.uint64(1)) << np.uint64(i % 8)
    return size, bits


@compiled
def _encode(ascending: Slots, out: NDArray[np.uint8]) -> int:
    size = 0
    least = np.int64(0)
    for slot in ascending:
        gap = np.int64(slot) - least
        if gap < 0:  # a repeated number
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
