"""How fast a crawl has been going of late, and whose turn it is: what policies learn from the visits they chose."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Floats

_MEMORY_S: Final = 86_400.0  # the pace is that of the last day
_ARREARS: Final = 64.0  # visits that new pages, or others, can be owed at most


class MeasuredPace:
    """How many visits a second a crawl makes, over about the last day.

    Examples
    --------
    >>> pace = MeasuredPace()
    >>> for now in range(1000):
    ...     pace.made(2, float(now))
    >>> round(pace.per_s, 2), round(pace.cycle_s(500))
    (2.0, 250)
    """

    def __init__(self) -> None:
        self._at = math.nan
        self._visits = self._passed_s = 1.0

    def made(self, visits: int, now: float) -> None:
        """Take note of visits that begin at `now`, in seconds since the epoch."""
        passed_s = max(now - self._at, 0.0) if not math.isnan(self._at) else 0.0
        self._at, kept = now, math.exp(-passed_s / _MEMORY_S)
        self._visits = self._visits * kept + visits
        self._passed_s = self._passed_s * kept + passed_s

    def state(self) -> tuple[float, float, float]:
        """Return all there is to it; `restore` takes it."""
        return self._at, self._visits, self._passed_s

    def restore(self, at: float, visits: float, passed_s: float) -> None:
        """Go on from what `state` returned."""
        self._at, self._visits, self._passed_s = at, visits, passed_s

    @property
    def per_s(self) -> float:
        """Visits a second."""
        return self._visits / self._passed_s

    def cycle_s(self, pages: int) -> float:
        """Return how long it takes to visit so many pages once."""
        return max(pages, 1) * self._passed_s / self._visits


class Turns:
    """Gives new pages a fixed share of the visits, as long as there are any, and others the rest.

    A policy that was published for refresh alone does not say what a new page is worth beside one that is known. So
    each kind is ordered among its own, and the kind that has had less than its share comes first, whatever the values.

    Parameters
    ----------
    share
        Part of the visits that goes to new pages, from 0 to 1.

    Examples
    --------
    >>> turns = Turns(0.5)
    >>> late, new = np.array([3.0, 0.0]), np.array([False, True])
    >>> turns.made(8, new=0)
    >>> int(turns.order(late, new).argmax())
    1
    >>> turns.made(8, new=8)
    >>> turns.made(1, new=1)
    >>> int(turns.order(late, new).argmax())
    0
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self._owed = 0.0  # visits to new pages

    def made(self, visits: int, new: int) -> None:
        """Take note of visits, and of how many were to new pages."""
        self._owed = min(max(self._owed + self.share * visits - new, -_ARREARS), _ARREARS)

    def order(self, values: Floats, new: NDArray[np.bool_]) -> Floats:
        """Return values, none negative, so changed that they hold between the two kinds; the order within each stays.

        Those of new pages do not depend on whose turn it is: they may be kept for a while.
        """
        within = values / (1.0 + values)
        return within + np.where(new, 1.0, 0.0 if self._owed > 0 else 2.0)
