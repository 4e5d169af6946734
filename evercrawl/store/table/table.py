"""The table of known URLs: a map from keys to slots, and the numbers kept in memory for each slot."""

from __future__ import annotations

import mmap
import threading
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.blocks import ChangedBlocks
from evercrawl.arrays.reserved import reserve, reserve_together
from evercrawl.errors import CeilingError, StoreError
from evercrawl.kernels import Library, pointer
from evercrawl.types import Floats, Ints, Keys, Slots

__all__ = ["CASH_BITS", "CELL_BITS", "NO_RECORD", "ROOT", "KeyMap", "Saved", "Table", "reserve"]

NO_RECORD: Final = 0x8000_0000
"""Flag in `Table.record` of a URL without a record; the bits below it then describe how it was found."""
ROOT: Final = 0x0001_0000
"""Flag below `NO_RECORD`: the URL is a root of its site, a seed or the front page of a host."""
CASH_BITS: Final = 9
"""A block of cash has 2^9 slots (4 KiB); changes are tracked by block."""
CELL_BITS: Final = 10
"""The same for `Table.record`."""

_KERNELS: Final = Library("evercrawl.store.table._entries")
SEGMENTS: Final = 256
"""Number of segments of a map, each of which is filled and grown separately."""
TOGETHER: Final = 64
"""Number of segments filled at a time when a map is rebuilt."""
SCRATCH: Final = 3 * 128
"""Size of the scratch arrays of kernels."""
CELL: Final = np.dtype([("key", np.uint64), ("slot", np.uint32)])
"""A cell of a map: 12 adjacent bytes, so that a key costs one cache miss."""
_USUAL_LOAD: Final = 0.83  # segments are between 0.77 and 0.9 full


class KeyMap:
    """A map from 64-bit keys to slots 0, 1, 2 ... in the order in which the keys were first seen.

    A hash table in 256 segments of slightly different initial sizes; each grows by a sixth when nine tenths full. So
    segments grow one at a time: there is no long pause, and memory is never needed twice. Keys must be uniformly
    distributed (hashes). One thread at a time.

    Parameters
    ----------
    segment_capacity
        Maximum number of cells of a segment; address space is reserved for all, memory is used as they fill.
    first_capacity
        Initial number of cells of a segment.
    what
        What the keys stand for, for messages.

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

    _columns: ClassVar[list[type[np.generic]]] = []  # types of a subclass's numbers for each slot

    def __init__(self, segment_capacity: int = 1 << 22, first_capacity: int = 400, *, what: str = "URLs") -> None:
        self._what = what
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
        """Return the number of known keys, which is also the next slot."""
        return int(self._tally[0])

    @property
    def nbytes(self) -> int:
        """Return the memory in use, in bytes: cells that were written to, and the numbers kept for each slot."""
        columns = sum(column.itemsize for column in self._cells)
        cells = min(int(self._capacity.sum()) * CELL.itemsize, self.known * mmap.PAGESIZE)
        return cells + self.known * columns

    def intern(self, keys: Keys) -> tuple[Slots, NDArray[np.bool_]]:
        """Return the slots of `keys`, shape (n,), and which of them are new; a new key gets the next slot.

        Of repeated new keys, the first counts as new.

        Raises
        ------
        CeilingError
            A segment has reached its maximum size; the keys before the one that did not fit have been added.
        """
        wanted = np.ascontiguousarray(keys, np.uint64)
        n = len(wanted)
        slots, new = np.empty(n, np.uint32), np.empty(n, np.bool_)
        out = pointer(slots), pointer(new), self._spare
        if _KERNELS["intern"](*self._map, self._scratch, pointer(wanted), n, *out) < n:
            raise self._full(self.known)
        return slots, new

    def find(self, keys: Keys) -> Slots:
        """Return the slots of `keys`, shape (n,); NO_SLOT for unknown ones."""
        wanted = np.ascontiguousarray(keys, np.uint64)
        slots = np.empty(len(wanted), np.uint32)
        with self._finding:  # several threads may call this
            _KERNELS["find"](*self._map, self._scratch, pointer(wanted), len(wanted), pointer(slots))
        return slots

    def intern_one(self, key: int) -> int:
        """Return the slot of one key; a new one gets the next slot.

        Raises
        ------
        CeilingError
            A segment has reached its maximum size.
        """
        slot: int = _KERNELS["intern_one"](*self._map, key, self._spare)
        if slot < 0:
            raise self._full(self.known)
        return slot

    def find_one(self, key: int) -> int | None:
        """Return the slot of one key; None if it is unknown."""
        slot: int = _KERNELS["find_one"](*self._map, key)
        return slot if slot >= 0 else None

    def keys(self) -> Keys:
        """Return all keys in the order of their slots, shape (known,); 8 bytes each."""
        keys = np.zeros(self.known, np.uint64)
        _KERNELS["keys_by_slot"](*self._map, pointer(keys))
        return keys

    def rebuild(self, keys: Keys) -> None:
        """Fill an empty map with distinct `keys`, in the order of their slots, without growing step by step.

        Raises
        ------
        CeilingError
            There are too many.
        StoreError
            One is repeated.
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
            raise StoreError("a saved key is repeated: use an older snapshot")

    def _full(self, known: int) -> CeilingError:
        return CeilingError(
            f"the table is full with {known:,} {self._what}, {self._stride:,} cells a segment: narrow the crawl's "
            "scope, or begin a crawl with more partitions"
        )

    def _sizes(self, usual: NDArray[Any]) -> Ints:
        """Return the capacity of each segment: `usual`, varied so that they will not all grow at once."""
        spread = (7 / 6) ** (np.arange(SEGMENTS) / SEGMENTS - 0.5)
        return np.minimum(usual * spread + 2, self._stride).astype(np.int64)


class Table(KeyMap):
    """All URLs that the crawl knows, with cells of numbers for each; slots are numbers of discovery.

    Attributes
    ----------
    cash
        Each page's own cash, f64, by slot, without its share of the virtual page's; zero from `known` on.
    record
        Index of the page's record, or `NO_RECORD` and bits that describe how it was found; u32, by slot.
    changed_cash, changed_record
        The blocks of `cash` and `record` that were written to since the last snapshot. Writers must note their
        blocks, except through `intern`, `give` and the payments, which do.

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
        """Return the slots of `keys`, shape (n,), and which of them are new; a new URL has no record and no cash.

        Raises
        ------
        CeilingError
            A segment has reached its maximum size; the keys before the one that did not fit have been added.
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
        CeilingError
            A segment has reached its maximum size.
        """
        first = self.known
        try:
            return super().intern_one(key)
        finally:
            self._welcome(first)

    def rebuild(self, keys: Keys) -> None:
        """Fill an empty table with `keys` in the order of their slots; URLs have no record and no cash yet.

        Raises
        ------
        CeilingError
            There are too many.
        StoreError
            One is repeated.
        """
        super().rebuild(keys)
        self.record[: self.known] = NO_RECORD

    def pay(self, keys: Keys, amounts: Floats) -> float:
        """Add `amounts`, shape (n,), to the cash of `keys`; return the residue, for the virtual page.

        The residue is the sum of the amounts minus what the cells gained: the rounding errors of f64 (it may be
        negative), and the amounts of unknown keys.
        """
        wanted, given = np.ascontiguousarray(keys, np.uint64), np.ascontiguousarray(amounts, np.float64)
        assert wanted.shape == given.shape, "one amount per key"
        paid = pointer(wanted), len(wanted), pointer(given)
        return float(_KERNELS["pay"](*self._map, self._scratch, *paid, *self._cash))

    def pay_slots(self, slots: Slots, amounts: Floats, at_seq: int = 1, saved: Saved | None = None) -> float:
        """Add `amounts`, shape (n,), to the cash of `slots`; return the sum that arrived.

        Parameters
        ----------
        slots, amounts
            The receivers and their amounts; nothing arrives at a slot from `known` on.
        at_seq, saved
            For replay over a snapshot: the payment's number in the journal, counted from 1, and the saved cells. A
            cell that was saved at `at_seq` or later already contains its amount: it is skipped, and counts as paid.
        """
        targets, given = np.ascontiguousarray(slots, np.uint32), np.ascontiguousarray(amounts, np.float64)
        assert targets.shape == given.shape, "one amount per slot"
        paid = pointer(targets), len(targets), pointer(given)
        count, *chunks = (saved or _NOTHING).cells
        return float(_KERNELS["pay_slots"](self.known, count, *self._cash, *paid, at_seq, *chunks))

    def give(self, slot: int, amount: float) -> float:
        """Add to the cash of one known slot; return what arrived, which rounding makes differ."""
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
        """Add `inside` to the cash of each slot, or `outside` if it is external; return the sum that arrived.

        Parameters
        ----------
        targets
            Slots, encoded by `codec.encode_slots`.
        external
            A bit for each of them, low bits first; missing bits are 0.
        at_seq, saved
            As in `pay_slots`.
        """
        links = targets, len(targets), external, len(external), inside, outside
        count, *chunks = (saved or _NOTHING).cells
        return float(_KERNELS["pay_links"](self.known, count, *self._cash, *links, at_seq, *chunks))

    def _welcome(self, first: int) -> None:
        """Mark the slots from `first` on as having no record."""
        if self.known > first:
            self.record[first : self.known] = NO_RECORD
            self.changed_record.note_rows(first, self.known)
            self.changed_cash.note_rows(first, self.known)


class Saved:
    """The cells of cash in a snapshot, and how much of the journal each contains.

    Parameters
    ----------
    known
        Number of saved slots.
    chunks, chunk_slots
        For each `chunk_slots` of them, a power of two, the number of events folded when they were copied.
    """

    def __init__(self, known: int, chunks: Keys, chunk_slots: int) -> None:
        bits = chunk_slots.bit_length() - 1
        assert chunk_slots == 1 << bits, "a chunk has a power of two of slots"
        self._chunks = np.concatenate([np.array([bits], np.uint64), np.asarray(chunks, np.uint64)])
        self.cells = known, pointer(self._chunks), len(self._chunks)


_NOTHING: Final = Saved(0, np.zeros(1, np.uint64), 1)
