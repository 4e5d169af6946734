"""What is probable where a rate is Gamma distributed, compiled: for the clocks of folders."""

import math
from typing import Any, Final

from evercrawl.kernels.build import compiled

_MOST: Final = 0.95  # that a page joined what its like did


@compiled
def log1p(x: float) -> float:
    """Return ln(1 + x)."""
    whole = 1.0 + x  # what is lost here is made good by the quotient
    return x if whole == 1.0 else math.log(whole) * x / (whole - 1.0)


@compiled
def expm1(x: float) -> float:
    """Return exp(x) - 1, for the same reason by a quotient."""
    whole = math.exp(x)
    if whole == 1.0:
        return x
    return -1.0 if whole < 1e-17 else (whole - 1.0) * x / math.log(whole)


@compiled
def within(x: float, least: float, most: float) -> float:
    """Return `x`, or the bound that it is beyond."""
    return min(max(x, least), most)


@compiled
def likelihood(shape: float, scale: float, exposure: float, changed: bool) -> float:
    """Return the logarithm of the probability of what a visit found."""
    fresh = -shape * log1p(max(exposure, 0.0) / scale)
    return math.log(max(-expm1(fresh), 1e-9)) if changed else fresh


@compiled
def at_least_one(level: float) -> float:
    """Return how many changes there were on the mean, of so many that were expected, where there was one at least."""
    return level / -expm1(-level) if level > 1e-9 else 1.0


@compiled
def moments(shape: float, scale: float, exposure: float) -> tuple[float, float]:
    """Return what a change at some time of an exposure adds to shape and scale: the Gamma with the same two moments."""
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
    """Return -ln of the probability that a page did not join what its like did since it was visited."""
    if not since < group.newest_at:
        return 0.0
    joins = min((group.joined + usual) / (group.joined + group.stayed + 1.0), _MOST)
    return -math.log(1.0 - joins)
