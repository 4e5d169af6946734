"""The solver's compiled inner loops; tests/helpers/known_graph/slowly.py is the readable reference in plain Python."""

from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import entry, f64, i64, pointer, view
from evercrawl.kernels.prefetch import prefetch

_PLACES: Final = pointer(np.int64)
_SLOTS: Final = pointer(np.uint32)
_FLOATS: Final = pointer(np.float64)
_AHEAD: Final = 256  # links; slower memory (10 million pages, a busy machine) needs a longer distance


@entry(i64, _PLACES, _PLACES, _SLOTS, i64, f64, _FLOATS, f64, _FLOATS, _FLOATS)
def push(
    start: Any, leaving: Any, target: Any, pages: int, internal: float, each: Any, least: float, x: Any, r: Any
) -> int:  # fmt: skip
    """Push every residual larger than `least` once, in page order; return the number of links followed."""
    begin, leaves = view(start, pages + 1), view(leaving, pages)
    links, pushed = begin[pages], 0
    to, share = view(target, links), view(each, pages)
    value, residual = view(x, pages), view(r, pages)
    for page in range(pages):
        moved = residual[page]
        if abs(moved) > least:
            residual[page] = 0.0
            value[page] += moved
            amount = moved * share[page]
            first, middle, last = begin[page], leaves[page], begin[page + 1]
            for k in range(first, middle):
                residual[to[k]] += amount * internal
            for k in range(middle, last):
                prefetch(residual, to[min(k + _AHEAD, links - 1)])
                residual[to[k]] += amount
            pushed += last - first
    return pushed


@entry(f64, _FLOATS, _FLOATS, i64, f64)
def withdraw(r: Any, source: Any, pages: int, part: float) -> float:
    """Subtract `part` of the source from the residuals; return the sum of their absolute values."""
    residual, own = view(r, pages), view(source, pages)
    even = odd = third = fourth = 0.0  # four sums, because each addition waits for the one before
    whole = pages // 4 * 4
    for page in range(0, whole, 4):
        for k in range(4):
            residual[page + k] -= part * own[page + k]
        even += abs(residual[page])
        odd += abs(residual[page + 1])
        third += abs(residual[page + 2])
        fourth += abs(residual[page + 3])
    for page in range(whole, pages):
        residual[page] -= part * own[page]
        even += abs(residual[page])
    return (even + odd) + (third + fourth)
