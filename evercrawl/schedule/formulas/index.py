"""The worth of a visit if the page's rate of change has a Gamma(shape, scale) posterior: readable, in numpy.

S(t) = (b / (b + t))^a is the probability that a copy of age t is still fresh, if the rate is Gamma(a, b). A visit after
t ends an interval that earned w int_0^t S; the next moment would have earned w S(t). The difference over the whole
interval, **V = w (int_0^t S - t S(t))**, is the cost of bandwidth at which t is the right time for a visit.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.types import Floats

HARMONIC: Final = 0.003
"""theta: the weight of the harmonic index, which grows without bound, so that no page is abandoned. If a hundredth of
all pages is visited per day, and important pages change most, it costs 0.3 % of freshness; 0.02 costs 2 %, 0.05 4 %."""
NEVER_S: Final = 1e11
"""Intervals longer than this, 3,000 years, count as infinite."""
_SMALL: Final = 0.01  # below it, differences of nearly equal numbers are computed as series


class IntervalParts(NamedTuple):
    """The worth of an interval for a weight of 1 (s), and the probability of the additional cost (see `parts`)."""

    fresh: Floats
    harmonic: Floats
    p_changed: Floats


def survival(shape: ArrayLike, scale_s: ArrayLike, age_s: ArrayLike) -> Floats:
    """Return the probability that a copy of the given age is still fresh.

    Examples
    --------
    >>> survival(1.0, 1.0, [0.0, 1.0, 3.0])
    array([1.  , 0.5 , 0.25])
    """
    shape, scale_s, age_s = (np.asarray(each, np.float64) for each in (shape, scale_s, age_s))
    return np.exp(-shape * np.log1p(age_s / scale_s))


def parts(shape: ArrayLike, scale_s: ArrayLike, age_s: ArrayLike) -> IntervalParts:
    """Return `fresh` = int S - t S, `harmonic` = t - int S, and `p_changed` = 1 - S + t S'.

    `p_changed` is the marginal cost of a change. All three depend on the age t, in seconds; -S' is the density of the
    first change.

    Examples
    --------
    >>> parts(1.0, 1.0, 1.0).fresh.item(), np.log(2).item() - 0.5
    (0.1931471805599453, 0.1931471805599453)
    """
    a, b, t = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in (shape, scale_s, age_s)))
    fresh_yet, x = survival(a, b, t), t / b
    z = (a - 1) * np.log1p(x)
    whole = b * np.log1p(x) * np.where(np.abs(z) < 1e-12, 1.0, -np.expm1(-z) / np.where(z == 0, 1.0, z))  # int S
    fresh, harmonic = whole - t * fresh_yet, t - whole
    small = (a + 1) * x < _SMALL
    fresh, harmonic = np.where(small, _series(a, b, x, fresh=True), fresh), np.where(small, _series(a, b, x), harmonic)
    return IntervalParts(fresh, harmonic, np.maximum(1 - fresh_yet - t * a * fresh_yet / (b + t), 0.0))


def heard(shape: ArrayLike, scale_s: ArrayLike, age_s: ArrayLike, recall: ArrayLike) -> Floats:
    """Return the worth of an interval for weight 1 (s) if a fraction of changes is announced and none was announced.

    For a known rate, the absence of announcements excludes changes of the fraction rho that would have been announced:
    the copy is fresh with probability e^-alpha t, alpha = (1 - rho) lam. The visit comes now, or at the announcement,
    so it is worth (1 - e^-lam t) / lam - e^-alpha t (1 - e^-rho lam t) / (rho lam). This is less than without
    announcements, because waiting has the benefit of possible announcements. See `signals.times`, below the level of
    one announcement that is quite certain.

    The mean is taken over the current posterior of the rate, which includes the evidence of silence:
    Gamma(a, b + rho t). So with the harmonic part H = t - int S, for a scale of b + rho t,
    **V = ((1 - rho) H(t) - H((1 - rho) t)) / rho**. It grows without bound, like the index without announcements, so
    that pages of uncertain rate are visited.

    Examples
    --------
    If nothing is announced, the result is that of `parts`; if everything is announced, a visit is worth nothing:

    >>> heard(1.0, 1.0, 1.0, [1e-4, 0.5, 1.0]).round(3), parts(1.0, 1.0, 1.0).fresh.round(3).item()
    (array([0.193, 0.097, 0.   ]), 0.193)
    """
    a, b, t, rho = (np.asarray(each, np.float64) for each in (shape, scale_s, age_s, recall))
    by_now = b + rho * t
    return ((1.0 - rho) * parts(a, by_now, t).harmonic - parts(a, by_now, (1.0 - rho) * t).harmonic) / rho


def announced(
    shape: ArrayLike, scale_s: ArrayLike, age_s: ArrayLike, recall: ArrayLike, notice: ArrayLike
) -> tuple[Floats, Floats]:
    """Return the worth of an interval for weight 1 (s), and the probability of additional cost, after an announcement.

    For a known rate, a copy is fresh with probability e^-y, y = alpha t + kappa. This equals the case without an
    announcement at T = t + kappa / alpha, so the worth is that of `heard` at T. The mean is taken over the posterior of
    the rate given an announcement within t: Gamma(a + 1, b + rho t). With B = b + rho t, c = kappa / (1 - rho),
    p = e^-c (B / (B + t))^a and q = e^-kappa (B / (B + (1 - rho) t))^a the result is
    **V = (B / a) (1 - p - (q - p) / rho)**. The effect of future announcements is neglected.

    Parameters
    ----------
    shape, scale_s
        Posterior before the announcement.
    age_s
        Time since the last visit.
    recall
        rho, more than 0.
    notice
        kappa, -ln of the probability that the announcement is false.

    Examples
    --------
    With a known rate of one per second and a certain announcement, a visit earns the mean time until the next change.

    >>> [round(each.item(), 3) for each in announced(1e9, 1e9, 0.0, 1e-6, 30.0)]
    [1.0, 1.0]
    """
    a, b, t, rho, kappa = (np.asarray(each, np.float64) for each in (shape, scale_s, age_s, recall, notice))
    by_now, both, doubt = b + rho * t, np.exp(-kappa / (1.0 - rho)), np.exp(-kappa)

    def part(a: Floats) -> Floats:
        p, q = both * survival(a, by_now, t), doubt * survival(a, by_now, (1.0 - rho) * t)
        return 1.0 - p - (q - p) / rho

    return by_now / a * part(a), np.maximum(part(a + 1.0), 0.0)


def _series(a: Floats, b: Floats, x: Floats, *, fresh: bool = False) -> Floats:
    """Return the sum of (-1)^k (a+1)...(a+k) / k! a b x^(k+2) / (k+2), for the harmonic part / ((k+1)(k+2))."""
    total, term = np.zeros_like(x), a * b * x * x
    for k in range(6):
        total += term / ((k + 2) if fresh else (k + 1) * (k + 2))
        term = -term * (a + 1 + k) / (k + 1) * x
    return total


def index(
    weight: ArrayLike,
    shape: ArrayLike,
    scale_s: ArrayLike,
    age_s: ArrayLike,
    cost: ArrayLike = 1.0,
    cost_changed: ArrayLike = 0.0,
    harmonic: float = HARMONIC,
) -> Floats:
    """Return the worth of a visit at an age per unit of the budget; it is never negative and grows with the age.

    Parameters
    ----------
    weight
        Importance w.
    shape, scale_s
        Posterior of the rate of change.
    age_s
        Time since the last visit.
    cost, cost_changed
        Cost of a visit in any case, and additional cost if the page has changed.
    harmonic
        theta, between 0 (freshness alone) and 1 (the harmonic index alone).

    References
    ----------
    Olston, Pandey (2008). Recrawl scheduling based on information longevity. Azar et al. (2018). Tractable
    near-optimal policies for crawling. Kolobov et al. (2019). Staying up to date with online content changes.
    """
    part = parts(shape, scale_s, age_s)
    worth = (1 - harmonic) * part.fresh + harmonic * part.harmonic
    return np.asarray(weight) * worth / (np.asarray(cost) + np.asarray(cost_changed) * part.p_changed)
