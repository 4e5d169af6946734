"""Compiled rows that grow, shrink and move: the out-links or in-links of each page, in one long array."""

from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.addresses import ints32_at, ints_at
from evercrawl.kernels.build import compiled, entry, i64, pointer, view

_L: Final = pointer(np.int64)
_I: Final = pointer(np.int32)
_U: Final = pointer(np.uint64)


class RowArrays(NamedTuple):
    """The start, length and capacity of each row in `target`, shape (n,); and the start of the free part."""

    first: Any
    count: Any
    room: Any
    target: Any
    end: Any


@compiled
def row_arrays(addresses: Any, n: int, links: int) -> RowArrays:
    """Return the rows whose arrays are at `addresses`, in the order of the fields."""
    at = view(addresses, 5)
    return RowArrays(
        view(ints_at(at[0]), n), view(ints32_at(at[1]), n), view(ints32_at(at[2]), n), view(ints32_at(at[3]), links),
        view(ints_at(at[4]), 1),
    )  # fmt: skip


@compiled
def _move(rows: RowArrays, i: int, room: int) -> None:
    """Move a row to the end, with a new capacity."""
    begin, end = rows.first[i], rows.end[0]
    for k in range(max(rows.count[i], 0)):
        rows.target[end + k] = rows.target[begin + k]
    rows.first[i], rows.room[i], rows.end[0] = end, room, end + room


@compiled
def fits(rows: RowArrays, i: int) -> Any:
    """Return whether a row has room for one more entry."""
    return rows.count[i] < rows.room[i] or rows.end[0] + 2 * rows.room[i] + 2 <= len(rows.target)


@compiled
def append(rows: RowArrays, i: int, target: int) -> None:
    """Append an entry to a row that has room for it."""
    if rows.count[i] == rows.room[i]:
        _move(rows, i, 2 * rows.room[i] + 2)
    rows.target[rows.first[i] + rows.count[i]] = target
    rows.count[i] += 1


@compiled
def find(rows: RowArrays, i: int, target: int) -> Any:
    """Return the index of an entry in a row; -1 if it is missing."""
    for k in range(rows.count[i]):
        if rows.target[rows.first[i] + k] == target:
            return k
    return -1


@compiled
def drop(rows: RowArrays, i: int, k: int) -> None:
    """Remove entry `k` of a row; the last entry takes its place."""
    rows.count[i] -= 1
    rows.target[rows.first[i] + k] = rows.target[rows.first[i] + rows.count[i]]


@compiled
def replace(rows: RowArrays, i: int, other: RowArrays) -> None:
    """Copy a row from `other`; the free part must have room for it."""
    if other.count[i] > rows.room[i]:
        rows.count[i] = 0
        _move(rows, i, other.count[i])
    rows.count[i] = other.count[i]
    for k in range(other.count[i]):
        rows.target[rows.first[i] + k] = other.target[other.first[i] + k]


@compiled
def below(state: Any, limit: int) -> Any:
    """Return a random number from 0 to `limit` - 1, by splitmix64 (Steele, Lea, Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64((z >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32))


@compiled
def _forget(out: RowArrays, into: RowArrays, page: int, seed: Any) -> None:
    """Remove a random link to `page`."""
    k = below(seed, into.count[page])
    source = into.target[into.first[page] + k]
    drop(into, page, k)
    drop(out, source, find(out, source, page))


@entry(i64, _L, i64, _L, i64, i64, _L, i64, _U, _L)
def change(
    out_rows: Any, links: int, into_rows: Any, in_links: int, n: int, pages: Any, changes: int, seed: Any, left: Any
) -> int:
    """Halve the links to each entry of `pages`, or double those to p if the entry is -1 - p; return the number done.

    The number is smaller than `changes` if there is no more room; `left` then has the number of links that the next
    page still has to get, otherwise -1. Of an odd number of links, the smaller half is removed, so one always remains.
    """
    out, into = row_arrays(out_rows, n, links), row_arrays(into_rows, n, in_links)
    what, state, rest = view(pages, changes), view(seed, 1), view(left, 1)
    for at in range(changes):
        page = what[at] if what[at] >= 0 else -1 - what[at]
        if what[at] >= 0:
            for _ in range(into.count[page] // 2):
                _forget(out, into, page, state)
            continue
        if rest[0] < 0:
            rest[0] = min(into.count[page], n // 2)
        while rest[0] > 0:
            source = below(state, n)
            if not fits(out, source) or not fits(into, page):
                return at
            rest[0] -= 1
            if source != page and find(out, source, page) < 0:
                append(out, source, page)
                append(into, page, source)
        rest[0] = -1
    return changes
