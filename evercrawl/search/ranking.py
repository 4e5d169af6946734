"""Ranking of results: word scores, multiplied by the page's standing within its site.

score = (text + A anchor + (P phrase + T, if the words form a phrase)) (1 + I ln(1 + 20 standing)), where standing is
a page's importance from links, in units of the mean page of its site. Importance multiplies the word score: a
well-linked page ranks above similar ones, but not for words it hardly contains. In a query without words, such as for
a site, the word score is one. The weights were chosen on one half of the known-item queries of `bench/search.py`,
which reports on the other half.
"""

from typing import Final

import numpy as np

from evercrawl.search.lookup import QueryCandidates
from evercrawl.types import Floats

ANCHOR_WEIGHT: Final = 2.0
PHRASE_WEIGHT: Final = 2.5
TOGETHER: Final = 8.0
IMPORTANCE_WEIGHT: Final = 0.04
_FINE: Final = 20.0  # importance begins to count at a twentieth of the mean page


def scores(found: QueryCandidates, standing: Floats, weight: float = IMPORTANCE_WEIGHT) -> Floats:
    """Return the score of each candidate, shape (n,).

    Parameters
    ----------
    found
        The candidates.
    standing
        The standing of each, shape (n,): importance from links, with 1 for the mean page of its site.
    weight
        The factor of standing.

    Examples
    --------
    >>> from evercrawl.search.lookup import QueryCandidates
    >>> from evercrawl.search.forms import Form
    >>> one, forms = np.ones(2), ((Form("tea", 1.0),),)
    >>> found = QueryCandidates(np.array([3, 8], np.uint32), 4 * one, one, 0 * one, forms, whole=True)
    >>> scores(found, np.array([0.0, (np.e - 1) / 20])).round(9).tolist()
    [6.0, 6.24]
    """
    together = np.where(found.phrase > 0, PHRASE_WEIGHT * found.phrase + TOGETHER, 0.0)
    words = found.text + ANCHOR_WEIGHT * found.anchor + together
    asked = words if found.forms else np.ones(len(words))  # a query for a site alone: all its pages match equally well
    return asked * (1 + weight * np.log1p(_FINE * np.maximum(standing, 0.0)))


def order(found: QueryCandidates, score: Floats) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the rows of the candidates, the best first; ties in order of discovery."""
    return np.lexsort((found.slot, -score))
