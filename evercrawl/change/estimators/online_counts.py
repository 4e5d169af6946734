"""The law of large numbers: the rate from the share of visits that found a change."""

from typing import ClassVar, Final

import numpy as np

from evercrawl.change.estimators._shared import Online
from evercrawl.types import Flags, Floats, Ints

ADDED: Final = 1.0
"""alpha: number of unchanged visits added, so that there is always one."""


def rate(visits: Floats, changes: Floats, visits_per_s: Floats, added: float = ADDED) -> Floats:
    """Return p X / (n + alpha - X), changes per second.

    Examples
    --------
    >>> rate(np.array([3.0]), np.array([3.0]), np.array([2.0])).tolist()
    [6.00000]
    """
    return visits_per_s * changes / (visits + added - changes)


class OnlineCounts(Online):
    """The law of large numbers, for visits at random moments; see `_shared`.

    Examples
    --------
    >>> pages = OnlineCounts(1)
    >>> for changed in (True, True, False):
    ...     pages.learn(np.array([0]), np.array([0.5]), np.array([changed]))
    >>> pages.rates().tolist()
    [2.00000]

    References
    ----------
    Avrachenkov, Patil, Thoppe (2020). The first of their estimators.
    """

    columns: ClassVar[tuple[str, ...]] = (*Online.columns, "changes")

    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self.changes = np.zeros(pages)

    def _move(self, rows: Ints, visits_per_s: Floats, changed: Flags) -> None:
        self.changes[rows] += changed
        self._rates[rows] = rate(self.visits[rows], self.changes[rows], visits_per_s)
