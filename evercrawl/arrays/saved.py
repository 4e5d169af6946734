"""Rows that are saved block by block; writers mark the blocks that they write to."""

from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evercrawl.arrays.blocks import WRITTEN, ChangedBlocks, blocks_of, in_blocks
from evercrawl.arrays.rows import Rows
from evercrawl.types import Slots

_BLOCK_BYTES: Final = 2048
_MOST_ROWS: Final = 1 << 28


class SavedRows(Rows):
    """Rows of one type that track which blocks of about 2 KiB were written to since they were saved.

    A writer must mark the rows that it writes to, in `changed` or by `note`, including new rows.

    Parameters
    ----------
    kind, first
        As in `Rows`.

    Attributes
    ----------
    changed
        The blocks that were written to.

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
        """Size of a block in bytes."""
        return self._kind.itemsize << self.bits

    @property
    def kind(self) -> np.dtype[Any]:
        """Return the type of a row."""
        return self._kind

    def note(self, rows: Slots | NDArray[np.integer[Any]]) -> None:
        """Note that rows were written to."""
        self._marks[rows >> self.bits] = WRITTEN

    def copied(self, blocks: Slots) -> bytes:
        """Return a copy of some blocks, concatenated."""
        return self.in_blocks()[blocks].tobytes()

    def in_blocks(self) -> NDArray[np.uint8]:
        """Return all blocks with rows as bytes, without a copy; shape (blocks, bytes of one)."""
        whole = self.room(max(self._count, 1))
        return in_blocks(whole, self.bits)[: blocks_of(self._count, self.bits)]

    def restore(self, rows: NDArray[Any]) -> None:
        """Replace the rows by a copy of these."""
        self.changed.note_rows(0, max(len(self), len(rows)))
        super().restore(rows)
