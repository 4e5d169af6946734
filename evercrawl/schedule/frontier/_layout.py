"""How what waits on the hosts lies in memory: known to the kernels, and to who calls them without numba."""

from typing import Final

import numpy as np

LOT: Final = np.dtype(
    [
        ("rest_at", "<f8"),  # not to be asked before, as far as this side was told
        ("bar", "<f8"),  # a new page with a smaller key goes to the short list, others to the bag
        ("dear", "<f8"),  # logarithm of its own price over that of the crawl
        ("rest", "<u4"), ("due", "<u4"), ("new", "<u4"),  # places + 1 in the three orders of hosts
        ("awake", "<u4"), ("asleep", "<u4"), ("short", "<u4"),  # how many pages are in each heap
        ("awake_block", "<u4"), ("asleep_block", "<u4"), ("short_block", "<u4"),  # its first block
        ("bag", "<u4"),  # how many pages are in it
        ("head", "<u4"), ("tail", "<u4"),  # its blocks
        ("taken", "<u4"), ("added", "<u4"),  # since it was ranked
        ("stamp", "<u4"),  # the last choice it took part in
        ("ranked", "<u4"),  # the last choice in which it was
        ("spot", "<u2"),  # its place in the last choice it took part in
        ("first", "u1"), ("last", "u1"),  # where the bag begins and ends in its blocks
        ("out", "<u4"),  # 1: chosen, busy or held; not to be offered until it rests again
    ]
)  # fmt: skip
"""What is known of one host; all zero for one that has nothing."""

ENTRY: Final = np.dtype([("key", "<f8"), ("slot", "<u4")])
"""A place in a heap, of pages or of hosts."""

BITS: Final = 4
BLOCK: Final = 1 << BITS
"""Places in a block of a heap of pages; who has but one may have 4 or 8 instead."""

WORDS: Final = 12
"""Words of 4 bytes in 4 places: block number b begins at place 4 * b, and at word 12 * b."""

PLACES: Final = 8
"""Places that there is room for, times the hosts that there is room for."""

WORDS_OF_TABLES: Final = 4
"""Words of tables, likewise."""

RESTING, DUES, NEWS, TOP, TABLED, CURSOR, PLACE, STAMP, HOSTS, REVIEW, CREDIT, FREE = range(12)
FREE_TABLE: Final = FREE + 4
CONTROL: Final = FREE_TABLE + 32
"""Words of control: sizes of the orders, how far the arrays are used, cursors, and heads of lists of the free."""

(
    AT_LOTS, AT_LINES, AT_ENTRIES, AT_TABLES, AT_CONTROL, AT_SLOTS, AT_OF, AT_PLACES, AT_KINDS, AT_HOSTS, AT_BEST,
    AT_ROW, AT_COUNTS, AT_KEYS, AT_SPOTS, AT_LINED, AT_NEXT, AT_DEAR, SIZE, MEMORY,
) = range(20)  # fmt: skip
"""Where in what kernels are given the addresses of the arrays are, and for how many hosts there is room."""

MOST_HOSTS: Final = 1 << 12  # a spot has 16 bits
MOST_ROWS: Final = 1 << 18
"""Room for the hosts that take part in one choice, and for its rows."""

AWAKE, SHORT, ADDED, RANKED, WOKEN, AGAIN, DONE = range(7)
"""What a row is: a page that may be refreshed; a new one of the short list, just added, or to be ranked anew; a page
that may be refreshed from now on; one whose key is to be made anew; or nothing any more."""
