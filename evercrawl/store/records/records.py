"""One record of 96 bytes for each page that has been fetched, in the order of the first fetch."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.blocks import ChangedBlocks
from evercrawl.arrays.reserved import reserve
from evercrawl.store.records.layout import Byte, Double, Layout, Long, Short, SignedShort, Single, Word
from evercrawl.types import Floats, Slots


class Record(msgspec.Struct, gc=False):
    """What is kept of a page that was fetched: the one table of the fields of `RECORD`, in their order.

    Attributes
    ----------
    slot, host
        Which page.
    visited
        Last visit, in sixteenths of a second since the crawl's epoch.
    size_bytes, digest, simhash, words
        Of the content: its bytes, their digest, its similarity hash, and 32 bits of the digest of its text.
    event
        Journal pointer of the last event that has links.
    importance, mark
        The value x of push, or the history H of AOPIC; and for AOPIC the clock G at the last visit.
    rate_shape, rate_scale_s
        Evidence on the rate of change: what the visits add to the prior Gamma(shape, scale).
    alias
        Slot of the page that this one only leads to, NO_SLOT where it has content of its own.
    changed, seen
        When the content last changed, as far as is known; the last visit that saw the content. Like `visited`.
    wire_bytes
        Of the last whole body, as it came over the wire.
    visits, changes
        How many there were.
    status, outcome
        HTTP status and `Outcome` of the last visit.
    depth
        Links from a seed.
    misses
        Visits in a row that found it gone, or in trouble.
    flags
        The bits below.
    lasting, earlier
        How much of what a change brings stays, and bits of the state before a change that no visit has judged yet, 0
        for none; see `lasting`.
    """

    slot: Word
    host: Word
    visited: Word
    size_bytes: Word
    digest: Long
    simhash: Long
    event: Long
    importance: Double
    mark: Single
    rate_shape: Single
    rate_scale_s: Single
    alias: Word
    changed: Word
    wire_bytes: Word
    seen: Word
    words: Word
    visits: Short
    changes: Short
    status: Short
    outcome: Byte
    depth: Byte
    misses: Byte
    flags: Byte
    lasting: SignedShort
    earlier: Word


RECORD_BITS: Final = 5
"""Blocks of records, of which is noted whether they changed, have 2^5: 3 KiB."""
_LAYOUT: Final = Layout(Record)
RECORD: Final = _LAYOUT.dtype
"""A record as numpy has it: 96 bytes of fields, each where its type wants to be, and none to spare."""

MEMBER: Final = 1
"""In `flags`: its site's virtual cash goes to this page too."""
VALIDATED: Final = 2
"""In `flags`: the server sent validators, so a visit that finds no change is cheap."""
FINDABLE: Final = 4
"""In `flags`: its content is held and is no copy of another page's, so the search index has an entry for it."""
NEAR: Final = 8
"""In `flags`: a page that was read before it said nearly the same. The next three bits are its `media_kind`."""


class Records:
    """An array of `RECORD` that grows at the end.

    Parameters
    ----------
    capacity
        Records there may be; address space is reserved for all of them.
    width
        How many numbers the scheme of importance keeps of a page beside history and mark.

    Attributes
    ----------
    rows
        Every row there could be, as a structured array: those before `count` are in use, the others zero. The array
        stays the same while records are added, so views of it may be kept.
    kept
        Those numbers, shape (capacity, width), f64; it costs memory only where there are any.
    count
        Records in use.
    moved_bytes
        How much of `rows` lies in a file (`arrays/shelf.py`).
    changed, changed_kept
        Which blocks of `rows` and `kept` were written to since the last snapshot; who writes to them says so, but for
        `write`, `keep` and `hold`, which do.

    Examples
    --------
    >>> records = Records()
    >>> index = records.add()
    >>> records.rows["status"][index] = 200
    >>> index, records.count, records.rows["status"][:records.count].tolist()
    (0, 1, [200])
    """

    def __init__(self, capacity: int = 1 << 28, width: int = 0) -> None:
        self.rows: NDArray[Any] = reserve(RECORD, capacity)
        self._bytes = self.rows.view(np.uint8).data
        self._importance, self._mark = self.rows["importance"], self.rows["mark"]
        self.count = self.moved_bytes = 0
        self.changed, self.changed_kept = (ChangedBlocks(len(self.rows), RECORD_BITS) for _ in range(2))
        self.kept: Floats
        self.keep(width)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        width = RECORD.itemsize + self.kept.itemsize * int(self.kept.shape[1])
        return max(self.count * width - self.moved_bytes, 0)

    def reserved(self) -> tuple[NDArray[Any], int]:
        """Return all rows, and how many are in use."""
        return self.rows, self.count

    def keep(self, width: int) -> None:
        """Keep so many numbers of each page from now on, all 0; what was kept before is forgotten."""
        self.kept = reserve(np.dtype((np.float64, (width,))), len(self.rows)) if width else np.zeros((0, 0))
        self.changed_kept.note_rows(0, self.count)

    def kept_at(self, cells: Slots) -> Floats | None:
        """Return what is kept of pages, shape (n, width), by their cells in `Table.record`; None where that is nothing.

        Zeros stand for a page that has no record.
        """
        if not self.kept.shape[1]:
            return None
        kept: Floats = self.kept.take(np.minimum(cells, np.uint32(self.count)), axis=0)
        return kept

    def cash_at(self, index: int) -> tuple[float, float]:
        """Return importance and mark of a record: a third of the time of reading all of it."""
        return self._importance.item(index), self._mark.item(index)

    def read(self, index: int) -> Record:
        """Return a copy of a record."""
        return _LAYOUT.read(self._bytes, index)

    def write(self, index: int, record: Record) -> None:
        """Let a record be this one from now on."""
        _LAYOUT.write(self._bytes, index, record)
        self.changed.note(index)

    def hold(self, index: int, numbers: Sequence[float]) -> None:
        """Let these be the numbers that are kept of a page beside history and mark."""
        self.kept[index] = numbers
        self.changed_kept.note(index)

    def add(self) -> int:
        """Return the index of a new record, all zero."""
        index = self.count
        assert index < len(self.rows), "more records than address space"
        self.count = index + 1
        return index

    def resize(self, count: int) -> None:
        """Make `count` records be in use; those added are zero, those taken away are cleared."""
        assert 0 <= count <= len(self.rows), "more records than address space"
        self.rows[count : self.count] = np.zeros((), RECORD)
        self.kept[count : self.count] = 0.0
        self.count = count
