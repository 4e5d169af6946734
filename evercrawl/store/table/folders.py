"""Which folder an unread URL is in, as far as six bits of its cell tell: what its neighbours were is to be expected.

A mark is that of a folder of one host; folders of large hosts share theirs with a few others.
"""

from collections.abc import Iterable
from typing import Final
from zlib import crc32

import numpy as np

from evercrawl.types import Slots

IN_CELL: Final = 25
"""Bits below it in the cell of an unread page: depth, redirects in a row, whether it is a root, and its spread."""
MARKS: Final = 64
"""How many marks there are; 0 is that of a URL whose folder was not noted."""


def mark(url: str) -> int:
    """Return the mark of the folder of a normalised URL, from 1 to 63.

    Examples
    --------
    >>> mark("http://a.example/b/c?d=/e/") == mark("http://a.example/b/f")
    True
    >>> mark("http://a.example/b/c") == mark("http://a.example/c")
    False
    """
    query = url.find("?")
    return crc32(url[: url.rfind("/", 0, query if query >= 0 else len(url))].encode()) % (MARKS - 1) + 1


def in_cells(urls: Iterable[str]) -> Slots:
    """Return the marks of URLs where a cell has them, shape (n,)."""
    return np.array([mark(url) for url in urls], np.uint32) << np.uint32(IN_CELL)


def marks(cells: Slots) -> Slots:
    """Return the marks in the cells of unread pages, shape (n,)."""
    return cells >> np.uint32(IN_CELL) & np.uint32(MARKS - 1)
