"""How fast a crawl goes, by the visits that it is told of: the same whenever and in whatever batches it is told."""

import math
from typing import Final

import numpy as np

from evercrawl.types import Floats

MEMORY_S: Final = 86_400.0
"""What is counted is that of about the last day."""


class Tempo:
    """Visits a second, and whatever else is counted beside them, over about the last day.

    `MeasuredPace` answers the same question by the visits that are chosen, which nobody hears of after a restart.

    Parameters
    ----------
    kinds
        How many things are counted beside visits.

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
        """Take note of visits at some instants, shape (n,), in order, and of what each adds to the other counts."""
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
        """Visits a second, and the other counts, shape (1 + kinds,); as if a second had passed before time did."""
        return self._counts / max(self._passed_s, 1.0)

    def cycle_s(self, pages: int) -> float:
        """Return how long it takes to visit so many pages once; a second each before there are visits."""
        return max(pages, 1) / (float(self.per_s[0]) or 1.0)
