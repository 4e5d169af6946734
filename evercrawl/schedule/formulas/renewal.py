"""Renewal processes: the waiting times, freshness and visits that follow from the law of the time between events.

A law is given by its survival function, or by a sample of intervals. All laws here have mean 1: for events at a rate
lam, an interval is a draw divided by lam. If a page changes at such moments and the time of its last change is unknown,
a copy is fresh x / lam after its visit with probability R(x), the probability that the time to the next event is
longer: the integral of the survival function from x on. K(x), the integral of R from 0 to x, is x times the fraction of
the interval for which the copy is fresh.

References
----------
Wolf, Squillante, Yu, Sethuraman, Ozsen (2002). Optimal crawling strategies for web search engines, section 3: the
time-average staleness for any inter-update distribution G. Cox (1962). Renewal Theory, chapter 5.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.types import Floats

LAWS: Final = ("constant", "exponential", "gamma", "weibull", "lognormal")
_LEAST, _MOST, _POINTS = 1e-9, 1e5, 1 << 14
_SHAPES: Final = (0.05, 100.0)  # bounds of the search for the shape of Weibull's law with a given spread


class RenewalLaw(ABC):
    """The law of the time between events, with mean 1."""

    @abstractmethod
    def survival(self, x: ArrayLike) -> Floats:
        """Return P(interval > x)."""

    @abstractmethod
    def transform(self, s: ArrayLike) -> Floats:
        """Return E e^(-s interval), of any shape."""

    @abstractmethod
    def residual(self, x: ArrayLike) -> Floats:
        """Return R(x), the probability of no event for x from any moment on."""

    @abstractmethod
    def kept(self, x: ArrayLike) -> Floats:
        """Return K(x), the integral of R from 0 to x."""

    def freshness(self, rate: ArrayLike, lam: ArrayLike) -> Floats:
        """Return the mean freshness of a page visited evenly at a rate, K(lam / rate) rate / lam; 0 without visits.

        >>> renewal_law("exponential").freshness(1.0, [1.0, 0.0]).round(6), renewal_law("constant").freshness(2.0, 1.0)
        (array([0.632121, 1.      ]), array(0.75))
        """
        rate, lam = np.broadcast_arrays(np.asarray(rate, np.float64), np.asarray(lam, np.float64))
        x = np.where(rate > 0, lam / np.where(rate > 0, rate, 1.0), np.inf)
        finite = np.where(np.isfinite(x) & (x > 0), x, 1.0)
        return np.where(rate <= 0, 0.0, np.where(x > 0, self.kept(finite) / finite, 1.0))

    def gain(self, x: ArrayLike) -> Floats:
        """Return K(x) - x R(x), the worth of a visit x after the last one, in units of weight / lam."""
        x = np.asarray(x, np.float64)
        return self.kept(x) - x * self.residual(x)


class ExponentialLaw(RenewalLaw):
    """Events at random moments: a Poisson process.

    >>> law = ExponentialLaw()
    >>> [float(each(1.0).round(6)) for each in (law.survival, law.residual, law.kept, law.transform)]
    [0.367879, 0.367879, 0.632121, 0.5]
    """

    def survival(self, x: ArrayLike) -> Floats:
        """Return e^-x."""
        return np.exp(-np.asarray(x, np.float64))

    def transform(self, s: ArrayLike) -> Floats:
        """Return 1 / (1 + s)."""
        return 1.0 / (1.0 + np.asarray(s, np.float64))

    def residual(self, x: ArrayLike) -> Floats:
        """Return e^-x: the law is memoryless."""
        return self.survival(x)

    def kept(self, x: ArrayLike) -> Floats:
        """Return 1 - e^-x."""
        return -np.expm1(-np.asarray(x, np.float64))


class EmpiricalLaw(RenewalLaw):
    """The empirical distribution of observed intervals, in units of their mean.

    Parameters
    ----------
    intervals
        Intervals above 0, in any unit, shape (n,).

    Examples
    --------
    >>> law = EmpiricalLaw([1.0, 3.0])
    >>> law.survival([0.4, 1.0]), law.residual([0.0, 0.5, 2.0]), law.kept(9.0)
    (array([1. , 0.5]), array([1. , 0.5, 0. ]), np.float64(0.625))
    """

    def __init__(self, intervals: ArrayLike) -> None:
        seen = np.sort(np.asarray(intervals, np.float64).ravel())
        assert seen.min(initial=np.inf) > 0, "intervals are positive"
        self._seen: Floats = seen / seen.mean()
        self._first: Floats = np.concatenate([[0.0], np.cumsum(self._seen)])
        self._second: Floats = np.concatenate([[0.0], np.cumsum(self._seen**2)])

    def survival(self, x: ArrayLike) -> Floats:
        """Return the share of longer intervals."""
        return 1.0 - np.searchsorted(self._seen, np.asarray(x, np.float64), side="right") / len(self._seen)

    def transform(self, s: ArrayLike) -> Floats:
        """Return the mean of e^(-s X)."""
        s = np.asarray(s, np.float64)
        return np.asarray(np.exp(-s[..., None] * self._seen).mean(axis=-1))

    def residual(self, x: ArrayLike) -> Floats:
        """Return the mean of the remainder of an interval after x."""
        x = np.asarray(x, np.float64)
        below = np.searchsorted(self._seen, x, side="right")
        left: Floats = (self._first[-1] - self._first[below] - x * (len(self._seen) - below)) / len(self._seen)
        return left

    def kept(self, x: ArrayLike) -> Floats:
        """Return the mean of X^2 / 2 - (X - x)^2 / 2 for longer intervals, of X^2 / 2 for others."""
        x = np.asarray(x, np.float64)
        below = np.searchsorted(self._seen, x, side="right")
        longer = x * (self._first[-1] - self._first[below]) - 0.5 * x**2 * (len(self._seen) - below)
        fresh: Floats = (0.5 * self._second[below] + longer) / len(self._seen)
        return fresh


class SurvivalLaw(RenewalLaw):
    """A law given by its survival function, evaluated on a fine grid; in units of its mean.

    Parameters
    ----------
    survival
        P(interval > x) for an array of x > 0, in a unit in which the mean is close to 1.

    Examples
    --------
    Erlang's law with two steps, whose residual is e^(-2 x) (1 + x):

    >>> law = SurvivalLaw(lambda x: np.exp(-2 * x) * (1 + 2 * x))
    >>> law.residual([0.5, 1.0]).round(5), (np.exp([-1.0, -2.0]) * [1.5, 2.0]).round(5), law.transform(2.0).round(5)
    (array([0.55182, 0.27067]), array([0.55182, 0.27067]), np.float64(0.25))
    """

    def __init__(self, survival: Callable[[Floats], ArrayLike]) -> None:
        x = np.concatenate([[0.0], np.geomspace(_LEAST, _MOST, _POINTS)])
        alive = np.concatenate([[1.0], np.clip(np.asarray(survival(x[1:]), np.float64), 0.0, 1.0)])
        below = _summed(alive, x)
        mean = float(below[-1])
        self._x: Floats = x / mean
        self._alive: Floats = alive
        self._residual: Floats = np.maximum(1.0 - below / mean, 0.0)
        self._kept = _summed(self._residual, self._x)

    def survival(self, x: ArrayLike) -> Floats:
        """Return the interpolated survival function."""
        return np.interp(np.asarray(x, np.float64), self._x, self._alive)

    def transform(self, s: ArrayLike) -> Floats:
        """Return 1 - s times the integral of e^(-s x) S(x)."""
        s = np.asarray(s, np.float64)
        inside = np.exp(-s[..., None] * self._x) * self._alive
        missing = (0.5 * (inside[..., 1:] + inside[..., :-1]) * np.diff(self._x)).sum(axis=-1)
        found: Floats = 1.0 - s * missing
        return found

    def residual(self, x: ArrayLike) -> Floats:
        """Return the interpolated residual."""
        return np.interp(np.asarray(x, np.float64), self._x, self._residual)

    def kept(self, x: ArrayLike) -> Floats:
        """Return the interpolated integral."""
        return np.interp(np.asarray(x, np.float64), self._x, self._kept)


@lru_cache(maxsize=32)
def renewal_law(name: str, spread: float = 1.0) -> RenewalLaw:
    """Return a law by its name and standard deviation in units of the mean (ignored for constant and exponential).

    >>> [round(float(renewal_law(name, 0.5).residual(1.0)), 3) for name in LAWS]
    [0.0, 0.368, 0.195, 0.201, 0.187]
    """
    match name:
        case "constant":
            return EmpiricalLaw([1.0])
        case "exponential":
            return ExponentialLaw()
        case "gamma":
            return SurvivalLaw(lambda x: _gamma_survival(1.0 / spread**2, x))
        case "weibull":
            shape = weibull_shape(spread)
            return SurvivalLaw(lambda x: np.exp(-np.minimum((x * math.gamma(1 + 1 / shape)) ** shape, 700.0)))
        case _:
            variance = math.log1p(spread**2)
            deep = math.sqrt(2 * variance)
            return SurvivalLaw(lambda x: [0.5 * math.erfc(math.log(each) / deep + deep / 4) for each in x.tolist()])


def weibull_shape(spread: float) -> float:
    """Return the shape of Weibull's law with a given standard deviation in units of the mean.

    >>> round(weibull_shape(1.0), 9), round(weibull_shape(0.5227232), 5)
    (1.0, 2.0)
    """
    low, high = _SHAPES
    for _ in range(200):
        shape = math.sqrt(low * high)
        found = math.exp(math.lgamma(1 + 2 / shape) - 2 * math.lgamma(1 + 1 / shape)) - 1
        low, high = (shape, high) if found > spread**2 else (low, shape)
    return math.sqrt(low * high)


def staleness_bound(share: ArrayLike, lam: ArrayLike, access: float, h: ArrayLike) -> Floats:
    """Return the minimum staleness of pages polled with these shares of accesses, (33) of the survey, shape (n,).

    Parameters
    ----------
    share, lam
        f, summing to 1, and the rate of change of each page.
    access
        E X, the mean time of an access.
    h
        E e^(-lam X) of each page: for any law of access times, its transform at lam.

    Examples
    --------
    >>> staleness_bound([1.0], [1.0], 1.0, renewal_law("constant").transform([1.0])).round(6)
    array([0.367879])
    """
    share, lam, h = (np.asarray(each, np.float64) for each in (share, lam, h))
    return 1.0 - share / (lam * access) * -np.expm1(np.log(h) / share)


def _gamma_survival(shape: float, x: Floats) -> Floats:
    """Return P(a Gamma variable of mean 1 > x), x ascending: the density summed from above."""
    y = shape * x
    density = np.exp(shape * np.log(y) - y - math.lgamma(shape))  # of ln y
    log = np.log(y)
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(log)
    below = np.concatenate([[math.exp(shape * math.log(y[0]) - math.lgamma(shape + 1))], steps]).cumsum()
    return np.asarray(1.0 - below / max(float(below[-1]), 1.0))


def _summed(values: Floats, x: Floats) -> Floats:
    """Return the integral of values from 0 to each x by the trapezoidal rule, shape (n,)."""
    summed: Floats = np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(x))])
    return summed
