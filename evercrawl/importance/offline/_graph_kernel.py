"""Compiled inner loops of a graph; the numpy equivalents are bincount, stable sorting, and sums over rows."""

from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import entry, f64, i64, pointer, view
from evercrawl.kernels.prefetch import prefetch

_PLACES: Final = pointer(np.int64)
_SLOTS: Final = pointer(np.uint32)
_FLOATS: Final = pointer(np.float64)
_AHEAD: Final = 256  # links; slower memory (10 million pages, a busy machine) needs a longer distance


@entry(i64, _SLOTS, i64, _PLACES, i64)
def count(numbers: Any, links: int, out: Any, pages: int) -> int:
    """Add to `out` how often each number occurs."""
    of, to = view(numbers, links), view(out, pages)
    for i in range(links):
        to[of[i]] += 1
    return 0


@entry(i64, _SLOTS, _SLOTS, i64, _PLACES, i64, _SLOTS)
def place(source: Any, target: Any, links: int, free: Any, pages: int, out: Any) -> int:
    """Append each target to the row of its source; `free` is the next free place of each row."""
    of, value, at, to = view(source, links), view(target, links), view(free, pages), view(out, links)
    for i in range(links):
        page = of[i]
        to[at[page]] = value[i]
        at[page] += 1
    return 0


@entry(i64, _PLACES, _SLOTS, i64, _PLACES, _SLOTS)
def turn(start: Any, target: Any, pages: int, free: Any, out: Any) -> int:
    """Append each source to the row of its target; sources come in ascending order."""
    begin = view(start, pages + 1)
    links = begin[pages]
    to, at, back = view(target, links), view(free, pages), view(out, links)
    for page in range(pages):
        for k in range(begin[page], begin[page + 1]):
            prefetch(at, to[min(k + _AHEAD, links - 1)])
            back[at[to[k]]] = page
            at[to[k]] += 1
    return 0


@entry(i64, _PLACES, _SLOTS, i64)
def tidy(start: Any, target: Any, pages: int) -> int:
    """Remove self-links and duplicates from ascending rows; return the number of links left."""
    begin = view(start, pages + 1)
    to = view(target, begin[pages])
    kept = first = 0
    for page in range(pages):
        last, own = begin[page + 1], kept
        begin[page] = kept
        for k in range(first, last):
            other = to[k]
            if other != page and (kept == own or to[kept - 1] != other):
                to[kept] = other
                kept += 1
        first = last
    begin[pages] = kept
    return kept


@entry(i64, _PLACES, _SLOTS, i64, _SLOTS, _PLACES, _SLOTS)
def part(start: Any, target: Any, pages: int, site: Any, leaving: Any, out: Any) -> int:
    """Rewrite the links of each page, those within its site first; `leaving` is where the others begin."""
    begin, of, leaves = view(start, pages + 1), view(site, pages), view(leaving, pages)
    to, parted = view(target, begin[pages]), view(out, begin[pages])
    for page in range(pages):
        at, own = begin[page], of[page]
        for outside in range(2):
            leaves[page] = at if outside else leaves[page]
            for k in range(begin[page], begin[page + 1]):
                if (of[to[k]] != own) == (outside == 1):
                    parted[at] = to[k]
                    at += 1
    return 0


@entry(i64, _PLACES, _PLACES, _SLOTS, i64, f64, _FLOATS, _FLOATS, _FLOATS)
def give(
    start: Any, leaving: Any, target: Any, pages: int, internal: float, value: Any, each: Any, out: Any
) -> int:  # fmt: skip
    """Add to `out` what each page gives: its value times `each` along a link, times `internal` within its site."""
    begin, leaves = view(start, pages + 1), view(leaving, pages)
    links = begin[pages]
    to, has, share, got = view(target, links), view(value, pages), view(each, pages), view(out, pages)
    for page in range(pages):
        given = has[page] * share[page]
        for k in range(begin[page], leaves[page]):
            prefetch(got, to[min(k + _AHEAD, links - 1)])
            got[to[k]] += given * internal
        for k in range(leaves[page], begin[page + 1]):
            prefetch(got, to[min(k + _AHEAD, links - 1)])
            got[to[k]] += given
    return 0


@entry(i64, _PLACES, _PLACES, _SLOTS, i64, f64, _FLOATS, _FLOATS)
def gather(start: Any, leaving: Any, target: Any, pages: int, internal: float, value: Any, out: Any) -> int:
    """Write the sum of the values of the pages that each links to, times `internal` within its site."""
    begin, leaves = view(start, pages + 1), view(leaving, pages)
    to, has, sums = view(target, begin[pages]), view(value, pages), view(out, pages)
    for page in range(pages):
        inside = outside = 0.0
        for k in range(begin[page], leaves[page]):
            inside += has[to[k]]
        for k in range(leaves[page], begin[page + 1]):
            outside += has[to[k]]
        sums[page] = internal * inside + outside
    return 0
