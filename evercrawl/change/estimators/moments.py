"""Exact moments of estimators that depend on how many of n evenly spaced visits found a change."""

import math
from typing import NamedTuple

import numpy as np

from evercrawl.types import Floats


class Moments(NamedTuple):
    """Mean, bias (mean minus true value) and variance of an estimate; in units of the rate of visits."""

    mean: float
    bias: float
    variance: float


def moments(estimates: Floats, rate: float) -> Moments:
    """Return the moments of an estimator, by summing over all possible results of the visits.

    Parameters
    ----------
    estimates
        Estimates if 0, 1, ... n of n visits found a change, shape (n + 1,).
    rate
        r, the true rate: changes per visit interval.

    Examples
    --------
    One visit; the estimate is 1 if the visit finds a change, which has probability 1/2:

    >>> moments(np.array([0.0, 1.0]), math.log(2.0))
    Moments(mean=0.5, bias=-0.193147, variance=0.25)
    """
    likely = binomial(len(estimates) - 1, -math.expm1(-rate))
    mean = float(likely @ estimates)
    return Moments(mean, mean - rate, float(likely @ (estimates - mean) ** 2))


def binomial(count: int, probability: float) -> Floats:
    """Return the probability of 0, 1, ... `count` successes, shape (count + 1,).

    Examples
    --------
    >>> binomial(2, 0.5)
    array([0.25, 0.5 , 0.25])
    """
    if not 0.0 < probability < 1.0:
        return np.asarray(np.eye(count + 1)[count if probability >= 1.0 else 0])
    k = np.arange(count, dtype=np.float64)
    steps = np.log((count - k) / (k + 1)) + math.log(probability) - math.log1p(-probability)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())
