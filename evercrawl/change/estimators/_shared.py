"""The base of the online estimators: counts of visits, and the measured rate of visits.

They are designed for visits at random moments (a Poisson process of rate p). Then a visit finds a change with
probability lam / (lam + p), independently of earlier visits, and lam = p E[I] / (1 - E[I]). With evenly spaced visits
the limit is not lam but p (e^(lam / p) - 1): slightly more for pages visited often, far more for others.

References
----------
Avrachenkov, Patil, Thoppe (2020). Change rate estimation and optimal freshness in web page crawling. (2022). Online
algorithms for estimating change rates of web pages. There p is known; here it is measured. The step lengths are ours,
within the conditions for convergence.
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from evercrawl.change.estimators.base import Estimator
from evercrawl.types import Flags, Floats, Ints


def step(visits: Floats, power: float) -> Floats:
    """Return the length of the step after this many visits: visits^-power, so that the first step has length 1.

    The sum of the steps diverges and the sum of their squares converges, as required, for 1/2 < power <= 1.

    Examples
    --------
    >>> step(np.array([1.0, 4.0]), 0.75).round(6)
    array([1.      , 0.353553])
    """
    return np.asarray(visits**-power)


class Online(Estimator):
    """An estimator that moves by a step at each visit.

    Attributes
    ----------
    visits, passed_s
        Number of visits and elapsed time of each page, shape (pages,).
    """

    columns: ClassVar[tuple[str, ...]] = ("visits", "passed_s", "_rates")

    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self.visits, self.passed_s, self._rates = np.zeros(pages), np.zeros(pages), np.zeros(pages)

    def learn(self, rows: Ints, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> None:
        """Count the visits and make the steps."""
        self.visits[rows] += 1
        self.passed_s[rows] += interval_s
        self._move(rows, self.visits[rows] / self.passed_s[rows], changed)

    @abstractmethod
    def _move(self, rows: Ints, visits_per_s: Floats, changed: Flags) -> None:
        """Update the estimates of some pages after a visit to each."""

    def rates(self) -> Floats:
        """Return the estimates; nan before the first visit."""
        return np.where(self.visits > 0, self._rates, np.nan)
