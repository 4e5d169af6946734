"""Counts of visits and changes per site, in which older visits count less; a fold over visits."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.types import Flags, Floats, Ints

KEPT: Final = 0.9
"""Factor on the weight of a visit per period."""
_ROW: Final = [("told", "f4"), ("changed", "f4"), ("period", "u4")]


class SiteTallies:
    """Weighted counts per site: visits that showed whether a page changed, `told`, and visits that found a change.

    Periods are counted in visits, not in time, so that a replay of the same visits gives the same result.

    Examples
    --------
    Two visits, one of which found a change; a period later they count 0.9 as much:

    >>> tallies = SiteTallies()
    >>> tallies.learn(np.array([7, 7]), np.array([True, False]), np.array([0, 0]))
    >>> tallies.learn(np.array([8]), np.array([True]), np.array([1]))
    >>> [each.round(2).tolist() for each in tallies.take(np.array([7, 8]))]
    [[1.8, 1.0], [0.9, 1.0]]
    """

    def __init__(self) -> None:
        self._rows = Rows(_ROW)
        self._period = 0

    def learn(self, sites: NDArray[Any], changed: Flags, period: Ints) -> None:
        """Learn from visits, in order.

        Parameters
        ----------
        sites, changed
            For each visit: number of the page's site, and whether it found a change; shape (n,).
        period
            Period of each visit, never decreasing; shape (n,).
        """
        rows = self._rows.upto(int(sites.max(initial=0)) + 1)
        for number in np.unique(period).tolist():
            now = period == number
            number_of, at = np.unique(sites[now], return_inverse=True)
            row = rows[number_of]
            kept = _counts(number - row["period"].astype(np.int64))
            row["told"] = row["told"] * kept + np.bincount(at, minlength=len(row))
            row["changed"] = row["changed"] * kept + np.bincount(at, changed[now], len(row))
            row["period"] = number
            rows[number_of] = row
            self._period = number

    def take(self, sites: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return for each site the informative visits, and those that found a change, shape (n,) each."""
        rows = self._rows.take(sites.astype(np.uint32))
        kept = _counts(self._period - rows["period"].astype(np.int64))
        return rows["told"] * kept, rows["changed"] * kept

    def all(self) -> tuple[Ints, Floats, Floats]:
        """Return the numbers of all sites with informative visits, and the results of `take` for them."""
        number = np.flatnonzero(self._rows.upto(0)["told"] > 0)
        return number, *self.take(number)


def _counts(periods: Ints) -> Floats:
    return np.asarray(KEPT ** np.maximum(periods, 0), np.float64)
