"""Position bias: how much a position in a result list affects the chance of being opened."""

from typing import Final

import numpy as np

from evercrawl.types import Floats, Ints

PLACES: Final = 20
"""Places of a list that are told apart; what stands further down counts as the last of them."""
MOST_TIMES: Final = 5.0
"""That an opening far down counts at most as often as one at the first place: a few of them are not to decide."""
_FIRST_CLICKS: Final = 0.4  # prior for the first place; that divided by j at place j
_FIRST_SHOWN: Final = 10.0  # weight of the prior, in times shown, at each place


def click_chances(clicks_at: Floats | Ints, shown_at: Floats | Ints) -> Floats:
    """Return c_j, the chance that the page at place j is opened, shape (PLACES,).

    Parameters
    ----------
    clicks_at, shown_at
        Openings at each place, and results shown there, shape (PLACES,).

    Examples
    --------
    Nothing was seen but the first place, where three of ninety were opened:

    >>> clicks, shown = np.zeros(PLACES), np.zeros(PLACES)
    >>> clicks[0], shown[0] = 3, 90
    >>> click_chances(clicks, shown)[:3].round(3)
    array([0.07 , 0.2  , 0.133])
    """
    guess = _FIRST_CLICKS / np.arange(1, PLACES + 1)
    chances: Floats = (clicks_at + _FIRST_SHOWN * guess) / (shown_at + _FIRST_SHOWN)
    return chances


def corrections(clicks_at: Floats | Ints, shown_at: Floats | Ints) -> Floats:
    """Return the number of openings at the first place that one at each place is equivalent to, shape (PLACES,).

    People look at the first results more often than at those below, so an opening further down shows more interest:
    c_1 / c_j, with c_j decreasing in j, and at most `MOST_TIMES`. Parameters are those of `click_chances`.

    Examples
    --------
    >>> shown = np.full(PLACES, 1e6)
    >>> corrections(shown / np.arange(1, PLACES + 1), shown)[[0, 1, 2, 9]].round(2)
    array([1., 2., 3., 5.])

    References
    ----------
    Joachims, Swaminathan, Schnabel (2017). Unbiased learning-to-rank with biased feedback: openings count by the
    inverse of the propensity of their place, which is bounded.
    """
    falling = np.minimum.accumulate(click_chances(clicks_at, shown_at))
    times: Floats = np.minimum(falling[0] / falling, MOST_TIMES)
    return times
