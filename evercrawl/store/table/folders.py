"""The kind of an unread URL's address, in six bits of its cell; pages of one kind are expected to be alike.

URLs of a host are of one kind if they differ only in what a program counts or inserts: numbers in folders and file
names, and values of parameters. The days of a calendar are of one kind, wherever the date is; so are the numbered
pages of all chapters. Names written by people differ within a kind, so that all files of a folder are of one kind.

A mark is a hash of the kind and host; the kinds of large hosts share marks.
"""

import re
from collections.abc import Iterable
from typing import Final
from zlib import crc32

import numpy as np

from evercrawl.types import Slots

IN_CELL: Final = 25
"""Bits below the mark in the cell of an unread page: depth, consecutive redirects, root flag and spread."""
MARKS: Final = 64
"""Number of marks; 0 means that the kind was not recorded."""
MARKED_BY: Final = 2
"""Version of the rule for kinds; in version 1 the kind was the folder."""
_DIGIT: Final = re.compile("[0-9]")
_NUMBERS: Final = re.compile(r"[0-9a-f]{4}[0-9a-f-]{4,}+|\d++", re.ASCII)
_NUMBERED: Final = re.compile(r"[a-z]*[-_.,:]?(?=\d)", re.ASCII | re.IGNORECASE)


def kind_of(url: str) -> str:
    """Return the part of a normalised URL that all URLs of its kind share.

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
    folder = url[:start] + _NUMBERS.sub(_numbered, url[start:last])
    if _DIGIT.search(url, last, end) is None:
        return folder + "/" + keys if keys else folder
    named = _NUMBERED.match(url, last + 1, end)
    return f"{folder}/{named.group() if named else ''}#{keys}"


def _numbered(found: re.Match[str]) -> str:
    return "#" if _DIGIT.search(found[0]) else found[0]


def mark(url: str) -> int:
    """Return the mark of a normalised URL's kind, from 1 to 63.

    Examples
    --------
    >>> mark("http://a.example/b/c") == mark("http://a.example/b/f")
    True
    >>> mark("http://a.example/b/c") == mark("http://a.example/c")
    False
    """
    return crc32(kind_of(url).encode()) % (MARKS - 1) + 1


def in_cells(urls: Iterable[str]) -> Slots:
    """Return the marks of URLs shifted to their bits in a cell, shape (n,)."""
    return np.array([mark(url) for url in urls], np.uint32) << np.uint32(IN_CELL)


def marks(cells: Slots) -> Slots:
    """Return the marks in the cells of unread pages, shape (n,)."""
    return cells >> np.uint32(IN_CELL) & np.uint32(MARKS - 1)
