"""Solvers for the optimal number of changes between two visits of a page, given the cost of a visit."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.schedule.formulas.objectives import FRESHNESS, Objective, h
from evercrawl.types import Floats

_STEPS: Final = 60
_CLOSE: Final = 1e-8  # size of a Newton step, in logarithms, after which the error is about its square
_X: Floats = np.geomspace(1e-6, 1e6, 1 << 12)
_LOG_X: Floats = np.log(_X)
_FEW: Floats = np.minimum(_X, 36.0)  # above it, h is 1 to machine precision
_LOG_H: Floats = np.log(h(_FEW))
_LOG_REST: Floats = np.where(_X < 36.0, _FEW - np.log1p(_FEW), 36.0 - np.log(37.0) + _X - 36.0)  # -ln (1 - h)
_LEAST_H: Final = float(np.exp(_LOG_H[0]))


def interval(level: ArrayLike, objective: Objective = FRESHNESS, dear: ArrayLike = 0.0) -> Floats:
    """Return x with v(x) = level (1 + dear h(x)); infinity if there is none.

    Parameters
    ----------
    level
        Cost of a visit to an unchanged page, in units of w lam^-k.
    objective
        The objective, which determines v.
    dear
        Additional cost of a change, in units of the cost of a visit to an unchanged page.

    Examples
    --------
    >>> interval(h([0.001, 1.0, 20.0])).round(9)
    array([1.e-03, 1.e+00, 2.e+01])
    >>> from evercrawl.schedule.formulas.objectives import HARMONIC
    >>> interval([0.367879441171], HARMONIC).round(9)
    array([1.])
    """
    level, dear = np.broadcast_arrays(np.asarray(level, np.float64), np.asarray(dear, np.float64))
    if objective is FRESHNESS:  # v = h, so the equation is linear in h
        left = 1.0 - level * dear
        return _of_h(np.where(left > 0, level / np.where(left > 0, left, 1.0), np.inf))
    log_level = np.log(np.maximum(level, 1e-300))
    u: Floats = np.interp(log_level, np.log(objective.worth(_X)), _LOG_X)
    u = np.where(u > _LOG_X[-2], (log_level + np.log(objective.power)) / objective.power, u)
    for _ in range(_STEPS):  # Newton steps on ln v - ln (1 + dear h) as a function of ln x, which is nearly linear
        x = np.exp(u)
        worth, bill = objective.worth(x), 1.0 + dear * h(x)
        slope = x * (objective.slope(x) / worth - dear * x * np.exp(-x) / bill)
        step = (np.log(worth / bill) - log_level) / np.maximum(slope, 0.25)
        u = u - np.clip(step, -3.0, 3.0)
        if np.all(np.abs(step) <= _CLOSE):
            break
    return np.exp(u)


def _of_h(level: Floats) -> Floats:
    """Return x with h(x) = `level`: from a table and two Halley steps; h' = x e^-x, h'' = (1 - x) e^-x."""
    y = np.clip(level, 1e-300, 1 - 1e-16)
    x = np.where(y < 0.5, np.exp(np.interp(np.log(y), _LOG_H, _LOG_X)), np.interp(-np.log1p(-y), _LOG_REST, _X))
    x = np.where(y < _LEAST_H, np.sqrt(2 * y), x)
    for _ in range(2):
        off, gone = h(x) - y, np.exp(-x)
        slope = x * gone
        x = x - 2 * off * slope / (2 * slope**2 - off * (1 - x) * gone)
    return np.where(level >= 1, np.inf, x)
