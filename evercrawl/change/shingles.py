"""Texts as sets of runs of words: what two versions of a page share, and a sample that tells it in little room.

References
----------
Broder (1997). On the resemblance and containment of documents: shingles, resemblance, and sketches of the smallest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import xxhash

if TYPE_CHECKING:
    from evercrawl.types import Keys

RUN: Final = 4
"""Words in a run: one word that is another changes four runs."""
SKETCH: Final = 128
"""Runs in a sketch, a kilobyte: it knows the resemblance to about 0.04."""
_PRIME: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT: Final = np.uint64(31)


def word_keys(text: str) -> Keys:
    """Return a hash of each word of a text, in order; words end at white space, and their case does not matter.

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
    """Return hashes of all runs of so many words, each once, in ascending order; a shorter text is one run.

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


def resemblance(one: Keys, other: Keys) -> float:
    """Return which part of all runs two texts share, from 0 to 1; 1 for two empty ones.

    Examples
    --------
    >>> resemblance(np.array([1, 2, 3], np.uint64), np.array([2, 3, 4], np.uint64))
    0.5
    """
    shared = len(np.intersect1d(one, other, assume_unique=True))
    together = len(one) + len(other) - shared
    return shared / together if together else 1.0


def sketch(runs: Keys, size: int = SKETCH) -> Keys:
    """Return the smallest of the runs' hashes: a sample that is drawn alike from every text.

    Examples
    --------
    >>> sketch(np.array([1, 2, 3], np.uint64), 2)
    array([1, 2], dtype=uint64)
    """
    return runs[:size]


def resemblance_of_sketches(one: Keys, other: Keys, size: int = SKETCH) -> float:
    """Return about what `resemblance` says of the texts that two sketches are of.

    The smallest runs of both texts together are a fair sample of all their runs.

    Examples
    --------
    >>> resemblance_of_sketches(np.array([1, 2, 9], np.uint64), np.array([2, 3, 4], np.uint64), 3)
    0.3333333
    """
    sample = np.union1d(one, other)[:size]
    if not len(sample):
        return 1.0
    return float((np.isin(sample, one) & np.isin(sample, other)).mean())
