"""Worth by how much a change leaves: a page of which changes replace next to nothing for good counts next to nothing.

A page whose only news is another advertisement at each look changes all the time, and a visit brings nothing that
lasts. Of a page that was never read all is new, so it counts in full. So does one of which changes replace a quarter:
what is known of it is rough, and where pages are replaced more often than they are visited, little is seen to stay.

References
----------
Olston, Pandey (2008). Recrawl scheduling based on information longevity: what is ephemeral counts nothing.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from evercrawl.model.stored.remembered import VisitListener
from evercrawl.model.worth.weights import Weight
from evercrawl.schedule.pages import Pages
from evercrawl.store.partition import Partition
from evercrawl.store.records import lasting
from evercrawl.store.state import State
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Floats, Slots

ENOUGH: Final = 0.25
"""Part of a page that a change replaces for good, from which on the page counts in full."""
LEAST: Final = 0.01
"""That a page counts of its worth, however little stays: it may come to bring what does."""


class LastingWeight(Weight):
    """What another weight says, or importance, times how much pages count by what lasts of their changes.

    Parameters
    ----------
    partition
        The crawl.
    weight
        The other weight; None for importance.
    """

    def __init__(self, partition: Partition, weight: Weight | None) -> None:
        self._state, self._weight = partition.state, weight

    @property
    def alone(self) -> Weight | None:
        """The other weight, without what lasts."""
        return self._weight

    @property
    def message(self) -> str:
        """What the other weight has to say."""
        return self._weight.message if self._weight is not None else ""

    @property
    def listener(self) -> VisitListener | None:
        """Whoever the weight inside has to hear."""
        return self._weight.listener if self._weight is not None else None

    def begin(self, plain: Callable[[Slots], Pages]) -> None:
        """Let the other weight learn from `plain`."""
        if self._weight is not None:
            self._weight.begin(plain)

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return what pages are worth, shape (n,)."""
        worth = importance if self._weight is None else self._weight.worth(slots, importance)
        return worth * counted(parts(self._state, slots))

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return what the other weight goes by."""
        return {} if self._weight is None else self._weight.saw(slot, importance)


def counted(lasts: Floats) -> Floats:
    """Return how much pages count, 0.01 to 1, by which part of each a change replaces for good, shape (n,).

    >>> counted(np.array([0.0, 0.1, 0.25, 0.9]))
    array([0.01, 0.4 , 1.  , 1.  ])
    """
    return np.clip(lasts / ENOUGH, LEAST, 1.0)


def parts(state: State, slots: Slots) -> Floats:
    """Return which part of each page a change replaces for good, shape (n,); 1 of those that hold no content."""
    cells = state.table.record.take(slots)
    read = cells < NO_RECORD
    kept = state.records.rows["lasting"][np.where(read, cells, 0)]
    return np.where(read, lasting.part(kept), 1.0)
