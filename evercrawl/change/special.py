"""Special functions of the Gamma distribution: digamma, the incomplete gamma function, and its inverse.

References
----------
Abramowitz, Stegun (1964). Handbook of Mathematical Functions, 6.3.18, 6.5.29, 6.5.31. Wilson, Hilferty (1931).
"""

import math
from statistics import NormalDist
from typing import Final

import numpy as np

from evercrawl.types import Floats

_FAR: Final = 6.0  # from here on, the asymptotic series of digamma has an error of 1e-11
_TINY: Final = 1e-300
_NEAR: Final = 1e-15
_NORMAL_FROM: Final = 1e5  # shapes for which the cube root of a Gamma variable is normal to about 1e-9


def digamma(x: float) -> float:
    """Return psi(x), the derivative of ln Gamma, for a positive x.

    Examples
    --------
    >>> round(-digamma(1.0), 9)  # Euler's constant
    0.577215665
    """
    below = 0.0
    while x < _FAR:
        below -= 1.0 / x
        x += 1.0
    t = 1.0 / (x * x)
    return below + math.log(x) - 0.5 / x - t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t / 132))))


def digammas(x: Floats) -> Floats:
    """Return psi of many positive numbers, shape (n,), to about 1e-11.

    Examples
    --------
    >>> digammas(np.array([1.0, 2.0])).round(6).tolist()
    [-0.577216, 0.422784]
    """
    x = np.asarray(x, np.float64)
    below = np.zeros(x.shape)
    for _ in range(int(_FAR)):
        near = x < _FAR
        below -= np.where(near, 1.0 / x, 0.0)
        x = np.where(near, x + 1.0, x)
    t = 1.0 / (x * x)
    series = t * (1 / 12 - t * (1 / 120 - t * (1 / 252 - t * (1 / 240 - t / 132))))
    return np.asarray(below + np.log(x) - 0.5 / x - series)


def gamma_probability(shape: float, x: float) -> float:
    """Return the probability that a Gamma(shape, 1) variable is below x.

    Examples
    --------
    >>> round(gamma_probability(1.0, math.log(2.0)), 9)
    0.5
    """
    if x <= 0.0:
        return 0.0
    density = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1.0:
        return density * _series(shape, x)
    return 1.0 - density * _fraction(shape, x)


def gamma_quantile(shape: float, probability: float) -> float:
    """Return the quantile of a Gamma(shape, 1) variable for a probability between 0 and 1.

    Examples
    --------
    >>> round(gamma_quantile(1.0, 0.5), 9)
    0.693147181
    """
    if shape > _NORMAL_FROM:
        return _cube(shape, probability)
    least = (math.log(probability) + math.lgamma(shape + 1.0)) / shape  # P(x) <= x^shape / Gamma(shape + 1)
    if least < -20.0:
        return math.exp(least)  # so close to 0 that the bound is the value
    low, high = least, math.log(shape + 1.0)
    while gamma_probability(shape, math.exp(high)) < probability:
        low, high = high, high + 1.0
    return math.exp(_newton(shape, probability, low, high))


def _newton(shape: float, probability: float, low: float, high: float) -> float:
    """Return ln of the quantile, between `low` and `high`: Newton steps, and bisection if a step leaves them."""
    at = math.log(max(_cube(shape, probability), _TINY))
    for _ in range(100):
        if not low <= at <= high:
            at = 0.5 * (low + high)
        x = math.exp(at)
        over = gamma_probability(shape, x) - probability
        low, high = (low, at) if over > 0.0 else (at, high)
        step = over / max(math.exp(shape * at - x - math.lgamma(shape)), _TINY)
        if abs(step) < 1e-13 or high - low < 1e-13:
            break
        at -= step
    return at


def _cube(shape: float, probability: float) -> float:
    """Return Wilson and Hilferty's quantile: the cube root of a Gamma variable is almost normal."""
    ninth = 1.0 / (9.0 * shape)
    return shape * max(1.0 - ninth + NormalDist().inv_cdf(probability) * math.sqrt(ninth), 0.0) ** 3


def _series(shape: float, x: float) -> float:
    """Return the lower incomplete gamma function over x^shape e^-x; fast for x below shape + 1."""
    term = total = 1.0 / shape
    while term > total * _NEAR:
        shape += 1.0
        term *= x / shape
        total += term
    return total


def _fraction(shape: float, x: float) -> float:
    """Return the upper incomplete gamma function over x^shape e^-x, by Lentz's method; for x above shape + 1."""
    b = x + 1.0 - shape
    c, d = 1.0 / _TINY, 1.0 / b
    total = d
    for i in range(1, 100_000):
        a = -i * (i - shape)
        b += 2.0
        d = 1.0 / _away(a * d + b)
        c = _away(b + a / c)
        total *= c * d
        if abs(c * d - 1.0) < _NEAR:
            break
    return total


def _away(x: float) -> float:
    return x if abs(x) > _TINY else _TINY
