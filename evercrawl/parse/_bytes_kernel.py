"""Compiled helpers for bytes and words of markup."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels.build import compiled
from evercrawl.kernels.eight import EACH, eight, equal, first

Bytes: TypeAlias = NDArray[np.uint8]
Spans: TypeAlias = NDArray[np.int64]

_CLASS = np.zeros(256, np.uint8)
_CLASS[[9, 10, 12, 13, 32]], _CLASS[[47, 62]] = 1, 2


def spelt(word: bytes) -> Bytes:
    """Return the bytes of a word in the form that the kernels take."""
    return np.frombuffer(word, np.uint8)


@compiled
def blank(c: int) -> bool:
    """Return whether a byte is white space."""
    return bool(_CLASS[c] == 1)


@compiled
def ends_name(c: int) -> bool:
    """Return whether a byte ends a name: white space, a slash, a greater-than sign."""
    return bool(_CLASS[c] > 0)


@compiled
def lower(c: np.uint8) -> np.uint8:
    """Return an ASCII letter in lower case, any other byte as it is."""
    return np.uint8(c + 32) if 65 <= c <= 90 else c


@compiled
def upto(src: Bytes, i: int, n: int, stop: int) -> int:
    """Return the position of the next byte `stop`, or the end."""
    pattern = np.uint64(stop) * EACH
    while i + 8 <= n:
        hop = first(equal(eight(src, i), pattern))
        i += hop
        if hop < 8:
            return i
    while i < n and src[i] != stop:
        i += 1
    return i


@compiled
def is_word(src: Bytes, i: int, n: int, word: Bytes) -> bool:
    """Return whether `word` is at `i`, ignoring case."""
    if i + len(word) > n:
        return False
    k = 0
    while k < len(word) and lower(src[i + k]) == lower(word[k]):
        k += 1
    return k == len(word)


@compiled
def has_token(src: Bytes, start: int, end: int, word: Bytes) -> bool:
    """Return whether a space-separated list contains `word` (lower case)."""
    i = start
    while i < end:
        while i < end and blank(src[i]):
            i += 1
        j = i
        while j < end and not blank(src[j]):
            j += 1
        if j - i == len(word) and is_word(src, i, j, word):
            return True
        i = j
    return False
