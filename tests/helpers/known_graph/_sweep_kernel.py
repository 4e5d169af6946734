"""OPIC's inner loops over a graph that is known, compiled; `slowly` has the same in plain Python, to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.kernels.prefetch import prefetch

if TYPE_CHECKING:
    from evercrawl.types import Floats, Ints, Slots

_PLACES: Final = pointer(np.int64)
_SLOTS: Final = pointer(np.uint32)
_FLOATS: Final = pointer(np.float64)
_AHEAD: Final = 256  # links, in the pages' order; the farther memory is, the more it takes
_ROWS, _LINKS, _CASH = 32, 16, 8  # visits ahead, in any other: where a row begins, the row, the cash of those it names


@compiled
def _visit(
    page: int, begin: Ints, leaves: Ints, to: Slots, internal: float,
    share: Floats, weight: float, key: Floats, history: Floats, spent: float,
) -> tuple[float, float]:  # fmt: skip
    """Visit a page: all of its cash, the virtual page's part included, goes along its links; return it and the rest."""
    moved = key[page] + spent * weight
    key[page] = -spent * weight  # before anything is given, for a page may link to itself
    history[page] += moved
    amount = moved * share[page]
    first, middle, last = begin[page], leaves[page], begin[page + 1]
    for k in range(first, middle):
        key[to[k]] += amount * internal
    for k in range(middle, last):
        key[to[k]] += amount
    return moved, moved - amount * (internal * (middle - first) + (last - middle))


@entry(i64, _PLACES, _PLACES, _SLOTS, i64, f64, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS)
def cycle(
    start: Any, leaving: Any, target: Any, pages: int, internal: float,
    each: Any, bias: Any, cash: Any, past: Any, state: Any,
) -> int:  # fmt: skip
    """Visit all pages in their order; `state` is what the virtual page has given since the last rebase, and G."""
    begin, leaves = view(start, pages + 1), view(leaving, pages)
    to, share, weight = view(target, begin[pages]), view(each, pages), view(bias, pages)
    key, history, clock = view(cash, pages), view(past, pages), view(state, 2)
    spent, total = clock[0], clock[1]
    links = begin[pages]
    for page in range(pages):
        for k in range(begin[page] + _AHEAD, min(begin[page + 1] + _AHEAD, links)):
            prefetch(key, to[k])
        moved, rest = _visit(page, begin, leaves, to, internal, share, weight[page], key, history, spent)
        spent += rest
        total += moved
    clock[0], clock[1] = spent, total
    return 0


@entry(i64, _PLACES, _PLACES, _SLOTS, i64, f64, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _FLOATS, _SLOTS, i64)
def visit(
    start: Any, leaving: Any, target: Any, pages: int, internal: float,
    each: Any, bias: Any, cash: Any, past: Any, state: Any, order: Any, visits: int,
) -> int:  # fmt: skip
    """Visit pages in the order given, whatever it is; what a visit needs is asked for some visits ahead."""
    begin, leaves = view(start, pages + 1), view(leaving, pages)
    to, share, weight = view(target, begin[pages]), view(each, pages), view(bias, pages)
    key, history, clock = view(cash, pages), view(past, pages), view(state, 2)
    turn, end = view(order, visits), visits - 1
    spent, total = clock[0], clock[1]
    for at in range(visits):
        far, near, next_ = turn[min(at + _ROWS, end)], turn[min(at + _LINKS, end)], turn[min(at + _CASH, end)]
        prefetch(begin, far)
        prefetch(leaves, far)
        prefetch(to, begin[near])
        prefetch(to, begin[near + 1] - 1)
        prefetch(share, near)
        prefetch(weight, near)
        prefetch(key, near)
        prefetch(history, near)
        for k in range(begin[next_], begin[next_ + 1]):
            prefetch(key, to[k])
        page = int(turn[at])
        moved, rest = _visit(page, begin, leaves, to, internal, share, weight[page], key, history, spent)
        spent += rest
        total += moved
    clock[0], clock[1] = spent, total
    return 0
