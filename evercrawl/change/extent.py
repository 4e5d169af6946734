"""The definition of a change of a page, and the fraction of the page that changed.

The digest of the bytes also covers tokens and times of day that a server writes into the markup of each response; bytes
that differ around equal words are not a change *of the page*. The digest of the words shows whether they are equal. The
similarity hash cannot: one word replaced among n words flips about 50 / sqrt(n) of its 64 bits, so on a page of 2,000
words a third of such edits leave it unchanged. It measures how much of a page is new.

References
----------
Charikar (2002). Similarity Estimation Techniques from Rounding Algorithms: a bit differs with probability angle / pi.
"""

from typing import Final

import numpy as np

from evercrawl.types import Floats, Keys

_BITS: Final = 64


def changed(digest: int, words: int, digest_before: int, words_before: int) -> bool:
    """Return whether a page has changed, by the digests of its bytes and of its words.

    A digest of 0 stands for no words (an image): then the bytes decide.

    Examples
    --------
    >>> changed(1, 7, 2, 7), changed(1, 7, 2, 8), changed(1, 0, 2, 0)
    (False, True, True)
    """
    return digest != digest_before and (words != words_before or not words)


def extents(simhash: Keys, simhash_before: Keys) -> Floats:
    """Return the estimated fraction of each page that is new, shape (n,), by similarity hashes; 1 without hashes (0).

    Examples
    --------
    >>> extents(np.array([9, 0], np.uint64), np.array([9, 7], np.uint64))
    array([0., 1.])
    """
    differ = np.bitwise_count(np.bitwise_xor(simhash, simhash_before)).astype(np.float64)
    known = (simhash != 0) & (simhash_before != 0)
    return np.where(known, np.minimum(1.0 - np.cos(np.pi * differ / _BITS), 1.0), 1.0)


def replaced(before: Keys, after: Keys) -> float:
    """Return the exact fraction of a page that is new, 0 to 1, by its runs of words (see `shingles`).

    It is 1 for a page that lost all its words, and 0 for one without words before and after.

    Examples
    --------
    >>> replaced(np.array([1, 2, 3, 4], np.uint64), np.array([3, 4, 5, 6], np.uint64))
    0.5
    """
    if not len(after):
        return float(len(before) > 0)
    return 1.0 - len(np.intersect1d(before, after, assume_unique=True)) / len(after)
