"""How often visits of late found a page of each site changed; what is longer ago counts less. A fold over visits."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows
from evercrawl.types import Flags, Floats, Ints

KEPT: Final = 0.9
"""What counts of a visit from one period to the next."""
_ROW: Final = [("told", "f4"), ("changed", "f4"), ("period", "u4")]


class SiteTallies:
    """Of each site the visits that told of change, `told`, and those that found one, both as they count by now.

    Periods are counted in visits, not by a clock, so that who is told of the same visits again comes to the same.

    Examples
    --------
    Two visits, of which one found a change; a period later they count 0.9 as much:

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
        """Take in visits, in order.

        Parameters
        ----------
        sites, changed
            Of each visit: the number of the page's site, and whether it found a change; shape (n,).
        period
            In which period it was, never less than that of the visit before; shape (n,).
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
        """Return the visits of each site that told of change, and those that found one, shape (n,) each."""
        rows = self._rows.take(sites.astype(np.uint32))
        kept = _counts(self._period - rows["period"].astype(np.int64))
        return rows["told"] * kept, rows["changed"] * kept

    def all(self) -> tuple[Ints, Floats, Floats]:
        """Return the numbers of all sites of which visits have told, and what `take` says of them."""
        number = np.flatnonzero(self._rows.upto(0)["told"] > 0)
        return number, *self.take(number)


def _counts(periods: Ints) -> Floats:
    return np.asarray(KEPT ** np.maximum(periods, 0), np.float64)
