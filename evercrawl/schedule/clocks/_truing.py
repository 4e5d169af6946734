"""Calibration of predicted freshness, per site, by the observed freshness of copies.

The logarithm of the odds is mapped by a line whose level and slope are learned as in online logistic regression: each
visit adds its curvature to the precision, and moves the line by its surprise over the precision. The prediction that
counts is the one before the visit and before all visits of the same batch: otherwise, after the first of a hundred
copies of one batch was seen, the second would be predicted to be stale. So predictions for
a site within one bin of its clock are compared by the line at the beginning of the bin. (Those made late in a bin used
a later line; on recorded histories this changes the error by less than 0.001.) Such predictions are right or wrong
together, so each further one of a bin counts less.

References
----------
Platt (1999). Probabilistic outputs for support vector machines. Spiegelhalter, Lauritzen (1990). Sequential updating of
conditional probabilities on directed graphical structures: the steps.
"""

import math
from typing import Any, Final

from evercrawl.kernels.build import compiled
from evercrawl.schedule.clocks._layout import CLAIMED, CURVED, LEVEL, SLOPE

_LEAST: Final = 1e-6  # minimum of a probability and of its complement
_PRIOR: Final = 10.0  # precision of the initial line, which is the identity
_FADES: Final = 0.01  # forgetting of the precision, per visit
_ALIKE: Final = 0.1  # the eleventh prediction of a bin counts half as much as the first
_LEVEL_MOST: Final = 3.0
_SLOPES: Final = (-0.7, 3.0)


@compiled
def odds(probability: float) -> float:
    """Return the logarithm of the odds."""
    kept = min(max(probability, _LEAST), 1.0 - _LEAST)
    return math.log(kept / (1.0 - kept))


@compiled
def unbent(said: float, site: Any) -> float:
    """Return the logarithm of the odds of a probability before its calibration with the line of the bin."""
    most = odds(1.0)
    return float(min(max((odds(said) - site[CLAIMED + 2]) / (1.0 + site[CLAIMED + 3]), -most), most))


@compiled
def begin_claims(of_bin: float, site: Any) -> None:
    """Begin with the predictions of a bin, if there were none yet."""
    if site[CLAIMED] != of_bin:
        site[CLAIMED], site[CLAIMED + 1] = of_bin, 0.0
        site[CLAIMED + 2], site[CLAIMED + 3] = site[LEVEL], site[SLOPE]


@compiled
def note_claim(at: float, fresh: bool, site: Any) -> None:
    """Learn from a copy with uncalibrated log odds `at` of being fresh, which was fresh or not."""
    counts = 1.0 / (1.0 + _ALIKE * site[CLAIMED + 1])
    site[CLAIMED + 1] += 1.0
    now = 1.0 / (1.0 + math.exp(-(site[LEVEL] + (1.0 + site[SLOPE]) * at)))
    curve, surprise, fades = counts * now * (1.0 - now), counts * ((1.0 if fresh else 0.0) - now), counts * _FADES
    site[CURVED] += curve - fades * site[CURVED]
    site[CURVED + 1] += curve * at - fades * site[CURVED + 1]
    site[CURVED + 2] += curve * at * at - fades * site[CURVED + 2]
    level, both, slope = site[CURVED] + _PRIOR, site[CURVED + 1], site[CURVED + 2] + _PRIOR
    area = level * slope - both * both
    site[LEVEL] += surprise * (slope - both * at) / area
    site[SLOPE] += surprise * (level * at - both) / area
    site[LEVEL] = min(max(site[LEVEL], -_LEVEL_MOST), _LEVEL_MOST)
    site[SLOPE] = min(max(site[SLOPE], _SLOPES[0]), _SLOPES[1])
