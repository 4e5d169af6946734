"""Calibration of P(fresh) in a replay, site by site."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.calibration import BINS, Calibration
from evercrawl.types import Floats, Ints

Flags = NDArray[np.bool_]

AT_ONCE: Final = 2**16
"""Number of outcomes that are collected before they are counted, because counting has a cost per site."""


class Calibrations:
    """Collects predictions about copies and their outcomes, site by site.

    Parameters
    ----------
    site
        Number of each page's site, shape (pages,).

    Examples
    --------
    On site 4, one of two copies was fresh, as predicted; on site 2, the only one was not.

    >>> seen = Calibrations(np.array([4, 2, 4]))
    >>> seen.add(np.array([0, 1, 2]), np.array([0.5, 0.9, 0.5]), np.array([True, False, False]))
    >>> seen.of(4).expected_error, seen.of(2).expected_error, seen.whole().count, seen.of(3).count
    (0.0, 0.9, 3, 0)
    """

    def __init__(self, site: Ints) -> None:
        self._sites, number = np.unique(site, return_inverse=True)
        self._number = number.astype(np.int64)
        self._sums = np.zeros((4, len(self._sites), BINS))  # number; sums of predictions, outcomes, and squared errors
        self._put_by: list[tuple[Ints, Floats, Flags]] = []
        self._waiting = 0

    def add(self, rows: Ints, said: Floats, fresh: Flags) -> None:
        """Add predictions for copies of pages, from 0 to 1, and whether they were fresh; shape (n,) each."""
        self._put_by.append((rows, said, fresh))
        self._waiting += len(rows)
        if self._waiting >= AT_ONCE:
            self._count()

    def of(self, site: int) -> Calibration:
        """Return the calibration of a site; empty for one without pages."""
        self._count()
        place = int(np.searchsorted(self._sites, site))
        there = place < len(self._sites) and self._sites[place] == site
        return _as_one(self._sums[:, place]) if there else Calibration()

    def whole(self) -> Calibration:
        """Return the calibration of all sites together."""
        self._count()
        return _as_one(self._sums.sum(1))

    def _count(self) -> None:
        if not self._put_by:
            return
        rows, said, fresh = (np.concatenate(column) for column in zip(*self._put_by, strict=True))
        self._put_by.clear()
        self._waiting = 0
        place = self._number[rows] * BINS + np.minimum((said * BINS).astype(np.int64), BINS - 1)
        for sums, of_each in zip(self._sums, (None, said, fresh, (said - fresh) ** 2), strict=True):
            sums += np.bincount(place, of_each, sums.size).reshape(sums.shape)


def _as_one(sums: Floats) -> Calibration:
    """Return the calibration from the number and the three sums by bin, shape (4, bins)."""
    return Calibration.of_sums(sums[0].astype(np.int64), sums[1], sums[2], float(sums[3].sum()))
