"""Prefetching of the parts of the queues that a choice will need, compiled.

For a million pages, waiting for memory at each access would take as long as all other work. So memory is requested in
advance, for many hosts at once.
"""

from typing import Any

from evercrawl.kernels.build import compiled
from evercrawl.kernels.prefetch import prefetch
from evercrawl.schedule.frontier._blocks import Store
from evercrawl.schedule.frontier._heaps import Heap, spot, whole
from evercrawl.schedule.frontier._layout import ADDED, AGAIN, AWAKE, SHORT, WOKEN, WORDS
from evercrawl.schedule.frontier._memory import asleep, awake, short
from evercrawl.schedule.frontier._rows import CandidateRows


@compiled
def _see(heap: Heap, i: int) -> None:
    prefetch(heap.keys, spot(heap, i))


@compiled
def _see_new(heap: Heap, n: int) -> None:
    """Prefetch the place of an entry to be added to `n`, and the entry above it."""
    _see(heap, n)
    _see(heap, (n - 1) >> 1)


@compiled
def see_firsts(s: Store, h: int) -> None:
    """Prefetch the first of a host's awake pages and of its short list."""
    _see(awake(s, h), 0)
    _see(short(s, h), 0)


@compiled
def see_asleep(s: Store, h: int) -> None:
    """Prefetch the ends of a host's heap of sleeping pages: the first may awake, and the last replaces it."""
    heap = asleep(s, h)
    _see(heap, 0)
    _see(heap, whole(s.lots[h].asleep) - 1)


@compiled
def see_bed(s: Store, h: int) -> None:
    """Prefetch the place where a host's next page will sleep, and the entry above it."""
    _see_new(asleep(s, h), whole(s.lots[h].asleep))


@compiled
def see_rows(s: Store, r: CandidateRows, chosen: Any, n: int) -> None:
    """Prefetch what settling rows needs: the entries that replace chosen ones, and the places of the others."""
    for i in chosen:
        h = whole(r.of[i])
        if r.kinds[i] == AWAKE:
            _see(awake(s, h), whole(s.lots[h].awake) - 1)
        elif r.kinds[i] == SHORT:
            _see(short(s, h), whole(s.lots[h].short) - 1)
    for i in range(n):
        h = whole(r.of[i])
        if r.kinds[i] == WOKEN:
            _see_new(awake(s, h), whole(s.lots[h].awake))
        elif r.kinds[i] == AGAIN:
            _see(awake(s, h), (whole(r.places[i]) - 1) >> 1)
            _see(awake(s, h), 2 * whole(r.places[i]) + 1)
        elif r.kinds[i] == ADDED:
            prefetch(s.words, whole(s.lots[h].tail) * WORDS + 3 + whole(s.lots[h].last))
            _see_new(short(s, h), whole(s.lots[h].short))
