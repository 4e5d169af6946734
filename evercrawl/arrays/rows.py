"""Columns and tables that grow in memory of their own, for what is too small to reserve address space for."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evercrawl.types import Slots


def grown(column: NDArray[Any], least: int, first: Any = None) -> NDArray[Any]:
    """Return a column, or a table, with room for `least` rows, at least; each new one is `first`, or zero.

    It grows by a quarter, so that growing row by row copies each row a few times in all.

    Examples
    --------
    >>> grown(np.ones(1), 2), len(grown(np.ones(4), 8))
    (array([1., 0.]), 10)
    """
    if least <= len(column):
        return column
    wider = np.zeros((least + least // 4, *column.shape[1:]), column.dtype)
    wider[: len(column)] = column
    if first is not None:  # zeros cost nothing until they are written
        wider[len(column) :] = first
    return wider


class Rows:
    """Rows of one type, by slot or any other number from 0.

    Parameters
    ----------
    kind
        A row's type: a number's, a structured one, or one with a shape.
    first
        What a row holds before anything is written to it; zeros where nothing is given.
    rows
        Those there are; they are copied.

    Examples
    --------
    >>> rows = Rows([("visits", "u4")])
    >>> rows.upto(7)["visits"][6] += 2
    >>> len(rows), rows.take(np.array([6, 900], np.uint32))["visits"]
    (7, array([2, 0], dtype=uint32))
    """

    def __init__(self, kind: DTypeLike, first: tuple[Any, ...] | None = None, rows: NDArray[Any] | None = None) -> None:
        self._rows, self._count = np.zeros(0, kind), 0
        self._first: NDArray[Any] = np.zeros(1, kind)
        if first is not None:
            self._first[0] = first
        self._filled = None if first is None else self._first
        self.restore(self._rows if rows is None else rows)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use; room to grow in takes none until it is written, unless it is filled at once."""
        return self._rows.nbytes if self._filled is not None else self._rows[: self._count].nbytes

    def upto(self, count: int) -> NDArray[Any]:
        """Return all rows, so many at least, in place; valid until more are asked for."""
        if count > self._count:
            self._rows = grown(self._rows, count, self._filled)
            self._count = count
        return self._rows[: self._count]

    def restore(self, rows: NDArray[Any]) -> None:
        """Take these rows in place of those there are; they are copied."""
        self._count = len(rows)
        self._rows = grown(rows.astype(self._rows.dtype), max(len(rows), 8), self._filled)

    def all(self) -> NDArray[Any]:
        """Return all rows, in place; one at least, so that there is something to point to."""
        return self._rows[: max(self._count, 1)]

    def whole(self) -> NDArray[Any]:
        """Return all rows and the room behind them, the array itself: another one once there had to be more room."""
        return self._rows

    def take(self, slots: Slots) -> NDArray[Any]:
        """Return copies of the rows of `slots`, shape (n,); of a slot that nothing was written to, what came first."""
        rows: NDArray[Any] = self._rows.take(np.minimum(slots, len(self._rows) - 1), axis=0)
        beyond = slots >= self._count
        if beyond.any():
            rows[beyond] = self._first
        return rows
