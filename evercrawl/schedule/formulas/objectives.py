"""Objectives of a crawl for pages that change at random moments: freshness, few missed changes, or low age.

A page that changes at rate lam and is visited every t seconds has missed lam t = x changes, on average, by the end of
an interval. Ending the interval there is worth w lam^-k v(x), and v never decreases: the page is visited as soon as
this equals the price of a visit. The objectives differ only in v and in the power k.

References
----------
Freshness and age: Cho, Garcia-Molina (2003). Effective page refresh policies for web crawlers, section 3. The harmonic
cost, 1 + 1/2 + ... + 1/m after m missed changes: Kolobov et al. (2019). Staying up to date with online content changes
using reinforcement learning for scheduling.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evercrawl.types import Floats

_SMALL: Final = 0.02  # below it, differences of nearly equal numbers are computed as series
_EULER: Final = 0.57721566490153286
_GAUSS: tuple[Floats, Floats] = np.polynomial.legendre.leggauss(40)  # nodes, weights


class Objective(NamedTuple):
    """The worth of ending an interval, as a function of the mean number of changes x in it.

    Attributes
    ----------
    worth, slope
        v, and its derivative; both vectorised.
    power
        k: a visit is worth w lam^-k v(x).
    limit
        Limit of v: a page whose price is above it is never visited; infinity if no page is abandoned.
    mean
        Rates of visits and of change -> the mean over time of the benefit (freshness) or of the cost (all others).
    """

    worth: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    power: int
    limit: float
    mean: Callable[[ArrayLike, ArrayLike], Floats]


def h(x: ArrayLike) -> Floats:
    """Return 1 - e^-x (1 + x), from 0 at 0 to 1 at infinity: v for freshness.

    Examples
    --------
    >>> h([0.0, 1.0, np.inf]).round(6)
    array([0.      , 0.264241, 1.      ])
    """
    x = np.asarray(x, np.float64)
    few = np.minimum(x, 1.0)
    series = few**2 * (1 / 2 - few * (1 / 3 - few * (1 / 8 - few * (1 / 30 - few * (1 / 144 - few / 840)))))
    many = np.minimum(x, 700.0)
    found: Floats = np.where(x < _SMALL, series, -np.expm1(-many) - many * np.exp(-many))
    return found


def missed(x: ArrayLike) -> Floats:
    """Return x - 1 + e^-x: v for the harmonic cost.

    Examples
    --------
    >>> missed([0.0, 1.0, 1e-4]).round(15)
    array([0.00000000e+00, 3.67879441e-01, 4.99983300e-09])
    """
    x = np.asarray(x, np.float64)
    few = np.minimum(x, 1.0)
    series = few**2 * (1 / 2 - few * (1 / 6 - few * (1 / 24 - few * (1 / 120 - few * (1 / 720 - few / 5040)))))
    found: Floats = np.where(x < _SMALL, series, x + np.expm1(-x))
    return found


def aged(x: ArrayLike) -> Floats:
    """Return x^2 / 2 - h(x): v for age.

    Examples
    --------
    >>> aged([0.0, 1.0, 1e-3]).round(12)
    array([0.00000000e+00, 2.35758882e-01, 3.33000000e-10])
    """
    x = np.asarray(x, np.float64)
    few = np.minimum(x, 1.0)
    series = few**3 * (1 / 3 - few * (1 / 8 - few * (1 / 30 - few * (1 / 144 - few * (1 / 840 - few / 5760)))))
    found: Floats = np.where(x < 5 * _SMALL, series, 0.5 * x * x - h(x))
    return found


def freshness(rate: ArrayLike, lam: ArrayLike) -> Floats:
    """Return F, the fraction of time for which a page visited evenly at `rate` and changing at `lam` is fresh.

    Examples
    --------
    >>> freshness([0.0, 1.0], 1.0).round(6)
    array([0.      , 0.632121])
    """
    visited, still, r = _missed_by(rate, lam)
    fresh = np.where(still, 1.0, -np.expm1(-r) / np.where(r == 0, 1.0, r))
    return np.where(visited, fresh, np.where(still, 1.0, 0.0))


def harmonic(rate: ArrayLike, lam: ArrayLike) -> Floats:
    """Return the mean of 1 + 1/2 + ... + 1/m, with m missed changes, of a page visited evenly.

    Examples
    --------
    With many visits, mostly one change or none is missed: half of 1/100 on average.

    >>> harmonic([100.0, 0.0], 1.0).round(5)
    array([0.00499,     inf])
    """
    visited, still, r = _missed_by(rate, lam)
    nodes, weights = _GAUSS[0] + 1.0, _GAUSS[1]
    whole = (-np.expm1(-0.5 * np.minimum(r, 40.0)[..., None] * nodes) / nodes) @ weights  # of (1 - e^-u) / u, up to r
    whole = np.where(r > 40.0, np.log(np.maximum(r, 1.0)) + _EULER, whole)
    return np.where(visited, whole - missed(r) / np.where(r == 0, 1.0, r), np.where(still, 0.0, np.inf))


def age(rate: ArrayLike, lam: ArrayLike) -> Floats:
    """Return the mean time since the first unseen change of a page visited evenly; 0 if there is none.

    Examples
    --------
    >>> age([1.0, 0.0], 1.0).round(6)
    array([0.132121,      inf])
    """
    visited, still, r = _missed_by(rate, lam)
    interval = 1.0 / np.where(visited, np.asarray(rate, np.float64), 1.0)
    few = np.minimum(r, 1.0)
    series = few * (1 / 6 - few * (1 / 24 - few * (1 / 120 - few * (1 / 720 - few / 5040))))
    safe = np.where(r == 0, 1.0, r)
    mean = np.where(r < 5 * _SMALL, series, 0.5 - missed(r) / safe**2)
    return np.where(visited, interval * mean, np.where(still, 0.0, np.inf))


def _missed_by(rate: ArrayLike, lam: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats]:
    """Return which pages are visited, which never change, and the number of changes between two visits."""
    rate, lam = np.broadcast_arrays(np.asarray(rate, np.float64), np.asarray(lam, np.float64))
    visited = rate > 0
    return visited, lam == 0, np.where(visited, lam, 1.0) / np.where(visited, rate, 1.0)


def _h_slope(x: Floats) -> Floats:
    return x * np.exp(-x)


def _missed_slope(x: Floats) -> Floats:
    return -np.expm1(-x)


def _aged_slope(x: Floats) -> Floats:
    return -x * np.expm1(-x)


FRESHNESS: Final = Objective(h, _h_slope, 1, 1.0, freshness)
HARMONIC: Final = Objective(missed, _missed_slope, 1, np.inf, harmonic)
AGE: Final = Objective(aged, _aged_slope, 2, np.inf, age)
OBJECTIVES: Final = {"freshness": FRESHNESS, "harmonic": HARMONIC, "age": AGE}
