"""What a policy keeps of each page, by slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from evercrawl.types import Slots


class Kept:
    """One row of numbers a page, which grows as pages become known.

    Parameters
    ----------
    kind
        The row's type, a structured one.
    first
        What a row holds before anything is written to it; zeros where nothing is given.
    rows
        Those there were, as `upto` returned them; they are copied.

    Examples
    --------
    >>> kept = Kept([("visits", "u4")])
    >>> rows = kept.upto(7)
    >>> rows["visits"][6] += 2
    >>> kept.take(np.array([6, 900], np.uint32))["visits"]
    array([2, 0], dtype=uint32)
    """

    def __init__(self, kind: DTypeLike, first: tuple[Any, ...] | None = None, rows: NDArray[Any] | None = None) -> None:
        self._kind = np.dtype(kind)
        self._first: NDArray[Any] = np.zeros(1, self._kind)
        if first is not None:
            self._first[0] = first
        self._rows = self._first[:0].copy() if rows is None else rows.copy()

    def upto(self, count: int) -> NDArray[Any]:
        """Return all rows, in place, of slots 0 to `count` at least; valid until it is called again."""
        if count > len(self._rows):
            more = max(count, 2 * len(self._rows), 1024) - len(self._rows)
            self._rows = np.concatenate([self._rows, np.repeat(self._first, more)])
        return self._rows

    def take(self, slots: Slots) -> NDArray[Any]:
        """Return copies of the rows of `slots`, shape (n,); of a slot that nothing was written to, what came first."""
        held = len(self._rows)
        if not held:
            return np.repeat(self._first, len(slots))
        rows: NDArray[Any] = self._rows.take(np.minimum(slots, held - 1))
        beyond = slots >= held
        if beyond.any():
            rows[beyond] = self._first
        return rows
