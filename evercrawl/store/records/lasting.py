"""The lasting part of a page's changes, as a running mean that is folded visit by visit in integers.

A change is judged at the next visit that sees the page, changed or not: the part of the new content that is still
there is estimated by the cosine of the similarity hashes. So a page that was replaced and then left alone counts as
wholly new, and one with rotating advertisements counts as unchanged. Each page needs six bytes: half of the
similarity hash of its state before a change that no visit has judged yet, and the mean. Integers give the same result
on every machine, so the journal folds to the content of memory.

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
"""Number of low bits of each similarity hash that are compared, limited by space in the record."""
MASK: Final = (1 << BITS) - 1
ONE: Final = 1 << 10
"""The whole page, in the unit of stored means."""
FIRST_CHANGES: Final = 2
"""Prior weight of a page's mean, in changes, of each of which nine tenths last."""
MOST: Final = 15
"""Maximum number of counted changes; from then on all new changes have the same weight, so that old ones fade."""
_COUNT_BITS: Final = 4
START: Final = round(0.9 * ONE) << _COUNT_BITS
"""Initial value for a page without changes: mean, and number of changes, in one number."""
_COSINES: Final = [round(math.cos(math.pi * bits / BITS) * ONE) for bits in range(BITS + 1)]


def learn(kept: int, earlier: int, before: int, now: int, *, changed: bool) -> tuple[int, int]:
    """Return what to store of a page after a visit that saw it.

    Parameters
    ----------
    kept, earlier
        The stored values: the mean, and bits of the state before an unjudged change, 0 for none.
    before, now
        Similarity hash of the page at the last and at this visit; 0 for a page without words, which is ignored.
    changed
        Whether the words differ from those of the last visit.

    Examples
    --------
    All of a page is replaced, and the new content is still there at the next visit:

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
        mean += (2 * (stays - mean) + changes) // (2 * changes)  # rounded to nearest
        kept = mean << _COUNT_BITS | count
    return kept, (before & MASK or 1) if changed else 0


def part(kept: NDArray[Any]) -> Floats:
    """Return the part of a page that a change replaces for good, 0 to 1, from the stored values, shape (n,).

    >>> part(np.array([START, -160]))
    array([0.90039062, 0.        ])
    """
    return np.clip((kept.astype(np.int64) >> _COUNT_BITS) / ONE, 0.0, 1.0)


def judged(kept: int) -> int:
    """Return the number of changes in a mean, up to `MOST`.

    >>> judged(START), judged(START + 3)
    (0, 3)
    """
    return kept & MOST
