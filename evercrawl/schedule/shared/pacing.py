"""The recent pace of a crawl, and turns of new and visited pages, measured by the visits that policies chose."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Floats

_MEMORY_S: Final = 86_400.0  # the pace is measured over the last day
_ARREARS: Final = 64.0  # maximum number of visits owed to new pages, or to others


class MeasuredPace:
    """The visits per second of a crawl, over about the last day.

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
        """Count visits that begin at `now`, in seconds since the epoch."""
        passed_s = max(now - self._at, 0.0) if not math.isnan(self._at) else 0.0
        self._at, kept = now, math.exp(-passed_s / _MEMORY_S)
        self._visits = self._visits * kept + visits
        self._passed_s = self._passed_s * kept + passed_s

    def state(self) -> tuple[float, float, float]:
        """Return the state; `restore` takes it."""
        return self._at, self._visits, self._passed_s

    def restore(self, at: float, visits: float, passed_s: float) -> None:
        """Resume from the result of `state`."""
        self._at, self._visits, self._passed_s = at, visits, passed_s

    @property
    def per_s(self) -> float:
        """Visits per second."""
        return self._visits / self._passed_s

    def cycle_s(self, pages: int) -> float:
        """Return the time needed to visit this many pages once."""
        return max(pages, 1) * self._passed_s / self._visits


class Turns:
    """Gives new pages a fixed share of the visits, as long as there are any, and other pages the rest.

    A policy published for refresh alone does not define the worth of a new page relative to a known one. So each kind
    is ordered separately, and the kind that has had less than its share comes first, whatever the values.

    Parameters
    ----------
    share
        Fraction of the visits for new pages, from 0 to 1.

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
        self._owed = 0.0  # number of visits owed to new pages

    def made(self, visits: int, new: int) -> None:
        """Count visits, and those of them to new pages."""
        self._owed = min(max(self._owed + self.share * visits - new, -_ARREARS), _ARREARS)

    def order(self, values: Floats, new: NDArray[np.bool_]) -> Floats:
        """Return non-negative values mapped so that they order both kinds together; the order within each is kept.

        The results for new pages do not depend on whose turn it is, so callers may cache them.
        """
        within = values / (1.0 + values)
        return within + np.where(new, 1.0, 0.0 if self._owed > 0 else 2.0)
