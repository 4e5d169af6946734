"""Stochastic approximation: each visit moves the estimate so that changes are found as often as expected."""

from typing import Final

import numpy as np

from evercrawl.change.estimators._shared import Online, step
from evercrawl.types import Flags, Floats, Ints

POWER: Final = 0.75
"""Exponent of the decrease of step lengths with the number of visits."""


class OnlineSteps(Online):
    """Stochastic approximation, y += eta (I (y + p) - y) with I = 1 for a change, for visits at random moments.

    The mean of the bracket is 0 if y is the true rate; see `_shared`.

    Parameters
    ----------
    pages
        Number of pages.
    power
        The length of the n-th step is n^-power, 1/2 < power <= 1.

    Examples
    --------
    Visits twice a second; the first finds a change: 0 + 1 (0 + 2 - 0) = 2; the second does not: 2 + 0.59 (0 - 2).

    >>> pages = OnlineSteps(1)
    >>> for changed in (True, False):
    ...     pages.learn(np.array([0]), np.array([0.5]), np.array([changed]))
    >>> pages.rates().round(3)
    array([0.811])

    References
    ----------
    Avrachenkov, Patil, Thoppe (2020). The second of their estimators. Robbins, Monro (1951).
    """

    def __init__(self, pages: int, power: float = POWER) -> None:
        super().__init__(pages)
        self._power = power

    def _move(self, rows: Ints, visits_per_s: Floats, changed: Flags) -> None:
        y = self._rates[rows]
        self._rates[rows] = y + step(self.visits[rows], self._power) * (np.where(changed, y + visits_per_s, 0.0) - y)
