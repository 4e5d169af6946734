"""Numbering of keys from 0, in order of arrival: 13 to 19 bytes per key."""

from typing import Any, Final

import numpy as np

from evercrawl.arrays.rows import Rows
from evercrawl.arrays.saved import SavedRows
from evercrawl.kernels import Library, pointer
from evercrawl.types import NO_SLOT, Keys, Slots

_KERNELS: Final = Library("evercrawl.arrays._numbering_kernel")
_LEAST: Final = 64
_MOVED: Final = 1 << 10
"""Least number of keys that a larger table takes over at a time."""
_EACH: Final = 4
"""Number of keys taken over per key looked up, so that the larger table has all keys before it is full."""


class Numbering:
    """A numbering of 64-bit keys.

    The hash table grows without a pause: each look-up moves some keys from the old table to a larger one. A key may be
    forgotten; the next new key gets its number.

    Attributes
    ----------
    known
        The keys, in the order of their numbers; 0 for forgotten keys.

    Examples
    --------
    >>> numbers = Numbering()
    >>> numbers.of(np.array([7, 9, 7], np.uint64)), len(numbers)
    (array([0, 1, 0], dtype=uint32), 2)
    """

    def __init__(self) -> None:
        self.known = SavedRows("u8")
        self._begin(0)

    def __len__(self) -> int:
        """Return how many numbers there are, including those of forgotten keys."""
        return len(self.known)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.known.nbytes + self._table.nbytes + self._older.nbytes + self._spare.nbytes

    def of(self, keys: Keys) -> Slots:
        """Return the number of each key, shape (n,), with new numbers for new keys; a key must not be 0."""
        keys, count = np.ascontiguousarray(keys, np.uint64), len(self.known)
        most = count + len(keys)
        if 4 * (most + self._given_again) > 3 * len(self._table):
            self._grow(most)
        self._move(max(_EACH * len(keys), _MOVED))
        out, known = np.empty(len(keys), np.uint32), self.known.room(most)
        spare, free = self._spare.all(), len(self._spare)
        new = _KERNELS["number"](
            pointer(keys), len(keys), pointer(known), count, *self._places(), pointer(spare), free, pointer(out)
        )
        if new and free:
            again = min(new, free)
            self.known.note(spare[free - again : free])
            self._spare.shorten(free - again)
            self._given_again += again
            new -= again
        if new:
            self.known.upto(count + new)
            self.known.changed.note_rows(count, count + new)
        return out

    def forget(self, numbers: Slots) -> None:
        """Forget the keys with these distinct numbers, which new keys will get.

        >>> numbers = Numbering()
        >>> numbers.of(np.array([7, 9], np.uint64)), numbers.forget(np.array([0], np.uint32))
        (array([0, 1], dtype=uint32), None)
        >>> numbers.of(np.array([8, 7, 9], np.uint64))
        array([0, 2, 1], dtype=uint32)
        """
        self.known.all()[numbers] = 0
        self.known.note(numbers)
        free = len(self._spare)
        self._spare.upto(free + len(numbers))[free:] = numbers

    def find(self, keys: Keys) -> Slots:
        """Return the number of each key, shape (n,); `NO_SLOT` for a key without a number.

        >>> numbers = Numbering()
        >>> numbers.of(np.array([7], np.uint64)), numbers.find(np.array([9, 7], np.uint64))
        (array([0], dtype=uint32), array([4294967295,          0], dtype=uint32))
        """
        keys, out = np.ascontiguousarray(keys, np.uint64), np.empty(len(keys), np.uint32)
        count, known = len(self.known), pointer(self.known.all())
        _KERNELS["find"](pointer(keys), len(keys), known, count, *self._places(), NO_SLOT, pointer(out))
        return out

    def keys(self) -> Keys:
        """Return the keys in the order of their numbers, not copied; a new numbering gives them the same numbers."""
        keys: Keys = self.known.upto(0)
        return keys

    def restore(self, keys: Keys) -> None:
        """Replace the numbering by one of these distinct keys, which are copied."""
        self.known.restore(keys)
        self.loaded()

    def loaded(self) -> None:
        """Rebuild the table after `known` was replaced."""
        self._begin(len(self.known))
        self._move(len(self.known))
        self._spare.restore(np.flatnonzero(self.known.upto(0) == 0).astype(np.uint32))

    def _begin(self, count: int) -> None:
        self._spare = Rows("u4")  # numbers whose keys were forgotten
        self._given_again: int = 0  # those that have another key, and so two places, since the table was new
        self._table: Slots = np.zeros(_size(count), np.uint32)
        self._older: Slots = np.zeros(0, np.uint32)
        self._moved, self._until = 0, count  # numbers that are in the table, and those that the older one has

    def _grow(self, count: int) -> None:
        """Make room for `count` keys."""
        self._move(len(self.known))
        self._older, self._table, self._given_again = self._table, np.zeros(_size(count), np.uint32), 0
        self._moved, self._until = 0, len(self.known)

    def _move(self, most: int) -> None:
        """Move up to `most` keys from the older table, which is freed when it is empty."""
        if self._moved < self._until:
            last = min(self._moved + most, self._until)
            _KERNELS["move"](pointer(self.known.all()), self._moved, last, pointer(self._table), len(self._table))
            self._moved = last
            if last == self._until:
                self._older = np.zeros(0, np.uint32)

    def _places(self) -> tuple[Any, ...]:
        return pointer(self._table), len(self._table), pointer(self._older), len(self._older)


def _size(count: int) -> int:
    """Return the number of places of a table for `count` keys: at least twice as many."""
    return 1 << max(2 * count, _LEAST).bit_length()
