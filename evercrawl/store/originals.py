"""Which page first had each content, by its digest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve
from evercrawl.store.table.table import KeyMap
from evercrawl.types import NO_SLOT, Outcome, Slots


class Originals:
    """Digest -> slot of the page that had this content when it was last noted; it may have other content by now.

    Attributes
    ----------
    moved_bytes
        How much of the slots lies in a file (`arrays/shelf.py`).

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
        """Bytes of memory in use."""
        return self._digests.nbytes + self._digests.known * self._slots.itemsize - self.moved_bytes

    def reserved(self) -> tuple[NDArray[Any], int]:
        """Return all slots, and how many are in use."""
        return self._slots, self._digests.known

    def note(self, digest: int, slot: int) -> None:
        """Take note that a page has this content, and is no copy."""
        self._slots[self._digests.intern_one(digest)] = slot

    def find(self, digest: int) -> int:
        """Return the slot noted last; NO_SLOT where none was."""
        number = self._digests.find_one(digest)
        return NO_SLOT if number is None else int(self._slots[number])

    def index(self, rows: NDArray[Any]) -> None:
        """Learn from records, in the order of first visits, which page first had each content."""
        digests, slots = rows["digest"].copy(), rows["slot"].copy()
        there = (rows["outcome"] == Outcome.OK) & (digests != 0)
        numbers, _ = self._digests.intern(digests[there])
        self._slots[numbers[::-1]] = slots[there][::-1]
