"""Blocks of columns: tracking of writes, and consistent copies as of one instant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve

if TYPE_CHECKING:
    from evercrawl.types import Slots


def blocks_of(rows: int, bits: int) -> int:
    """Return the number of blocks of 2^bits rows that `rows` rows take.

    >>> blocks_of(0, 4), blocks_of(16, 4), blocks_of(17, 4)
    (0, 1, 2)
    """
    return (rows + (1 << bits) - 1) >> bits


_EACH_BYTE: Final = 0x0101_0101_0101_0101
_EIGHT: Final = np.arange(8)
WRITTEN: Final = 0xFF
"""Mark of a block that was written to: each reader has one bit, and clears it."""
SNAPSHOTS, AUDITS, LETTERS = range(3)
"""Readers of marks: snapshots, audits of sums, and the search for cash owed to other partitions."""


class ChangedBlocks:
    """The blocks of a column written to since a reader last took them; one byte per block, one bit per reader.

    Parameters
    ----------
    rows
        Capacity of the column, in rows.
    bits
        A block has 2^bits rows.

    Attributes
    ----------
    marks
        Marks of the blocks, for kernels: `WRITTEN` after a write, less the bits of the readers that have taken it.

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
        """Mark blocks as written again, because the reader that took them could not use them."""
        self.marks[blocks] = WRITTEN

    def take(self, rows: int, reader: int = SNAPSHOTS) -> Slots:
        """Return the blocks among the first `rows` rows that were written to, in order, and clear their marks."""
        found = self._marked_by(blocks_of(rows, self.bits), 1 << reader)
        self.marks[found] &= WRITTEN ^ (1 << reader)
        return found

    def _marked_by(self, count: int, bit: int) -> Slots:
        """Return which of the first `count` marks have a bit; eight at a time, because few have."""
        marks, whole = self.marks, count >> 3 << 3
        eights = np.flatnonzero(marks[:whole].view(np.uint64) & np.uint64(bit * _EACH_BYTE))
        if len(eights) > count >> 6:
            return np.flatnonzero(marks[:count] & bit).astype(np.uint32)
        places = np.concatenate(((eights[:, np.newaxis] * 8 + _EIGHT).ravel(), np.arange(whole, count)))
        found: Slots = places[marks[places] & bit != 0].astype(np.uint32)
        return found


class BlocksThen:
    """A copy-on-write view of blocks at one instant, which are copied gradually while they are written to.

    A writer must call `before` before it writes to a block.

    Parameters
    ----------
    rows
        The column, shape (n,): a whole number of blocks.
    bits
        A block has 2^bits rows.
    blocks
        The blocks to be copied.

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
        """Prepare for a write to a block."""
        if block < len(self._due) and self._due[block]:
            self._due[block] = 0
            self._early[block] = self._blocks[block].copy()

    def copied(self, blocks: Slots) -> bytes:
        """Return these blocks, concatenated; each block may be requested once."""
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
