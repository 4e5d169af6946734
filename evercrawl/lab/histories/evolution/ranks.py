"""Whether two lists have the same order."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Floats


def ranks(of: NDArray[Any]) -> Floats:
    """Return the place of each in ascending order, from 1; equals share the mean of theirs.

    Examples
    --------
    >>> ranks(np.array([7, 3, 7]))
    array([2.5, 1. , 2.5])
    """
    _, number, count = np.unique(of, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[number], np.float64)


def rank_correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return Spearman's rho of two lists, shape (n,): 1 for the same order, -1 for the opposite; nan where one is flat.

    Examples
    --------
    >>> round(rank_correlation(np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3])), 3)
    0.8
    """
    x, y = (of - of.mean() if len(of) else of for of in (ranks(a), ranks(b)))
    spread = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return float((x * y).sum()) / spread if spread > 0 else math.nan
