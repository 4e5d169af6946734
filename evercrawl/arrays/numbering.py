"""Numbers for keys, from 0 in the order they were met: 12 bytes a place, three places of four in use at most."""

from typing import Final

import numpy as np

from evercrawl.kernels import Library, pointer
from evercrawl.types import NO_SLOT, Keys, Slots

_KERNELS: Final = Library("evercrawl.arrays._numbering_kernel")


class Numbering:
    """Gives each 64-bit key a number.

    Examples
    --------
    >>> numbers = Numbering()
    >>> numbers.of(np.array([7, 9, 7], np.uint64)), len(numbers)
    (array([0, 1, 0], dtype=uint32), 2)
    """

    def __init__(self) -> None:
        self._keys, self._numbers = np.zeros(64, np.uint64), np.zeros(64, np.uint32)
        self._count = 0

    def __len__(self) -> int:
        """Return how many keys have a number."""
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._keys.nbytes + self._numbers.nbytes

    def of(self, keys: Keys) -> Slots:
        """Return the number of each key, shape (n,); a key is not 0."""
        if 4 * (self._count + len(keys)) > 3 * len(self._keys):
            self._grow(self._count + len(keys))
        return self._look_up(np.ascontiguousarray(keys, np.uint64))

    def find(self, keys: Keys) -> Slots:
        """Return the number of each key, shape (n,); of one that has none, `NO_SLOT`.

        >>> numbers = Numbering()
        >>> numbers.of(np.array([7], np.uint64)), numbers.find(np.array([9, 7], np.uint64))
        (array([0], dtype=uint32), array([4294967295,          0], dtype=uint32))
        """
        keys, out = np.ascontiguousarray(keys, np.uint64), np.empty(len(keys), np.uint32)
        _KERNELS["find"](
            pointer(keys), len(keys), pointer(self._keys), pointer(self._numbers), len(self._keys), NO_SLOT,
            pointer(out),
        )  # fmt: skip
        return out

    def keys(self) -> Keys:
        """Return the keys in the order of their numbers: given to a new numbering, they get the same."""
        held = self._keys != 0
        keys: Keys = self._keys[held]
        return keys[np.argsort(self._numbers[held])]

    def _look_up(self, keys: Keys) -> Slots:
        out = np.empty(len(keys), np.uint32)
        self._count = _KERNELS["number"](
            pointer(keys), len(keys), pointer(self._keys), pointer(self._numbers), len(self._keys), self._count,
            pointer(out),
        )  # fmt: skip
        return out

    def _grow(self, count: int) -> None:
        """Make room for so many keys."""
        known = self.keys()
        size = 1 << int(np.ceil(np.log2(max(2 * count, 64))))
        self._keys, self._numbers = np.zeros(size, np.uint64), np.zeros(size, np.uint32)
        self._count = 0
        if len(known):
            self._look_up(known)
