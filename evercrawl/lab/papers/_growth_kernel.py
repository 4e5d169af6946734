"""Compiled greedy visits of OPIC to a web that becomes known link by link, observed through an exponential window."""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.addresses import floats_at, ints32_at, ints_at
from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.lab.engine._heap_kernel import PlacedHeap, rise, sink

_L: Final = pointer(np.int64)

_SMALL: Final = 1e-5  # below it (1 - exp(-x)) / x is computed as a series
UNSPENT, CLOCK, FIRST, AGES = range(4)  # as in _opic_kernel; then the cash earned until first visits, and the time


class Known(NamedTuple):
    """The heap of known pages, and the state of each page; `put_in` as in `importance.base`."""

    page: Any
    place: Any
    key: Any
    put_in: Any
    history: Any
    missing: Any
    mark: Any
    born: Any
    count: Any
    now: Any


@compiled
def _heap(k: Known) -> PlacedHeap:
    return PlacedHeap(k.page[: k.count[0]], k.place, k.key)


@compiled
def _meet(k: Known, page: int) -> None:
    """Make a page known, without cash."""
    k.key[page], k.born[page] = -k.now[UNSPENT], k.now[CLOCK]
    k.place[page] = k.count[0]
    k.page[k.count[0]] = page
    k.count[0] += 1


@compiled
def _look(k: Known, page: int, cash: float, length: float) -> None:
    """Add the cash of a visited page to its window; the clock is that after the visit."""
    clock, earned = k.now[CLOCK], cash - k.put_in[page]
    first = k.mark[page] == 0.0
    passed = clock - (k.born[page] if first else k.mark[page])
    if first:
        k.now[FIRST] += earned
        k.now[AGES] += passed
    part = passed / length
    even = (1.0 - math.exp(-part)) / part if part > _SMALL else 1.0 - part / 2
    k.history[page] = k.history[page] * math.exp(-part) + earned * even
    k.missing[page] *= math.exp(-part)
    k.mark[page], k.put_in[page] = clock, 0.0


@entry(i64, _L, i64, i64, i64, _L, i64, i64, f64, f64)
def visit(
    web: Any, links: int, n: int, there: int, known: Any, visits: int, most: int, tax: float, length: float
) -> int:
    """Visit the page with most cash, `visits` times or until `most` pages are known; return the number of visits.

    Pages whose turn is `there` or later do not exist yet, nor do links to them. `web` has the starts of the pages'
    links, their targets, and the turns; `known` has the fields of `Known`.
    """
    at, of = view(web, 3), view(known, 10)
    begin, to, turns = view(ints_at(at[0]), n + 1), view(ints32_at(at[1]), links), view(ints32_at(at[2]), n)
    k = Known(
        view(ints32_at(of[0]), n), view(ints32_at(of[1]), n), view(floats_at(of[2]), n), view(floats_at(of[3]), n),
        view(floats_at(of[4]), n), view(floats_at(of[5]), n), view(floats_at(of[6]), n), view(floats_at(of[7]), n),
        view(ints_at(of[8]), 1), view(floats_at(of[9]), 4),
    )  # fmt: skip
    for done in range(visits):
        if k.count[0] >= most:
            return done
        i: Any = np.int64(k.page[0])
        cash = k.key[i] + k.now[UNSPENT]
        k.now[CLOCK] += cash
        _look(k, i, cash, length)
        k.key[i] = -k.now[UNSPENT]
        sink(_heap(k), i)
        out = 0
        for link in range(begin[i], begin[i + 1]):
            out += turns[to[link]] < there
        share = (1.0 - tax) * cash / max(out, 1)
        for link in range(begin[i], begin[i + 1]):
            if turns[to[link]] >= there:
                continue
            if k.place[to[link]] < 0:
                _meet(k, to[link])
            k.key[to[link]] += share
            rise(_heap(k), to[link])
        k.now[UNSPENT] += (cash - share * out) / k.count[0]
    return visits
