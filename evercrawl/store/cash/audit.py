"""Verification of the law of cash in small steps: only blocks that were written to are summed again.

The cash of all pages must add up to the expected total. Adding tens of millions of cells at once would take too long
during a crawl. So the sum of each block is kept, and recomputed for blocks that were written to. Cash moves
meanwhile; once no changed block is left, all sums are as of one instant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from evercrawl.arrays.blocks import AUDITS, ChangedBlocks, blocks_of
from evercrawl.arrays.rows import grown
from evercrawl.types import Slots

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.store.cash.accounts import Accounts
    from evercrawl.store.table.known import KnownLog
    from evercrawl.store.table.table import Table
    from evercrawl.types import Floats

AT_ONCE: Final = 1024
"""Blocks summed in one step: 4 MiB of cells, a millisecond or two. It must exceed the number of blocks that a step of
the crawl writes to, or the audit would never end."""
_NONE: Final[Slots] = np.zeros(0, np.uint32)


class BlockSums:
    """The sum of a column, by block.

    Parameters
    ----------
    changed
        The blocks that were written to.
    count
        Returns the number of rows.
    summed
        Blocks -> the sum of each, shape (n,).

    Examples
    --------
    >>> rows, changed = np.arange(64.0), ChangedBlocks(64, bits=4)
    >>> sums = BlockSums(changed, lambda: 64, lambda blocks: rows.reshape(-1, 16)[blocks].sum(axis=1))
    >>> sums.add_up(3), sums.whole, sums.add_up(3), sums.whole, sums.total() == float(rows.sum())
    (3, False, 1, True, True)
    """

    def __init__(self, changed: ChangedBlocks, count: Callable[[], int], summed: Callable[[Slots], Floats]) -> None:
        self._changed, self._count, self._summed = changed, count, summed
        self._sums: Floats = np.zeros(0)
        self._there = 0  # blocks that are summed or due
        self._due, self._whole = _NONE, False

    @property
    def whole(self) -> bool:
        """Return whether the last `add_up` left nothing."""
        return self._whole

    def add_up(self, most: int) -> int:
        """Sum up to `most` blocks that have changed; return how many were summed."""
        summed, self._whole = 0, False
        while summed < most and not self._whole:
            anew = not len(self._due)
            due = self._taken() if anew else self._due
            now, self._due = due[: most - summed], due[most - summed :]
            if len(now):
                self._sums[now] = self._summed(now)
            summed += len(now)
            self._whole = anew and not len(self._due)
        return summed

    def _taken(self) -> Slots:
        """Return the blocks that were written to since this was last called, and all new ones, in order."""
        count = self._count()
        blocks, changed = blocks_of(count, self._changed.bits), self._changed.take(count, AUDITS)
        new = np.arange(self._there, blocks, dtype=np.uint32)
        due = np.concatenate((changed[changed < self._there], new))
        self._sums, self._there = grown(self._sums, blocks), blocks
        return due

    def total(self) -> float:
        """Return the sum of all rows; correct if `whole`, and nothing was written to since."""
        return float(self._sums.sum())


class CashAudit:
    """Adds up all cash, some blocks at a time.

    Parameters
    ----------
    table, accounts, known
        The cells and shares of cash, and the number of pages.
    """

    def __init__(self, table: Table, accounts: Accounts, known: KnownLog) -> None:
        cells: Any = table.cash
        size = 1 << table.changed_cash.bits
        blocks = cells[: len(cells) // size * size].reshape(-1, size)
        self._accounts = accounts
        self._cells = BlockSums(table.changed_cash, lambda: known.count, lambda some: blocks[some].sum(axis=1))
        self._shares = BlockSums(accounts.changed, lambda: accounts.count, accounts.fixed_shares)

    def owed(self, most: int = AT_ONCE) -> float | None:
        """Sum up to `most` blocks, and return `Cashbook.owed`; None if more blocks are left."""
        most -= self._cells.add_up(most)
        if self._accounts.handout:
            self._shares.add_up(most)
        if not (self._cells.whole and (self._shares.whole or not self._accounts.handout)):
            return None
        shares = self._shares.total() if self._accounts.handout else 0.0
        return self._cells.total() + self._accounts.owed(shares)
