"""What a choice will want of the queues, compiled: asked of memory some steps ahead.

Of a million pages each wait for memory would take as long as all that is done with what comes, so it is asked for in
time, for many hosts at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evercrawl.kernels.build import compiled
from evercrawl.kernels.prefetch import prefetch
from evercrawl.schedule._heap_kernels import whole
from evercrawl.schedule._lot_layout import ADDED, AGAIN, AWAKE, CHUNK, SHORT, WOKEN

if TYPE_CHECKING:
    from evercrawl.schedule._lot_collect import Rows
    from evercrawl.schedule._lot_memory import Store


@compiled
def see_firsts(s: Store, h: int) -> None:
    """Ask for the first of a host's awake pages and of its short list."""
    lot = s.lots[h]
    prefetch(s.keys, lot.block)
    prefetch(s.keys, lot.short_block)


@compiled
def see_asleep(s: Store, h: int) -> None:
    """Ask for the ends of a host's heap of pages that are asleep: the first may awake, the last take its place."""
    lot = s.lots[h]
    end = lot.block + whole(lot.room)
    prefetch(s.keys, end - 1)
    prefetch(s.keys, end - whole(lot.asleep))


@compiled
def see_bed(s: Store, h: int) -> None:
    """Ask for where a host's next page will sleep, and for the entry above it."""
    lot = s.lots[h]
    last, n = lot.block + whole(lot.room) - 1, whole(lot.asleep)
    prefetch(s.keys, last - n)
    prefetch(s.keys, last - ((n - 1) >> 1))


@compiled
def see_rows(s: Store, r: Rows, chosen: Any, n: int) -> None:
    """Ask for what rows that are settled will need: what takes a chosen one's place, and where the others come."""
    for i in chosen:
        lot = s.lots[whole(r.of[i])]
        if r.kinds[i] == AWAKE:
            prefetch(s.keys, lot.block + whole(lot.awake) - 1)
        elif r.kinds[i] == SHORT:
            prefetch(s.keys, lot.short_block + whole(lot.short) - 1)
    for i in range(n):
        lot = s.lots[whole(r.of[i])]
        if r.kinds[i] == WOKEN:
            prefetch(s.keys, lot.block + whole(lot.awake))
            prefetch(s.keys, lot.block + ((whole(lot.awake) - 1) >> 1))
        elif r.kinds[i] == AGAIN:
            prefetch(s.keys, lot.block + ((whole(r.places[i]) - 1) >> 1))
            prefetch(s.keys, lot.block + 2 * whole(r.places[i]) + 1)
        elif r.kinds[i] == ADDED:
            prefetch(s.chunks, (whole(lot.tail) - 1) * CHUNK)
            prefetch(s.keys, lot.short_block + whole(lot.short))
            prefetch(s.keys, lot.short_block + ((whole(lot.short) - 1) >> 1))
