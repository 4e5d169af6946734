"""Addresses of tables as one kernel argument, in place of two per table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.rows import Rows


class Addresses:
    """The addresses of growable tables: word 2 i is the address of table i, word 2 i + 1 its capacity in rows.

    `at` checks whether a table has moved, and updates the words if one has. So kernels are called with `at()`, and the
    result must not be stored. The arrays that the words point to are held until then, so that memory that a kernel
    reads is never freed. The capacity includes unused rows, so that adding a row rarely changes anything.

    Parameters
    ----------
    tables
        The tables, in the order that the kernel expects.

    Examples
    --------
    >>> from evercrawl.arrays.rows import Rows
    >>> ages, names = Rows("f8"), Rows("u4")
    >>> where = Addresses(ages, names)
    >>> before = where.at()
    >>> ages.upto(1000)[999] = 7.0
    >>> where.at() == before, int(where.words[0]) == ages.all().ctypes.data, int(where.words[1]) >= 1000
    (True, True, True)
    """

    def __init__(self, *tables: Rows) -> None:
        self.words = np.zeros(2 * len(tables), np.int64)
        self._tables = tables
        self._kept: list[NDArray[Any]] = []
        self._which: list[int] = []  # an array that is kept has a number of its own
        self._at: int = self.words.ctypes.data

    def at(self) -> int:
        """Return the address of the words, which is valid as long as no table grows."""
        now = [table.whole() for table in self._tables]
        which = [id(array) for array in now]
        if which != self._which:
            self._kept, self._which = now, which
            self.words[0::2] = [array.ctypes.data for array in now]
            self.words[1::2] = [len(array) for array in now]
        return self._at
