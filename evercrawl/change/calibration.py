"""Whether pages are as often fresh as was said: the calibration of P(fresh).

Probabilities are gathered in bins of equal width. Of each bin there is what was said (the mean probability) and what
was seen (the part that was fresh); a model is calibrated where the two are the same.

References
----------
Brier (1950). Verification of forecasts expressed in terms of probability. Murphy, Winkler (1977). Reliability of
subjective probability forecasts of precipitation and temperature: the diagram. Naeini, Cooper, Hauskrecht (2015).
Obtaining well calibrated probabilities using Bayesian binning: the expected error, ECE.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.change.proportions import LEVEL, effective_size, wilson
from evercrawl.types import Floats, Ints

BINS: Final = 20


@dataclass(frozen=True, slots=True)
class Bins:
    """What was said and seen, bin by bin; each of shape (bins,).

    Attributes
    ----------
    low, high
        Bounds of the probabilities in it; the last bin has 1 too.
    count, weight
        How many there were, and what they weigh together.
    predicted, observed
        Mean probability, and the part that was fresh, both by weight; nan where there was none.
    at_least, at_most
        Wilson's interval for the part that is fresh.
    """

    low: Floats
    high: Floats
    count: Ints
    weight: Floats
    predicted: Floats
    observed: Floats
    at_least: Floats
    at_most: Floats

    def objects(self) -> list[dict[str, float | None]]:
        """Return them one by one as JSON has them, which knows no nan: None stands for it."""
        names = ("low", "high", "count", "predicted", "observed", "at_least", "at_most")
        rows = zip(*(getattr(self, name).tolist() for name in names), strict=True)
        return [{n: None if math.isnan(v) else v for n, v in zip(names, row, strict=True)} for row in rows]


class Calibration:
    """Gathers probabilities and outcomes, in constant memory.

    Parameters
    ----------
    bins
        How many bins of equal width there are between 0 and 1.

    Attributes
    ----------
    count
        How many outcomes there were.

    Examples
    --------
    Of four pages said to be fresh with 0.9 three are, of four said to be so with 0.1 none is: both bins are off, by
    0.15 and 0.1, and weigh the same. Brier's score is (3 x 0.01 + 0.81 + 4 x 0.01) / 8.

    >>> seen = Calibration()
    >>> seen.add([0.9] * 4, [True, True, True, False])
    >>> seen.add([0.1] * 4, [False] * 4)
    >>> round(seen.expected_error, 9), round(seen.brier, 9), seen.predicted, seen.observed
    (0.125, 0.11, 0.5, 0.375)
    """

    def __init__(self, bins: int = BINS) -> None:
        self._bins = bins
        self._count = np.zeros(bins, np.int64)
        self._sums = np.zeros((4, bins))  # by bin: weights, their squares, weighted probabilities and outcomes
        self._missed = 0.0  # the weighted sum of squared differences

    def add(self, probability: ArrayLike, fresh: ArrayLike, weight: ArrayLike | None = None) -> None:
        """Take in what was said of pages, and whether they were fresh; all of shape (n,).

        Parameters
        ----------
        probability
            P(fresh) as it was said before, from 0 to 1.
        fresh
            Whether each was (or what part of it).
        weight
            What each counts, 0 or more; 1 where nobody says.
        """
        p = np.atleast_1d(np.asarray(probability, np.float64))
        y = np.atleast_1d(np.asarray(fresh, np.float64))
        w = np.ones(len(p)) if weight is None else np.atleast_1d(np.asarray(weight, np.float64))
        place = np.minimum((p * self._bins).astype(np.int64), self._bins - 1)
        self._count += np.bincount(place, minlength=self._bins)
        for row, of_each in enumerate((w, w * w, w * p, w * y)):
            self._sums[row] += np.bincount(place, of_each, self._bins)
        self._missed += float((w * (p - y) ** 2).sum())

    @classmethod
    def of_sums(cls, count: Ints, said: Floats, fresh: Floats, missed: float) -> Calibration:
        """Return what was gathered elsewhere, all of one weight.

        Parameters
        ----------
        count, said, fresh
            How many there were in each bin, the sum of their probabilities, and how many were fresh; shape (bins,).
        missed
            The sum of (outcome - probability)^2.

        Examples
        --------
        >>> half = Calibration.of_sums(np.array([1, 3]), np.array([0.4, 2.7]), np.array([0, 2]), 0.16 + 0.83)
        >>> half.count, half.observed, round(half.brier, 9), round(half.expected_error, 9)
        (4, 0.5, 0.2475, 0.275)
        """
        found = cls(len(count))
        found._count[:] = count
        found._sums[:] = count, count, said, fresh
        found._missed = missed
        return found

    @classmethod
    def together(cls, parts: Iterable[Calibration]) -> Calibration:
        """Return what was gathered in several, of as many bins each as there are if nobody says.

        >>> one, other = Calibration(), Calibration()
        >>> one.add([0.9, 0.9], [True, False])
        >>> other.add([0.9, 0.1], [True, False])
        >>> both = Calibration.together([one, other])
        >>> both.count, both.observed, round(both.brier, 9)
        (4, 0.5, 0.21)
        """
        whole = cls()
        for part in parts:
            whole._count += part._count
            whole._sums += part._sums
            whole._missed += part._missed
        return whole

    def table(self, level: float = LEVEL) -> Bins:
        """Return what was said and seen, bin by bin; the intervals hold with probability `level`."""
        edges = np.arange(self._bins + 1) / self._bins
        total, squares = self._sums[0], self._sums[1]
        predicted, observed = (self._mean(row) for row in (2, 3))
        bounds = wilson(observed, effective_size(total, squares), level)
        return Bins(edges[:-1], edges[1:], self._count.copy(), total.copy(), predicted, observed, *bounds)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return Wilson's interval for the part that is fresh, over all bins."""
        total, squares = self._sums[0].sum(), self._sums[1].sum()
        low, high = wilson(self.observed, effective_size(total, squares), level)
        return float(low), float(high)

    @property
    def count(self) -> int:
        """Return how many outcomes there were."""
        return int(self._count.sum())

    @property
    def predicted(self) -> float:
        """Return the mean probability, by weight; nan where there was none."""
        return self._whole(2)

    @property
    def observed(self) -> float:
        """Return the part that was fresh, by weight; nan where there was none."""
        return self._whole(3)

    @property
    def expected_error(self) -> float:
        """Return ECE, the mean over all that was said of |observed - predicted| of its bin; nan where nothing was.

        Chance alone makes it positive: by about 0.8 sqrt(p (1 - p) / n) in a bin with n of part p.
        """
        total = self._sums[0].sum()
        return float(np.abs(self._sums[3] - self._sums[2]).sum() / total) if total else float("nan")

    @property
    def brier(self) -> float:
        """Return Brier's score, the mean square of (outcome - probability), by weight; nan where there was none."""
        total = self._sums[0].sum()
        return float(self._missed / total) if total else float("nan")

    def _mean(self, row: int) -> Floats:
        total: Floats = self._sums[0]
        found: Floats = np.divide(self._sums[row], total, out=np.full(self._bins, np.nan), where=total > 0)
        return found

    def _whole(self, row: int) -> float:
        total = self._sums[0].sum()
        return float(self._sums[row].sum() / total) if total else float("nan")
