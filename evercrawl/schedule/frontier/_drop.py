"""Removal of waiting pages by the set bits of an array, compiled: all of a host's heaps, and its bag in parts."""

from typing import Any

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.schedule.frontier._blocks import Store, close_place
from evercrawl.schedule.frontier._changes import rest
from evercrawl.schedule.frontier._heaps import Heap, heapify, key_at, slot_at, spot, whole
from evercrawl.schedule.frontier._memory import asleep, awake, bag_in, bag_out, short


@compiled
def _is_set(bits: Any, slot: int) -> Any:
    return (bits[whole(slot) >> 3] >> (whole(slot) & 7)) & 1


@compiled
def _set(bits: Any, slot: int) -> None:
    bits[whole(slot) >> 3] |= np.uint8(1 << (whole(slot) & 7))


@compiled
def _sieve(heap: Heap, n: int, unwanted: Any, dropped: Any) -> Any:
    """Keep those of `n` entries whose bit is not set, as a heap; return their number."""
    kept = 0
    for i in range(n):
        slot = whole(slot_at(heap, i))
        if _is_set(unwanted, slot):
            _set(dropped, slot)
        else:
            if kept < i:
                at, key = spot(heap, kept), key_at(heap, i)
                heap.keys[at], heap.slots[at] = key, np.uint32(slot)
            kept += 1
    if kept < n:
        heapify(heap, kept)
    return kept


@compiled
def drop(s: Store, h: int, unwanted: Any, dropped: Any, most: int, gone: Any) -> None:
    """Remove unwanted pages from a host's heaps, and from the first `most` of its bag, and mark them as `dropped`.

    The other examined pages of the bag move to its end. `gone` counts new pages, and visited ones.
    """
    lot, before_new, before_seen = s.lots[h], gone[0], gone[1]
    n, kept = whole(lot.short), _sieve(short(s, h), whole(lot.short), unwanted, dropped)
    gone[0] += n - kept
    _close_short(s, h, kept)
    n, kept = whole(lot.awake), _sieve(awake(s, h), whole(lot.awake), unwanted, dropped)
    gone[1] += n - kept
    while lot.awake > kept:
        lot.awake -= 1
        close_place(s, whole(lot.awake_block), whole(lot.awake))
    n, kept = whole(lot.asleep), _sieve(asleep(s, h), whole(lot.asleep), unwanted, dropped)
    gone[1] += n - kept
    while lot.asleep > kept:
        lot.asleep -= 1
        close_place(s, whole(lot.asleep_block), whole(lot.asleep))
    for _ in range(min(most, whole(lot.bag))):
        slot = whole(bag_out(s, h))
        if _is_set(unwanted, slot):
            _set(dropped, slot)
            gone[0] += 1
        else:
            bag_in(s, h, slot)
    if lot.out == 0 and gone[0] + gone[1] > before_new + before_seen:
        rest(s, h, lot.rest_at)


@compiled
def take_new(s: Store, h: int, wanted: Any, taken: Any) -> Any:
    """Remove the new pages of a host whose bits are set, and write their slots; return their number."""
    lot, heap, count = s.lots[h], short(s, h), 0
    for i in range(whole(lot.short)):
        slot = whole(slot_at(heap, i))
        if _is_set(wanted, slot):
            taken[count] = slot
            count += 1
    if count:
        _close_short(s, h, _sieve(heap, whole(lot.short), wanted, wanted))
    for _ in range(whole(lot.bag)):
        slot = whole(bag_out(s, h))
        if _is_set(wanted, slot):
            taken[count] = slot
            count += 1
        else:
            bag_in(s, h, slot)
    if lot.out == 0 and count:
        rest(s, h, lot.rest_at)
    return count


@compiled
def _close_short(s: Store, h: int, kept: int) -> None:
    """Give back the places of a host's short list after those that are kept."""
    lot = s.lots[h]
    while lot.short > kept:
        lot.short -= 1
        close_place(s, whole(lot.short_block), whole(lot.short))
