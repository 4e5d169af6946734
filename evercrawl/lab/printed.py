"""Windows as they were printed: the cash that pages are given to begin with counts as if it had been earned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.lab.engine import Visits, Watcher

if TYPE_CHECKING:
    from evercrawl.lab.windows import Both, Measures, Smooth
    from evercrawl.types import Floats


class Printed(Watcher):
    """Looks on as another one does, but takes all cash for earned.

    Parameters
    ----------
    watcher
        Who looks on.
    pages
        n, each of which was given 1 / n.

    Examples
    --------
    >>> from evercrawl.importance.windows.interpolation import Interpolation
    >>> from evercrawl.lab.windows import Smooth
    >>> smooth = Smooth(Interpolation(4.0), 2)
    >>> Printed(smooth, 2).watch(Visits(np.array([1, 1], np.int32), np.array([0.0, 0.5]), np.array([0.5, 1.0])))
    >>> smooth.history
    array([0.    , 0.9375])
    """

    def __init__(self, watcher: Smooth | Both | Measures, pages: int) -> None:
        self._watcher = watcher
        self._given = np.full(pages, 1 / pages)

    def watch(self, visits: Visits) -> None:
        """Take in some visits, with what pages were given at the first of each."""
        page, first = np.unique(visits.page, return_index=True)
        earned = visits.earned.copy()
        earned[first] += self._given[page]
        self._given[page] = 0.0
        self._watcher.watch(visits._replace(earned=earned))

    def estimate(self, earned: Floats, total: float) -> Floats:
        """Return what the other one says, where cash that waits was given or not."""
        return self._watcher.estimate(earned + self._given, total)

    def held(self) -> float:
        """Return how many measures are kept of a page."""
        return self._watcher.held()
