"""A table's inner loop: keys -> numbers, by open addressing."""

from typing import Any, Final

import numpy as np

from evercrawl.kernels.build import entry, i64, pointer, view

_KEYS: Final = pointer(np.uint64)
_SLOTS: Final = pointer(np.uint32)


@entry(i64, _KEYS, i64, _KEYS, _SLOTS, i64, i64, _SLOTS)
def number(keys: Any, n: int, table_keys: Any, table_numbers: Any, size: int, count: int, out: Any) -> int:
    """Write the number of each key, new ones for those that are not there yet; return how many there are then.

    The table has a power of two of places, at least one of them free; a place whose key is 0 is free.
    """
    wanted, held, numbers, to = view(keys, n), view(table_keys, size), view(table_numbers, size), view(out, n)
    mask = np.uint64(size - 1)
    for i in range(n):
        key = wanted[i]
        place = (key ^ (key >> np.uint64(32))) & mask
        while held[place] != 0 and held[place] != key:
            place = (place + np.uint64(1)) & mask
        if held[place] == 0:
            held[place] = key
            numbers[place] = count
            count += 1
        to[i] = numbers[place]
    return count


@entry(i64, _KEYS, i64, _KEYS, _SLOTS, i64, i64, _SLOTS)
def find(keys: Any, n: int, table_keys: Any, table_numbers: Any, size: int, absent: int, out: Any) -> int:
    """Write the number of each key, `absent` for those that have none; the table is as for `number`."""
    wanted, held, numbers, to = view(keys, n), view(table_keys, size), view(table_numbers, size), view(out, n)
    mask = np.uint64(size - 1)
    for i in range(n):
        key = wanted[i]
        place = (key ^ (key >> np.uint64(32))) & mask
        while held[place] != 0 and held[place] != key:
            place = (place + np.uint64(1)) & mask
        to[i] = numbers[place] if held[place] == key else absent
    return n
