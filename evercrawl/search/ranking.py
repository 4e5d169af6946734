"""The order of answers: what words tell of a page, and how much it matters to the web that was crawled.

score = text + A anchor + (P phrase + T, where the words stand together) + I ln(1 + 1000 importance), where importance
is what links give a page, in units of the mean page. The weights were chosen on one half of the known-item queries of
`bench/search.py`, which reports on the other half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from evercrawl.search.lookup import Candidates
    from evercrawl.types import Floats

ANCHOR_WEIGHT: Final = 2.0
PHRASE_WEIGHT: Final = 2.5
TOGETHER: Final = 8.0
IMPORTANCE_WEIGHT: Final = 0.5
_FINE: Final = 1_000.0  # a thousandth of the mean page is where importance begins to count


def scores(found: Candidates, importance: Floats, weight: float = IMPORTANCE_WEIGHT) -> Floats:
    """Return the score of each candidate, shape (n,).

    Parameters
    ----------
    found
        The candidates.
    importance
        Of each of them, in units of the mean page, shape (n,); what links give it, without what every page of its site
        has alike.
    weight
        What importance counts for.

    Examples
    --------
    >>> from evercrawl.search.lookup import Candidates
    >>> one = np.ones(2)
    >>> found = Candidates(np.array([3, 8], np.uint32), 4 * one, one, 0 * one, (), whole=True)
    >>> scores(found, np.array([0.0, (np.e - 1) / 1000])).tolist()
    [6.0, 6.5]
    """
    together = np.where(found.phrase > 0, PHRASE_WEIGHT * found.phrase + TOGETHER, 0.0)
    return found.text + ANCHOR_WEIGHT * found.anchor + together + weight * np.log1p(_FINE * np.maximum(importance, 0.0))


def order(found: Candidates, score: Floats) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the rows of the candidates, the best first; what is equally good in order of discovery."""
    return np.lexsort((found.slot, -score))
