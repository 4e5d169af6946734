"""What is said of copies, made true: how likely they were fresh that were said to be so, site by site.

The logarithm of the odds is bent along a line, whose level and slope are learned as in a logistic regression, visit by
visit: each adds its curvature to what is known, and moves the line by its surprise over that. What counts is what was
said before the visit, and before all that were made meanwhile: of a hundred copies of one batch the second would be
said to be stale by whoever has seen the first. All that is said of a site within one bin of its clock is taken to have
been said when that began. Such claims are true or false together, so that each further one of a bin counts less.

References
----------
Platt (1999). Probabilistic outputs for support vector machines. Spiegelhalter, Lauritzen (1990). Sequential updating of
conditional probabilities on directed graphical structures: the steps.
"""

import math
from typing import Any, Final

from evercrawl.kernels.build import compiled
from evercrawl.schedule.clocks._layout import CLAIMED, CURVED, LEVEL, SLOPE

_LEAST: Final = 1e-6  # of a probability, and of its complement
_PRIOR: Final = 10.0  # curvature that the line is worth which changes nothing
_FADES: Final = 0.01  # of what is known, a visit
_ALIKE: Final = 0.1  # the eleventh claim of a bin counts half of what the first does
_LEVEL_MOST: Final = 3.0
_SLOPES: Final = (-0.7, 3.0)


@compiled
def odds(probability: float) -> float:
    """Return the logarithm of the odds."""
    kept = min(max(probability, _LEAST), 1.0 - _LEAST)
    return math.log(kept / (1.0 - kept))


@compiled
def unbent(said: float, site: Any) -> float:
    """Return the logarithm of the odds of a probability as it was before it was made true, when the bin began."""
    most = odds(1.0)
    return float(min(max((odds(said) - site[CLAIMED + 2]) / (1.0 + site[CLAIMED + 3]), -most), most))


@compiled
def begin_claims(of_bin: float, site: Any) -> None:
    """Begin with the claims of a bin, if there were none of it."""
    if site[CLAIMED] != of_bin:
        site[CLAIMED], site[CLAIMED + 1] = of_bin, 0.0
        site[CLAIMED + 2], site[CLAIMED + 3] = site[LEVEL], site[SLOPE]


@compiled
def note_claim(at: float, fresh: bool, site: Any) -> None:
    """Note whether a copy was fresh that was said to be so, before that was made true, with odds of logarithm `at`."""
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
