"""The links of pages that were read, as memory keeps them."""

import numpy as np

from evercrawl.arrays.rows import grown
from evercrawl.types import Ints, Slots


class Rows:
    """The links of each page as they were last read, one behind the other in memory.

    Examples
    --------
    >>> rows = Rows()
    >>> for page, targets in ((2, [0, 1]), (0, [2]), (2, [1])):
    ...     rows.put(page, np.array(targets, np.uint32))
    >>> rows.whole(4)
    (array([0, 1, 1, 2, 2]), array([2, 1], dtype=uint32))
    """

    def __init__(self) -> None:
        self._first: Ints = np.zeros(0, np.int64)
        self._count: Ints = np.zeros(0, np.int64)
        self._target: Slots = np.zeros(0, np.uint32)
        self._end = 0

    def of(self, slot: int) -> Slots:
        """Return the links of a page; none where it was never read."""
        if slot >= len(self._first):
            return self._target[:0]
        first = int(self._first[slot])
        return self._target[first : first + int(self._count[slot])]

    def put(self, slot: int, targets: Slots) -> None:
        """Take note of the links of a page; those it had are forgotten, and their room is found again when solving."""
        self._first, self._count = grown(self._first, slot + 1), grown(self._count, slot + 1)
        end = self._end + len(targets)
        self._target = grown(self._target, end)
        self._target[self._end : end] = targets
        self._first[slot], self._count[slot], self._end = self._end, len(targets), end

    def whole(self, pages: int) -> tuple[Ints, Slots]:
        """Return where the links of each page begin, shape (pages + 1,), and all links; from now on they lie so."""
        self._first, self._count = grown(self._first, pages), grown(self._count, pages)
        start: Ints = np.concatenate([[0], np.cumsum(self._count[:pages])])
        moved: Ints = np.repeat(self._first[:pages] - start[:-1], self._count[:pages])
        self._target, self._end = self._target[moved + np.arange(start[-1])], int(start[-1])
        self._first[:pages] = start[:-1]
        return start, self._target
