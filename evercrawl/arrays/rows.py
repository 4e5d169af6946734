"""Growable columns and tables: in ordinary memory while small, in reserved address space once they are large."""

import contextlib
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evercrawl.arrays.reserved import reserve
from evercrawl.errors import StoreError
from evercrawl.types import Slots

OWN_BYTES: Final = 1 << 20
"""Size up to which a table is copied as it grows, in a fraction of a millisecond."""
_MOST_ROWS: Final = 1 << 28
_MOST_SLOTS: Final = 1 << 30
_OURS: Final = WeakValueDictionary[int, NDArray[Any]]()  # arrays that `grown` has reserved
_STEP_ROWS: Final = 1 << 14
"""Maximum number of rows by which a larger table grows at a time, because they may have to be filled."""


def grown(column: NDArray[Any], least: int, first: Any = None) -> NDArray[Any]:
    """Return a column or a table with room for at least `least` rows; each new row is `first`, or zero.

    It grows by a quarter, so that growing row by row copies each row only a few times in all. A large column that this
    function returned before grows without being copied: the caller must replace it by the result.

    Examples
    --------
    >>> grown(np.ones(1), 2), len(grown(np.ones(4), 8))
    (array([1., 0.]), 10)
    """
    if least <= len(column):
        return column
    kind = np.dtype((column.dtype, column.shape[1:]))
    reserved = _reserved(column, least) if least * kind.itemsize > OWN_BYTES else None
    if reserved is not None:
        wider = reserved[: min(least + min(least // 4, _STEP_ROWS), len(reserved))]
        if first is not None:
            wider[len(column) :] = first
        return wider
    wider = np.zeros((least + least // 4, *column.shape[1:]), column.dtype)
    wider[: len(column)] = column
    if first is not None:  # zeros cost nothing until they are written
        wider[len(column) :] = first
    return wider


def _reserved(column: NDArray[Any], least: int) -> NDArray[Any] | None:
    """Return the reserved array that begins with a column, made if there is none; None if it has no room."""
    base = column.base
    if isinstance(base, np.ndarray) and _OURS.get(id(base)) is base and len(base) >= least and _same(base, column):
        return base
    with contextlib.suppress(StoreError):
        made = reserve(np.dtype((column.dtype, column.shape[1:])), _MOST_SLOTS)
        if least <= len(made):
            made[: len(column)] = column
            _OURS[id(made)] = made
            return made
    return None


def _same(base: NDArray[Any], column: NDArray[Any]) -> bool:
    """Return whether a column is the beginning of an array."""
    return base.ctypes.data == column.ctypes.data and base[:0].dtype == column.dtype and base.strides == column.strides


class Rows:
    """Rows of one type, indexed by slot or any other number from 0.

    Parameters
    ----------
    kind
        Type of a row: a number, a structured type, or one with a shape.
    first
        Initial value of a row; by default zeros.
    rows
        Initial rows, which are copied.

    Attributes
    ----------
    moved_bytes
        Bytes of the rows that are in a file (`arrays/shelf.py`).

    Examples
    --------
    >>> rows = Rows([("visits", "u4")])
    >>> rows.upto(7)["visits"][6] += 2
    >>> len(rows), rows.take(np.array([6, 900], np.uint32))["visits"]
    (7, array([2, 0], dtype=uint32))
    """

    bits = 0
    """There is room for a multiple of 2^bits rows."""

    def __init__(self, kind: DTypeLike, first: tuple[Any, ...] | None = None, rows: NDArray[Any] | None = None) -> None:
        self._kind: np.dtype[Any] = np.dtype(kind)
        self._first: NDArray[Any] = np.zeros(1, kind)
        if first is not None:
            self._first[0] = first
        self._filled = None if first is None else self._first
        self._count = 0
        self.load(0 if rows is None else len(rows))
        if rows is not None:
            self._rows[: len(rows)] = rows

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use; room to grow in takes none until it is written, unless it is filled at once.

        What lies in a file takes none.
        """
        used = self._rows if self._filled is not None else self._rows[: self._count]
        return max(used.nbytes - self.moved_bytes, 0)

    def reserved(self) -> tuple[NDArray[Any], int] | None:
        """Return the array reserved for the rows, and the number of rows; None if no array is reserved."""
        return (self._reserved, self._count) if 0 < len(self._rows) <= len(self._reserved) else None

    def upto(self, count: int) -> NDArray[Any]:
        """Return all rows, at least `count`, without a copy; valid until more are requested."""
        if count > self._count:
            self.room(count)
            self._count = count
        return self._rows[: self._count]

    def room(self, least: int) -> NDArray[Any]:
        """Return all rows and unused rows, at least `least` in all, without a copy; valid until more are requested."""
        least = self._whole(least)
        if least > len(self._rows):
            self._grow(least, more=least // 4)
        return self._rows

    def shorten(self, count: int) -> None:
        """Keep the first `count` rows; the others keep their values for when the table grows again."""
        self._count = min(count, self._count)

    def load(self, count: int) -> NDArray[Any]:
        """Replace the rows by `count` rows with initial values, and return them."""
        self._rows: NDArray[Any] = np.zeros(0, self._kind)
        self._reserved = self._rows
        self.moved_bytes = 0
        self._count = 0
        self._grow(self._whole(max(count, 8)), more=0)
        return self.upto(count)

    def restore(self, rows: NDArray[Any]) -> None:
        """Replace the rows by a copy of these."""
        self.load(len(rows))[:] = rows

    def all(self) -> NDArray[Any]:
        """Return all rows without a copy; at least one, so that there is something to point to."""
        return self._rows[: max(self._count, 1)]

    def whole(self) -> NDArray[Any]:
        """Return the whole array with its unused rows; it is replaced when the table outgrows it."""
        return self._rows

    def take(self, slots: Slots) -> NDArray[Any]:
        """Return copies of the rows of `slots`, shape (n,); the initial value for slots never written to."""
        rows: NDArray[Any] = self._rows.take(np.minimum(slots, len(self._rows) - 1), axis=0)
        beyond = slots >= self._count
        if beyond.any():
            rows[beyond] = self._first
        return rows

    def _whole(self, rows: int) -> int:
        """Return how many rows the blocks have that so many rows take."""
        return (rows + (1 << self.bits) - 1) >> self.bits << self.bits

    def _grow(self, least: int, more: int) -> None:
        """Make room for at least so many rows, and for some more."""
        before = self._rows
        if least * self._kind.itemsize > OWN_BYTES and least > len(self._reserved):
            with contextlib.suppress(StoreError):  # then it goes on being copied
                reserved = reserve(self._kind, _MOST_ROWS)
                if least <= len(reserved):
                    reserved[: len(before)] = before
                    self._reserved = reserved
        if least > len(self._reserved):
            self._rows = np.zeros((self._whole(least + more), *before.shape[1:]), before.dtype)
            self._rows[: len(before)] = before
        else:
            self._rows = self._reserved[: min(self._whole(least + min(more, _STEP_ROWS)), len(self._reserved))]
        if self._filled is not None:
            self._rows[len(before) :] = self._filled
