"""Stochastic approximation with momentum: each step keeps a part of the previous step."""

from typing import ClassVar, Final

import numpy as np

from evercrawl.change.estimators._shared import Online, step
from evercrawl.types import Flags, Floats, Ints

POWER: Final = 0.9
"""Exponent of the decrease of step lengths with the number of visits."""
FADING: Final = 0.75
"""Exponent of the decrease of beta = n^-fading, whose quotients give the momentum."""
DAMPING: Final = 1.0
"""w: the multiple of the step length that is subtracted from the momentum."""


class OnlineMomentum(Online):
    """Stochastic approximation with a heavy ball, z += eta (I (z + p) - z) + zeta (z - z before), for random visits.

    zeta = (beta_n - w eta_n) / beta_(n-1), limited to the range from 0 to 1, begins at 0 and tends to 1. With the
    default parameters it is as accurate as `online_steps`, with a smoother path.

    Parameters
    ----------
    pages
        Number of pages.
    power
        The length eta of the n-th step is n^-power.
    fading, damping
        beta is n^-fading; w.

    Examples
    --------
    >>> pages = OnlineMomentum(1)
    >>> for changed in (True, False):
    ...     pages.learn(np.array([0]), np.array([0.5]), np.array([changed]))
    >>> bool(0 < pages.rates()[0] < 2)
    True

    References
    ----------
    Avrachenkov, Patil, Thoppe (2022). The third of their estimators. Polyak (1964), for the heavy ball.
    """

    columns: ClassVar[tuple[str, ...]] = (*Online.columns, "_before")

    def __init__(self, pages: int, power: float = POWER, fading: float = FADING, damping: float = DAMPING) -> None:
        super().__init__(pages)
        self._power, self._fading, self._damping = power, fading, damping
        self._before = np.zeros(pages)

    def _move(self, rows: Ints, visits_per_s: Floats, changed: Flags) -> None:
        n, z, before = self.visits[rows], self._rates[rows], self._before[rows]
        eta, faded = step(n, self._power), step(n, self._fading)
        zeta = np.clip((faded - self._damping * eta) / step(np.maximum(n - 1, 1), self._fading), 0.0, 1.0)
        drift = eta * (np.where(changed, z + visits_per_s, 0.0) - z)
        self._before[rows] = z
        self._rates[rows] = np.maximum(z + drift + np.where(n > 1, zeta, 0.0) * (z - before), 0.0)
