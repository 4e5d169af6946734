"""Memory allocation for the queues, compiled: blocks of places, and tables of the blocks of a heap.

All hosts share two large arrays. `entries` is allocated in blocks of 16 places: to heaps of pages, and to bags, which
use them as words. A heap or a bag with only one block has a part of one instead, 4 or 8 places. `tables` is allocated
in pieces of 1, 2, 4 ... words, each of which locates a block of a heap. Freed memory is reused for any owner before
more is used; only tables, and the contents of a first block that becomes too small, are ever copied.
"""

from typing import Any, Final, NamedTuple

from evercrawl.kernels.build import compiled
from evercrawl.schedule.frontier._heaps import HostHeap, whole
from evercrawl.schedule.frontier._layout import BITS, BLOCK, FREE, FREE_TABLE, TABLED, TOP, WORDS

LARGEST: Final = BITS - 2
"""Kind of a whole block: a block of a kind has 4 << kind places."""


class Store(NamedTuple):
    """All memory of the queues."""

    lots: Any
    resting: HostHeap
    dues: HostHeap
    news: HostHeap
    keys: Any
    slots: Any
    tables: Any
    words: Any  # the same memory as keys and slots
    control: Any


@compiled
def open_place(s: Store, first: int, n: int) -> int:
    """Make room for one more entry in a heap of `n`; return its first block."""
    place = n + 1
    if n == 0:
        first = _first_block(s, 0)
    elif place & (BLOCK - 1) == 0:
        number = (place >> BITS) - 1
        if number == whole(s.words[first * WORDS + 1]):
            _widen(s, first)
        s.tables[whole(s.words[first * WORDS]) + number] = take_block(s, LARGEST)
    elif place < BLOCK and place == 4 << whole(s.slots[first * 4]):
        first = _double(s, first)
    return first


@compiled
def close_place(s: Store, first: int, n: int) -> None:
    """Free the memory that a heap no longer needs after one entry was removed and `n` are left."""
    place = n + 1
    if n == 0:
        room = whole(s.words[first * WORDS + 1])
        if room:
            _give_table(s, whole(s.words[first * WORDS]), _kind_of(room))
        give_block(s, first, whole(s.slots[first * 4]))
    elif place & (BLOCK - 1) == 0:
        give_block(s, whole(s.tables[whole(s.words[first * WORDS]) + (place >> BITS) - 1]), LARGEST)


@compiled
def _first_block(s: Store, kind: int) -> Any:
    """Return a block for a heap without a table; its first words are initialised because prefetching reads them."""
    block = take_block(s, kind)
    s.words[block * WORDS], s.words[block * WORDS + 1] = 0, 0
    return block


@compiled
def take_block(s: Store, kind: int) -> Any:
    """Return the number of a block of 4 << kind places, a part of a larger one if no block of the kind is free."""
    larger = kind
    while larger < LARGEST and s.control[FREE + larger] == 0:
        larger += 1
    block = s.control[FREE + larger] - 1
    if block >= 0:
        s.control[FREE + larger] = whole(s.slots[block * 4])
    else:
        block = s.control[TOP]
        s.control[TOP] = block + BLOCK // 4
    while larger > kind:
        larger -= 1
        give_block(s, block + (1 << larger), larger)
    s.slots[block * 4] = kind  # place 0, which has no entry
    return block


@compiled
def give_block(s: Store, block: int, kind: int) -> None:
    """Free a block."""
    s.slots[block * 4] = s.control[FREE + kind]
    s.control[FREE + kind] = block + 1


@compiled
def _double(s: Store, block: int) -> Any:
    """Return a block of twice the size of a full first block, with its contents."""
    kind = whole(s.slots[block * 4])
    new = _first_block(s, kind + 1)
    for place in range(1, 4 << kind):
        s.keys[new * 4 + place], s.slots[new * 4 + place] = s.keys[block * 4 + place], s.slots[block * 4 + place]
    give_block(s, block, kind)
    return new


@compiled
def _kind_of(room: int) -> int:
    """Return the kind of a table with room for this many words: it has 1 << kind."""
    kind = 0
    while 1 << kind < room:
        kind += 1
    return kind


@compiled
def _give_table(s: Store, table: int, kind: int) -> None:
    """Free a table."""
    s.tables[table] = s.control[FREE_TABLE + kind]
    s.control[FREE_TABLE + kind] = table + 1


@compiled
def _widen(s: Store, first: int) -> None:
    """Give a heap a table of twice the length of its own, or of one word, with the same contents."""
    table, room = whole(s.words[first * WORDS]), whole(s.words[first * WORDS + 1])
    kind = _kind_of(max(2 * room, 1))
    new = s.control[FREE_TABLE + kind] - 1
    if new >= 0:
        s.control[FREE_TABLE + kind] = whole(s.tables[new])
    else:
        new = s.control[TABLED]
        s.control[TABLED] = new + (1 << kind)
    for i in range(room):
        s.tables[new + i] = s.tables[table + i]
    if room:
        _give_table(s, table, kind - 1)
    s.words[first * WORDS], s.words[first * WORDS + 1] = new, 1 << kind
