"""The pace of a crawl, computed from recorded visits; independent of batching and of restarts."""

import math
from typing import Final

import numpy as np

from evercrawl.types import Floats

MEMORY_S: Final = 86_400.0
"""Time constant of the counts: about the last day counts."""


class Tempo:
    """Visits per second, and rates of other counted events, over about the last day.

    `MeasuredPace` measures the same from chosen visits, which are not available after a restart.

    Parameters
    ----------
    kinds
        Number of kinds of events counted besides visits.

    Examples
    --------
    A visit every two seconds, one in four of which finds something:

    >>> tempo = Tempo(1)
    >>> at = np.arange(1000.0)
    >>> tempo.learn(2 * at, (at % 4 == 3).astype(float))
    >>> tempo.per_s.round(3)
    array([0.5  , 0.125])
    """

    def __init__(self, kinds: int = 0) -> None:
        self._at = math.nan
        self._counts = np.zeros(1 + kinds)
        self._passed_s = 0.0

    def learn(self, at: Floats, *counts: Floats) -> None:
        """Count visits at the given times, shape (n,), in order, and what each adds to the other counts."""
        if not len(at):
            return
        before = float(at[0]) if math.isnan(self._at) else self._at
        gaps_s = np.maximum(np.diff(at, prepend=before), 0.0)
        weights = np.exp(-np.maximum(at[-1] - at, 0.0) / MEMORY_S)
        kept = math.exp(-max(float(at[-1]) - before, 0.0) / MEMORY_S)
        counted = [weights.sum(), *((weights * count).sum() for count in counts)]
        self._counts = self._counts * kept + counted
        self._passed_s = self._passed_s * kept + float((weights * gaps_s).sum())
        self._at = float(at[-1])

    @property
    def per_s(self) -> Floats:
        """Visits per second, and the other rates, shape (1 + kinds,); the elapsed time counts as at least 1 s."""
        return self._counts / max(self._passed_s, 1.0)

    def cycle_s(self, pages: int) -> float:
        """Return the time needed to visit this many pages once; a second each before there are visits."""
        return max(pages, 1) / (float(self.per_s[0]) or 1.0)
