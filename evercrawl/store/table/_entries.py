"""Entries called by `Table`: inner loops over its memory and over arrays, given by pointers."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, u64, view
from evercrawl.store.table import _kernels as kernels
from evercrawl.types import Ints, Keys, Slots

CELL: Final = np.dtype([("key", np.uint64), ("slot", np.uint32)])
SEGMENTS: Final = kernels.SEGMENTS
BLOCK: Final = kernels.BLOCK
_AMOUNTS, _CASH, _CELLS, _BYTES = pointer(np.float64), pointer(np.float64), pointer(CELL), pointer(np.uint8)
_FLAGS, _INTS, _KEYS, _SLOTS = pointer(np.bool_), pointer(np.int64), pointer(np.uint64), pointer(np.uint32)


@compiled
def _columns(cells: Any, size: int) -> tuple[Keys, Slots]:
    """Return cells as arrays of keys and slots."""
    whole = view(cells, size)
    return whole["key"], whole["slot"]


@compiled
def _head(head: Any) -> tuple[Ints, Ints, Ints]:
    """Return the tally, and each segment's capacity and count, which are adjacent in memory."""
    whole = view(head, 2 + 2 * SEGMENTS)
    return whole[:2], whole[2 : 2 + SEGMENTS], whole[2 + SEGMENTS :]


@compiled
def _scratch(scratch: Any) -> tuple[Ints, Keys, Slots]:
    """Return scratch arrays for the cells, keys and slots of a block."""
    whole = view(scratch, 3 * BLOCK)
    return whole[:BLOCK], whole[BLOCK : 2 * BLOCK].view(np.uint64), whole[2 * BLOCK :].view(np.uint32)


@entry(i64, _CELLS, _INTS, i64, _INTS, _KEYS, i64, _SLOTS)
def find(cells: Any, head: Any, stride: int, scratch: Any, wanted: Any, n: int, out: Any) -> int:
    """Write the slots of `wanted`, NO_SLOT for unknown keys."""
    keys, slots = _columns(cells, SEGMENTS * stride)
    tally, capacity, _ = _head(head)
    at, seen, _ = _scratch(scratch)
    kernels.find(keys, slots, capacity, stride, tally, at, seen, view(wanted, n), view(out, n))
    return 0


@entry(i64, _CELLS, _INTS, i64, u64)
def find_one(cells: Any, head: Any, stride: int, key: Any) -> int:
    """Return the slot of a key, -1 if it is unknown."""
    keys, slots = _columns(cells, SEGMENTS * stride)
    tally, capacity, _ = _head(head)
    return int(kernels.find_one(keys, slots, capacity, stride, tally, key))


@entry(i64, _CELLS, _INTS, i64, _INTS, _KEYS, i64, _SLOTS, _FLAGS, _CELLS)
def intern(
    cells: Any, head: Any, stride: int, scratch: Any, wanted: Any, n: int, out: Any, new: Any, spare: Any
) -> int:
    """Write the slots of `wanted`, assigning new ones; return how many keys were done before a segment was full."""
    keys, slots = _columns(cells, SEGMENTS * stride)
    spare_keys, spare_slots = _columns(spare, stride)
    tally, capacity, count = _head(head)
    at, seen, _ = _scratch(scratch)
    return kernels.intern(
        keys, slots, capacity, count, stride, tally, spare_keys, spare_slots, at, seen,
        view(wanted, n), view(out, n), view(new, n),
    )  # fmt: skip


@entry(i64, _CELLS, _INTS, i64, u64, _CELLS)
def intern_one(cells: Any, head: Any, stride: int, key: Any, spare: Any) -> int:
    """Return the slot of a key, the next one if it is new, -1 if its segment is full."""
    keys, slots = _columns(cells, SEGMENTS * stride)
    spare_keys, spare_slots = _columns(spare, stride)
    tally, capacity, count = _head(head)
    return int(kernels.intern_one(keys, slots, capacity, count, stride, tally, spare_keys, spare_slots, key))


@compiled
def _cash(cash: Any, changed: Any, bits: int, size: int) -> tuple[NDArray[np.float64], NDArray[np.uint8], int]:
    """Return the cash of the first `size` slots, the flags of its blocks, and the block size as a power of two."""
    return view(cash, size), view(changed, (size >> bits) + 1), bits


@entry(f64, _CELLS, _INTS, i64, _INTS, _KEYS, i64, _AMOUNTS, _CASH, _BYTES, i64)
def pay(
    cells: Any,
    head: Any,
    stride: int,
    scratch: Any,
    wanted: Any,
    n: int,
    amounts: Any,
    cash: Any,
    changed: Any,
    bits: int,
) -> float:
    """Add amounts to the cash of `wanted`; return the sum that did not arrive."""
    keys, slots = _columns(cells, SEGMENTS * stride)
    tally, capacity, _ = _head(head)
    at, seen, found = _scratch(scratch)
    of = _cash(cash, changed, bits, SEGMENTS * stride)
    return kernels.pay(keys, slots, capacity, stride, tally, at, seen, found, *of, view(wanted, n), view(amounts, n))


@entry(f64, i64, i64, _CASH, _BYTES, i64, _SLOTS, i64, _AMOUNTS, i64, _KEYS, i64)
def pay_slots(
    known: int,
    saved: int,
    cash: Any,
    changed: Any,
    bits: int,
    targets: Any,
    n: int,
    amounts: Any,
    at_seq: int,
    chunk_seq: Any,
    chunks: int,
) -> float:
    """Add amounts to the cash of slots, except those saved later; return the sum that arrived."""
    of = _cash(cash, changed, bits, known)
    return kernels.pay_slots(known, saved, *of, view(targets, n), view(amounts, n), at_seq, view(chunk_seq, chunks))


@entry(f64, i64, i64, _CASH, _BYTES, i64, _BYTES, i64, _BYTES, i64, f64, f64, i64, _KEYS, i64)
def pay_links(
    known: int,
    saved: int,
    cash: Any,
    changed: Any,
    bits_a_block: int,
    targets: Any,
    n: int,
    external: Any,
    bits: int,
    inside: float,
    outside: float,
    at_seq: int,
    chunk_seq: Any,
    chunks: int,
) -> float:
    """Add an amount for each internal and external link to the cash of delta-coded slots; return what arrived."""
    of = _cash(cash, changed, bits_a_block, known)
    after = view(chunk_seq, chunks)
    return kernels.pay_links(
        known, saved, *of, view(targets, n), view(external, bits), inside, outside, at_seq, after
    )  # fmt: skip


@entry(i64, _KEYS, i64, _INTS)
def count_segments(wanted: Any, n: int, count: Any) -> int:
    """Write how many of `wanted` belong to each segment."""
    kernels.count_segments(view(wanted, n), view(count, SEGMENTS))
    return 0


@entry(i64, _CELLS, _INTS, i64, _KEYS, i64, _INTS, _KEYS, _SLOTS, i64)
def load(
    cells: Any, head: Any, stride: int, wanted: Any, n: int, ends: Any, gathered: Any, places: Any, most: int
) -> int:
    """Fill an empty table with `wanted`; return 0 if one is repeated. `most` is the size of the scratch arrays."""
    keys, slots = _columns(cells, SEGMENTS * stride)
    tally, capacity, count = _head(head)
    scratch = view(ends, SEGMENTS), view(gathered, most), view(places, most)
    return int(kernels.load(keys, slots, capacity, count, stride, tally, view(wanted, n), *scratch))


@entry(i64, _CELLS, _INTS, i64, _KEYS)
def keys_by_slot(cells: Any, head: Any, stride: int, out: Any) -> int:
    """Write the keys in the order of their slots; the element for key 0 is not written."""
    keys, slots = _columns(cells, SEGMENTS * stride)
    tally, capacity, _ = _head(head)
    kernels.keys_by_slot(keys, slots, capacity, stride, view(out, tally[kernels.KNOWN]))
    return 0
