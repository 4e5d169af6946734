"""Rows that grow, all zero at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


class Rows:
    """Rows of one type, counted from 0.

    Parameters
    ----------
    kind
        A row's type: a number's, a structured one, or one with a shape.

    Examples
    --------
    >>> rows = Rows("f8")
    >>> rows.upto(2)[1] = 0.5
    >>> len(rows), rows.upto(3)
    (2, array([0. , 0.5, 0. ]))
    """

    def __init__(self, kind: DTypeLike) -> None:
        self._rows: NDArray[Any] = np.zeros(8, kind)
        self._count = 0

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._count

    def upto(self, count: int) -> NDArray[Any]:
        """Return so many rows at least, in place; valid until more are asked for."""
        if count > len(self._rows):
            room = max(count, 2 * len(self._rows)) - len(self._rows)
            self._rows = np.concatenate([self._rows, np.zeros((room, *self._rows.shape[1:]), self._rows.dtype)])
        self._count = max(self._count, count)
        return self._rows[: self._count]

    def restore(self, rows: NDArray[Any]) -> None:
        """Take these rows in place of those there are; they are copied."""
        self._rows = np.zeros((max(len(rows), 8), *self._rows.shape[1:]), self._rows.dtype)
        self._rows[: len(rows)] = rows
        self._count = len(rows)

    def all(self) -> NDArray[Any]:
        """Return all rows, in place; one at least, so that there is something to point to."""
        return self._rows[: max(self._count, 1)]
