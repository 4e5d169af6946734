"""Memory layout of the host queues, shared by the kernels and by callers that do not import numba."""

from typing import Final

import numpy as np

LOT: Final = np.dtype(
    [
        ("rest_at", "<f8"),  # not to be requested before this instant, as far as the queues know
        ("bar", "<f8"),  # new pages with a smaller key go to the short list, others to the bag
        ("dear", "<f8"),  # logarithm of the host's price over the crawl's
        ("rest", "<u4"), ("due", "<u4"), ("new", "<u4"),  # places + 1 in the three orders of hosts
        ("awake", "<u4"), ("asleep", "<u4"), ("short", "<u4"),  # number of pages in each heap
        ("awake_block", "<u4"), ("asleep_block", "<u4"), ("short_block", "<u4"),  # first block of each heap
        ("bag", "<u4"),  # number of pages in the bag
        ("head", "<u4"), ("tail", "<u4"),  # first and last block of the bag
        ("taken", "<u4"), ("added", "<u4"),  # pages taken and added since the last ranking
        ("stamp", "<u4"),  # last choice in which the host took part
        ("ranked", "<u4"),  # last choice in which its pages were ranked
        ("spot", "<u2"),  # its place in the last choice in which it took part
        ("first", "u1"), ("last", "u1"),  # start and end of the bag within its blocks
        ("out", "<u4"),  # 1: chosen, busy or held; not offered until it rests again
    ]
)  # fmt: skip
"""The state of one host; all zero for a host without pages."""

ENTRY: Final = np.dtype([("key", "<f8"), ("slot", "<u4")])
"""A place in a heap, of pages or of hosts."""

BITS: Final = 4
BLOCK: Final = 1 << BITS
"""Places in a block of a heap of pages; a heap with one block may have 4 or 8 places instead."""

WORDS: Final = 12
"""4-byte words in 4 places: block number b begins at place 4 * b, and at word 12 * b."""

PLACES: Final = 8
"""Capacity in places, per host of capacity."""

WORDS_OF_TABLES: Final = 4
"""Capacity in words of tables, per host of capacity."""

RESTING, DUES, NEWS, TOP, TABLED, CURSOR, PLACE, STAMP, HOSTS, REVIEW, CREDIT, FREE = range(12)
FREE_TABLE: Final = FREE + 4
CONTROL: Final = FREE_TABLE + 32
"""Control words: sizes of the orders, used lengths of the arrays, cursors, and heads of the free lists."""

(
    AT_LOTS, AT_LINES, AT_ENTRIES, AT_TABLES, AT_CONTROL, AT_SLOTS, AT_OF, AT_PLACES, AT_KINDS, AT_HOSTS, AT_BEST,
    AT_ROW, AT_COUNTS, AT_KEYS, AT_SPOTS, AT_LINED, AT_NEXT, AT_DEAR, SIZE, MEMORY,
) = range(20)  # fmt: skip
"""Positions of the addresses of the arrays in the kernels' argument, and of the capacity in hosts."""

MOST_HOSTS: Final = 1 << 12  # a spot has 16 bits
MOST_ROWS: Final = 1 << 18
"""Capacity in hosts that take part in one choice, and in its rows."""

AWAKE, SHORT, ADDED, RANKED, WOKEN, AGAIN, DONE = range(7)
"""Kinds of rows: a page that may be refreshed; a new one of the short list, just added, or to be ranked again; a page
that may be refreshed from now on; one whose key is to be recomputed; or a removed one."""
