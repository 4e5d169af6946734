"""Columns in blocks: which of them were written to, and how they were at one instant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve

if TYPE_CHECKING:
    from evercrawl.types import Slots


def blocks_of(rows: int, bits: int) -> int:
    """Return how many blocks of 2^bits rows that many rows take.

    >>> blocks_of(0, 4), blocks_of(16, 4), blocks_of(17, 4)
    (0, 1, 2)
    """
    return (rows + (1 << bits) - 1) >> bits


WRITTEN: Final = 0xFF
"""Mark of a block that was written to: each reader has a bit of it, and takes that away."""
SNAPSHOTS, AUDITS, LETTERS = range(3)
"""Who asks: whoever saves blocks, adds them up, or looks for what is owed to other partitions."""


class ChangedBlocks:
    """Which blocks of a column were written to since somebody last asked; a byte a block, a bit a reader.

    Parameters
    ----------
    rows
        Rows the column has room for.
    bits
        A block has 2^bits rows.

    Attributes
    ----------
    marks
        `WRITTEN` for each block that was written to, for kernels; what is left of that where some asked since.

    Examples
    --------
    >>> changed = ChangedBlocks(1000, bits=4)
    >>> changed.note(17)
    >>> changed.note_rows(30, 49)
    >>> changed.take(1000).tolist(), changed.take(1000).tolist(), changed.take(1000, AUDITS).tolist()
    ([1, 2, 3], [], [1, 2, 3])
    """

    def __init__(self, rows: int, bits: int) -> None:
        self.bits = bits
        self.marks: NDArray[np.uint8] = reserve(np.uint8, (rows >> bits) + 1)
        self._marked = self.marks.data

    def note(self, row: int) -> None:
        """Note that a row was written to."""
        self._marked[row >> self.bits] = WRITTEN

    def note_rows(self, start: int, stop: int) -> None:
        """Note that rows [start, stop) were written to."""
        if stop > start:
            self.marks[start >> self.bits : blocks_of(stop, self.bits)] = WRITTEN

    def put_back(self, blocks: Slots) -> None:
        """Note that blocks were written to: who took them could do nothing with them."""
        self.marks[blocks] = WRITTEN

    def take(self, rows: int, reader: int = SNAPSHOTS) -> Slots:
        """Return the blocks among the first `rows` rows that were written to, in order, and begin anew with them."""
        found = np.flatnonzero(self.marks[: blocks_of(rows, self.bits)] & (1 << reader)).astype(np.uint32)
        self.marks[found] &= WRITTEN ^ (1 << reader)
        return found


class BlocksThen:
    """Some blocks of rows as they were at one instant, though they are copied bit by bit and written to meanwhile.

    Whoever is about to write to a block says so first (`before`).

    Parameters
    ----------
    rows
        The column, shape (n,): a whole number of blocks.
    bits
        A block has 2^bits rows.
    blocks
        Which blocks are going to be copied.

    Examples
    --------
    >>> rows = np.arange(8, dtype=np.uint8)
    >>> then = BlocksThen(rows, 1, np.array([0, 2, 3], np.uint32))
    >>> then.before(2)
    >>> rows[4:6] = 99
    >>> list(then.copied(np.array([0, 2], np.uint32)))
    [0, 1, 4, 5]
    """

    def __init__(self, rows: NDArray[Any], bits: int, blocks: Slots) -> None:
        self._blocks = in_blocks(rows, bits)
        self._due = bytearray(int(blocks[-1]) + 1 if len(blocks) else 0)
        np.frombuffer(self._due, np.uint8)[blocks] = 1
        self._early = dict[int, NDArray[np.uint8]]()

    def before(self, block: int) -> None:
        """Take note that a block is about to be written to."""
        if block < len(self._due) and self._due[block]:
            self._due[block] = 0
            self._early[block] = self._blocks[block].copy()

    def copied(self, blocks: Slots) -> bytes:
        """Return these blocks, each of which is asked for once, one behind the other."""
        found = self._blocks[blocks]
        for place, block in enumerate(blocks.tolist()):
            if not self._due[block]:
                found[place] = self._early.pop(block)
            self._due[block] = 0
        return found.tobytes()


def in_blocks(rows: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """Return a column's whole blocks as bytes, in place, shape (blocks, bytes of one).

    >>> in_blocks(np.zeros(9, np.uint32), 2).shape
    (2, 16)
    """
    whole = len(rows) >> bits << bits
    return rows[:whole].reshape(-1).view(np.uint8).reshape(whole >> bits, -1)
