"""Changes found divided by elapsed time, X / T: too low if a page changes more than once between two visits."""

import math

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.change.estimators.base import Tally
from evercrawl.change.estimators.moments import Moments
from evercrawl.types import Floats


def rate(changes: ArrayLike, passed_s: ArrayLike) -> Floats:
    """Return X / T, changes per second; nan if no time has elapsed.

    Examples
    --------
    >>> rate([3, 0], [60.0, 0.0])
    array([0.05,  nan])
    """
    passed_s = np.asarray(passed_s, np.float64)
    told = passed_s > 0
    return np.where(told, np.asarray(changes, np.float64) / np.where(told, passed_s, 1.0), np.nan)


def moments(true_rate: float, visits: int) -> Moments:
    """Return mean, bias and variance for evenly spaced visits, (10) and (11), in units of the rate of visits.

    More visits reduce the variance, but not the bias.

    Examples
    --------
    >>> moments(3.0, 10)
    Moments(mean=0.950213, bias=-2.049787, variance=0.004731)
    """
    mean = -math.expm1(-true_rate)
    return Moments(mean, mean - true_rate, math.exp(-true_rate) * mean / visits)


class Naive(Tally):
    """Changes found divided by elapsed time.

    Examples
    --------
    >>> pages = Naive(2)
    >>> pages.learn(np.array([0]), np.array([10.0]), np.array([True]))
    >>> pages.rates()
    array([0.1, nan])

    References
    ----------
    Cho, Garcia-Molina (2003). Estimating frequency of change, section 4.1; Meng, Wang, Yan (2006), (9)-(11).
    """

    def rates(self) -> Floats:
        """Return X / T of each page."""
        return rate(self.changes, self.passed_s)
