"""Compiled visits of OPIC; `importance.ledger.ledger` is the readable reference, one visit at a time."""

from typing import Any, Final

import numpy as np

from evercrawl.kernels.addresses import floats_at, ints32_at
from evercrawl.kernels.build import entry, f64, i64, pointer, view
from evercrawl.lab.engine._heap_kernel import PlacedHeap, rise, settle, sink
from evercrawl.lab.engine._rows_kernel import row_arrays

_F: Final = pointer(np.float64)
_L: Final = pointer(np.int64)
_I: Final = pointer(np.int32)

UNSPENT: Final = 0  # cash that the virtual page has paid to each page; not contained in the keys
CLOCK: Final = 1  # G


@entry(i64, _I, _I, _F, i64)
def heapify(page: Any, place: Any, key: Any, n: int) -> int:
    """Build a heap of all pages."""
    settle(PlacedHeap(view(page, n), view(place, n), view(key, n)))
    return 0


@entry(i64, _L, i64, i64, _L, i64, _L, i64, f64, i64, _L)
def visit(
    links_now: Any, links: int, n: int, numbers: Any, greedy: int, picks: Any, visits: int, tax: float, extra: int,
    made: Any,
) -> int:  # fmt: skip
    """Visit the pages of `picks`, or for -1 the page with most cash; record each page's earned cash, and G.

    The arrays of `numbers` are keys, histories, initial cash, the state, and the heap's pages and places; those of
    `made` are page, earned cash and G.
    """
    rows, at, into = row_arrays(links_now, n, links), view(numbers, 6), view(made, 3)
    begin, out, to = rows.first, rows.count, rows.target
    keys, moved, initial = view(floats_at(at[0]), n), view(floats_at(at[1]), n), view(floats_at(at[2]), n)
    now, order = view(floats_at(at[3]), 2), view(picks, visits)
    heap = PlacedHeap(view(ints32_at(at[4]), n), view(ints32_at(at[5]), n), keys)  # empty unless an order is greedy
    seen = view(ints32_at(into[0]), visits)
    earned, clock = view(floats_at(into[1]), visits), view(floats_at(into[2]), visits)
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
        for link in range(begin[i], begin[i] + out[i]):
            j = to[link]
            keys[j] += share
            if greedy:
                rise(heap, j)
        now[UNSPENT] += (cash - share * out[i]) / n
    return 0
