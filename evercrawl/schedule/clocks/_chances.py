"""Probabilities for Gamma distributed rates, compiled: for the clocks of folders."""

import math
from typing import Any, Final

from evercrawl.kernels.build import compiled

_MOST: Final = 0.95  # maximum probability that a page joined the changes of similar pages


@compiled
def log1p(x: float) -> float:
    """Return ln(1 + x)."""
    whole = 1.0 + x  # the quotient corrects the rounding here
    return x if whole == 1.0 else math.log(whole) * x / (whole - 1.0)


@compiled
def expm1(x: float) -> float:
    """Return exp(x) - 1, with a quotient that corrects rounding."""
    whole = math.exp(x)
    if whole == 1.0:
        return x
    return -1.0 if whole < 1e-17 else (whole - 1.0) * x / math.log(whole)


@compiled
def within(x: float, least: float, most: float) -> float:
    """Return `x` limited to the bounds."""
    return min(max(x, least), most)


@compiled
def likelihood(shape: float, scale: float, exposure: float, changed: bool) -> float:
    """Return the log-likelihood of the result of a visit."""
    fresh = -shape * log1p(max(exposure, 0.0) / scale)
    return math.log(max(-expm1(fresh), 1e-9)) if changed else fresh


@compiled
def at_least_one(level: float) -> float:
    """Return the mean number of changes given that there was at least one, for a given expected number."""
    return level / -expm1(-level) if level > 1e-9 else 1.0


@compiled
def moments(shape: float, scale: float, exposure: float) -> tuple[float, float]:
    """Return the increments of shape and scale for a change within an exposure: the Gamma with equal moments."""
    length = log1p(exposure / scale)
    some = -expm1(-shape * length)
    if exposure <= 1e-6 * scale or some <= 1e-12:
        return 1.0, 0.0
    mean = shape / scale * -expm1(-(shape + 1.0) * length) / some
    square = shape * (shape + 1.0) / (scale * scale) * -expm1(-(shape + 2.0) * length) / some
    varies = square - mean * mean
    if not varies > 1e-12 * mean * mean:
        return 1.0, 0.0
    return mean * mean / varies - shape, mean / varies - scale


@compiled
def doubt(group: Any, since: float, usual: float) -> float:
    """Return -ln of the probability that a page did not join the changes of similar pages since its visit."""
    if not since < group.newest_at:
        return 0.0
    joins = min((group.joined + usual) / (group.joined + group.stayed + 1.0), _MOST)
    return -math.log(1.0 - joins)
