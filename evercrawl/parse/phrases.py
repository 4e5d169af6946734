"""Repetition in a text: the share of its runs of five words that occurred before in it.

Pages stitched together from a few phrases, or with one repeated hundreds of times, are made for search engines.

References
----------
Fetterly, Manasse, Najork (2005). Detecting phrase-level duplication on the world wide web: five words make a phrase.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from evercrawl.parse.digest import checksum
from evercrawl.types import Floats, Keys

RUN: Final = 5
"""Words of a phrase."""
SHARED: Final = 3
"""Pages that have to have a phrase, for it to be what pages are put together from."""
MOST_BYTES: Final = 1 << 20
"""Of a text, that are looked at."""
_PRIMES: Final = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5, 0x85EBCA77C2B2AE63], np.uint64
)


def phrases(text: bytes) -> Keys:
    """Return a number for each run of five words, in order, shape (words - 4,); equal for equal words.

    Examples
    --------
    >>> of = phrases(b"to be or not to be or not to be")
    >>> len(of), len(set(of.tolist()))
    (6, 4)
    """
    words = text[:MOST_BYTES].lower().split()
    if len(words) < RUN:
        return np.zeros(0, np.uint64)
    numbers = {word: checksum(word) for word in set(words)}
    runs = np.lib.stride_tricks.sliding_window_view(np.array([numbers[word] for word in words], np.uint64), RUN)
    mixed: Keys = (runs * _PRIMES).sum(axis=1, dtype=np.uint64)
    return mixed


def repeated(text: bytes) -> float:
    """Return the share of a text's runs of five words that occurred before in it; 0 without any.

    Examples
    --------
    >>> repeated(b"one two three four five six"), round(repeated(b"buy cheap ant farms now " * 50), 2)
    (0.0, 0.98)
    """
    of = phrases(text)
    return 1 - len(np.unique(of)) / len(of) if len(of) else 0.0


def stitched(pages: Sequence[Keys]) -> Floats:
    """Return for each page of a site the share of its phrases that some, but not all, others have; shape (pages,).

    Phrases count if at least three pages have them, but fewer than half: those of half of the pages are the template.

    Parameters
    ----------
    pages
        The result of `phrases` for each.

    Examples
    --------
    >>> site = [phrases(b"%d %d a b c d e f g h" % (page, page)) for page in range(3)]
    >>> site += [phrases(b"%d x y z %d p %d" % (page, page, page)) for page in range(3, 9)]
    >>> stitched(site).round(2)
    array([0.67, 0.67, 0.67, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ])
    """
    once = [np.unique(page) for page in pages]
    found, count = np.unique(np.concatenate([*once, np.zeros(0, np.uint64)]), return_counts=True)
    shared = (count >= SHARED) & (2 * count < len(pages))
    return np.array([shared[np.searchsorted(found, page)].mean() if len(page) else 0.0 for page in once])
