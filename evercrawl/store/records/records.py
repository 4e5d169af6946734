"""Records of 96 bytes, one for each page that has been fetched, in the order of the first fetch."""

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
    """The fields kept for each fetched page; they define `RECORD`, in this order.

    Attributes
    ----------
    slot, host
        Which page.
    Last visit, in sixteenths of a second since the crawl's epoch.
        Last visit, in sixteenths of a second since the crawl's epoch.
    size_bytes, digest, simhash, words
        Of the content: its size, its digest, its similarity hash, and 32 bits of the digest of its text.
    event
        Journal pointer of the last event with links.
    importance, mark
        The value x of push, or the history H of AOPIC; and for AOPIC the clock G at the last visit.
    rate_shape, rate_scale_s
        Evidence on the rate of change: what the visits add to the prior Gamma(shape, scale).
    alias
        Slot of the page that this one only leads to; NO_SLOT if it has content of its own.
    changed, seen
        When the content last changed, as far as is known; the last visit that saw the content. In units as `visited`.
    wire_bytes
        Size of the last complete body as received.
    visits, changes
        Number of visits and of changes.
    status, outcome
        HTTP status and `Outcome` of the last visit.
    depth
        Number of links from a seed.
    misses
        Consecutive visits that found it gone or in trouble.
    flags
        The bits below.
    lasting, earlier
        The lasting part of its changes, and bits of the state before an unjudged change, 0 for none; see `lasting`.
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
"""A block has 2^5 records (3 KiB); changes are tracked by block."""
_LAYOUT: Final = Layout(Record)
RECORD: Final = _LAYOUT.dtype
"""A record as a numpy dtype: 96 bytes of aligned fields, without padding."""

MEMBER: Final = 1
"""In `flags`: the page is a member of its site and receives virtual cash."""
VALIDATED: Final = 2
"""In `flags`: the server sent validators, so a visit that finds no change is cheap."""
FINDABLE: Final = 4
"""In `flags`: its content is held and is not a copy of another page's, so the search index has an entry for it."""
NEAR: Final = 8
"""In `flags`: an earlier page has nearly the same text. The next three bits are its `media_kind`."""


class Records:
    """A growing array of `RECORD`.

    Parameters
    ----------
    capacity
        Maximum number of records; address space is reserved for all of them.
    width
        Number of further numbers that the scheme of importance keeps of each page, beside history and mark.

    Attributes
    ----------
    rows
        All possible rows as a structured array: those before `count` are in use, the others are zero. The array is
        never reallocated, so views of it stay valid.
    kept
        The further numbers, shape (capacity, width), f64; they take memory only if in use.
    count
        Number of records in use.
    moved_bytes
        Number of bytes of `rows` that are in a file (`arrays/shelf.py`).
    changed, changed_kept
        The blocks of `rows` and `kept` that were written to since the last snapshot. Writers must note their blocks,
        except through `write`, `keep` and `hold`, which do.

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
        """Return the memory in use, in bytes."""
        width = RECORD.itemsize + self.kept.itemsize * int(self.kept.shape[1])
        return max(self.count * width - self.moved_bytes, 0)

    @property
    def full(self) -> bool:
        """Return whether there is no room for another record."""
        return self.count == len(self.rows) - 1  # questions read the row after the last one in use

    def reserved(self) -> tuple[NDArray[Any], int]:
        """Return all rows, and the number in use."""
        return self.rows, self.count

    def keep(self, width: int) -> None:
        """Keep `width` further numbers of each page from now on, initially 0; earlier ones are discarded."""
        self.kept = reserve(np.dtype((np.float64, (width,))), len(self.rows)) if width else np.zeros((0, 0))
        self.changed_kept.note_rows(0, self.count)

    def kept_at(self, cells: Slots) -> Floats | None:
        """Return the further numbers of pages, shape (n, width), by cells of `Table.record`; None if there are none.

        Pages without a record have zeros.
        """
        if not self.kept.shape[1]:
            return None
        kept: Floats = self.kept.take(np.minimum(cells, np.uint32(self.count)), axis=0)
        return kept

    def cash_at(self, index: int) -> tuple[float, float]:
        """Return importance and mark of a record, in a third of the time of `read`."""
        return self._importance.item(index), self._mark.item(index)

    def read(self, index: int) -> Record:
        """Return a copy of a record."""
        return _LAYOUT.read(self._bytes, index)

    def write(self, index: int, record: Record) -> None:
        """Overwrite a record."""
        _LAYOUT.write(self._bytes, index, record)
        self.changed.note(index)

    def hold(self, index: int, numbers: Sequence[float]) -> None:
        """Set the further numbers of a page."""
        self.kept[index] = numbers
        self.changed_kept.note(index)

    def add(self) -> int:
        """Add a record of zeros; return its index."""
        index = self.count
        assert index < len(self.rows), "more records than address space"
        self.count = index + 1
        return index

    def resize(self, count: int) -> None:
        """Set the number of records in use; added ones are zero, removed ones are cleared."""
        assert 0 <= count <= len(self.rows), "more records than address space"
        self.rows[count : self.count] = np.zeros((), RECORD)
        self.kept[count : self.count] = 0.0
        self.count = count
