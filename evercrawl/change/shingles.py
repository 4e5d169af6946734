"""Texts as sets of runs of words: the overlap of two versions of a page, and a small sample that estimates it.

References
----------
Broder (1997). On the resemblance and containment of documents: shingles, resemblance, and sketches of the smallest.
"""

from typing import Final

import numpy as np
import xxhash

from evercrawl.types import Keys

RUN: Final = 4
"""Number of words in a run: one changed word changes four runs."""
_PRIME: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT: Final = np.uint64(31)


def word_keys(text: str) -> Keys:
    """Return a hash of each word of a text, in order; words are separated by white space, and case is ignored.

    Examples
    --------
    >>> one, other = word_keys("To be or not to be")[[0, 4]]
    >>> bool(one == other)
    True
    """
    return np.array(
        [xxhash.xxh3_64_intdigest(word.encode("utf-8", "replace")) for word in text.lower().split()], np.uint64
    )


def shingles(words: Keys, run: int = RUN) -> Keys:
    """Return hashes of all runs of `run` words, without duplicates, in ascending order; a shorter text is one run.

    Examples
    --------
    >>> len(shingles(word_keys("a rose is a rose is a rose")))
    3
    """
    if not len(words):
        return words
    run = min(run, len(words))
    count = len(words) - run + 1
    found = np.zeros(count, np.uint64)
    for place in range(run):
        found = _mixed(found ^ words[place : place + count])
    return np.unique(found)


def _mixed(codes: Keys) -> Keys:
    codes = codes * _PRIME
    codes = (codes ^ (codes >> _SHIFT)) * _MIX
    return codes ^ (codes >> _SHIFT)
