"""About when pages were found, by their slots: slots are numbers of discovery, so some instants tell all."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.types import Floats

_APART: Final = 64  # marks are so many slots apart at least, and a 64th of all slots


class FoundAt:
    """Instants at which some slots were found; those of others lie between.

    Examples
    --------
    >>> found = FoundAt()
    >>> found.add(0, 10.0)
    >>> found.add(1, 10.0)
    >>> found.add(100, 20.0)
    >>> found.at(np.array([0, 50, 100, 120])).tolist()
    [10.0, 15.0, 20.0, 20.0]
    """

    def __init__(self) -> None:
        self._slots, self._at = list[int](), list[float]()
        self._next = 0
        self._marks: tuple[Floats, Floats] | None = None

    def __len__(self) -> int:
        """How many instants are kept."""
        return len(self._slots)

    def add(self, slot: int, at: float) -> None:
        """Note when a slot was found, if it is far enough from the last that was noted; slots come in their order."""
        if slot >= self._next:
            self._slots.append(slot)
            self._at.append(at)
            self._next = slot + max(_APART, slot // _APART)
            self._marks = None

    def see(self, first: int, at: NDArray[np.uint32]) -> None:
        """Note when slots from `first` on were found."""
        while self._next < first + len(at):
            slot = max(self._next, first)
            self.add(slot, float(at[slot - first]))

    def at(self, slots: NDArray[np.integer]) -> Floats:
        """Return about when slots were found, in the unit of what was noted, shape (n,); nan before anything was."""
        if not self._slots:
            return np.full(len(slots), np.nan)
        if self._marks is None:
            self._marks = np.array(self._slots, np.float64), np.array(self._at)
        return np.asarray(np.interp(slots, *self._marks), np.float64)
