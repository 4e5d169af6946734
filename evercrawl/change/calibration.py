"""Calibration of P(fresh): a comparison of predicted probabilities with observed frequencies.

Probabilities are collected in bins of equal width. For each bin, the mean prediction and the observed fraction of fresh
pages are computed; a model is calibrated if the two are equal.

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
    """Predictions and observations by bin; each of shape (bins,).

    Attributes
    ----------
    low, high
        Bounds of the probabilities in the bin; the last bin includes 1.
    count, weight
        Number of predictions, and their total weight.
    predicted, observed
        Mean prediction, and fraction of fresh pages, both weighted; nan for an empty bin.
    at_least, at_most
        Wilson's interval for the fraction of fresh pages.
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
        """Return the bins as JSON objects, with None in place of nan."""
        names = ("low", "high", "count", "predicted", "observed", "at_least", "at_most")
        rows = zip(*(getattr(self, name).tolist() for name in names), strict=True)
        return [{n: None if math.isnan(v) else v for n, v in zip(names, row, strict=True)} for row in rows]


class Calibration:
    """Collects probabilities and outcomes, in constant memory.

    Parameters
    ----------
    bins
        Number of bins of equal width between 0 and 1.

    Attributes
    ----------
    count
        Number of outcomes.

    Examples
    --------
    Three of four pages with the prediction 0.9 are fresh, and none of four with 0.1. The bins deviate by 0.15 and 0.1
    and have equal weights. Brier's score is (3 x 0.01 + 0.81 + 4 x 0.01) / 8.

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
        self._missed = 0.0  # weighted sum of squared differences

    def add(self, probability: ArrayLike, fresh: ArrayLike, weight: ArrayLike | None = None) -> None:
        """Add predictions and outcomes of pages; all of shape (n,).

        Parameters
        ----------
        probability
            P(fresh) as predicted before, from 0 to 1.
        fresh
            Whether each page was fresh (or the fresh fraction).
        weight
            Weights, 0 or more; 1 by default.
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
        """Return a calibration from sums computed elsewhere, with equal weights.

        Parameters
        ----------
        count, said, fresh
            For each bin, the number of predictions, their sum, and the number of fresh pages; shape (bins,).
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
        """Return the union of several calibrations with equal numbers of bins (the default number for none).

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
        """Return predictions and observations by bin; the intervals hold with probability `level`."""
        edges = np.arange(self._bins + 1) / self._bins
        total, squares = self._sums[0], self._sums[1]
        predicted, observed = (self._mean(row) for row in (2, 3))
        bounds = wilson(observed, effective_size(total, squares), level)
        return Bins(edges[:-1], edges[1:], self._count.copy(), total.copy(), predicted, observed, *bounds)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return Wilson's interval for the fraction of fresh pages, over all bins."""
        total, squares = self._sums[0].sum(), self._sums[1].sum()
        low, high = wilson(self.observed, effective_size(total, squares), level)
        return float(low), float(high)

    @property
    def count(self) -> int:
        """The number of outcomes."""
        return int(self._count.sum())

    @property
    def predicted(self) -> float:
        """The weighted mean prediction; nan without outcomes."""
        return self._whole(2)

    @property
    def observed(self) -> float:
        """The weighted fraction of fresh pages; nan without outcomes."""
        return self._whole(3)

    @property
    def expected_error(self) -> float:
        """The ECE, the mean over all predictions of |observed - predicted| of their bin; nan without outcomes.

        It is positive by chance alone: by about 0.8 sqrt(p (1 - p) / n) in a bin with n predictions and fraction p.
        """
        total = self._sums[0].sum()
        return float(np.abs(self._sums[3] - self._sums[2]).sum() / total) if total else float("nan")

    @property
    def brier(self) -> float:
        """Brier's score, the weighted mean of (outcome - probability)^2; nan without outcomes."""
        total = self._sums[0].sum()
        return float(self._missed / total) if total else float("nan")

    def _mean(self, row: int) -> Floats:
        total: Floats = self._sums[0]
        found: Floats = np.divide(self._sums[row], total, out=np.full(self._bins, np.nan), where=total > 0)
        return found

    def _whole(self, row: int) -> float:
        total = self._sums[0].sum()
        return float(self._sums[row].sum() / total) if total else float("nan")
