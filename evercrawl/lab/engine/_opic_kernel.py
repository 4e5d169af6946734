"""Visits of OPIC, compiled; `importance.ledger.ledger` has the same in plain sight, one at a time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import entry, f64, i64, pointer, view
from evercrawl.lab.engine._heap_kernel import PlacedHeap, rise, settle, sink

_F: Final = pointer(np.float64)
_L: Final = pointer(np.int64)
_I: Final = pointer(np.int32)

UNSPENT: Final = 0  # what each page has got of the virtual page's cash so far; the keys are without it
CLOCK: Final = 1  # G


@entry(i64, _I, _I, _F, i64)
def heapify(page: Any, place: Any, key: Any, n: int) -> int:
    """Make a heap of all pages."""
    settle(PlacedHeap(view(page, n), view(place, n), view(key, n)))
    return 0


@entry(i64, _L, _I, _I, i64, i64, _F, _F, _F, _F, _I, _I, i64, _L, i64, f64, i64, _I, _F, _F)
def visit(
    first: Any, count: Any, target: Any, links: int, n: int, key: Any, history: Any, put_in: Any, state: Any,
    page: Any, place: Any, greedy: int, picks: Any, visits: int, tax: float, extra: int,
    to_page: Any, to_earned: Any, to_clock: Any,
) -> int:  # fmt: skip
    """Visit the pages of `picks`, the one with most cash where there is -1; note what each had earned, and G then."""
    begin, out, to = view(first, n), view(count, n), view(target, links)
    keys, moved, initial, now = view(key, n), view(history, n), view(put_in, n), view(state, 2)
    heap = PlacedHeap(view(page, n), view(place, n), keys)  # neither touched nor there without greed
    order = view(picks, visits)
    seen, earned, clock = view(to_page, visits), view(to_earned, visits), view(to_clock, visits)
    for k in range(visits):
        i: Any = order[k] if order[k] >= 0 else np.int64(heap.page[0])
        cash = keys[i] + now[UNSPENT]
        keys[i] = -now[UNSPENT]
        moved[i] += cash
        now[CLOCK] += cash
        seen[k], earned[k], clock[k] = i, cash - initial[i], now[CLOCK]
        initial[i] = 0.0
        if greedy:
            sink(heap, i)
        share = (1.0 - tax) * cash / max(out[i] + extra, 1)
        for at in range(begin[i], begin[i] + out[i]):
            j = to[at]
            keys[j] += share
            if greedy:
                rise(heap, j)
        now[UNSPENT] += (cash - share * out[i]) / n
    return 0
