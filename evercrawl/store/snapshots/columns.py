"""The columns of a state that snapshots save, by blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from evercrawl.arrays.blocks import BlocksThen, ChangedBlocks, blocks_of, in_blocks
from evercrawl.store.snapshots.blocklog import ColumnSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evercrawl.store.state import State
    from evercrawl.types import Slots

_NAME_BYTES: Final = 24  # approximate size of a host's name


class SavedColumn(Protocol):
    """A column to be saved: its first `count` rows, in blocks of 2^`bits`."""

    changed: ChangedBlocks
    count: int

    @property
    def block_bytes(self) -> int:
        """Return the approximate size of a block in bytes."""
        ...

    def begin(self, blocks: Slots) -> None:
        """Note the blocks that will be copied, at the instant of the snapshot."""
        ...

    def copied(self, blocks: Slots) -> Any:
        """Return a copy of some of them, concatenated, as bytes."""
        ...


class RowsColumn:
    """Rows of numbers. A snapshot's copy of a block may be as of any later instant, which is stored with it."""

    def __init__(self, rows: NDArray[Any], count: int, changed: ChangedBlocks) -> None:
        self.count, self.changed = count, changed
        self._blocks = in_blocks(rows, changed.bits)

    @property
    def block_bytes(self) -> int:
        """Return the size of a block in bytes."""
        return int(self._blocks.shape[1])

    def begin(self, blocks: Slots) -> None:
        """Do nothing."""

    def copied(self, blocks: Slots) -> Any:
        """Return a copy of some blocks."""
        return self._blocks[blocks].data


class SiteRows:
    """The rows of sites, as of the snapshot's instant, because a replay would add later amounts twice."""

    def __init__(self, state: State) -> None:
        self._accounts = state.accounts
        self.count, self.changed = state.accounts.count, state.accounts.changed
        self.block_bytes = state.accounts.sites.itemsize << self.changed.bits
        self._then: BlocksThen | None = None

    def begin(self, blocks: Slots) -> None:
        """Have these blocks copied before they are written to."""
        self._then = self._accounts.then = BlocksThen(self._accounts.sites, self.changed.bits, blocks)

    def copied(self, blocks: Slots) -> Any:
        """Return a copy of some blocks; each is requested once."""
        assert self._then is not None, "call begin first"
        return self._then.copied(blocks)


class NameColumn:
    """Names, which never change, separated by line breaks."""

    def __init__(self, names: Sequence[str], changed: ChangedBlocks) -> None:
        self._names, self.count, self.changed = names, len(names), changed
        self.block_bytes = _NAME_BYTES << changed.bits

    def begin(self, blocks: Slots) -> None:
        """Do nothing."""

    def copied(self, blocks: Slots) -> Any:
        """Return the names in some blocks, each with a line break."""
        bits, stop = self.changed.bits, self.count
        parts = [self._names[block << bits : min(block + 1 << bits, stop)] for block in blocks.tolist()]
        return "".join("\n".join(part) + "\n" for part in parts).encode()


def columns_of(state: State) -> dict[str, SavedColumn]:
    """Return the columns of a state at this instant."""
    table, records, known = state.table, state.records, state.known.count
    columns: dict[str, SavedColumn] = {
        "cash": RowsColumn(table.cash, known, table.changed_cash),
        "record": RowsColumn(table.record, known, table.changed_record),
        "records": RowsColumn(records.rows, records.count, records.changed),
        "sites": SiteRows(state),
        "site_of": RowsColumn(state.site_of, len(state.hosts), state.changed_hosts),
        "hosts": NameColumn(state.hosts, state.new_hosts),
        "site_names": NameColumn(state.sites, state.new_sites),
    }
    if state.scheme.handout:
        columns["born"] = RowsColumn(state.born, known, state.changed_born)
    if state.scheme.width:
        columns["kept"] = RowsColumn(records.kept, records.count, records.changed_kept)
    return columns


def sizes_of(columns: dict[str, SavedColumn]) -> dict[str, ColumnSize]:
    """Return the sizes of columns."""
    return {
        name: ColumnSize(blocks_of(column.count, column.changed.bits), column.block_bytes)
        for name, column in columns.items()
    }


def row_columns(state: State) -> dict[str, tuple[NDArray[Any], int]]:
    """Return, for each column of rows, the whole array and the block size as a power of two."""
    records, table = state.records, state.table
    columns: dict[str, tuple[NDArray[Any], int]] = {
        "cash": (table.cash, table.changed_cash.bits),
        "record": (table.record, table.changed_record.bits),
        "records": (records.rows, records.changed.bits),
        "sites": (state.accounts.sites, state.accounts.changed.bits),
        "site_of": (state.site_of, state.changed_hosts.bits),
    }
    if state.scheme.handout:
        columns["born"] = (state.born, state.changed_born.bits)
    if state.scheme.width:
        columns["kept"] = (records.kept, records.changed_kept.bits)
    return columns


def clear_beyond(rows: NDArray[Any], count: int, bits: int) -> None:
    """Zero the rows after the first `count` in their last block, because they belong to later pages."""
    rows[count : blocks_of(count, bits) << bits] = np.zeros((), rows.dtype)
