"""Survival curves with late entry and censoring."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Floats


class Survival(NamedTuple):
    """A survival curve, a step function.

    Attributes
    ----------
    ages_s
        Ages at which some lives end, ascending, shape (steps,).
    shares
        Share that lives longer than that, shape (steps,).
    longest_s
        Largest age observed.
    """

    ages_s: Floats
    shares: Floats
    longest_s: float

    def at(self, age_s: float) -> float:
        """Return the share that lives longer than an age; nan beyond the largest age observed."""
        if not age_s <= self.longest_s:
            return math.nan
        return float(np.append(1.0, self.shares)[np.searchsorted(self.ages_s, age_s, "right")])

    def median_s(self) -> float:
        """Return the age that half of them reach; infinity if more than half are alive at the end."""
        under = np.flatnonzero(self.shares <= 0.5)
        if len(under):
            return float(self.ages_s[under[0]])
        return math.inf if self.longest_s > 0 else math.nan


def survival(entered_s: Floats, left_s: Floats, ended: NDArray[np.bool_]) -> Survival:
    """Return the share surviving at each age, by the product-limit rule with late entry.

    Parameters
    ----------
    entered_s
        Age at which the observation of each began, shape (n,); 0 if its beginning was observed.
    left_s
        Age at which the observation ended, shape (n,).
    ended
        Whether its life ended then, shape (n,); others are censored.

    Examples
    --------
    Of four lives, one ends at age 1, then one is censored, one ends at 2, and one continues:

    >>> survival(np.zeros(4), np.array([1.0, 1.5, 2.0, 3.0]), np.array([True, False, True, False])).shares
    array([0.75 , 0.375])

    References
    ----------
    Kaplan, Meier (1958). Nonparametric estimation from incomplete observations, section 2.
    """
    watched = left_s > entered_s
    entered_s, left_s, ended = entered_s[watched], left_s[watched], ended[watched]
    ages_s, ends = np.unique(left_s[ended], return_counts=True)
    begun = np.searchsorted(np.sort(entered_s), ages_s, "left")
    gone = np.searchsorted(np.sort(left_s), ages_s, "left")
    shares: Floats = np.cumprod(1.0 - ends / (begun - gone)).astype(np.float64)
    return Survival(ages_s, shares, float(left_s.max(initial=0.0)))
