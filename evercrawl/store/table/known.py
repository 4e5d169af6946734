"""Immutable data of known URLs, 24 bytes each in the order of discovery: key, host, and how each was found.

The file is derived from the journal and only grows, so a snapshot only stores its length, and the digest of its
content to detect damage.

Times of discovery are interpolated: slots are numbers of discovery, so a sample of instants is enough.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import Disk
from evercrawl.types import NO_SLOT, Floats, Ints, Keys, Slots

_APART: Final = 64  # samples are at least 64 slots, and a 64th of all slots, apart


class FoundAt:
    """Instants at which sampled slots were found; those of other slots are interpolated.

    Examples
    --------
    >>> found = FoundAt()
    >>> found.add(0, 10.0)
    >>> found.add(1, 10.0)
    >>> found.add(100, 20.0)
    >>> found.at(np.array([0, 50, 100, 120])).tolist()
    [10.0, 15.0, 20.0, 20.0]
    """

    def __init__(self) -> None:
        self._slots, self._at = list[int](), list[float]()
        self._next = 0
        self._marks: tuple[Floats, Floats] | None = None

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._slots)

    def add(self, slot: int, at: float) -> None:
        """Sample the instant of a slot if it is far enough from the last sample; slots must be ascending."""
        if slot >= self._next:
            self._slots.append(slot)
            self._at.append(at)
            self._next = slot + max(_APART, slot // _APART)
            self._marks = None

    def see(self, first: int, at: NDArray[np.uint32]) -> None:
        """Sample the instants of the slots from `first` on."""
        while self._next < first + len(at):
            slot = max(self._next, first)
            self.add(slot, float(at[slot - first]))

    def at(self, slots: NDArray[np.integer]) -> Floats:
        """Return approximate times of discovery, in the unit of the samples, shape (n,); nan without samples."""
        if not self._slots:
            return np.full(len(slots), np.nan)
        if self._marks is None:
            self._marks = np.array(self._slots, np.float64), np.array(self._at)
        return np.asarray(np.interp(slots, *self._marks), np.float64)


FILE: Final = "known.bin"
KNOWN: Final = np.dtype(
    [
        ("key", "<u8"),
        ("host", "<u4"),
        ("found", "<u4"),
        ("source", "<u4"),
        ("depth", "u1"),
        ("hops", "u1"),
        ("spread", "u1"),  # see `spread`
        ("anchor_mark", "u1"),  # mark of the searched words in the text of the link that made it known; or 0
    ]
)


class KnownColumns(NamedTuple):
    """Columns of `KNOWN`, shape (n,) each, contiguous in memory."""

    host: Slots
    source: Slots
    depth: NDArray[np.uint8]


TICKS_PER_S: Final = 16  # instants are stored as u32 ticks since the crawl's epoch, which is enough for 8.5 years
assert KNOWN.itemsize == 24
_READ_ROWS: Final = 1 << 16  # at once, so that they fit the processor's cache
_NEAR_ROWS: Final = 1 << 9  # rows between two that are wanted, with which both are read at once


class KnownLog:
    """The append-only file of `KNOWN` rows; rows not yet written are in memory.

    The file is read once when opened. If it is writable, a crawl is about to start: then the columns that its parts
    count by are kept in memory until `release`.

    Attributes
    ----------
    count
        Number of rows.
    found_at
        Approximate times of discovery in ticks, without reading the file.
    """

    def __init__(self, disk: Disk, count: int, *, writable: bool = True) -> None:
        size = disk.size(FILE)
        if size < count * KNOWN.itemsize:
            raise StoreError(f"{FILE} holds {size // KNOWN.itemsize} URLs, but the snapshot says {count}")
        if writable and size > count * KNOWN.itemsize:
            disk.truncate(FILE, count * KNOWN.itemsize)
        self._disk = disk
        self._writable = writable
        self._written = count
        self._waiting: list[NDArray[Any]] = []
        self._firsts: list[int] = []  # first slots of `_waiting`
        self._last: tuple[int, Any] = (-1, None)
        self.count = count
        self.found_at = FoundAt()
        self._digest = xxhash.xxh3_64()
        self._keys: Keys = np.empty(count, np.uint64)
        self._columns = KnownColumns(np.empty(count, np.uint32), np.empty(count, np.uint32), np.empty(count, np.uint8))
        for start, rows in self._pieces(0):
            part = slice(start, start + len(rows))
            self._digest.update(rows.view(np.uint8).data)
            self.found_at.see(start, rows["found"])
            self._keys[part] = rows["key"]
            for name, column in self._columns._asdict().items():
                column[part] = rows[name]
        self._pages: tuple[tuple[int, int], Slots] = (0, 0), np.empty(0, np.uint32)
        self._held = True
        if not writable:
            self.release()

    @property
    def held(self) -> bool:
        """Return whether columns are in memory, because a crawl is about to start."""
        return self._held

    def take_keys(self) -> Keys:
        """Return the keys of the rows that existed at opening, shape (n,); can be called once."""
        keys, self._keys = self._keys, np.empty(0, np.uint64)
        return keys

    def columns(self) -> KnownColumns:
        """Return host, source and depth of all rows."""
        there = len(self._columns.host)
        if there == self.count:
            return self._columns
        n = self.count
        columns = KnownColumns(np.empty(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.uint8))
        for name, column in columns._asdict().items():
            column[:there] = getattr(self._columns, name)
        for first, rows in self._pieces(there):
            for name, column in columns._asdict().items():
                column[first : first + len(rows)] = rows[name]
        if self._held:
            self._columns = columns
        return columns

    def hosts(self) -> Slots:
        """Return the host of each URL, shape (count,); 4 bytes each."""
        if len(self._columns.host) == self.count:
            return self._columns.host
        hosts = np.empty(self.count, np.uint32)
        for first, rows in self._pieces(0):
            hosts[first : first + len(rows)] = rows["host"]
        return hosts

    def hosts_of(self, slots: Slots | Ints) -> Slots:
        """Return the hosts of some URLs, shape (n,); only rows near theirs are read."""
        if len(self._columns.host) == self.count:
            return self._columns.host[slots]
        hosts: Slots = self._rows_of(slots)["host"]
        return hosts

    def anchor_marks_of(self, slots: Slots | Ints) -> NDArray[np.uint8]:
        """Return the anchor marks of some URLs, shape (n,); only rows near theirs are read."""
        marks: NDArray[np.uint8] = self._rows_of(slots)["anchor_mark"]
        return marks

    def pages_of_hosts(self, hosts: int) -> Slots:
        """Return the number of rows of each host, shape (hosts,), read-only."""
        if self._pages[0] != (self.count, hosts):
            self._pages = (self.count, hosts), np.bincount(self.hosts(), minlength=hosts).astype(np.uint32)
        return self._pages[1]

    def release(self) -> None:
        """Release the columns from memory; later requests read them from the file."""
        self._pages = (0, 0), np.empty(0, np.uint32)
        self._held = False
        self._columns = KnownColumns(np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8))

    def digest(self) -> int:
        """Return the XXH3-64 of all rows, written or not, in the order of adding."""
        return self._digest.intdigest()

    def append(
        self,
        keys: NDArray[np.uint64],
        hosts: list[int],
        found: int,
        source: int,
        depth: int,
        hops: int,
        spreads: NDArray[np.uint8] | int = 0,
        anchor_marks: NDArray[np.uint8] | int = 0,
    ) -> None:
        """Add one row for each key; `found` in ticks, `source` a slot or NO_SLOT."""
        rows = np.zeros(len(keys), KNOWN)
        rows["key"], rows["host"], rows["found"], rows["source"] = keys, hosts, found, source
        rows["depth"], rows["hops"] = min(depth, 255), min(hops, 255)
        rows["spread"], rows["anchor_mark"] = spreads, anchor_marks
        self._digest.update(rows.tobytes())
        self._waiting.append(rows)
        self._firsts.append(self.count)
        self.found_at.see(self.count, rows["found"])
        self.count += len(rows)

    def flush(self) -> None:
        """Write pending rows; on NoRoomError they stay pending."""
        if self._waiting and self._writable:
            rows = np.concatenate(self._waiting)
            self._disk.append(FILE, rows.tobytes())
            self._waiting.clear()
            self._firsts.clear()
            self._written += len(rows)

    @property
    def waiting(self) -> int:
        """Return the number of pending rows."""
        return self.count - self._written

    def let_go(self, count: int) -> None:
        """Release the first `count` rows from memory, which the writing process has durably written.

        If the file has other rows in their place, they are kept.
        """
        assert not self._writable, "only for readers"
        parts = bisect_right(self._firsts, count) - (count < self.count)
        rows = self._waiting[: max(parts, 0)]
        data = b"".join(each.tobytes() for each in rows)
        if rows and self._disk.read(FILE, self._written * KNOWN.itemsize, len(data)) == data:
            self._written += sum(map(len, rows))
            del self._waiting[: len(rows)], self._firsts[: len(rows)]

    def sync(self) -> None:
        """Make written rows durable; may run in another thread than `append` and `flush`."""
        if self._written:
            self._disk.sync(FILE)

    def rows(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return rows [start, stop) as a `KNOWN` array."""
        stop = self.count if stop is None else min(stop, self.count)
        size = KNOWN.itemsize
        parts: list[NDArray[Any]] = []
        if start < self._written:
            upto = min(stop, self._written)
            parts.append(np.frombuffer(self._disk.read(FILE, start * size, (upto - start) * size), KNOWN))
        if stop > self._written:
            tail = np.concatenate(self._waiting)
            parts.append(tail[max(start - self._written, 0) : stop - self._written])
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0, KNOWN)

    def _rows_of(self, slots: Slots | Ints) -> NDArray[Any]:
        """Return the rows of some URLs; those that are near each other are read at once."""
        wanted, which = np.unique(slots, return_inverse=True)
        found, apart = np.empty(len(wanted), KNOWN), np.diff(wanted.astype(np.int64)) > _NEAR_ROWS
        apart |= np.diff(wanted // _READ_ROWS) > 0
        ends: list[int] = [*(np.flatnonzero(apart) + 1).tolist(), len(wanted)]
        for first, last in pairwise([0, *ends]):
            if first < last:
                start = int(wanted[first])
                found[first:last] = self.rows(start, int(wanted[last - 1]) + 1)[wanted[first:last] - start]
        return found[which]

    def _pieces(self, start: int) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield rows from `start` on, with the first slot of each piece."""
        for first in range(start, self.count, _READ_ROWS):
            yield first, self.rows(first, min(first + _READ_ROWS, self.count))

    def row(self, slot: int) -> Any:
        """Return the row of one slot, which never changes; the last one is cached."""
        if slot != self._last[0]:
            place = bisect_right(self._firsts, slot) - 1
            found = self._waiting[place][slot - self._firsts[place]] if place >= 0 else self.rows(slot, slot + 1)[0]
            self._last = slot, found
            return found
        return self._last[1]

    def seeds(self) -> NDArray[np.int64]:
        """Return the slots of depth 0 without a source."""
        columns = self.columns()
        return np.flatnonzero((columns.depth == 0) & (columns.source == NO_SLOT))
