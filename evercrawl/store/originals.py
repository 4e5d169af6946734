"""The page that first had each content, by its digest."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.numbering import Numbering
from evercrawl.arrays.reserved import reserve
from evercrawl.types import NO_SLOT, Outcome, Slots

PIECE: Final = 1 << 20
"""Number of records that are looked at together."""


class Originals:
    """Map from digest to the slot of the page that had this content when last noted.

    A page's earlier contents are forgotten, so the map is as large as the number of pages, however often they change.

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
    >>> originals.forget(7, 3)
    >>> originals.find(7) == NO_SLOT
    True
    """

    def __init__(self) -> None:
        self._digests = Numbering()
        self._slots: Slots = reserve(np.uint32, 1 << 28)
        self.moved_bytes = 0

    @property
    def nbytes(self) -> int:
        """Return the memory in use, in bytes."""
        return self._digests.nbytes + len(self._digests) * self._slots.itemsize - self.moved_bytes

    def reserved(self) -> tuple[NDArray[Any], int]:
        """Return all slots, and the number in use."""
        return self._slots, len(self._digests)

    def note(self, digest: int, slot: int) -> None:
        """Record that a page has this content, and is not a copy."""
        self._slots[self._digests.of(np.array([digest], np.uint64))] = slot

    def forget(self, digest: int, slot: int) -> None:
        """Record that a page no longer has this content; another page recorded with it stays."""
        number = self._number(digest)
        if number != NO_SLOT and int(self._slots[number]) == slot:
            self._digests.forget(np.array([number], np.uint32))

    def find(self, digest: int) -> int:
        """Return the slot recorded last; NO_SLOT if there is none."""
        number = self._number(digest)
        return number if number == NO_SLOT else int(self._slots[number])

    def index(self, rows: NDArray[Any]) -> None:
        """Learn from records, in the order of first visits, which page first had each content."""
        for first in range(0, len(rows), PIECE):
            piece, before = rows[first : first + PIECE], len(self._digests)
            digests, slots = piece["digest"].copy(), piece["slot"].copy()
            there = (piece["outcome"] == Outcome.OK) & (digests != 0)
            numbers = self._digests.of(digests[there])
            new = numbers >= before
            self._slots[numbers[new][::-1]] = slots[there][new][::-1]

    def _number(self, digest: int) -> int:
        return int(self._digests.find(np.array([digest], np.uint64))[0]) if digest else NO_SLOT
