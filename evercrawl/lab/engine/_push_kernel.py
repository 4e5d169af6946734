"""Visits under push, compiled; `importance.push` and the ledger have the same in plain sight, one at a time."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.lab.engine._heap_kernel import PlacedHeap, rise, sink
from evercrawl.lab.engine._rows_kernel import RowArrays, replace

_F: Final = pointer(np.float64)
_L: Final = pointer(np.int64)
_I: Final = pointer(np.int32)


class Residual(NamedTuple):
    """What each page has yet to pass on; and with `greedy`, the heap of the pages by its size."""

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


@entry(i64, _L, _I, _I, i64, _L, _I, _I, _I, i64, _L, i64, _F, _F, _F, _I, _I, i64, _L, i64, f64)
def visit(
    first: Any, count: Any, target: Any, links: int,
    held_first: Any, held_count: Any, held_room: Any, held_target: Any, held_links: int, held_end: Any,
    n: int, value: Any, residual: Any, key: Any, page: Any, place: Any, greedy: int,
    picks: Any, visits: int, tax: float,
) -> int:  # fmt: skip
    """Visit the pages of `picks`, the one with the largest |r| where there is -1; return how many were visited.

    Fewer than were asked for are when there is no more room for what a page links to now.
    """
    live = RowArrays(view(first, n), view(count, n), view(count, n), view(target, links), view(held_end, 1))
    held = RowArrays(
        view(held_first, n), view(held_count, n), view(held_room, n), view(held_target, held_links), view(held_end, 1)
    )
    x, order = view(value, n), view(picks, visits)
    to = Residual(view(residual, n), PlacedHeap(view(page, n), view(place, n), view(key, n)), greedy)
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


@entry(i64, _L, _I, _I, i64, i64, _F, _F, _F, _I, _I, i64, _L, i64, f64)
def settle(
    first: Any, count: Any, target: Any, links: int,
    n: int, value: Any, residual: Any, key: Any, page: Any, place: Any, greedy: int,
    picks: Any, pushes: int, tax: float,
) -> int:  # fmt: skip
    """Pass on along known links what the pages of `picks` have, without a visit; those never read have none."""
    out, x, order = view(count, n), view(value, n), view(picks, pushes)
    rows = RowArrays(view(first, n), out, out, view(target, links), view(first, 1))
    to = Residual(view(residual, n), PlacedHeap(view(page, n), view(place, n), view(key, n)), greedy)
    for k in range(pushes):
        i: Any = order[k] if order[k] >= 0 else np.int64(to.heap.page[0])
        if out[i] >= 0:
            amount = _take(to, i)
            x[i] += amount
            if out[i] > 0:
                _pay(to, rows, i, (1.0 - tax) * amount / out[i])
    return 0
