"""The compiled inner loops of the table.

The table is an array of keys and an array of slots, divided into `SEGMENTS` stretches of `stride` cells; a key's top
8 bits select the segment, and segment s uses the first `capacity[s]` cells of its stretch. Within it, linear probing
starts from a cell proportional to the key's next 32 bits, so that a segment is nearly in the order of its keys and
grows in one sequential sweep. An empty cell holds key 0; the real key 0 is in `tally[ZERO]`.
"""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.blocks import WRITTEN
from evercrawl.kernels.build import compiled
from evercrawl.types import NO_SLOT, Floats, Ints, Keys, Slots

Whole: TypeAlias = int | np.int64

SEGMENTS: Final = 256
KNOWN: Final = 0  # tally[KNOWN]: number of known URLs, which is the next slot
ZERO: Final = 1  # tally[ZERO]: slot of key 0, or -1
BLOCK: Final = 128  # keys looked up together, so that their cache misses overlap
TOGETHER: Final = 64  # segments; a quarter of all keys is copied at a time
_EMPTY: Final = np.uint64(0)
_SEGMENT_SHIFT: Final = np.uint64(56)
_HALF: Final = np.uint64(32)
_TOP: Final = np.uint64(8)


@compiled
def _home(key: np.uint64, capacity: Whole) -> Whole:
    """Return the index in a segment of `capacity` cells at which the search for `key` starts."""
    return np.int64((((key << _TOP) >> _HALF) * np.uint64(capacity)) >> _HALF)


@compiled
def _seek(keys: Keys, base: Whole, capacity: Whole, key: np.uint64) -> Whole:
    """Return the cell with `key`, or the empty one for it."""
    cell: Whole = base + _home(key, capacity)
    end = base + capacity
    while keys[cell] != key and keys[cell] != _EMPTY:
        cell += 1
        if cell == end:
            cell = base
    return cell


@compiled
def _grow(
    keys: Keys, slots: Slots, capacity: Ints, segment: Whole, stride: int, spare_keys: Keys, spare_slots: Slots
) -> bool:
    """Make one segment a sixth larger; return False if it already fills its stretch."""
    old = capacity[segment]
    new = min(old + old // 6 + 1, stride)
    if new == old:
        return False
    base = segment * stride
    held = 0
    for i in range(base, base + old):
        if keys[i] != _EMPTY:
            spare_keys[held] = keys[i]
            spare_slots[held] = slots[i]
            keys[i] = _EMPTY
            held += 1
    capacity[segment] = new
    for i in range(held):
        cell = _seek(keys, base, new, spare_keys[i])
        keys[cell] = spare_keys[i]
        slots[cell] = spare_slots[i]
    return True


@compiled
def _find_block(
    keys: Keys,
    slots: Slots,
    capacity: Ints,
    stride: int,
    tally: Ints,
    wanted: Keys,
    cells: Ints,
    seen: Keys,
    out: Slots,
) -> None:
    """Fill `out` with the slots of at most `BLOCK` keys; `cells` and `seen` are scratch.

    Three passes let cache misses overlap instead of stalling branches: load the home cell of each key, search for the
    keys that are elsewhere, read the slots.
    """
    for i in range(wanted.size):
        segment = np.int64(wanted[i] >> _SEGMENT_SHIFT)
        cells[i] = segment * stride + _home(wanted[i], capacity[segment])
        seen[i] = keys[cells[i]]
    for i in range(wanted.size):
        if seen[i] != wanted[i] and seen[i] != _EMPTY:
            segment = np.int64(wanted[i] >> _SEGMENT_SHIFT)
            cells[i] = _seek(keys, segment * stride, capacity[segment], wanted[i])
            seen[i] = keys[cells[i]]
    for i in range(wanted.size):
        out[i] = slots[cells[i]] if seen[i] == wanted[i] else NO_SLOT
        if wanted[i] == _EMPTY:
            out[i] = tally[ZERO] if tally[ZERO] >= 0 else NO_SLOT


@compiled
def find_one(keys: Keys, slots: Slots, capacity: Ints, stride: int, tally: Ints, key: np.uint64) -> Whole:
    """Return the slot of a key, -1 if it is unknown."""
    if key == _EMPTY:
        return np.int64(tally[ZERO])
    segment = np.int64(key >> _SEGMENT_SHIFT)
    cell = _seek(keys, segment * stride, capacity[segment], key)
    return np.int64(slots[cell]) if keys[cell] == key else np.int64(-1)


@compiled
def find(
    keys: Keys,
    slots: Slots,
    capacity: Ints,
    stride: int,
    tally: Ints,
    cells: Ints,
    seen: Keys,
    wanted: Keys,
    out: Slots,
) -> None:
    """Fill `out` with the slots of `wanted`, NO_SLOT for unknown keys; `cells` and `seen` are scratch."""
    for start in range(0, wanted.size, BLOCK):
        end = min(start + BLOCK, wanted.size)
        _find_block(keys, slots, capacity, stride, tally, wanted[start:end], cells, seen, out[start:end])


@compiled
def _insert(
    keys: Keys,
    slots: Slots,
    capacity: Ints,
    count: Ints,
    stride: int,
    tally: Ints,
    spare_keys: Keys,
    spare_slots: Slots,
    key: np.uint64,
) -> bool:
    """Give an unknown `key`, which is not 0, the next slot; return False if its segment is full."""
    segment = np.int64(key >> _SEGMENT_SHIFT)
    if (count[segment] + 1) * 10 > capacity[segment] * 9 and not _grow(
        keys, slots, capacity, segment, stride, spare_keys, spare_slots
    ):
        return False
    cell = _seek(keys, segment * stride, capacity[segment], key)
    keys[cell] = key
    slots[cell] = tally[KNOWN]
    count[segment] += 1
    tally[KNOWN] += 1
    return True


@compiled
def intern(
    keys: Keys,
    slots: Slots,
    capacity: Ints,
    count: Ints,
    stride: int,
    tally: Ints,
    spare_keys: Keys,
    spare_slots: Slots,
    cells: Ints,
    seen: Keys,
    wanted: Keys,
    out: Slots,
    new: NDArray[np.bool_],
) -> int:
    """Fill `out` with slots of `wanted`, assigning new ones; return how many were done before a segment was full."""
    for start in range(0, wanted.size, BLOCK):
        end = min(start + BLOCK, wanted.size)
        _find_block(keys, slots, capacity, stride, tally, wanted[start:end], cells, seen, out[start:end])
        for i in range(start, end):
            new[i] = False
            if out[i] != NO_SLOT:
                continue
            key = wanted[i]
            if key == _EMPTY:
                new[i] = tally[ZERO] < 0
                if new[i]:
                    tally[ZERO] = tally[KNOWN]
                    tally[KNOWN] += 1
                out[i] = tally[ZERO]
                continue
            segment = np.int64(key >> _SEGMENT_SHIFT)
            cell = _seek(keys, segment * stride, capacity[segment], key)
            if keys[cell] == key:  # it occurred earlier in this block
                out[i] = slots[cell]
                continue
            out[i] = tally[KNOWN]
            if not _insert(keys, slots, capacity, count, stride, tally, spare_keys, spare_slots, key):
                return i
            new[i] = True
    return wanted.size


@compiled
def intern_one(
    keys: Keys,
    slots: Slots,
    capacity: Ints,
    count: Ints,
    stride: int,
    tally: Ints,
    spare_keys: Keys,
    spare_slots: Slots,
    key: np.uint64,
) -> Whole:
    """Return the slot of a key, the next one if it is new, -1 if its segment is full."""
    slot = find_one(keys, slots, capacity, stride, tally, key)
    if slot >= 0:
        return slot
    slot = np.int64(tally[KNOWN])
    if key == _EMPTY:
        tally[ZERO] = slot
        tally[KNOWN] += 1
        return slot
    return slot if _insert(keys, slots, capacity, count, stride, tally, spare_keys, spare_slots, key) else np.int64(-1)


@compiled
def _give(cash: NDArray[np.float64], changed: NDArray[np.uint8], bits: int, slot: Whole, amount: float) -> float:
    """Add `amount` to one cell, and flag its block of 2^bits; return the rounding error."""
    before = np.float64(cash[slot])
    cash[slot] = before + amount
    changed[slot >> bits] = WRITTEN
    return amount - (np.float64(cash[slot]) - before)


@compiled
def pay(
    keys: Keys,
    slots: Slots,
    capacity: Ints,
    stride: int,
    tally: Ints,
    cells: Ints,
    seen: Keys,
    found: Slots,
    cash: NDArray[np.float64],
    changed: NDArray[np.uint8],
    bits: int,
    wanted: Keys,
    amounts: Floats,
) -> float:
    """Add amounts to the cells of `wanted`; return the sum that did not arrive."""
    residue = 0.0
    for start in range(0, wanted.size, BLOCK):
        n = min(BLOCK, wanted.size - start)
        _find_block(keys, slots, capacity, stride, tally, wanted[start : start + n], cells, seen, found)
        for i in range(n):
            if found[i] == NO_SLOT:
                residue += amounts[start + i]
            else:
                residue += _give(cash, changed, bits, np.int64(found[i]), amounts[start + i])
    return residue


@compiled
def _arrive(
    known: int,
    saved: int,
    cash: NDArray[np.float64],
    changed: NDArray[np.uint8],
    bits: int,
    slot: Whole,
    amount: float,
    at_seq: int,
    chunk_seq: Keys,
) -> float:
    """Add `amount` to a cell unless a snapshot already contains it; return what arrived, now or then.

    `chunk_seq` begins with the size of a chunk as a power of two.
    """
    if slot >= known:
        return 0.0
    if slot < saved and chunk_seq[1 + (slot >> np.int64(chunk_seq[0]))] >= np.uint64(at_seq):
        return amount
    return amount - _give(cash, changed, bits, slot, amount)


@compiled
def pay_slots(
    known: int,
    saved: int,
    cash: NDArray[np.float64],
    changed: NDArray[np.uint8],
    bits: int,
    targets: Slots,
    amounts: Floats,
    at_seq: int,
    chunk_seq: Keys,
) -> float:
    """Add amounts to cells by slot, except those saved later; return the sum that arrived."""
    arrived = 0.0
    for i in range(targets.size):
        arrived += _arrive(known, saved, cash, changed, bits, np.int64(targets[i]), amounts[i], at_seq, chunk_seq)
    return arrived


@compiled
def pay_links(
    known: int,
    saved: int,
    cash: NDArray[np.float64],
    changed: NDArray[np.uint8],
    bits: int,
    targets: NDArray[np.uint8],
    external: NDArray[np.uint8],
    inside: float,
    outside: float,
    at_seq: int,
    chunk_seq: Keys,
) -> float:
    """Add to the cell of each delta-coded target `outside` if its bit in `external` is set, else `inside`."""
    arrived = 0.0
    slot = np.int64(0)
    gap = np.int64(0)
    shift = 0
    count = 0
    for byte in targets:
        gap |= np.int64(byte & 127) << shift
        shift += 7
        if byte >= 128:
            continue
        slot += gap
        leaves = (count >> 3) < external.size and (external[count >> 3] >> (count & 7)) & 1
        amount = outside if leaves else inside
        arrived += _arrive(known, saved, cash, changed, bits, slot, amount, at_seq, chunk_seq)
        count += 1
        slot += 1
        gap = np.int64(0)
        shift = 0
    return arrived


@compiled
def count_segments(wanted: Keys, count: Ints) -> None:
    """Add to `count`, shape (SEGMENTS,), the number of `wanted` keys of each segment; key 0 belongs to none."""
    for i in range(wanted.size):
        if wanted[i] != _EMPTY:
            count[np.int64(wanted[i] >> _SEGMENT_SHIFT)] += 1


@compiled
def _gather(count: Ints, first: int, last: int, wanted: Keys, ends: Ints, gathered: Keys, places: Slots) -> None:
    """Gather the keys of segments [first, last), with indexes in `wanted`; `ends` gets the end of each segment."""
    total = 0
    for s in range(first, last):
        ends[s] = total
        total += count[s]
    for i in range(wanted.size):
        segment = np.int64(wanted[i] >> _SEGMENT_SHIFT)
        if first <= segment < last and wanted[i] != _EMPTY:
            gathered[ends[segment]] = wanted[i]
            places[ends[segment]] = i
            ends[segment] += 1


@compiled
def load(
    keys: Keys,
    slots: Slots,
    capacity: Ints,
    count: Ints,
    stride: int,
    tally: Ints,
    wanted: Keys,
    ends: Ints,
    gathered: Keys,
    places: Slots,
) -> bool:
    """Fill an empty table with `wanted`, of which `count` belong to each segment; return False if one is repeated.

    Key by key, nearly every cell would be a cache miss; so the keys of some segments are gathered first, and then
    each of these segments is filled while it is in the cache. `ends`, `gathered` and `places` are scratch.
    """
    for first in range(0, SEGMENTS, TOGETHER):
        _gather(count, first, first + TOGETHER, wanted, ends, gathered, places)
        for segment in range(first, first + TOGETHER):
            for i in range(ends[segment] - count[segment], ends[segment]):
                cell = _seek(keys, segment * stride, capacity[segment], gathered[i])
                if keys[cell] != _EMPTY:
                    return False
                keys[cell] = gathered[i]
                slots[cell] = places[i]
    for i in range(wanted.size):
        if wanted[i] == _EMPTY:
            if tally[ZERO] >= 0:
                return False
            tally[ZERO] = i
    tally[KNOWN] = wanted.size
    return True


@compiled
def keys_by_slot(keys: Keys, slots: Slots, capacity: Ints, stride: int, out: Keys) -> None:
    """Fill `out` with the keys in the order of their slots; the element for key 0 is not written."""
    for segment in range(SEGMENTS):
        base = segment * stride
        for cell in range(base, base + capacity[segment]):
            if keys[cell] != _EMPTY:
                out[slots[cell]] = keys[cell]
