"""The pages of a host, compiled: pages to refresh in heaps, pages never fetched in a short list and a bag.

A host's *awake* and *asleep* pages and its *short list* are heaps in blocks (`_lot_blocks`). Its *bag* is a chain of
such blocks, first in, first out: the number of the next block, two unused words, and slots, 9 in a first block, 21 in
the second, and 45 in others; 4.3 bytes per page.
"""

from typing import Any

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.kernels.prefetch import prefetch
from evercrawl.schedule.frontier._blocks import LARGEST, Store, close_place, give_block, open_place, take_block
from evercrawl.schedule.frontier._heaps import Heap, heapify, key_at, push, rekey, remove, slot_at, spot, whole
from evercrawl.schedule.frontier._layout import WORDS


@compiled
def awake(s: Store, h: int) -> Heap:
    """Return the pages that may be refreshed, by due time."""
    return Heap(s.keys, s.slots, s.words, whole(s.lots["awake_block"][h]), s.tables)


@compiled
def asleep(s: Store, h: int) -> Heap:
    """Return the pages that may not yet be refreshed, by the earliest time of a refresh."""
    return Heap(s.keys, s.slots, s.words, whole(s.lots["asleep_block"][h]), s.tables)


@compiled
def short(s: Store, h: int) -> Heap:
    """Return the best of the pages never fetched, by negated value."""
    return Heap(s.keys, s.slots, s.words, whole(s.lots["short_block"][h]), s.tables)


@compiled
def push_awake(s: Store, h: int, key: float, slot: int) -> None:
    """Add a page that may be refreshed."""
    lot = s.lots[h]
    lot.awake_block = open_place(s, whole(lot.awake_block), whole(lot.awake))
    push(awake(s, h), whole(lot.awake), key, slot)
    lot.awake += 1


@compiled
def push_asleep(s: Store, h: int, key: float, slot: int) -> None:
    """Add a page that may not be refreshed before `key`."""
    lot = s.lots[h]
    lot.asleep_block = open_place(s, whole(lot.asleep_block), whole(lot.asleep))
    push(asleep(s, h), whole(lot.asleep), key, slot)
    lot.asleep += 1


@compiled
def push_short(s: Store, h: int, key: float, slot: int) -> None:
    """Add a page to the short list."""
    lot = s.lots[h]
    lot.short_block = open_place(s, whole(lot.short_block), whole(lot.short))
    push(short(s, h), whole(lot.short), key, slot)
    lot.short += 1


@compiled
def drop_awake(s: Store, h: int, i: int) -> None:
    """Remove entry `i` of the pages that may be refreshed."""
    lot = s.lots[h]
    remove(awake(s, h), whole(lot.awake), i)
    lot.awake -= 1
    close_place(s, whole(lot.awake_block), whole(lot.awake))


@compiled
def drop_asleep(s: Store, h: int, i: int) -> None:
    """Remove entry `i` of the pages that may not yet be refreshed."""
    lot = s.lots[h]
    remove(asleep(s, h), whole(lot.asleep), i)
    lot.asleep -= 1
    close_place(s, whole(lot.asleep_block), whole(lot.asleep))


@compiled
def drop_short(s: Store, h: int, i: int) -> None:
    """Remove entry `i` of the short list."""
    lot = s.lots[h]
    remove(short(s, h), whole(lot.short), i)
    lot.short -= 1
    close_place(s, whole(lot.short_block), whole(lot.short))


@compiled
def empty_short(s: Store, h: int) -> None:
    """Empty the short list."""
    lot = s.lots[h]
    while lot.short:
        lot.short -= 1
        close_place(s, whole(lot.short_block), whole(lot.short))


@compiled
def turn_short(s: Store, h: int) -> None:
    """Reverse the short list: every key is negated."""
    heap, n = short(s, h), whole(s.lots[h].short)
    for i in range(n):
        s.keys[spot(heap, i)] *= -1.0
    heapify(heap, n)


@compiled
def _slots_in(s: Store, block: int) -> Any:
    """Return the number of slots of a bag in a block: three words of its place 0 have other uses."""
    return (WORDS << whole(s.slots[block * 4])) - 3


@compiled
def bag_in(s: Store, h: int, slot: int) -> None:
    """Put a page into the bag."""
    lot, tail = s.lots[h], whole(s.lots[h].tail)
    if lot.bag == 0:
        lot.head = lot.tail = take_block(s, 0)
        lot.first, lot.last = 0, 0
    elif lot.last == _slots_in(s, tail):
        lot.tail = take_block(s, min(whole(s.slots[tail * 4]) + 1, LARGEST))
        s.words[tail * WORDS] = lot.tail
        lot.last = 0
    s.words[whole(lot.tail) * WORDS + 3 + whole(lot.last)] = slot
    lot.last += 1
    lot.bag += 1


@compiled
def bag_out(s: Store, h: int) -> Any:
    """Take the oldest page of the bag, which is not empty."""
    lot, head = s.lots[h], whole(s.lots[h].head)
    following = s.words[head * WORDS]
    if lot.first == 0 and lot.head != lot.tail:
        prefetch(s.words, whole(following) * WORDS)
    slot = s.words[head * WORDS + 3 + whole(lot.first)]
    lot.first += 1
    lot.bag -= 1
    if lot.bag == 0 or lot.first == _slots_in(s, head):
        give_block(s, head, whole(s.slots[head * 4]))
        lot.head, lot.first = following, 0
    return slot


@compiled
def replace_worst(s: Store, h: int, value: float, slot: int) -> Any:
    """Replace the first page of a full short list whose keys are values; return the replaced page."""
    heap = short(s, h)
    went = slot_at(heap, 0)
    s.keys[spot(heap, 0)], s.slots[spot(heap, 0)] = value, slot
    rekey(heap, whole(s.lots[h].short), 0, value)
    return went


@compiled
def first_key(heap: Heap, n: int) -> Any:
    """Return the smallest key, infinity if there is none."""
    return key_at(heap, 0) if n else np.inf
