"""Confidence bounds of a proportion, estimated from a sample.

References
----------
Wilson (1927). Probable inference, the law of succession, and statistical inference. Brown, Cai, DasGupta (2001).
Interval estimation for a binomial proportion: the simple interval fails near 0 and 1, where the freshness of a good
crawl lies, the exact one is too wide throughout, Wilson's has the right coverage on average. Kish (1965). Survey
Sampling, 11.7: the effective size of a weighted sample.
"""

from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.types import Floats

LEVEL: Final = 0.95


def deviates(level: float) -> float:
    """Return the number of standard deviations around the mean that contain a normal variable with P = `level`.

    Examples
    --------
    >>> round(deviates(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf(0.5 + 0.5 * level)


def wilson(part: ArrayLike, size: ArrayLike, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the bounds (low, high) of Wilson's interval; 0 and 1 without a sample.

    Parameters
    ----------
    part
        The observed proportion, from 0 to 1.
    size
        The sample size, or the effective size (see `effective_size`).
    level
        The confidence level.

    Examples
    --------
    The bounds are the two proportions p from which a sample proportion of 1/2 is `deviates(level)` standard deviations
    away, |1/2 - p| = z sqrt(p (1 - p) / n); for z^2 = n that is 2 (p - 1/2)^2 = 1/4:

    >>> low, high = wilson(0.5, deviates(0.95) ** 2)
    >>> round(low.item(), 6), round(high.item(), 6), round(0.5 - (1 / 8) ** 0.5, 6)
    (0.146447, 0.853553, 0.146447)
    """
    p, n = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(size, np.float64))
    z2 = deviates(level) ** 2
    looked = n > 0
    n, p = np.where(looked, n, 1.0), np.where(looked, p, 0.5)
    middle, room = p + z2 / (2 * n), np.sqrt(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2)
    low, high = (middle - room) / (1 + z2 / n), (middle + room) / (1 + z2 / n)
    low, high = np.clip(low, 0.0, p), np.clip(high, p, 1.0)  # at the ends they differ by rounding only
    return np.where(looked, low, 0.0), np.where(looked, high, 1.0)


def effective_size(total: ArrayLike, squares: ArrayLike) -> Floats:
    """Return the size of an equally weighted sample with the same variance: (sum w)^2 / sum w^2, Kish's.

    Parameters
    ----------
    total, squares
        The sums of the weights, and of their squares.

    Examples
    --------
    >>> effective_size([4.0, 4.0], [4.0, 10.0]).tolist()  # four times 1; 3 and 1
    [4.0, 1.6]
    """
    total, squares = np.asarray(total, np.float64), np.asarray(squares, np.float64)
    return np.asarray(total * np.divide(total, squares, out=np.zeros(total.shape), where=squares > 0))
