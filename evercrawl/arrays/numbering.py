"""Numbers for keys, from 0 in the order they were met: 13 to 19 bytes each."""

from typing import Any, Final

import numpy as np

from evercrawl.arrays.rows import Rows
from evercrawl.arrays.saved import SavedRows
from evercrawl.kernels import Library, pointer
from evercrawl.types import NO_SLOT, Keys, Slots

_KERNELS: Final = Library("evercrawl.arrays._numbering_kernel")
_LEAST: Final = 64
_MOVED: Final = 1 << 10
"""Keys that a larger table takes over at a time, at least."""
_EACH: Final = 4
"""As many for each that is asked for: it has all before it is full."""


class Numbering:
    """Gives each 64-bit key a number.

    The table of places grows without a pause: a larger one takes over what the older has with each question. A key may
    be forgotten; the next new one gets its number.

    Attributes
    ----------
    known
        The keys, in the order of their numbers; 0 where they were forgotten.

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
        """Return how many numbers there are, those of keys that were forgotten included."""
        return len(self.known)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.known.nbytes + self._table.nbytes + self._older.nbytes + self._spare.nbytes

    def of(self, keys: Keys) -> Slots:
        """Return the number of each key, shape (n,); a key is not 0."""
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
        """Forget the keys that have these numbers, all different; keys to come get them.

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
        """Return the number of each key, shape (n,); of one that has none, `NO_SLOT`.

        >>> numbers = Numbering()
        >>> numbers.of(np.array([7], np.uint64)), numbers.find(np.array([9, 7], np.uint64))
        (array([0], dtype=uint32), array([4294967295,          0], dtype=uint32))
        """
        keys, out = np.ascontiguousarray(keys, np.uint64), np.empty(len(keys), np.uint32)
        count, known = len(self.known), pointer(self.known.all())
        _KERNELS["find"](pointer(keys), len(keys), known, count, *self._places(), NO_SLOT, pointer(out))
        return out

    def keys(self) -> Keys:
        """Return the keys in the order of their numbers, in place: given to a new numbering, they get the same."""
        keys: Keys = self.known.upto(0)
        return keys

    def restore(self, keys: Keys) -> None:
        """Begin anew with these keys, which are all different; they are copied."""
        self.known.restore(keys)
        self.loaded()

    def loaded(self) -> None:
        """Take note that others are `known` now."""
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
        """Make room for so many keys."""
        self._move(len(self.known))
        self._older, self._table, self._given_again = self._table, np.zeros(_size(count), np.uint32), 0
        self._moved, self._until = 0, len(self.known)

    def _move(self, most: int) -> None:
        """Let the table take over so many keys of the older one, which goes when it has them all."""
        if self._moved < self._until:
            last = min(self._moved + most, self._until)
            _KERNELS["move"](pointer(self.known.all()), self._moved, last, pointer(self._table), len(self._table))
            self._moved = last
            if last == self._until:
                self._older = np.zeros(0, np.uint32)

    def _places(self) -> tuple[Any, ...]:
        return pointer(self._table), len(self._table), pointer(self._older), len(self._older)


def _size(count: int) -> int:
    """Return how many places a table for so many keys has: twice as many, or more."""
    return 1 << max(2 * count, _LEAST).bit_length()
