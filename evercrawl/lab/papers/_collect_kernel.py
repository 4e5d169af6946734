"""Crawls that read each page once, compiled: what is known and not read stands in a heap, or waits on its site."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.lab.engine._heap_kernel import PlacedHeap, rise, settle, sink

_F: Final = pointer(np.float64)
_L: Final = pointer(np.int64)
_I: Final = pointer(np.int32)

SIZE, KNOWN, READ, SOLVED = range(4)  # of the state: pages that wait, are known, were read; known when it was solved
BREADTH, IN_DEGREE, OPIC, RANK, PUSH, FIXED = range(6)
TIE: Final = 2.0**-33  # as in schedule.discovery


class ReadingCrawl(NamedTuple):
    """All of it: links, the heap of pages that wait, when each page was found (-1: not yet), and what was read."""

    start: Any
    target: Any
    page: Any
    place: Any
    key: Any
    found: Any
    read: Any
    state: Any
    spent: Any


@compiled
def _heap(c: ReadingCrawl) -> PlacedHeap:
    return PlacedHeap(c.page[: c.state[SIZE]], c.place, c.key)


@compiled
def _find(c: ReadingCrawl, page: int, kind: int, own: float) -> None:
    """Let a page wait that was not known."""
    slot = c.state[KNOWN]
    c.found[page] = slot
    c.state[KNOWN] = slot + 1
    if kind in (BREADTH, IN_DEGREE):
        c.key[page] = -TIE * slot
    elif kind == OPIC:
        c.key[page] = -c.spent[0]
    elif kind != FIXED:
        c.key[page] = own
    c.page[c.state[SIZE]] = page
    c.place[page] = c.state[SIZE]
    c.state[SIZE] += 1
    rise(_heap(c), page)


@compiled
def _next(c: ReadingCrawl) -> Any:
    """Take the first page out of the heap."""
    first = c.page[0]
    c.state[SIZE] -= 1
    left = c.state[SIZE]
    if left:
        last = c.page[left]
        c.page[0] = last
        c.place[last] = 0
        sink(_heap(c), last)
    c.place[first] = -1
    return first


@compiled
def _promise(c: ReadingCrawl, page: int, kind: int, share: float) -> None:
    """Let a page that is known gain what another one, which links to it, brings."""
    if kind in (BREADTH, FIXED) or (kind == RANK and c.found[page] < c.state[SOLVED]):
        return
    c.key[page] += 1.0 if kind == IN_DEGREE else share
    if c.place[page] >= 0:
        rise(_heap(c), page)


@compiled
def _read(c: ReadingCrawl, page: int, kind: int, tax: float, own: float) -> None:
    """Read a page: find what it links to, and pass on what it has."""
    begin, end = c.start[page], c.start[page + 1]
    has = c.key[page] + (c.spent[0] if kind == OPIC else 1.0 if kind == PUSH else 0.0)
    share = (1.0 - tax) * has / max(end - begin, 1)
    if kind in (OPIC, PUSH):
        c.key[page] -= has
    for at in range(begin, end):
        if c.found[c.target[at]] < 0:
            _find(c, c.target[at], kind, own)
        _promise(c, c.target[at], kind, share)
    if kind == OPIC:
        c.spent[0] += (has - share * (end - begin)) / c.state[KNOWN]


@entry(i64, _L, _I, i64, i64, _I, _I, _F, _L, _I, _L, _F, i64, i64, f64, f64)
def collect(
    start: Any, target: Any, links: int, n: int, page: Any, place: Any, key: Any, found: Any, read: Any, state: Any,
    spent: Any, kind: int, upto: int, tax: float, own: float,
) -> int:  # fmt: skip
    """Read until so many pages were read, or none waits."""
    c = ReadingCrawl(
        view(start, n + 1), view(target, links), view(page, n), view(place, n), view(key, n), view(found, n),
        view(read, n), view(state, 4), view(spent, 1),
    )  # fmt: skip
    while c.state[SIZE] and c.state[READ] < upto:
        one = _next(c)
        c.read[c.state[READ]] = one
        c.state[READ] += 1
        _read(c, one, kind, tax, own)
    return 0


@entry(i64, i64, _I, _I, _F, _L)
def heapify(n: int, page: Any, place: Any, key: Any, state: Any) -> int:
    """Put what waits in order by new keys."""
    settle(PlacedHeap(view(page, n)[: view(state, 4)[SIZE]], view(place, n), view(key, n)))
    return 0


@entry(i64, _L, _I, i64, i64, _I, i64, _I, i64, _I, _I, _I, _F, _I, _I, _I, _L)
def by_site(
    start: Any, target: Any, links: int, n: int, site: Any, sites: int, seed: Any, seeds: int,
    top: Any, place: Any, after: Any, key: Any, head: Any, tail: Any, read: Any, found: Any,
) -> int:  # fmt: skip
    """Read a page of the site on which most wait until none waits, on each site as they were found; return how many.

    `key` is of sites, `after` of pages: the next one that waits on the same site.
    """
    begin, to, of = view(start, n + 1), view(target, links), view(site, n)
    heap = PlacedHeap(view(top, sites), view(place, sites), view(key, sites))
    following, first, last = view(after, n), view(head, sites), view(tail, sites)
    order, slot, roots = view(read, n), view(found, n), view(seed, seeds)
    known, done = 0, 0
    while True:
        for at in range(seeds if done == 0 else 0):
            known = _wait(heap, of, following, first, last, slot, roots[at], known)
        best = heap.page[0]
        page = first[best]
        if page < 0:
            return done
        order[done] = page
        done += 1
        first[best] = following[page]
        heap.key[best] += -1.0 + TIE * slot[page] - (TIE * slot[first[best]] if first[best] >= 0 else 0.0)
        sink(heap, best)
        for at in range(begin[page], begin[page + 1]):
            known = _wait(heap, of, following, first, last, slot, to[at], known)


@compiled
def _wait(heap: PlacedHeap, of: Any, following: Any, first: Any, last: Any, slot: Any, page: int, known: int) -> Any:
    """Let a page wait on its site, if it was not known; return how many are."""
    if slot[page] >= 0:
        return known
    site = of[page]
    slot[page] = known
    if first[site] < 0:
        first[site] = page
        heap.key[site] -= TIE * known
    else:
        following[last[site]] = page
    last[site] = page
    heap.key[site] += 1.0
    rise(heap, site)
    return known + 1
