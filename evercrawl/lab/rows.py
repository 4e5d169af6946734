"""Rows of links that can change their length, as the kernels keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evercrawl.kernels import pointer

if TYPE_CHECKING:
    from evercrawl.types import Ints, Spans


@dataclass(slots=True)
class Rows:
    """For each page a row of pages, somewhere in one long array.

    Attributes
    ----------
    first, count, room
        Where each row begins, how long it is (-1: nobody has seen it), for how much there is room; shape (n,).
    target
        All rows, with room between them.
    end
        Where the free part of `target` begins, shape (1,).

    Examples
    --------
    >>> rows = Rows.of(np.array([0, 2, 3]), np.array([5, 6, 7], np.int32))
    >>> rows.make_room(10)
    >>> rows.all(), len(rows.target) >= 13
    (array([5, 6, 7], dtype=int32), True)
    """

    first: Ints
    count: Spans
    room: Spans
    target: Spans
    end: Ints

    @classmethod
    def of(cls, start: Ints, target: Spans) -> Rows:
        """Return rows as compressed ones have them, without any room."""
        count = np.diff(start).astype(np.int32)
        return cls(start[:-1].copy(), count, count.copy(), target, np.array([len(target)]))

    @classmethod
    def unseen(cls, pages: int) -> Rows:
        """Return rows of which nobody has seen one."""
        count = np.full(pages, -1, np.int32)
        return cls(np.zeros(pages, np.int64), count, np.zeros(pages, np.int32), np.empty(0, np.int32), np.zeros(1, int))

    def all(self) -> Spans:
        """Return what all rows hold, one after the other; shape (sum of counts,)."""
        return self.target[self._places(np.maximum(self.count, 0))]

    def make_room(self, least: int) -> None:
        """Put the rows together, and leave room after them: as much as they take, and `least`."""
        kept, self.room = self.all(), np.maximum(self.count, 0).astype(np.int32)
        self.first = np.cumsum(self.room, dtype=np.int64) - self.room
        self.target = np.empty(2 * len(kept) + least, np.int32)
        self.target[: len(kept)] = kept
        self.end = np.array([len(kept)])

    def pointers(self) -> tuple[Any, ...]:
        """Return what kernels that change rows take: first, count, room, target, its length, end."""
        where = pointer(self.first), pointer(self.count), pointer(self.room), pointer(self.target)
        return *where, len(self.target), pointer(self.end)

    def readable(self) -> tuple[Any, ...]:
        """Return what kernels that only read rows take: first, count, target, its length."""
        return pointer(self.first), pointer(self.count), pointer(self.target), len(self.target)

    def _places(self, count: Spans) -> Ints:
        after = np.cumsum(count, dtype=np.int64)
        return np.repeat(self.first - (after - count), count) + np.arange(after[-1] if len(after) else 0)
