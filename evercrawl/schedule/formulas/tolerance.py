"""Freshness with a tolerance: a copy counts as fresh until its page has differed for longer than a given time."""

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas.index import parts, survival
from evercrawl.types import Floats


def fresh_within(shape: ArrayLike, scale_s: ArrayLike, age_s: ArrayLike, within_s: float) -> Floats:
    """Return the probability that a copy of the given age is outdated by at most `within_s`.

    Examples
    --------
    >>> fresh_within(1.0, 1.0, [1.0, 2.0, 5.0], 2.0).tolist()
    [1.0, 1.0, 0.25]
    """
    return survival(shape, scale_s, np.maximum(np.asarray(age_s, np.float64) - within_s, 0.0))


def mean_fresh_within(shape: ArrayLike, scale_s: ArrayLike, interval_s: ArrayLike, within_s: float) -> Floats:
    """Return the fraction of time for which this holds if a page is visited once per interval (above 0; may be inf).

    Examples
    --------
    With changes at a known rate of one per second, and visits every three seconds, a tolerance adds 1 s of freshness:

    >>> mean_fresh_within(1e12, 1e12, [3.0, np.inf], 0.0).round(4).tolist()
    [0.3167, 0.0]
    >>> import math
    >>> round(float(mean_fresh_within(1e12, 1e12, 3.0, 1.0)), 4), round((2 - math.exp(-2)) / 3, 4)
    (0.6216, 0.6216)
    """
    interval = np.asarray(interval_s, np.float64)
    ever = np.isfinite(interval)
    tau = np.where(ever, interval, 1.0)
    left = np.maximum(tau - within_s, 0.0)
    fresh_s = parts(shape, scale_s, left).fresh + left * survival(shape, scale_s, left)
    return np.where(ever, np.minimum((np.minimum(tau, within_s) + fresh_s) / tau, 1.0), 0.0)
