"""Similarity hash of texts: 64 bits, more of which differ the more the texts differ.

A text is split into words, with ASCII in lower case; a character of a script without spaces (Chinese, Japanese,
Korean) is a word. The features are runs of three words, counted as often as they occur; each feature's hash votes on
all 64 bits, and the majority decides. Words are hashed with the crawl's secret, so that nobody else can construct a
different text with the same hash.

References
----------
Charikar (2002). Similarity Estimation Techniques from Rounding Algorithms.
Manku, Jain, Das Sarma (2007). Detecting Near-Duplicates for Web Crawling.
"""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.kernels import Library, pointer

_KERNELS: Final = Library("evercrawl.parse._simhash_kernel")
_MASK = (1 << 64) - 1
SEED, PRIME = 0xCBF29CE484222325, 0x100000001B3
SHINGLE_1, SHINGLE_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
SPACELESS = range(0xE3, 0xEE)
"""First bytes of the characters, three bytes each, that are words by themselves: U+3000 to U+DFFF."""


WORD_BYTES = bytes(ord(chr(b).lower()) if chr(b).isalnum() else 0 for b in range(0x80)) + bytes(
    0 if b in SPACELESS else b for b in range(0x80, 0x100)
)
"""What a byte adds to a word: itself in lower case, 0 where it is in none."""


def simhash(text: str, hasher: Hasher) -> int:
    """Return the 64-bit similarity hash of `text` for one crawl; 0 for a text without words.

    Examples
    --------
    >>> hasher = Hasher(bytes(16))
    >>> simhash("...", hasher)
    0
    >>> simhash("The quick brown fox", hasher) == simhash("the  QUICK, brown fox.", hasher)
    True
    """
    return simhash_bytes(text.encode("utf-8", "replace"), hasher)


def simhash_bytes(text: bytes, hasher: Hasher) -> int:
    """Return the similarity hash of a text in UTF-8."""
    votes = np.empty(64, np.int32)
    return int(_KERNELS["simhash"](text, len(text), bool(hasher.secret), *hasher.words, pointer(votes)))


def distance(a: int, b: int) -> int:
    """Return the number of differing bits of two hashes, 0 to 64: about 20 per radian between the feature vectors.

    Examples
    --------
    >>> distance(0b1011, 0b0010)
    2
    """
    return (a ^ b).bit_count()


def reference(text: str, hasher: Hasher) -> int:
    """Return the same hash by a slow, readable implementation against which the compiled one is tested."""
    votes = [0] * 64
    before = last = 0
    for word in _words(text.encode("utf-8", "replace"), _fnv if not hasher.secret else hasher.short):
        feature = _mixed(word ^ before * SHINGLE_1 & _MASK ^ last * SHINGLE_2 & _MASK)
        for bit in range(64):
            votes[bit] += 1 if feature >> bit & 1 else -1
        before, last = last, word
    return sum(1 << bit for bit, vote in enumerate(votes) if vote > 0)


def _words(text: bytes, hashed: Callable[[bytes], int]) -> Iterator[int]:
    at = 0
    while at < len(text):
        start = at
        if text[at] in SPACELESS:
            at += 3
        else:
            while at < len(text) and WORD_BYTES[text[at]]:
                at += 1
        if at > start:
            yield hashed(text[start:at].lower())
        else:
            at += 1


def _fnv(word: bytes) -> int:
    """Return the hash of a word in crawls without a secret: FNV-1a."""
    code = SEED
    for byte in word:
        code = (code ^ byte) * PRIME & _MASK
    return code


def _mixed(code: int) -> int:
    code = (code ^ code >> 32) * SHINGLE_1 & _MASK
    code = (code ^ code >> 29) * SHINGLE_2 & _MASK
    return code ^ code >> 32
