"""What a host has waiting, compiled: pages to refresh in heaps, pages never fetched in a short list and a bag.

All hosts share two big arrays. `entries` is given out in blocks of 4, 8, 16 ... entries: to a host's *awake* and
*asleep* pages, which share a block from both ends, and to its *short list*. `chunks` holds the *bags*, chains of 16
words each: the number of the following chunk and 15 slots, first in, first out; 4.3 bytes a page.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.kernels.prefetch import prefetch
from evercrawl.schedule._heap_kernels import Heap, Order, heapify, key_at, push, rekey, slot_at, whole
from evercrawl.schedule._lot_layout import CHUNK, CHUNKS, FREE, FREE_CHUNK, TOP


class Store(NamedTuple):
    """All memory there is."""

    lots: Any
    resting: Order
    dues: Order
    news: Order
    keys: Any
    slots: Any
    chunks: Any
    control: Any


@compiled
def awake(s: Store, h: int) -> Heap:
    """Return the pages that may be refreshed, by when they fall due."""
    return Heap(s.keys, s.slots, s.lots["block"][h], 1)


@compiled
def asleep(s: Store, h: int) -> Heap:
    """Return the pages that may not yet be refreshed, by when they may."""
    return Heap(s.keys, s.slots, s.lots["block"][h] + whole(s.lots["room"][h]) - 1, -1)


@compiled
def short(s: Store, h: int) -> Heap:
    """Return the best of the pages never fetched, by value upside down."""
    return Heap(s.keys, s.slots, s.lots["short_block"][h], 1)


@compiled
def _take_block(s: Store, size: int) -> Any:
    """Return the start of a block of `size` entries, 4 times a power of two."""
    kind = 0
    while (4 << kind) < size:
        kind += 1
    free = s.control[FREE + kind]
    if free:
        s.control[FREE + kind] = whole(s.slots[free - 1])
        return free - 1
    start = s.control[TOP]
    s.control[TOP] = start + size
    return start


@compiled
def _give_block(s: Store, start: int, size: int) -> None:
    kind = 0
    while (4 << kind) < size:
        kind += 1
    s.slots[start] = s.control[FREE + kind]
    s.control[FREE + kind] = start + 1


@compiled
def _size(least: int) -> int:
    size = 4
    while size < least:
        size *= 2
    return size


@compiled
def make_room(s: Store, h: int, more: int) -> None:
    """See to it that `more` pages can be added to those awake or asleep."""
    lot = s.lots[h]
    old, up, down = whole(lot.room), whole(lot.awake), whole(lot.asleep)
    if up + down + more <= old:
        return
    size = _size(up + down + more)
    start, before = _take_block(s, size), lot.block
    for i in range(up):
        s.keys[start + i], s.slots[start + i] = s.keys[before + i], s.slots[before + i]
    for i in range(down):
        s.keys[start + size - 1 - i], s.slots[start + size - 1 - i] = (
            s.keys[before + old - 1 - i],
            s.slots[before + old - 1 - i],
        )
    if old:
        _give_block(s, before, old)
    lot.block, lot.room = start, size


@compiled
def push_awake(s: Store, h: int, key: float, slot: int) -> None:
    """Add a page that may be refreshed."""
    make_room(s, h, 1)
    push(awake(s, h), whole(s.lots[h].awake), key, slot)
    s.lots[h].awake += 1


@compiled
def push_asleep(s: Store, h: int, key: float, slot: int) -> None:
    """Add a page that may not be refreshed before `key`."""
    make_room(s, h, 1)
    push(asleep(s, h), whole(s.lots[h].asleep), key, slot)
    s.lots[h].asleep += 1


@compiled
def push_short(s: Store, h: int, key: float, slot: int) -> None:
    """Add a page to the short list."""
    lot = s.lots[h]
    n, old, before = whole(lot.short), whole(lot.short_room), lot.short_block
    if n == old:
        size = _size(n + 1)
        start = _take_block(s, size)
        for i in range(n):
            s.keys[start + i], s.slots[start + i] = s.keys[before + i], s.slots[before + i]
        if old:
            _give_block(s, before, old)
        lot.short_block, lot.short_room = start, size
    push(short(s, h), n, key, slot)
    lot.short = n + 1


@compiled
def turn_short(s: Store, h: int) -> None:
    """Turn the short list upside down: every key becomes its negative."""
    heap, n = short(s, h), whole(s.lots[h].short)
    for i in range(heap.base, heap.base + n):
        s.keys[i] = -s.keys[i]
    heapify(heap, n)


@compiled
def bag_in(s: Store, h: int, slot: int) -> None:
    """Put a page into the bag."""
    lot = s.lots[h]
    filled = whole(lot.first) + whole(lot.bag)
    if lot.bag == 0 or filled % (CHUNK - 1) == 0:
        chunk = s.control[FREE_CHUNK]
        if chunk:
            s.control[FREE_CHUNK] = whole(s.chunks[(chunk - 1) * CHUNK])
        else:
            chunk = s.control[CHUNKS] + 1
            s.control[CHUNKS] = chunk
        s.chunks[(chunk - 1) * CHUNK] = 0
        if lot.bag == 0:
            lot.head, lot.first, filled = chunk, 0, 0
        else:
            s.chunks[(whole(lot.tail) - 1) * CHUNK] = chunk
        lot.tail = chunk
    s.chunks[(whole(lot.tail) - 1) * CHUNK + 1 + filled % (CHUNK - 1)] = slot
    lot.bag += 1


@compiled
def bag_out(s: Store, h: int) -> Any:
    """Take the page that has been longest in the bag; there is one."""
    lot = s.lots[h]
    start = (whole(lot.head) - 1) * CHUNK
    if lot.first == 0:
        prefetch(s.chunks, (whole(s.chunks[start]) - 1) * CHUNK)
    slot = s.chunks[start + 1 + whole(lot.first)]
    lot.first += 1
    lot.bag -= 1
    if lot.first == CHUNK - 1 or lot.bag == 0:
        following = s.chunks[start]
        s.chunks[start] = s.control[FREE_CHUNK]
        s.control[FREE_CHUNK] = whole(lot.head)
        lot.head, lot.first = following, 0
    return slot


@compiled
def replace_worst(s: Store, h: int, value: float, slot: int) -> Any:
    """Put a page in the place of the first of a full short list whose keys are values; return which went."""
    heap = short(s, h)
    went = slot_at(heap, 0)
    s.keys[heap.base], s.slots[heap.base] = value, slot
    rekey(heap, whole(s.lots[h].short), 0, value)
    return went


@compiled
def first_key(heap: Heap, n: int) -> Any:
    """Return the smallest key, infinity if there is none."""
    return key_at(heap, 0) if n else np.inf
