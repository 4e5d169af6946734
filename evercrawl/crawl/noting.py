"""Writes the price of a running crawl to the journal, so that followers value pages as the crawl does."""

from __future__ import annotations

import math
from typing import Final

from evercrawl.schedule.abilities import notes_of, price_of
from evercrawl.schedule.base import Policy
from evercrawl.store.journal.events import Noted
from evercrawl.store.partition import Partition

MOVED: Final = 0.01
"""The relative move of the price after which it is written, at most once a second."""
EVERY_S: Final = 30.0
"""The time after which any move of the price is written."""
_LEAST_S: Final = 1.0


class PriceNotes:
    """Writes the notes of a policy to the journal when its price has moved."""

    def __init__(self, partition: Partition, policy: Policy) -> None:
        self._partition, self._policy = partition, policy
        self._price: float = math.nan
        self._at: float = -math.inf

    def turn(self, now: float) -> bool:
        """Write the notes if they are due; return whether they were written."""
        price, passed_s = price_of(self._policy), now - self._at
        if not price > 0 or price == self._price or passed_s < _LEAST_S:
            return False
        if passed_s < EVERY_S and self._price > 0 and abs(math.log(price / self._price)) < MOVED:
            return False
        self._partition.remember(Noted(now, notes_of(self._policy)))
        self._price, self._at = price, now
        return True
