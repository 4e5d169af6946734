"""Rows that are saved block by block: which blocks were written to is noted, by whoever writes to them."""

from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evercrawl.arrays.blocks import WRITTEN, ChangedBlocks, blocks_of, in_blocks
from evercrawl.arrays.rows import Rows
from evercrawl.types import Slots

_BLOCK_BYTES: Final = 2048
_MOST_ROWS: Final = 1 << 28


class SavedRows(Rows):
    """Rows of one type, and which blocks of some 2 KiB were written to since they were saved.

    Whoever writes to a row notes it, in `changed` or by `note`; also where the row is new.

    Parameters
    ----------
    kind, first
        As of `Rows`.

    Attributes
    ----------
    changed
        Which blocks were written to.

    Examples
    --------
    >>> rows = SavedRows("f8")
    >>> rows.upto(300)[[2, 299]] = 1.0
    >>> rows.note(np.array([2, 299]))
    >>> due = rows.changed.take(len(rows))
    >>> due.tolist(), len(rows.copied(due)), rows.block_bytes
    ([0, 1], 4096, 2048)
    """

    def __init__(self, kind: DTypeLike, first: tuple[Any, ...] | None = None) -> None:
        self.bits = max((_BLOCK_BYTES // np.dtype(kind).itemsize).bit_length() - 1, 0)
        self.changed = ChangedBlocks(_MOST_ROWS, self.bits)
        self._marks = self.changed.marks
        super().__init__(kind, first)

    @property
    def block_bytes(self) -> int:
        """How many bytes a block takes."""
        return self._kind.itemsize << self.bits

    @property
    def kind(self) -> np.dtype[Any]:
        """Return the type of a row."""
        return self._kind

    def note(self, rows: Slots | NDArray[np.integer[Any]]) -> None:
        """Note that rows were written to."""
        self._marks[rows >> self.bits] = WRITTEN

    def copied(self, blocks: Slots) -> bytes:
        """Return a copy of some blocks, one behind the other."""
        return self.in_blocks()[blocks].tobytes()

    def in_blocks(self) -> NDArray[np.uint8]:
        """Return all blocks that have rows, in place, as bytes; shape (blocks, bytes of one)."""
        whole = self.room(max(self._count, 1))
        return in_blocks(whole, self.bits)[: blocks_of(self._count, self.bits)]

    def restore(self, rows: NDArray[Any]) -> None:
        """Take these rows in place of those there are; they are copied."""
        self.changed.note_rows(0, max(len(self), len(rows)))
        super().restore(rows)
