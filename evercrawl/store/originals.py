"""The page that first had each content, by its digest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve
from evercrawl.store.table.table import KeyMap
from evercrawl.types import NO_SLOT, Outcome, Slots


class Originals:
    """Map from digest to the slot of the page that had this content when last noted; it may have changed since.

    Attributes
    ----------
    moved_bytes
        Number of bytes of the slots that are in a file (`arrays/shelf.py`).

    Examples
    --------
    >>> originals = Originals()
    >>> originals.note(7, 3)
    >>> originals.find(7), originals.find(8) == NO_SLOT
    (3, True)
    """

    def __init__(self) -> None:
        self._digests = KeyMap(1 << 20)
        self._slots: Slots = reserve(np.uint32, 1 << 28)
        self.moved_bytes = 0

    @property
    def nbytes(self) -> int:
        """Return the memory in use, in bytes."""
        return self._digests.nbytes + self._digests.known * self._slots.itemsize - self.moved_bytes

    def reserved(self) -> tuple[NDArray[Any], int]:
        """Return all slots, and the number in use."""
        return self._slots, self._digests.known

    def note(self, digest: int, slot: int) -> None:
        """Record that a page has this content, and is not a copy."""
        self._slots[self._digests.intern_one(digest)] = slot

    def find(self, digest: int) -> int:
        """Return the slot recorded last; NO_SLOT if there is none."""
        number = self._digests.find_one(digest)
        return NO_SLOT if number is None else int(self._slots[number])

    def index(self, rows: NDArray[Any]) -> None:
        """Learn from records, in the order of first visits, which page first had each content."""
        digests, slots = rows["digest"].copy(), rows["slot"].copy()
        there = (rows["outcome"] == Outcome.OK) & (digests != 0)
        numbers, _ = self._digests.intern(digests[there])
        self._slots[numbers[::-1]] = slots[there][::-1]
