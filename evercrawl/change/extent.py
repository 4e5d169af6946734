"""What counts as a change of a page, and how much of it changed.

The digest sees every byte, so also the token or the time of day that a server writes into the markup of each answer;
bytes that differ around the same words are no change *of the page*. Whether the words are the same, their own digest
tells. The similarity hash cannot: one word replaced among n words moves about 50 / sqrt(n) of its 64 bits, so on a page
of 2,000 words a third of such edits leaves it as it was. It tells how much of a page is new.

References
----------
Charikar (2002). Similarity Estimation Techniques from Rounding Algorithms: a bit differs with probability angle / pi.
"""

from __future__ import annotations

import math
from typing import Final

_BITS: Final = 64


def changed(digest: int, words: int, digest_before: int, words_before: int) -> bool:
    """Return whether a page is another than before, by the digests of its bytes and of its words.

    A digest of 0 stands for no words (an image): then the bytes decide.

    Examples
    --------
    >>> changed(1, 7, 2, 7), changed(1, 7, 2, 8), changed(1, 0, 2, 0)
    (False, True, True)
    """
    return digest != digest_before and (words != words_before or not words)


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
