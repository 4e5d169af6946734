"""The posterior of a page's rate of change: a Gamma distribution, two numbers.

Changes are a Poisson process with the unknown rate lambda. The posterior is Gamma(shape a, rate parameter b), with b in
seconds of exposure: the mean rate is a / b per second. A visit that finds the page unchanged after tau leaves a and
adds tau to b, exactly; a change of known age s adds 1 to a and s to b, exactly. A change of unknown age gives a
posterior that is not a Gamma distribution, so the one with the same mean and variance replaces it. No visit decreases
a or b; therefore the evidence, the sum of what visits added to the prior, is never negative, and the prior can be
replaced at any time.

References
----------
Cho, Garcia-Molina (2003). Estimating Frequency of Change. For the marginal survival: Lomax (1954).
"""

import math

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.special import gamma_quantile
from evercrawl.types import Floats

SMALL = 1e-9
"""Interval as a fraction of b below which it counts as zero: a change adds 1 to a, and half the interval to b."""
CERTAIN = 700.0
"""Value of -ln P(unchanged) above which a change was certain and carries no information; exp would overflow."""


def learn(
    shape: float, scale_s: float, interval_s: float, changed: bool, age_s: float | None = None
) -> tuple[float, float]:
    """Return the posterior after a visit, (shape, scale_s); neither decreases.

    Parameters
    ----------
    shape, scale_s
        The posterior before the visit, both positive.
    interval_s
        Time since the previous visit, finite; a negative one (a clock set back) counts as 0.
    changed
        Whether the visit found a change.
    age_s
        Age of the last change, if known; limited to the interval.

    Examples
    --------
    >>> learn(0.4, 3.0, 1.0, False)
    (0.4, 4.0)
    >>> learn(0.4, 3.0, 1.0, True, age_s=0.25)
    (1.4, 3.25)
    >>> learn(0.4, 3.0, 0.0, True)
    (1.4, 3.0)
    """
    shape_more, scale_more_s = _gain(shape, scale_s, max(interval_s, 0.0), changed, age_s)
    return shape + shape_more, scale_s + scale_more_s


def learn_evidence(
    shape: float,
    scale_s: float,
    prior: tuple[float, float],
    interval_s: float,
    changed: bool,
    age_s: float | None = None,
) -> tuple[float, float]:
    """Return the evidence after a visit, (shape, scale_s): the sum of what all visits have added to the prior.

    Parameters
    ----------
    shape, scale_s
        The previous evidence; (0, 0) for a page visited once.
    prior
        Current shape and scale_s of the prior, both positive.
    interval_s, changed, age_s
        As for `learn`.

    Examples
    --------
    >>> learn_evidence(0.0, 0.0, (0.4, 3.0), 1.0, False)
    (0.0, 1.0)
    """
    more, more_s = _gain(prior[0] + shape, prior[1] + scale_s, max(interval_s, 0.0), changed, age_s)
    return shape + more, scale_s + more_s


def _gain(shape: float, scale_s: float, interval_s: float, changed: bool, age_s: float | None) -> tuple[float, float]:
    """Return the increments of a and b by a visit."""
    if not changed:
        return 0.0, interval_s
    if age_s is not None:
        return 1.0, min(max(age_s, 0.0), interval_s)
    return _gain_by_moments(shape, scale_s, interval_s)


def _gain_by_moments(shape: float, scale_s: float, interval_s: float) -> tuple[float, float]:
    """Return the increments by a change of unknown age.

    With q = b / (b + tau), the k-th moment is that of the prior times (1 - q^(a+k)) / (1 - q^a): 1 + s for the mean and
    1 + s (1 + q) for the square, s = q^a (1 - q) / (1 - q^a). In this form no difference of nearly equal numbers
    occurs.
    """
    if interval_s <= SMALL * scale_s:
        return 1.0, 0.5 * interval_s
    level = shape * math.log1p(interval_s / scale_s)
    if level > CERTAIN:
        return 0.0, 0.0
    gone = interval_s / (scale_s + interval_s)  # 1 - q
    s = gone / math.expm1(level)
    variance = 1.0 + s * (2.0 - gone) - shape * s * (gone + s)  # in units of the prior's
    more = shape * s * (gone + s + shape * (gone + s)) / variance
    more_s = scale_s * s * (shape * (gone + s) - (1.0 - gone)) / variance
    return more, max(more_s, 0.0)


def learn_many(
    shape: Floats, scale_s: Floats, interval_s: Floats, changed: NDArray[np.bool_], age_s: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the result of `learn` for one visit to each of many pages, (shape, scale_s), each of shape (n,).

    Parameters
    ----------
    shape, scale_s, interval_s, changed
        As for `learn`, one value per page.
    age_s
        Age of the last change; nan if unknown.

    Examples
    --------
    >>> a, b = learn_many(np.full(2, 0.4), np.full(2, 3.0), np.ones(2), np.array([False, True]), np.array([0.5, 0.25]))
    >>> a.tolist(), b.tolist()
    ([0.4, 1.4], [4.0, 3.25])
    """
    more, more_s = _gains(shape, scale_s, interval_s, changed, age_s)
    return shape + more, scale_s + more_s


def learn_evidence_many(
    shape: Floats,
    scale_s: Floats,
    prior: tuple[float | Floats, float | Floats],
    interval_s: Floats,
    changed: NDArray[np.bool_],
    age_s: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the result of `learn_evidence` for one visit to each of many pages, (shape, scale_s), of shape (n,) each.

    >>> nothing, one = np.zeros(1), np.ones(1)
    >>> learn_evidence_many(nothing, nothing, (0.4, 3.0), one, np.array([False]))
    (array([0.]), array([1.]))
    """
    more, more_s = _gains(prior[0] + shape, prior[1] + scale_s, interval_s, changed, age_s)
    return shape + more, scale_s + more_s


def _gains(
    shape: Floats, scale_s: Floats, interval_s: Floats, changed: NDArray[np.bool_], age_s: Floats | None
) -> tuple[Floats, Floats]:
    """Return the increments of a and b by visits, as `_gain` does."""
    interval_s = np.maximum(interval_s, 0.0)
    more, more_s = np.zeros(shape.shape), interval_s.astype(np.float64)
    undated = changed
    if age_s is not None:
        dated = changed & ~np.isnan(age_s)
        undated = changed & ~dated
        more[dated], more_s[dated] = 1.0, np.clip(age_s[dated], 0.0, interval_s[dated])
    rows = np.flatnonzero(undated)
    if len(rows):
        more[rows], more_s[rows] = _gains_by_moments(shape[rows], scale_s[rows], interval_s[rows])
    return more, more_s


def _gains_by_moments(shape: Floats, scale_s: Floats, interval_s: Floats) -> tuple[Floats, Floats]:
    """Return the increments by changes of unknown age, as `_gain_by_moments` does."""
    level = shape * np.log1p(interval_s / scale_s)
    brief, certain = interval_s <= SMALL * scale_s, level > CERTAIN
    gone = np.where(brief, 0.5, interval_s / (scale_s + interval_s))
    s = gone / np.expm1(np.where(brief | certain, 1.0, level))
    variance = 1.0 + s * (2.0 - gone) - shape * s * (gone + s)
    more = shape * s * (gone + s + shape * (gone + s)) / variance
    more_s = np.maximum(scale_s * s * (shape * (gone + s) - (1.0 - gone)) / variance, 0.0)
    more, more_s = np.where(certain, 0.0, more), np.where(certain, 0.0, more_s)
    return np.where(brief, 1.0, more), np.where(brief, 0.5 * interval_s, more_s)


def forget(shape: float, scale_s: float, weight: float) -> tuple[float, float]:
    """Return evidence multiplied by `weight`, from 0 (forgotten) to 1.

    A weight of e^(-phi) per cycle, phi = 0.1 to 0.3, follows rates that drift.

    Examples
    --------
    >>> forget(4.0, 100.0, 0.5)
    (2.0, 50.0)
    """
    return shape * weight, scale_s * weight


def survival(shape: Floats, scale_s: Floats, age_s: Floats) -> Floats:
    """Return the probability that copies of the given age are still fresh, shape (n,): (b / (b + tau))^a.

    Examples
    --------
    >>> survival(np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array([1.0, 3.0])).tolist()
    [0.5, 0.0625]
    """
    return np.exp(-shape * np.log1p(np.maximum(age_s, 0.0) / scale_s))


def rate(shape: Floats, scale_s: Floats) -> Floats:
    """Return the mean rates of change, per second, shape (n,).

    Examples
    --------
    >>> rate(np.array([0.4]), np.array([40.0])).tolist()
    [0.01]
    """
    return shape / scale_s


def interval(shape: float, scale_s: float, level: float = 0.9) -> tuple[float, float]:
    """Return the central interval of rates, per second, that contains the page's rate with probability `level`.

    Examples
    --------
    A shape of 1 is the exponential distribution, whose quantiles are -ln(1 - p):

    >>> low, high = interval(1.0, 1.0, 0.9)
    >>> round(low, 6), round(high, 6)
    (0.051293, 2.995732)
    """
    tail = 0.5 * (1.0 - level)
    return gamma_quantile(shape, tail) / scale_s, gamma_quantile(shape, 1.0 - tail) / scale_s
