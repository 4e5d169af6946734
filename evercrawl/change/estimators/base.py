"""What every estimator of rates of change promises."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from evercrawl.types import Flags, Floats, Ints


class Estimator(ABC):
    """Learns the rates of change of many pages from what visits find.

    Parameters
    ----------
    pages
        How many there are; they are named by their row, from 0.
    """

    columns: ClassVar[tuple[str, ...]] = ()
    """Attributes that hold a row a page, zero where nothing was seen."""

    def __init__(self, pages: int) -> None:
        self.pages = pages

    def grow(self, pages: int) -> None:
        """Make room for more pages, of which nothing was seen yet."""
        for name in self.columns:
            held: Floats = getattr(self, name)
            more = np.zeros((pages, *held.shape[1:]))
            more[: self.pages] = held
            setattr(self, name, more)
        self.pages = pages

    @abstractmethod
    def learn(self, rows: Ints, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> None:
        """Take in one visit to each of several pages, none of them twice in one call.

        Parameters
        ----------
        rows
            Which pages, shape (n,).
        interval_s
            Since the visit before, above 0, shape (n,).
        changed
            Whether the visit found a change, shape (n,).
        age_s
            How long before the visit the last change was, nan where that is not known, shape (n,); most estimators have
            no use for it.
        """

    @abstractmethod
    def rates(self) -> Floats:
        """Return the estimates, changes a second, shape (pages,).

        They are nan where nothing can be said yet, infinity where all that was seen speaks for ever higher rates.
        """


class Tally(Estimator):
    """An estimator to which only three sums matter.

    Attributes
    ----------
    visits, changes, passed_s
        Of each page: visits, those that found a change, and the time since the first, shape (pages,).
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
