"""Poisson regression with a prior: the expected number of events for a row of features."""

from typing import Final

import numpy as np

from evercrawl.types import Floats

_STEPS: Final = 50
_CLOSE: Final = 1e-9
_WIDEST: Final = 30.0  # logarithm of an expectation
_SPREAD: Final = (0.02, 50.0)


def fit(
    rows: Floats, events: Floats, times: Floats, prior: Floats, precision: Floats, exposure: Floats | None = None
) -> Floats:
    """Return the most probable coefficients theta, shape (k,), of events ~ Poisson(exposure exp(rows theta)).

    Parameters
    ----------
    rows, events, times
        Features, shape (n, k); the events of each row, and the number of rows it represents, shape (n,).
    prior, precision
        Prior mean and precision (1 / variance) of the coefficients, shape (k,).
    exposure
        Opportunity for events of each row, above 0, shape (n,); 1 by default.

    Examples
    --------
    With hardly a prior the expectation of a constant is the mean:

    >>> theta = fit(np.ones((3, 1)), np.array([1.0, 2.0, 6.0]), np.ones(3), np.zeros(1), np.full(1, 1e-9))
    >>> np.exp(theta).round(6)
    array([3.])

    Six events in four opportunities are three in two:

    >>> theta = fit(np.ones((1, 1)), np.array([6.0]), np.ones(1), np.zeros(1), np.full(1, 1e-9), np.array([4.0]))
    >>> np.exp(theta).round(6)
    array([1.5])

    References
    ----------
    McCullagh, Nelder (1989). Generalized Linear Models, on Poisson regression by iteratively reweighted least squares.
    """
    theta = prior.astype(np.float64).copy()
    offset = np.zeros(len(events)) if exposure is None else np.log(exposure)
    best = _cost(rows, events, times, theta, prior, precision, offset)
    for _ in range(_STEPS):
        expected = times * expectation(rows, theta) * np.exp(offset)
        slope = rows.T @ (expected - times * events) + precision * (theta - prior)
        bend = (rows * expected[:, None]).T @ rows + np.diag(precision)
        step = np.linalg.solve(bend, slope)
        for _half in range(_STEPS):
            tried = theta - step
            cost = _cost(rows, events, times, tried, prior, precision, offset)
            if cost <= best:
                break
            step /= 2
        else:
            break
        gained, theta, best = best - cost, tried, cost
        if gained <= _CLOSE * (abs(best) + 1.0):
            break
    return theta


def expectation(rows: Floats, theta: Floats) -> Floats:
    """Return the expected number of events of rows per unit of exposure, shape (n,)."""
    expected: Floats = np.exp(np.clip(rows @ theta, -_WIDEST, _WIDEST))
    return expected


def spread(events: Floats, times: Floats, expected: Floats) -> float:
    """Return k, the overdispersion relative to Poisson: the variance is m + m^2 / k; by the method of moments.

    Examples
    --------
    >>> round(spread(np.array([0.0, 8.0]), np.ones(2), np.array([4.0, 4.0])), 3)
    1.333
    """
    more = float(times @ ((events - expected) ** 2 - expected))
    return float(np.clip(times @ expected**2 / more, *_SPREAD)) if more > 0 else _SPREAD[1]


def _cost(
    rows: Floats, events: Floats, times: Floats, theta: Floats, prior: Floats, precision: Floats, offset: Floats
) -> float:
    level = np.clip(rows @ theta, -_WIDEST, _WIDEST) + offset
    return float(times @ (np.exp(level) - events * level) + 0.5 * precision @ (theta - prior) ** 2)
