"""Compiled visits under push; `importance.push` and the ledger are the readable reference, one visit at a time."""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.addresses import floats_at, ints32_at
from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.lab.engine._heap_kernel import PlacedHeap, rise, sink
from evercrawl.lab.engine._rows_kernel import RowArrays, replace, row_arrays

_L: Final = pointer(np.int64)


class Residual(NamedTuple):
    """The residual of each page; and with `greedy`, the heap of pages by the size of the residual."""

    r: Any
    heap: PlacedHeap
    greedy: int


@compiled
def _pay(to: Residual, rows: RowArrays, i: int, amount: float) -> None:
    for at in range(rows.first[i], rows.first[i] + rows.count[i]):
        j = rows.target[at]
        to.r[j] += amount
        if to.greedy:
            _weigh(to, j)


@compiled
def _weigh(of: Residual, j: int) -> None:
    before, now = of.heap.key[j], math.fabs(of.r[j])
    of.heap.key[j] = now
    if now > before:
        rise(of.heap, j)
    else:
        sink(of.heap, j)


@compiled
def _take(of: Residual, i: int) -> Any:
    amount = of.r[i]
    of.r[i] = 0.0
    if of.greedy:
        _weigh(of, i)
    return amount


@compiled
def _same(rows: RowArrays, others: RowArrays, i: int) -> bool:
    if rows.count[i] != others.count[i]:
        return False
    k = 0
    while k < rows.count[i] and rows.target[rows.first[i] + k] == others.target[others.first[i] + k]:
        k += 1
    same: bool = k >= rows.count[i]
    return same


@compiled
def _numbers(addresses: Any, n: int, greedy: int) -> tuple[Any, Residual]:
    """Return the value and the residual of each page; the addresses are those of value, r, key, page and place."""
    at = view(addresses, 5)
    heap = PlacedHeap(view(ints32_at(at[3]), n), view(ints32_at(at[4]), n), view(floats_at(at[2]), n))
    return view(floats_at(at[0]), n), Residual(view(floats_at(at[1]), n), heap, greedy)


@entry(i64, _L, i64, _L, i64, i64, _L, i64, _L, i64, f64)
def visit(
    live_rows: Any, links: int, held_rows: Any, held_links: int, n: int, numbers: Any, greedy: int,
    picks: Any, visits: int, tax: float,
) -> int:  # fmt: skip
    """Visit the pages of `picks`, or for -1 the page with the largest |r|; return the number of pages visited.

    It is smaller than requested if there is no more room for a page's present links.
    """
    live, held = row_arrays(live_rows, n, links), row_arrays(held_rows, n, held_links)
    x, to = _numbers(numbers, n, greedy)
    order = view(picks, visits)
    for k in range(visits):
        i: Any = order[k] if order[k] >= 0 else np.int64(to.heap.page[0])
        same = _same(live, held, i)
        if not same and held.end[0] + live.count[i] > len(held.target):
            return k
        if not same and held.count[i] > 0:
            _pay(to, held, i, -(1.0 - tax) * x[i] / held.count[i])
        amount = _take(to, i)
        x[i] += amount
        if not same:
            replace(held, i, live)
            amount = x[i]
        if held.count[i] > 0:
            _pay(to, held, i, (1.0 - tax) * amount / held.count[i])
    return visits


@entry(i64, _L, i64, i64, _L, i64, _L, i64, f64)
def settle(known: Any, links: int, n: int, numbers: Any, greedy: int, picks: Any, pushes: int, tax: float) -> int:
    """Push the residuals of the pages of `picks` along known links, without a visit; unread pages have no links."""
    rows, order = row_arrays(known, n, links), view(picks, pushes)
    x, to = _numbers(numbers, n, greedy)
    for k in range(pushes):
        i: Any = order[k] if order[k] >= 0 else np.int64(to.heap.page[0])
        if rows.count[i] >= 0:
            amount = _take(to, i)
            x[i] += amount
            if rows.count[i] > 0:
                _pay(to, rows, i, (1.0 - tax) * amount / rows.count[i])
    return 0
