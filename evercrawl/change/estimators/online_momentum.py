"""Stochastic approximation with momentum: the estimate keeps a part of its last movement."""

from typing import ClassVar, Final

import numpy as np

from evercrawl.change.estimators._shared import Online, step
from evercrawl.types import Flags, Floats, Ints

POWER: Final = 0.9
"""By which the steps grow shorter with the number of visits."""
FADING: Final = 0.75
"""By which beta = n^-fading does, whose quotients make the momentum."""
DAMPING: Final = 1.0
"""w: how much of a step is taken off the momentum."""


class OnlineMomentum(Online):
    """Stochastic approximation with a heavy ball, z += eta (I (z + p) - z) + zeta (z - z before), for random visits.

    zeta = (beta_n - w eta_n) / beta_(n-1), which begins at 0 and tends to 1, held between the two. With
    the parameters given it comes as near to the truth as `online_steps`, by a smoother way.

    Parameters
    ----------
    pages
        How many there are.
    power
        The n-th step, eta, is n^-power long.
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
