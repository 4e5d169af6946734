"""The price of a running crawl, written down now and then: who follows the journal values pages as the crawl does."""

from __future__ import annotations

import math
from typing import Final

from evercrawl.schedule.abilities import notes_of, price_of
from evercrawl.schedule.base import Policy
from evercrawl.store.journal.events import Noted
from evercrawl.store.partition import Partition

MOVED: Final = 0.01
"""A price that moved by this share is written down, once a second at most."""
EVERY_S: Final = 30.0
"""And one that moved at all after this long."""
_LEAST_S: Final = 1.0


class PriceNotes:
    """Writes down what a policy goes on from, where its price has moved."""

    def __init__(self, partition: Partition, policy: Policy) -> None:
        self._partition, self._policy = partition, policy
        self._price: float = math.nan
        self._at: float = -math.inf

    def turn(self, now: float) -> bool:
        """Write it down where that is due; return whether it was."""
        price, passed_s = price_of(self._policy), now - self._at
        if not price > 0 or price == self._price or passed_s < _LEAST_S:
            return False
        if passed_s < EVERY_S and self._price > 0 and abs(math.log(price / self._price)) < MOVED:
            return False
        self._partition.remember(Noted(now, notes_of(self._policy)))
        self._price, self._at = price, now
        return True
