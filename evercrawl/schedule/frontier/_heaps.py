"""Heaps, compiled: of pages in blocks of one large array, and of hosts with known places.

A heap of pages is stored in blocks of 16 places, at any position; a table locates all but the first. So a growing heap
is never copied, and leaves only a part of its last block unused. Entry i has place i + 1, so that the two entries below
an entry share a block. The smallest key is on top; of equal keys the smaller slot comes first, so that the order does
not depend on the history of the heap.
"""

from typing import Any, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.schedule.frontier._layout import BITS, BLOCK, WORDS


@compiled
def whole(number: Any) -> Any:
    """Return a number as a signed one: mixing unsigned and signed numbers would give a float."""
    return np.int64(number)


class Heap(NamedTuple):
    """Location of a heap of pages: the arrays of keys and slots, also as words; its first block; the tables.

    Word 0 of its first block, whose place 0 has no entry, gives the start of its table; word 1 gives the table's size.
    """

    keys: Any
    slots: Any
    words: Any
    block: int
    tables: Any


@compiled
def spot(heap: Heap, i: int) -> Any:
    """Return the position of entry `i` in the arrays."""
    place = i + 1
    if place < BLOCK:
        return heap.block * 4 + place
    table = whole(heap.words[heap.block * WORDS])
    return whole(heap.tables[table + (place >> BITS) - 1]) * 4 + (place & (BLOCK - 1))


@compiled
def _before(key: float, slot: int, other_key: float, other_slot: int) -> bool:
    return key < other_key or (key == other_key and slot < other_slot)


@compiled
def _put(heap: Heap, i: int, key: float, slot: int) -> None:
    at = spot(heap, i)
    heap.keys[at], heap.slots[at] = key, slot


@compiled
def key_at(heap: Heap, i: int) -> Any:
    """Return the key of entry `i`; entry 0 is the smallest."""
    return heap.keys[spot(heap, i)]


@compiled
def slot_at(heap: Heap, i: int) -> Any:
    """Return the slot of entry `i`."""
    return heap.slots[spot(heap, i)]


@compiled
def _rise(heap: Heap, i: int, key: float, slot: int) -> None:
    """Place an entry at `i`, or above, where it belongs."""
    while i > 0:
        parent = (i - 1) >> 1
        if not _before(key, slot, key_at(heap, parent), slot_at(heap, parent)):
            break
        _put(heap, i, key_at(heap, parent), slot_at(heap, parent))
        i = parent
    _put(heap, i, key, slot)


@compiled
def _sink(heap: Heap, n: int, i: int, key: float, slot: int) -> None:
    """Place an entry at `i`, or below, where it belongs."""
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and _before(
            key_at(heap, child + 1), slot_at(heap, child + 1), key_at(heap, child), slot_at(heap, child)
        ):
            child += 1
        if not _before(key_at(heap, child), slot_at(heap, child), key, slot):
            break
        _put(heap, i, key_at(heap, child), slot_at(heap, child))
        i = child
    _put(heap, i, key, slot)


@compiled
def push(heap: Heap, n: int, key: float, slot: int) -> None:
    """Add an entry to a heap of `n`; there is room."""
    _rise(heap, n, key, slot)


@compiled
def rekey(heap: Heap, n: int, i: int, key: float) -> None:
    """Change the key of entry `i` of `n`."""
    slot = slot_at(heap, i)
    if i > 0 and _before(key, slot, key_at(heap, (i - 1) >> 1), slot_at(heap, (i - 1) >> 1)):
        _rise(heap, i, key, slot)
    else:
        _sink(heap, n, i, key, slot)


@compiled
def remove(heap: Heap, n: int, i: int) -> None:
    """Remove entry `i` from a heap of `n`."""
    last = n - 1
    if i < last:
        _put(heap, i, key_at(heap, i), slot_at(heap, last))
        rekey(heap, last, i, key_at(heap, last))


@compiled
def heapify(heap: Heap, n: int) -> None:
    """Make a heap of `n` entries in any order."""
    for i in range(n // 2 - 1, -1, -1):
        _sink(heap, n, i, key_at(heap, i), slot_at(heap, i))


class HostHeap(NamedTuple):
    """A heap of hosts: keys and hosts by place, place + 1 by host (0: not in it), and its size, in `size[at]`."""

    keys: Any
    hosts: Any
    places: Any
    size: Any
    at: int


@compiled
def _stand(order: HostHeap, i: int, key: float, host: int) -> None:
    order.keys[i], order.hosts[i] = key, host
    order.places[host] = i + 1


@compiled
def _move(order: HostHeap, i: int, key: float, host: int) -> None:
    """Place `host` at `i`, or above or below, where it belongs."""
    n, start = order.size[order.at], i
    while i > 0:
        parent = (i - 1) >> 1
        if not _before(key, host, order.keys[parent], order.hosts[parent]):
            break
        _stand(order, i, order.keys[parent], order.hosts[parent])
        i = parent
    while i == start:
        child = 2 * i + 1
        if child + 1 < n and _before(
            order.keys[child + 1], order.hosts[child + 1], order.keys[child], order.hosts[child]
        ):
            child += 1
        if child >= n or not _before(order.keys[child], order.hosts[child], key, host):
            break
        _stand(order, i, order.keys[child], order.hosts[child])
        i = start = child
    _stand(order, i, key, host)


@compiled
def place_of(order: HostHeap, host: int) -> Any:
    """Return a host's place, -1 if it is not in the order."""
    return whole(order.places[host]) - 1


@compiled
def enter(order: HostHeap, host: int, key: float) -> None:
    """Insert a host into the order by its key, or move it."""
    place = whole(order.places[host])
    if place == 0:
        place = order.size[order.at] + 1
        order.size[order.at] = place
    elif order.keys[place - 1] == key:
        return
    _move(order, place - 1, key, host)


@compiled
def leave(order: HostHeap, host: int) -> None:
    """Remove a host from the order, if it is there."""
    place = whole(order.places[host])
    if place == 0:
        return
    order.places[host] = 0
    last = order.size[order.at] - 1
    order.size[order.at] = last
    if place - 1 < last:
        _move(order, place - 1, order.keys[last], whole(order.hosts[last]))
