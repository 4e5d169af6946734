"""The law of cash, held to a little at a time: what was written to since the last time is added up anew.

The cash of all pages adds up to what there should be. To add up tens of millions of cells takes too long to be done at
once beside a crawl; so the sum of each block is kept, and those are made anew whose cells were written to. Meanwhile
cash moves on; what it moves to is added up again, until nothing is left that was written to: then the sums are all of
one instant.
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
"""Blocks that are added up in one go: 4 MiB of cells, a millisecond or two. More than a step writes to, or it would
never end."""
_NONE: Final[Slots] = np.zeros(0, np.uint32)


class BlockSums:
    """The sum of a column, block by block.

    Parameters
    ----------
    changed
        Which of its blocks were written to.
    count
        Returns how many rows there are.
    summed
        Blocks -> what each adds up to, shape (n,).

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
        self._there = 0  # blocks that were added up, or are due
        self._due = _NONE

    @property
    def whole(self) -> bool:
        """Whether nothing was left by the last `add_up`."""
        return not len(self._due)

    def add_up(self, most: int) -> int:
        """Add up so many blocks at most that are not what they were; return how many there were."""
        count = self._count()
        blocks = blocks_of(count, self._changed.bits)
        parts = [self._due, self._changed.take(count, AUDITS), np.arange(self._there, blocks, dtype=np.uint32)]
        due = np.unique(np.concatenate(parts))
        self._sums, self._there = grown(self._sums, blocks), blocks
        now, self._due = due[:most], due[most:]
        if len(now):
            self._sums[now] = self._summed(now)
        return len(now)

    def total(self) -> float:
        """Return the sum of all rows, right where it is `whole` and nothing was written to since."""
        return float(self._sums.sum())


class CashAudit:
    """Adds up all cash, some blocks at a time.

    Parameters
    ----------
    table, accounts, known
        Where cash is, and how many pages there are.
    """

    def __init__(self, table: Table, accounts: Accounts, known: KnownLog) -> None:
        cells: Any = table.cash
        size = 1 << table.changed_cash.bits
        blocks = cells[: len(cells) // size * size].reshape(-1, size)
        self._accounts = accounts
        self._cells = BlockSums(table.changed_cash, lambda: known.count, lambda some: blocks[some].sum(axis=1))
        self._shares = BlockSums(accounts.changed, lambda: accounts.count, accounts.fixed_shares)

    def owed(self, most: int = AT_ONCE) -> float | None:
        """Add up so many blocks at most, and return `Cashbook.owed`; None where there are more to be added up."""
        most -= self._cells.add_up(most)
        if self._accounts.handout:
            self._shares.add_up(most)
        if not (self._cells.whole and (self._shares.whole or not self._accounts.handout)):
            return None
        shares = self._shares.total() if self._accounts.handout else 0.0
        return self._cells.total() + self._accounts.owed(shares)
