"""Compiled crawls that read each page once: known unread pages are in a heap, or in the queue of their site."""

from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.addresses import floats_at, ints32_at, ints_at
from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, view
from evercrawl.lab.engine._heap_kernel import PlacedHeap, rise, settle, sink

_F: Final = pointer(np.float64)
_L: Final = pointer(np.int64)
_I: Final = pointer(np.int32)

SIZE, KNOWN, READ, SOLVED = range(4)  # of the state: pages waiting, known and read; known at the last solve
BREADTH, IN_DEGREE, OPIC, RANK, PUSH, FIXED = range(6)
TIE: Final = 2.0**-33  # as in schedule.discovery


class ReadingCrawl(NamedTuple):
    """The state: links, the heap of unread pages, when each page was found (-1: not yet), and the pages read."""

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
    """Add a newly found page to the heap."""
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
    """Remove the first page from the heap and return it."""
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
    """Add the share of a link to the key of its known target."""
    if kind in (BREADTH, FIXED) or (kind == RANK and c.found[page] < c.state[SOLVED]):
        return
    c.key[page] += 1.0 if kind == IN_DEGREE else share
    if c.place[page] >= 0:
        rise(_heap(c), page)


@compiled
def _read(c: ReadingCrawl, page: int, kind: int, tax: float, own: float) -> None:
    """Read a page: find the targets of its links, and pass its cash on to them."""
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


@entry(i64, _L, i64, i64, i64, i64, f64, f64)
def collect(crawl: Any, links: int, n: int, kind: int, upto: int, tax: float, own: float) -> int:
    """Read until `upto` pages have been read or the heap is empty; `crawl` has the fields of `ReadingCrawl`."""
    at = view(crawl, 9)
    c = ReadingCrawl(
        view(ints_at(at[0]), n + 1), view(ints32_at(at[1]), links), view(ints32_at(at[2]), n),
        view(ints32_at(at[3]), n), view(floats_at(at[4]), n), view(ints_at(at[5]), n), view(ints32_at(at[6]), n),
        view(ints_at(at[7]), 4), view(floats_at(at[8]), 1),
    )  # fmt: skip
    while c.state[SIZE] and c.state[READ] < upto:
        one = _next(c)
        c.read[c.state[READ]] = one
        c.state[READ] += 1
        _read(c, one, kind, tax, own)
    return 0


@entry(i64, i64, _I, _I, _F, _L)
def heapify(n: int, page: Any, place: Any, key: Any, state: Any) -> int:
    """Reorder the heap after the keys have changed."""
    settle(PlacedHeap(view(page, n)[: view(state, 4)[SIZE]], view(place, n), view(key, n)))
    return 0


@entry(i64, _L, i64, i64, i64, i64, _L)
def by_site(web: Any, links: int, n: int, sites: int, seeds: int, state: Any) -> int:
    """Read from the site with most waiting pages until none waits; return the number of pages read.

    Within a site, pages are read in the order in which they were found. `web` has the starts of the pages' links, their
    targets, the pages' sites, and the seeds. `state` has the heap of sites, their places and their keys; the first and
    the last waiting page of each site; the page that follows each page there; the pages read; and the slot of each.
    """
    at, lies = view(web, 4), view(state, 8)
    begin, to, of = view(ints_at(at[0]), n + 1), view(ints32_at(at[1]), links), view(ints32_at(at[2]), n)
    heap = PlacedHeap(view(ints32_at(lies[0]), sites), view(ints32_at(lies[1]), sites), view(floats_at(lies[2]), sites))
    first, last = view(ints32_at(lies[3]), sites), view(ints32_at(lies[4]), sites)
    following, order, slot = view(ints32_at(lies[5]), n), view(ints32_at(lies[6]), n), view(ints_at(lies[7]), n)
    roots = view(ints32_at(at[3]), seeds)
    known, done = 0, 0
    while True:
        for link in range(seeds if done == 0 else 0):
            known = _wait(heap, of, following, first, last, slot, roots[link], known)
        best = heap.page[0]
        page = first[best]
        if page < 0:
            return done
        order[done] = page
        done += 1
        first[best] = following[page]
        heap.key[best] += -1.0 + TIE * slot[page] - (TIE * slot[first[best]] if first[best] >= 0 else 0.0)
        sink(heap, best)
        for link in range(begin[page], begin[page + 1]):
            known = _wait(heap, of, following, first, last, slot, to[link], known)


@compiled
def _wait(heap: PlacedHeap, of: Any, following: Any, first: Any, last: Any, slot: Any, page: int, known: int) -> Any:
    """Add a newly found page to the queue of its site; return the number of known pages."""
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
