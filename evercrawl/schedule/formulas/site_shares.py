"""The distribution of the share of changed pages over sites: a Beta distribution, with the functions for sampling.

References
----------
Abramowitz, Stegun (1964). Handbook of Mathematical Functions, 26.5.8. Lentz (1976). Tarone (1979). Testing the goodness
of fit of the binomial distribution: moments of counts out of different numbers.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from evercrawl.types import Floats

_TINY: Final = 1e-300
_NEAR: Final = 2e-16
_HALVINGS: Final = 200
_EVIDENCE: Final = (1e-2, 1e4)  # bounds of a + b in a fit: from shares of 0 or 1 only, to equal shares


class Shares(NamedTuple):
    """The distribution of the share of changed pages over sites: Beta(a, b).

    Attributes
    ----------
    a, b
        Both positive; 1 and 1 for the uniform distribution.

    Examples
    --------
    Half of all sites have a share above 0.5, with mean 0.75; a site with 3 of 3 probed pages changed has 0.8.

    >>> even = Shares(1.0, 1.0)
    >>> even.mean, even.threshold(0.5), even.density(0.5), even.mean_above(0.5)
    (0.5, 0.5, 1.0, 0.75)
    >>> even.believed(np.array([3.0, 0.0]), np.array([3.0, 3.0]))
    array([0.8, 0.2])
    """

    a: float = 1.0
    b: float = 1.0

    @property
    def mean(self) -> float:
        """The mean share."""
        return self.a / (self.a + self.b)

    def density(self, share: float) -> float:
        """Return the density f at a share; at 0 and 1, where it may be infinite, that of the nearest number inside."""
        share = min(max(share, _TINY), 1 - _NEAR)
        log = (self.a - 1) * math.log(share) + (self.b - 1) * math.log1p(-share)
        return math.exp(log + _log_scale(self.a, self.b))

    def threshold(self, part: float) -> float:
        """Return the share rho_r exceeded by the fraction `part` of the sites, 0 < part < 1."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (low, middle) if beta_probability(self.a, self.b, middle) > 1 - part else (middle, high)
        return high

    def mean_above(self, part: float) -> float:
        """Return the mean share of the fraction `part` of the sites with the highest shares."""
        at = self.threshold(part)
        return self.mean * (1 - beta_probability(self.a + 1, self.b, at)) / part

    def believed(self, changed: Floats, probed: Floats) -> Floats:
        """Return each site's expected share, given the numbers of probed and changed pages, shape (n,)."""
        return (self.a + changed) / (self.a + self.b + probed)


def fit(changed: Floats, probed: Floats) -> Shares:
    """Return the distribution with the mean and variance that probes of several sites show.

    The sampling variance that equal sites would show is subtracted; with few pages per site it is most of the variance.

    Parameters
    ----------
    changed, probed
        For each site, number of changed pages and number of probed pages; shape (n,).

    Examples
    --------
    >>> found = fit(np.array([1.0, 9.0, 5.0, 2.0, 8.0]), np.full(5, 10.0))
    >>> round(found.mean, 6), found.a < 1.5
    (0.5, True)
    >>> fit(np.zeros(0), np.zeros(0))
    Shares(a=1.0, b=1.0)
    """
    told = probed > 0
    changed, probed = changed[told], probed[told]
    total = float(probed.sum())
    if not total:
        return Shares()
    mean = (float(changed.sum()) + 0.5) / (total + 1.0)
    shares = np.where(probed > 0, changed / probed, 0.0)
    spread = float((probed * (shares - mean) ** 2).sum()) / (mean * (1 - mean))  # n - 1 if all sites are alike
    extra = spread - (len(probed) - 1)
    room = total - float((probed**2).sum()) / total - (len(probed) - 1)
    alike = min(max(extra / room, 0.0), 1.0) if room > 0 else 0.5  # correlation within a site, 1 / (1 + a + b)
    evidence = min(max(1 / alike - 1 if alike > 0 else math.inf, _EVIDENCE[0]), _EVIDENCE[1])
    return Shares(mean * evidence, (1 - mean) * evidence)


def beta_probability(a: float, b: float, x: float) -> float:
    """Return the probability that a Beta(a, b) variable is below x.

    Examples
    --------
    >>> round(beta_probability(1.0, 3.0, 0.5), 12)
    0.875
    """
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_probability(b, a, 1.0 - x)
    log = a * math.log(x) + b * math.log1p(-x) + _log_scale(a, b)
    return math.exp(log) / a / _fraction(a, b, x)


def _log_scale(a: float, b: float) -> float:
    return math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method; fast for x below the mean."""
    value = c = 1.0
    d = 0.0
    for step in range(1, 20_000):
        term = _term(a, b, x, step)
        d = 1.0 / _away(1.0 + term * d)
        c = _away(1.0 + term / c)
        value *= c * d
        if abs(c * d - 1.0) < _NEAR:
            break
    return value


def _term(a: float, b: float, x: float, step: int) -> float:
    """Return one numerator of the fraction."""
    m, odd = divmod(step, 2)
    if odd:
        return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))


def _away(x: float) -> float:
    return x if abs(x) > _TINY else _TINY
