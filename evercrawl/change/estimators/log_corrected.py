"""The logarithm with half a visit added: always finite, and nearly unbiased for slowly changing pages."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.change.estimators import moments as sums
from evercrawl.change.estimators.base import Tally
from evercrawl.types import Floats

HALF: Final = 0.5
"""a and b: the constants that (13) adds to the number of unchanged visits, and to the number of all visits."""


def rate(
    visits: ArrayLike, changes: ArrayLike, passed_s: ArrayLike, a: ArrayLike = HALF, b: ArrayLike | None = None
) -> Floats:
    """Return -ln((visits that found no change + a) / (visits + b)) x visits per second, (13); nan without visits.

    n visits show no rate above ln((n + b) / a) times the rate of visits, however often the page changes: at twice that
    rate the estimate is practically constant.

    Parameters
    ----------
    visits, changes, passed_s
        n, the number of them that found a change, and the elapsed time, in seconds.
    a, b
        The added constants; b is a unless it is given.

    Examples
    --------
    >>> rate([10, 10, 0], [6, 10, 0], [10.0, 10.0, 0.0]).round(6)
    array([0.847298, 3.044522,      nan])
    """
    n, x, t, a = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (visits, changes, passed_s, a)))
    told = (n > 0) & (t > 0)
    found = -np.log((n - x + a) / (n + (a if b is None else np.asarray(b, np.float64))))
    return np.where(told, (found + 0.0) * n / np.where(told, t, 1.0), np.nan)


def exact_constant(visits: ArrayLike) -> Floats:
    """Return a = b for which the bias starts at the square of the rate: 1 / (e^(1/n) - 1) - n + 1.

    Examples
    --------
    >>> exact_constant([1, 10, 1e9]).round(6)
    array([0.581977, 0.508332, 0.5     ])
    """
    n = np.asarray(visits, np.float64)
    few = np.minimum(n, 1e3)
    return np.where(n < 1e3, 1 / np.expm1(1 / few) - few + 1, 0.5 + 1 / (12 * n))


def moments(true_rate: float, visits: int, a: float = HALF, b: float | None = None) -> sums.Moments:
    """Return mean, bias and variance for evenly spaced visits, (14) corrected, in units of the rate of visits.

    Examples
    --------
    >>> moments(3.0, 10)
    Moments(mean=2.557395, bias=-0.442605, variance=0.378386)
    """
    missed = np.arange(visits, -1, -1.0)
    return sums.moments(-np.log((missed + a) / (visits + (a if b is None else b))), true_rate)


class LogCorrected(Tally):
    """The logarithm with half a visit added.

    Parameters
    ----------
    pages
        Number of pages.
    exact
        Whether to add `exact_constant` instead of half a visit.

    Examples
    --------
    >>> pages = LogCorrected(1)
    >>> pages.learn(np.array([0]), np.array([10.0]), np.array([True]))
    >>> pages.rates().round(6) * 10  # ln 3
    array([1.09861])

    References
    ----------
    Cho, Garcia-Molina (2003). Estimating frequency of change, section 4.2; Meng, Wang, Yan (2006), (13), (14).
    """

    def __init__(self, pages: int, exact: bool = False) -> None:
        super().__init__(pages)
        self._exact = exact

    def rates(self) -> Floats:
        """Return (13) for each page."""
        a = exact_constant(np.maximum(self.visits, 1)) if self._exact else np.float64(HALF)
        return rate(self.visits, self.changes, self.passed_s, a)
