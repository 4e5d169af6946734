"""Temporary boosts: pages whose worth an order multiplies for a limited time."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import grown
from evercrawl.config.patterns import UrlPattern
from evercrawl.store.journal.events import Boost
from evercrawl.store.state import State
from evercrawl.types import Floats, Slots

MOST: Final = 16
"""Boosts at a time."""
_LOOKED: Final = np.uint32(1 << 31)


class Boosts:
    """The boosts in force and their effect on the worth of pages.

    Parameters
    ----------
    state
        The known pages.

    Attributes
    ----------
    active
        The boosts in force.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.active: tuple[Boost, ...] = ()
        self._patterns = list[UrlPattern]()
        self._of: NDArray[np.uint32] = np.zeros(0, np.uint32)  # by slot: boosts that apply, and a "matched" bit
        self.ends_at = math.inf

    def take(self, boosts: Sequence[Boost], now: float) -> bool:
        """Replace the boosts by those of `boosts` that have not ended; return whether they differ from before."""
        active = tuple(boost for boost in boosts if not 0.0 < boost.until <= now)[:MOST]
        self.ends_at = min((boost.until for boost in active if boost.until), default=math.inf)
        if active == self.active:
            return False
        self.active = active
        self._patterns = [UrlPattern(boost.pattern) for boost in active]
        self._of = np.zeros(0, np.uint32)
        return True

    def weights(self, slots: Slots) -> Floats:
        """Return the factor by which the worth of each page is multiplied, shape (n,)."""
        weights = np.ones(len(slots))
        if not self.active or not len(slots):
            return weights
        self._of = grown(self._of, int(slots.max()) + 1)
        new = slots[self._of[slots] == 0]
        for slot, url in zip(new.tolist(), self._state.urls.get_many(new.tolist()), strict=True):
            self._of[slot] = _LOOKED | np.uint32(sum(1 << i for i, one in enumerate(self._patterns) if one.search(url)))
        found = self._of[slots]
        for i, boost in enumerate(self.active):
            weights[(found >> np.uint32(i) & np.uint32(1)) != 0] *= boost.factor
        return weights

    def of(self, url: str) -> list[Boost]:
        """Return the boosts that apply to a URL."""
        found = zip(self.active, self._patterns, strict=True)
        return [boost for boost, pattern in found if pattern.search(url)]
