"""The table of known URLs: key -> slot, and the numbers that memory keeps for each slot."""

from __future__ import annotations

import mmap
import threading
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.blocks import ChangedBlocks
from evercrawl.arrays.reserved import reserve, reserve_together
from evercrawl.errors import StoreError
from evercrawl.kernels import Library, pointer
from evercrawl.types import Floats, Ints, Keys, Slots

__all__ = ["CASH_BITS", "CELL_BITS", "NO_RECORD", "ROOT", "KeyMap", "Saved", "Table", "reserve"]

NO_RECORD: Final = 0x8000_0000
"""Set in `Table.record` while a URL has no record; the bits below are then free for what its finder wants to keep."""
ROOT: Final = 0x0001_0000
"""Below `NO_RECORD`: the URL is a root of its site, a seed or the front page of a host."""
CASH_BITS: Final = 9
"""Blocks of cash, of which is noted whether they changed, have 2^9 slots: 4 KiB."""
CELL_BITS: Final = 10
"""The same of `Table.record`."""

_KERNELS: Final = Library("evercrawl.store.table._entries")
SEGMENTS: Final = 256
"""Of a map, each filled and grown for itself."""
TOGETHER: Final = 64
"""Segments that are filled at a time, when a map is rebuilt."""
SCRATCH: Final = 3 * 128
"""Numbers that kernels take notes in."""
CELL: Final = np.dtype([("key", np.uint64), ("slot", np.uint32)])
"""Of a map: 12 bytes side by side, so that a key costs one cache miss."""
_USUAL_LOAD: Final = 0.83  # segments are between 0.77 and 0.9 full


class KeyMap:
    """64-bit keys -> slots 0, 1, 2 ... in the order in which the keys were first seen.

    A hash table in 256 segments. They start at sizes a little apart and each grows by a sixth when nine tenths full,
    so one of them grows now and then, and never all: no pause, and no moment at which memory is needed twice. Keys must
    be evenly spread (hashes). One thread at a time.

    Parameters
    ----------
    segment_capacity
        Most cells of one segment; address space is reserved for all of them, memory is taken as they fill.
    first_capacity
        Cells a segment starts with.

    Examples
    --------
    >>> keys = KeyMap(segment_capacity=1000)
    >>> slots, new = keys.intern(np.array([70, 71, 70], np.uint64))
    >>> slots.tolist(), new.tolist(), keys.known
    ([0, 1, 0], [True, True, False], 2)
    >>> keys.find(np.array([71, 72], np.uint64)).tolist()  # nobody knows key 72
    [1, 4294967295]

    References
    ----------
    Knuth, The Art of Computer Programming, volume 3, section 6.4: linear probing at load a takes (1 + 1/(1-a))/2 looks.
    """

    _columns: ClassVar[list[type[np.generic]]] = []  # what a subclass keeps for each slot

    def __init__(self, segment_capacity: int = 1 << 22, first_capacity: int = 400) -> None:
        cells, *self._cells = reserve_together([CELL, *self._columns], SEGMENTS * segment_capacity)
        self._stride = len(cells) // SEGMENTS
        head = np.zeros(2 + 2 * SEGMENTS, np.int64)
        self._tally, self._capacity, self._count = np.split(head, [2, 2 + SEGMENTS])
        self._tally[:] = 0, -1
        self._capacity[:] = self._sizes(np.full(SEGMENTS, first_capacity))
        self._map = pointer(cells), pointer(head), self._stride
        self._scratch = pointer(np.empty(SCRATCH, np.int64))
        self._finding = threading.Lock()
        self._spare = pointer(reserve(CELL, self._stride))

    @property
    def known(self) -> int:
        """How many keys are known, which is also the next slot."""
        return int(self._tally[0])

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use: the segments' cells, as far as any was written, and what is kept for each slot."""
        columns = sum(column.itemsize for column in self._cells)
        cells = min(int(self._capacity.sum()) * CELL.itemsize, self.known * mmap.PAGESIZE)
        return cells + self.known * columns

    def intern(self, keys: Keys) -> tuple[Slots, NDArray[np.bool_]]:
        """Return the slots of `keys`, shape (n,), and which of them were new; a new key gets the next slot.

        Of equal new keys the first is new.

        Raises
        ------
        StoreError
            A segment is as large as it can get; the keys before the one that did not fit are known now.
        """
        wanted = np.ascontiguousarray(keys, np.uint64)
        n = len(wanted)
        slots, new = np.empty(n, np.uint32), np.empty(n, np.bool_)
        out = pointer(slots), pointer(new), self._spare
        if _KERNELS["intern"](*self._map, self._scratch, pointer(wanted), n, *out) < n:
            raise self._full(self.known)
        return slots, new

    def find(self, keys: Keys) -> Slots:
        """Return the slots of `keys`, shape (n,), NO_SLOT for those that are not known."""
        wanted = np.ascontiguousarray(keys, np.uint64)
        slots = np.empty(len(wanted), np.uint32)
        with self._finding:  # several threads may ask
            _KERNELS["find"](*self._map, self._scratch, pointer(wanted), len(wanted), pointer(slots))
        return slots

    def intern_one(self, key: int) -> int:
        """Return the slot of one key; a new one gets the next slot.

        Raises
        ------
        StoreError
            A segment is as large as it can get.
        """
        slot: int = _KERNELS["intern_one"](*self._map, key, self._spare)
        if slot < 0:
            raise self._full(self.known)
        return slot

    def find_one(self, key: int) -> int | None:
        """Return the slot of one key; None where it is not known."""
        slot: int = _KERNELS["find_one"](*self._map, key)
        return slot if slot >= 0 else None

    def keys(self) -> Keys:
        """Return all keys in the order of their slots, shape (known,); 8 bytes each."""
        keys = np.zeros(self.known, np.uint64)
        _KERNELS["keys_by_slot"](*self._map, pointer(keys))
        return keys

    def rebuild(self, keys: Keys) -> None:
        """Fill an empty map with `keys`, all different, in the order of their slots; growth is skipped.

        Raises
        ------
        StoreError
            There are too many, or one comes twice.
        """
        assert self.known == 0, "only an empty table is rebuilt"
        wanted = np.ascontiguousarray(keys, np.uint64)
        n = len(wanted)
        _KERNELS["count_segments"](pointer(wanted), n, pointer(self._count))
        self._capacity[:] = self._sizes(np.maximum(self._count / _USUAL_LOAD, self._capacity))
        if (self._count * 10 > self._capacity * 9).any():
            raise self._full(n)
        most = int(self._count.reshape(-1, TOGETHER).sum(axis=1).max())
        scratch = np.empty(SEGMENTS, np.int64), np.empty(most, np.uint64), np.empty(most, np.uint32)
        if not _KERNELS["load"](*self._map, pointer(wanted), n, *map(pointer, scratch), most):
            raise StoreError("of the saved keys one comes twice: use an older snapshot")

    def _full(self, known: int) -> StoreError:
        return StoreError(
            f"the table is full with {known:,} URLs, {self._stride:,} cells a segment: narrow the crawl's scope, or "
            "give its hosts to more partitions"
        )

    def _sizes(self, usual: NDArray[Any]) -> Ints:
        """Return what each segment shall hold: `usual`, spread so that they will not all grow at once."""
        spread = (7 / 6) ** (np.arange(SEGMENTS) / SEGMENTS - 0.5)
        return np.minimum(usual * spread + 2, self._stride).astype(np.int64)


class Table(KeyMap):
    """Every URL the crawl knows, and cells of numbers for each; the slot is the discovery number.

    Attributes
    ----------
    cash
        What each page holds of its own, f64, by slot, without its share of the virtual page's; zero at `known` and
        beyond.
    record
        Index of the page's record, or `NO_RECORD` and what its finder keeps below that bit; u32, by slot.
    changed_cash, changed_record
        Which blocks of them were written to since the last snapshot; who writes to them says so, but for `intern`,
        `give` and the payments, which do.

    Examples
    --------
    >>> table = Table(segment_capacity=1000)
    >>> slots, new = table.intern(np.array([70, 71], np.uint64))
    >>> table.pay(np.array([71, 72], np.uint64), np.array([0.5, 0.25]))  # nobody knows key 72
    0.25
    >>> table.cash[:2].tolist()
    [0.0, 0.5]
    """

    _columns: ClassVar[list[type[np.generic]]] = [np.float64, np.uint32]

    def __init__(self, segment_capacity: int = 1 << 22, first_capacity: int = 400) -> None:
        super().__init__(segment_capacity, first_capacity)
        self.cash: NDArray[np.float64] = self._cells[0]
        self.changed_cash = ChangedBlocks(len(self.cash), CASH_BITS)
        self._cash = pointer(self.cash), pointer(self.changed_cash.marks), CASH_BITS
        self.record: Slots = self._cells[1]
        self.changed_record = ChangedBlocks(len(self.record), CELL_BITS)

    def intern(self, keys: Keys) -> tuple[Slots, NDArray[np.bool_]]:
        """Return the slots of `keys`, shape (n,), and which of them were new; a new URL has no record and no cash.

        Raises
        ------
        StoreError
            A segment is as large as it can get; the keys before the one that did not fit are known now.
        """
        first = self.known
        try:
            return super().intern(keys)
        finally:
            self._welcome(first)

    def intern_one(self, key: int) -> int:
        """Return the slot of one key; a new URL gets the next slot, and has no record and no cash.

        Raises
        ------
        StoreError
            A segment is as large as it can get.
        """
        first = self.known
        try:
            return super().intern_one(key)
        finally:
            self._welcome(first)

    def rebuild(self, keys: Keys) -> None:
        """Fill an empty table with `keys` in the order of their slots; no URL has a record yet, nor cash.

        Raises
        ------
        StoreError
            There are too many, or one comes twice.
        """
        super().rebuild(keys)
        self.record[: self.known] = NO_RECORD

    def pay(self, keys: Keys, amounts: Floats) -> float:
        """Add `amounts`, shape (n,), to the cash of `keys`; return the residue, for the virtual page.

        The residue is the sum of the amounts less what the cells gained: what f64 rounds away (it may be negative), and
        the whole amount where a key is not known.
        """
        wanted, given = np.ascontiguousarray(keys, np.uint64), np.ascontiguousarray(amounts, np.float64)
        assert wanted.shape == given.shape, "one amount a key"
        paid = pointer(wanted), len(wanted), pointer(given)
        return float(_KERNELS["pay"](*self._map, self._scratch, *paid, *self._cash))

    def pay_slots(self, slots: Slots, amounts: Floats, at_seq: int = 1, saved: Saved | None = None) -> float:
        """Add `amounts`, shape (n,), to the cash of `slots`; return what arrived.

        Parameters
        ----------
        slots, amounts
            Who gets how much; nothing arrives at a slot beyond `known`.
        at_seq, saved
            For replay over a snapshot: the payment's number in the journal, counted from 1, and what the snapshot has.
            A cell that was saved at `at_seq` or later has got its amount already: it is passed over and counts as paid.
        """
        targets, given = np.ascontiguousarray(slots, np.uint32), np.ascontiguousarray(amounts, np.float64)
        assert targets.shape == given.shape, "one amount a slot"
        paid = pointer(targets), len(targets), pointer(given)
        count, *chunks = (saved or _NOTHING).cells
        return float(_KERNELS["pay_slots"](self.known, count, *self._cash, *paid, at_seq, *chunks))

    def give(self, slot: int, amount: float) -> float:
        """Add to the cash of one slot that is known; return what arrived, which rounding makes differ."""
        before = float(self.cash[slot])
        self.cash[slot] = before + amount
        self.changed_cash.note(slot)
        return float(self.cash[slot]) - before

    def pay_links(
        self,
        targets: bytes,
        external: bytes,
        inside: float,
        outside: float,
        at_seq: int = 1,
        saved: Saved | None = None,
    ) -> float:
        """Add `inside` to the cash of each of the slots, or `outside` where it is external; return what arrived.

        Parameters
        ----------
        targets
            Slots as `codec.encode_slots` makes them.
        external
            A bit for each of them, the low bits first; missing ones are 0.
        at_seq, saved
            As for `pay_slots`.
        """
        links = targets, len(targets), external, len(external), inside, outside
        count, *chunks = (saved or _NOTHING).cells
        return float(_KERNELS["pay_links"](self.known, count, *self._cash, *links, at_seq, *chunks))

    def _welcome(self, first: int) -> None:
        """Give the slots from `first` on no record."""
        if self.known > first:
            self.record[first : self.known] = NO_RECORD
            self.changed_record.note_rows(first, self.known)
            self.changed_cash.note_rows(first, self.known)


class Saved:
    """Which cells of cash a snapshot has, and how much of the journal is in each.

    Parameters
    ----------
    known
        Slots it has.
    chunks, chunk_slots
        For each `chunk_slots` of them, a power of two, the number of events that were folded when they were copied.
    """

    def __init__(self, known: int, chunks: Keys, chunk_slots: int) -> None:
        bits = chunk_slots.bit_length() - 1
        assert chunk_slots == 1 << bits, "slots are told apart by their upper bits"
        self._chunks = np.concatenate([np.array([bits], np.uint64), np.asarray(chunks, np.uint64)])
        self.cells = known, pointer(self._chunks), len(self._chunks)


_NOTHING: Final = Saved(0, np.zeros(1, np.uint64), 1)
