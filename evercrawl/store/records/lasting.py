"""How much of what a change brings stays, as a running mean that is folded visit by visit in whole numbers.

A change is judged by the next visit that sees the page, changed or not: of what was new, that much is still there by
the cosine of the similarity hashes. So a page that was replaced and then left alone counts as wholly new, one that
shows an advertisement counts for nothing. What is kept of a page is six bytes: half of the similarity hash of its state
before a change that no visit has judged yet, and the mean. Whole numbers come out the same on every machine, so the
journal folds to what memory holds.

References
----------
Olston, Pandey (2008). Recrawl scheduling based on information longevity. Charikar (2002). Similarity Estimation
Techniques from Rounding Algorithms: a bit differs with probability angle / pi.
"""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Floats

BITS: Final = 32
"""Of each similarity hash, the low ones, are compared: as many as there is room to keep."""
MASK: Final = (1 << BITS) - 1
ONE: Final = 1 << 10
"""All of a page, as means are kept."""
FIRST_CHANGES: Final = 2
"""Changes that count in a page's mean before it has shown any; of each nine tenths stay."""
MOST: Final = 15
"""Changes that are counted: from then on each new one weighs as much as the last, so that what was long ago fades."""
_COUNT_BITS: Final = 4
START: Final = round(0.9 * ONE) << _COUNT_BITS
"""What is kept of a page that has shown no change: mean, and how many changes it is of, in one number."""
_COSINES: Final = [round(math.cos(math.pi * bits / BITS) * ONE) for bits in range(BITS + 1)]


def learn(kept: int, earlier: int, before: int, now: int, *, changed: bool) -> tuple[int, int]:
    """Return what to keep of a page after a visit that saw it.

    Parameters
    ----------
    kept, earlier
        What was kept: the mean, and bits of the state before a change that is not judged yet, 0 for none.
    before, now
        Similarity hash of the page at the visit before and at this one; 0 where it has no words, which says nothing.
    changed
        Whether the words are others than at the visit before.

    Examples
    --------
    All of a page is replaced, and what came is still there at the next visit:

    >>> kept = learn(START, 0, 0xFFFF0000, 0xFF00FF00, changed=True)
    >>> kept == (START, 0xFFFF0000)
    True
    >>> kept, earlier = learn(*kept, 0xFF00FF00, 0xFF00FF00, changed=False)
    >>> round(float(part(np.array([kept]))[0]), 3), earlier
    (0.934, 0)
    """
    if not (before and now):
        return kept, 0
    if earlier:
        stays = _COSINES[((before ^ now) & MASK).bit_count()] - _COSINES[((earlier ^ now) & MASK).bit_count()]
        mean, count = kept >> _COUNT_BITS, min((kept & MOST) + 1, MOST)
        changes = FIRST_CHANGES + count
        mean += (2 * (stays - mean) + changes) // (2 * changes)  # to the nearest
        kept = mean << _COUNT_BITS | count
    return kept, (before & MASK or 1) if changed else 0


def part(kept: NDArray[Any]) -> Floats:
    """Return which part of a page a change replaces for good, 0 to 1, by what is kept of pages, shape (n,).

    >>> part(np.array([START, -160]))
    array([0.90039062, 0.        ])
    """
    return np.clip((kept.astype(np.int64) >> _COUNT_BITS) / ONE, 0.0, 1.0)


def judged(kept: int) -> int:
    """Return of how many changes a mean is, up to `MOST`.

    >>> judged(START), judged(START + 3)
    (0, 3)
    """
    return kept & MOST
