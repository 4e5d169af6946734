"""What counts as a change of a page, and how much of it changed.

The digest sees every byte, so also the token or the time of day that a server writes into each answer. The similarity
hash sees words only. Bytes that differ under words whose hash is the same are therefore no change *of the page*.

The price: a long page hides small edits. One word replaced among n moves 50 / sqrt(n) of the 64 bits where all runs of
words differ, and fewer where some come again and again: of such edits 3 % go unseen on a page of 200 words, a third
and more of them on one of 2,000.

References
----------
Charikar (2002). Similarity Estimation Techniques from Rounding Algorithms: a bit differs with probability angle / pi.
"""

from __future__ import annotations

import math
from typing import Final

SAME_WORDS_BITS: Final = 0
"""Up to so many differing bits the words count as the same; -1 takes every byte for a change."""
_BITS: Final = 64


def changed(
    digest: int, simhash: int, digest_before: int, simhash_before: int, same_bits: int = SAME_WORDS_BITS
) -> bool:
    """Return whether a page is another than before, by the digests of its bytes and the hashes of its words.

    A hash of 0 stands for no words (an image, an empty page): then the bytes decide.

    Examples
    --------
    >>> changed(1, 0b1011, 2, 0b1011), changed(1, 0b1011, 2, 0b0011), changed(1, 0, 2, 0)
    (False, True, True)
    """
    if digest == digest_before:
        return False
    return not (simhash and simhash_before) or (simhash ^ simhash_before).bit_count() > same_bits


def extent(simhash: int, simhash_before: int) -> float:
    """Return how much of a changed page is new, 0 to 1, as the hashes of its words tell: 1 - cos(pi d / 64).

    The cosine between two texts is the share of the runs of words that they have in common. The hash knows it to about
    0.1, and of a wholly new text it sees 0.92 on average. Where either has no words nothing is known, and all of it is
    taken for new.

    Examples
    --------
    >>> extent(0b1011, 0b1011), round(extent(0b1111, 0b1000), 3), extent(0, 0b1011)
    (0.0, 0.011, 1.0)
    """
    if not (simhash and simhash_before):
        return 1.0
    return min(1.0 - math.cos(math.pi * (simhash ^ simhash_before).bit_count() / _BITS), 1.0)
