"""A table's inner loop: keys -> numbers, by open addressing.

A place of the table holds a number and one, 0 where it is free; the key of each number is in a column of its own. While
a larger table is filled little by little, what is not in it yet is found in the older one. A number whose key was
forgotten has the key 0; its place is passed over, also when the number has another key, which then has two places.
"""

from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import compiled, entry, i64, pointer, view

_KEYS: Final = pointer(np.uint64)
_SLOTS: Final = pointer(np.uint32)


@compiled
def _place(key: Any, known: Any, table: Any, size: int) -> Any:
    """Return the place that holds a key, or the free one where it would go."""
    mask = np.uint64(size - 1)
    place = (key ^ (key >> np.uint64(32))) & mask
    while table[place] != 0 and known[table[place] - 1] != key:
        place = (place + np.uint64(1)) & mask
    return place


@entry(i64, _KEYS, i64, _KEYS, i64, _SLOTS, i64, _SLOTS, i64, _SLOTS, i64, _SLOTS)
def number(
    keys: Any,
    n: int,
    known: Any,
    count: int,
    table: Any,
    size: int,
    older: Any,
    older_size: int,
    spare: Any,
    spares: int,
    out: Any,
) -> int:
    """Write the number of each key, new ones for those that are not there yet; return how many new ones there are.

    The first of them are `spare` ones, from the last on, then those from `count` on. Tables have a power of two of
    places, at least one of them free; the column of keys has room for all that may come.
    """
    wanted, to, held = view(keys, n), view(out, n), view(known, count + n)
    again, new = view(spare, max(spares, 1)), 0
    places, before = view(table, size), view(older, max(older_size, 1))
    for i in range(n):
        key = wanted[i]
        place = _place(key, held, places, size)
        if places[place] != 0:
            to[i] = places[place] - 1
            continue
        found = before[_place(key, held, before, older_size)] if older_size else np.uint32(0)
        if found != 0:
            to[i] = found - 1
            continue
        given = np.uint32(again[spares - 1 - new] if new < spares else count + new - spares)
        held[given] = key
        to[i] = given
        places[place] = given + np.uint32(1)
        new += 1
    return new


@entry(i64, _KEYS, i64, _KEYS, i64, _SLOTS, i64, _SLOTS, i64, i64, _SLOTS)
def find(
    keys: Any, n: int, known: Any, count: int, table: Any, size: int, older: Any, older_size: int, absent: int, out: Any
) -> int:
    """Write the number of each key, `absent` for those that have none; all else is as for `number`."""
    wanted, to, held = view(keys, n), view(out, n), view(known, max(count, 1))
    places, before = view(table, size), view(older, max(older_size, 1))
    for i in range(n):
        found = places[_place(wanted[i], held, places, size)]
        if found == 0 and older_size:
            found = before[_place(wanted[i], held, before, older_size)]
        to[i] = found - 1 if found != 0 else absent
    return n


@entry(i64, _KEYS, i64, i64, _SLOTS, i64)
def move(known: Any, first: int, last: int, table: Any, size: int) -> int:
    """Put the numbers from `first` to before `last` in a table, but those whose keys were forgotten."""
    held, places = view(known, max(last, 1)), view(table, size)
    for which in range(first, last):
        if held[which] != 0:
            places[_place(held[which], held, places, size)] = which + 1
    return last
