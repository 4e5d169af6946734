"""What is said of copies, made true: how likely they were fresh that were said to be so, site by site.

The logarithm of the odds is bent along a line, whose level and slope are learned as in a logistic regression, visit by
visit: each adds its curvature to what is known, and moves the line by its surprise over that.

References
----------
Platt (1999). Probabilistic outputs for support vector machines. Spiegelhalter, Lauritzen (1990). Sequential updating of
conditional probabilities on directed graphical structures: the steps.
"""

from __future__ import annotations

import math
from typing import Any, Final

from evercrawl.kernels.build import compiled
from evercrawl.schedule._clock_layout import CURVED, LEVEL, SLOPE

_LEAST: Final = 1e-6  # of a probability, and of its complement
_PRIOR: Final = 10.0  # curvature that the line is worth which changes nothing
_FADES: Final = 0.01  # of what is known, a visit
_LEVEL_MOST: Final = 3.0
_SLOPES: Final = (-0.7, 3.0)


@compiled
def odds(probability: float) -> float:
    """Return the logarithm of the odds."""
    kept = min(max(probability, _LEAST), 1.0 - _LEAST)
    return math.log(kept / (1.0 - kept))


@compiled
def note_claim(said: float, fresh: bool, site: Any) -> None:
    """Note whether a copy was fresh that was said to be so with a probability."""
    at = odds(said)
    now = 1.0 / (1.0 + math.exp(-(site[LEVEL] + (1.0 + site[SLOPE]) * at)))
    curve, surprise = now * (1.0 - now), (1.0 if fresh else 0.0) - now
    site[CURVED] += curve - _FADES * site[CURVED]
    site[CURVED + 1] += curve * at - _FADES * site[CURVED + 1]
    site[CURVED + 2] += curve * at * at - _FADES * site[CURVED + 2]
    level, both, slope = site[CURVED] + _PRIOR, site[CURVED + 1], site[CURVED + 2] + _PRIOR
    area = level * slope - both * both
    site[LEVEL] += surprise * (slope - both * at) / area
    site[SLOPE] += surprise * (level * at - both) / area
    site[LEVEL] = min(max(site[LEVEL], -_LEVEL_MOST), _LEVEL_MOST)
    site[SLOPE] = min(max(site[SLOPE], _SLOPES[0]), _SLOPES[1])
