"""Which kind of address an unread URL has, as far as six bits of its cell tell: what its like were is to be expected.

Of one kind are the URLs of a host that differ in what a program counts or puts in: the numbers in their folders and
names, and the values of their parameters. Days of a calendar are of one kind, wherever the date stands; so are the
numbered pages of all chapters. Names that people write differ within a kind: what is in a folder is together.

A mark is that of a kind on one host; kinds of large hosts share theirs with a few others.
"""

import re
from collections.abc import Iterable
from typing import Final
from zlib import crc32

import numpy as np

from evercrawl.types import Slots

IN_CELL: Final = 25
"""Bits below it in the cell of an unread page: depth, redirects in a row, whether it is a root, and its spread."""
MARKS: Final = 64
"""How many marks there are; 0 is that of a URL whose kind was not noted."""
MARKED_BY: Final = 2
"""Which rule says what is of one kind; by the first it was the folder alone."""
_DIGIT: Final = re.compile("[0-9]")
_NUMBERS: Final = re.compile(r"(?=[a-f-]*\d)[0-9a-f]{4}[0-9a-f-]{4,}|\d+", re.ASCII)
_NUMBERED: Final = re.compile(r"[a-z]*[-_.,:]?(?=\d)", re.ASCII | re.IGNORECASE)


def kind_of(url: str) -> str:
    """Return what all URLs of a kind have in common, of a normalised URL.

    Examples
    --------
    >>> for path in ("/ants/eggs.html", "/ants/7/page-12.html", "/cal/2024-05-17/", "/cal?to=9&day=17&to=1"):
    ...     print(kind_of("http://a.example" + path))
    http://a.example/ants
    http://a.example/ants/#/page-#
    http://a.example/cal/#
    http://a.example/?day&to
    """
    start = url.find("/", 8)
    query = url.find("?", start)
    end = len(url) if query < 0 else query
    last = url.rfind("/", start, end)
    folder, keys = url[:last], ""
    if query >= 0:
        keys = "?" + "&".join(sorted({part.partition("=")[0] for part in url[query + 1 :].split("&")}))
    if _DIGIT.search(url, start, end) is None:
        return folder + "/" + keys if keys else folder
    folder = url[:start] + _NUMBERS.sub("#", url[start:last])
    if _DIGIT.search(url, last, end) is None:
        return folder + "/" + keys if keys else folder
    named = _NUMBERED.match(url, last + 1, end)
    return f"{folder}/{named.group() if named else ''}#{keys}"


def mark(url: str) -> int:
    """Return the mark of the kind of a normalised URL, from 1 to 63.

    Examples
    --------
    >>> mark("http://a.example/b/c") == mark("http://a.example/b/f")
    True
    >>> mark("http://a.example/b/c") == mark("http://a.example/c")
    False
    """
    return crc32(kind_of(url).encode()) % (MARKS - 1) + 1


def in_cells(urls: Iterable[str]) -> Slots:
    """Return the marks of URLs where a cell has them, shape (n,)."""
    return np.array([mark(url) for url in urls], np.uint32) << np.uint32(IN_CELL)


def marks(cells: Slots) -> Slots:
    """Return the marks in the cells of unread pages, shape (n,)."""
    return cells >> np.uint32(IN_CELL) & np.uint32(MARKS - 1)
