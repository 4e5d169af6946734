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
        At which some end, ascending, shape (steps,).
    shares
        Of those that live as long, shape (steps,).
    longest_s
        Up to which age anything is known.
    """

    ages_s: Floats
    shares: Floats
    longest_s: float

    def at(self, age_s: float) -> float:
        """Return the share that lives longer than that; nan beyond what is known."""
        if not age_s <= self.longest_s:
            return math.nan
        return float(np.append(1.0, self.shares)[np.searchsorted(self.ages_s, age_s, "right")])

    def median_s(self) -> float:
        """Return the age that half of them reach; infinity where more than half are still there at the end."""
        under = np.flatnonzero(self.shares <= 0.5)
        if len(under):
            return float(self.ages_s[under[0]])
        return math.inf if self.longest_s > 0 else math.nan


def survival(entered_s: Floats, left_s: Floats, ended: NDArray[np.bool_]) -> Survival:
    """Return the share surviving at each age, by the product-limit rule with late entry.

    Parameters
    ----------
    entered_s
        Age of each from which on it was watched, shape (n,): 0 for those that were seen to begin.
    left_s
        Age up to which it was watched, shape (n,).
    ended
        Whether it ended then, shape (n,); others may go on.

    Examples
    --------
    Of four one ends at age 1, then one is lost from sight, one ends at 2, and one goes on:

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
