"""Lasting weight: pages whose changes replace almost nothing permanently count for almost nothing.

A page that only shows another advertisement on each visit changes all the time, but a visit brings nothing that
lasts. All of an unread page is new, so it counts in full. So does a page of which changes replace a quarter: the
estimate is rough, and if pages are replaced more often than visited, little is seen to last.

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
    """Another weight, or importance, times a factor for the lasting part of pages' changes.

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
        """The other weight, without the lasting factor."""
        return self._weight

    @property
    def message(self) -> str:
        """The other weight's message."""
        return self._weight.message if self._weight is not None else ""

    @property
    def listener(self) -> VisitListener | None:
        """The other weight's listener."""
        return self._weight.listener if self._weight is not None else None

    def begin(self, plain: Callable[[Slots], Pages]) -> None:
        """Let the other weight learn from `plain`."""
        if self._weight is not None:
            self._weight.begin(plain)

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return the worth of pages, shape (n,)."""
        worth = importance if self._weight is None else self._weight.worth(slots, importance)
        return worth * counted(parts(self._state, slots))

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return the other weight's evidence."""
        return {} if self._weight is None else self._weight.saw(slot, importance)


def counted(lasts: Floats) -> Floats:
    """Return the lasting factor of pages, 0.01 to 1, from the part that a change replaces permanently, shape (n,).

    >>> counted(np.array([0.0, 0.1, 0.25, 0.9]))
    array([0.01, 0.4 , 1.  , 1.  ])
    """
    return np.clip(lasts / ENOUGH, LEAST, 1.0)


def parts(state: State, slots: Slots) -> Floats:
    """Return the part of each page that a change replaces permanently, shape (n,); 1 for pages without content."""
    cells = state.table.record.take(slots)
    read = cells < NO_RECORD
    kept = state.records.rows["lasting"][np.where(read, cells, 0)]
    return np.where(read, lasting.part(kept), 1.0)
