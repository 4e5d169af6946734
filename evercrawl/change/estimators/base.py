"""The interface of every estimator of rates of change."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from evercrawl.types import Flags, Floats, Ints


class Estimator(ABC):
    """Learns the rates of change of many pages from the results of visits.

    Parameters
    ----------
    pages
        Number of pages; they are identified by their row, from 0.
    """

    columns: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes with one row per page, zero without visits."""

    def __init__(self, pages: int) -> None:
        self.pages = pages

    def grow(self, pages: int) -> None:
        """Make room for more pages, without visits yet."""
        for name in self.columns:
            held: Floats = getattr(self, name)
            more = np.zeros((pages, *held.shape[1:]))
            more[: self.pages] = held
            setattr(self, name, more)
        self.pages = pages

    @abstractmethod
    def learn(self, rows: Ints, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> None:
        """Learn from one visit to each of several pages, without duplicates in one call.

        Parameters
        ----------
        rows
            The pages, shape (n,).
        interval_s
            Time since the previous visit, above 0, shape (n,).
        changed
            Whether the visit found a change, shape (n,).
        age_s
            Time from the last change to the visit, nan if unknown, shape (n,); most estimators ignore it.
        """

    @abstractmethod
    def rates(self) -> Floats:
        """Return the estimates, changes per second, shape (pages,).

        They are nan where there is no estimate yet, and infinity where the likelihood grows with the rate.
        """


class Tally(Estimator):
    """An estimator that depends only on three sums.

    Attributes
    ----------
    visits, changes, passed_s
        For each page, the visits, those that found a change, and the time since the first visit, shape (pages,).
    """

    columns: ClassVar[tuple[str, ...]] = ("visits", "changes", "passed_s")

    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self.visits, self.changes, self.passed_s = np.zeros(pages), np.zeros(pages), np.zeros(pages)

    def learn(self, rows: Ints, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> None:
        """Count the visits."""
        self.visits[rows] += 1
        self.changes[rows] += changed
        self.passed_s[rows] += interval_s
