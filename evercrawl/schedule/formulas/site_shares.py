"""What share of a site's pages has changed, over all sites: a Beta distribution, and what the sampling of sites asks.

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
_EVIDENCE: Final = (1e-2, 1e4)  # bounds of a + b in a fit: sites that are all or nothing, and sites that are all alike


class Shares(NamedTuple):
    """How the share of changed pages is spread over sites: Beta(a, b).

    Attributes
    ----------
    a, b
        Both positive; 1 and 1 where every share is as likely as any other.

    Examples
    --------
    Half of all sites have a share above 0.5, on average 0.75; a site of whose 3 probed pages 3 had changed has 0.8.

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
        """Return the density f at a share; at 0 and 1, where it may be infinite, that of the next number."""
        share = min(max(share, _TINY), 1 - _NEAR)
        log = (self.a - 1) * math.log(share) + (self.b - 1) * math.log1p(-share)
        return math.exp(log + _log_scale(self.a, self.b))

    def threshold(self, part: float) -> float:
        """Return the share rho_r above which so large a part of the sites lies, 0 < part < 1."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (low, middle) if beta_probability(self.a, self.b, middle) > 1 - part else (middle, high)
        return high

    def mean_above(self, part: float) -> float:
        """Return the mean share of the part of the sites that have the most."""
        at = self.threshold(part)
        return self.mean * (1 - beta_probability(self.a + 1, self.b, at)) / part

    def believed(self, changed: Floats, probed: Floats) -> Floats:
        """Return each site's expected share after so many of its pages were probed and found changed, shape (n,)."""
        return (self.a + changed) / (self.a + self.b + probed)


def fit(changed: Floats, probed: Floats) -> Shares:
    """Return the distribution whose mean and variance are those that probes of several sites show.

    What counts would vary by themselves, were all sites alike, is taken off; with few pages a site that is most of it.

    Parameters
    ----------
    changed, probed
        Of each site: how many pages were found changed, of how many; shape (n,).

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
    spread = float((probed * (shares - mean) ** 2).sum()) / (mean * (1 - mean))  # n - 1 where all sites are alike
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
    """Return the continued fraction of the incomplete beta function, by Lentz's method; quick for x below the mean."""
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
