"""What never changes about a known URL: its key, host, and how it was found; 24 bytes each, in order of discovery.

The file is derived from the journal and only ever grows, so a snapshot has to say no more than how long it was, and
the digest of what it held, by which damage is found.

About when pages were found, by their slots: slots are numbers of discovery, so some instants tell all.
"""

from bisect import bisect_right
from typing import Any, Final, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import Disk
from evercrawl.types import NO_SLOT, Floats, Keys, Slots

_APART: Final = 64  # marks are so many slots apart at least, and a 64th of all slots


class FoundAt:
    """Instants at which some slots were found; those of others lie between.

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
        """How many instants are kept."""
        return len(self._slots)

    def add(self, slot: int, at: float) -> None:
        """Note when a slot was found, if it is far enough from the last that was noted; slots come in their order."""
        if slot >= self._next:
            self._slots.append(slot)
            self._at.append(at)
            self._next = slot + max(_APART, slot // _APART)
            self._marks = None

    def see(self, first: int, at: NDArray[np.uint32]) -> None:
        """Note when slots from `first` on were found."""
        while self._next < first + len(at):
            slot = max(self._next, first)
            self.add(slot, float(at[slot - first]))

    def at(self, slots: NDArray[np.integer]) -> Floats:
        """Return about when slots were found, in the unit of what was noted, shape (n,); nan before anything was."""
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
        ("anchor_mark", "u1"),  # mark of the words that were looked for, and stood at the link that made it known; or 0
    ]
)


class KnownColumns(NamedTuple):
    """Columns of `KNOWN`, shape (n,) each, one behind the other in memory."""

    host: Slots
    source: Slots
    depth: NDArray[np.uint8]


TICKS_PER_S: Final = 16  # instants are kept as u32 ticks since the crawl's epoch: 8.5 years
assert KNOWN.itemsize == 24
_READ_ROWS: Final = 1 << 16  # at once: they stay in the processor's cache


class KnownLog:
    """The append-only file of `KNOWN` rows, with what is not written yet in memory.

    It is read once when it is opened. Where it may be written, a crawl is about to start: then the columns that parts
    of it count by stay at hand until `release`.

    Attributes
    ----------
    count
        How many rows there are.
    found_at
        About when slots were found, in ticks, without looking into the file.
    """

    def __init__(self, disk: Disk, count: int, *, writable: bool = True) -> None:
        size = disk.size(FILE)
        if size < count * KNOWN.itemsize:
            raise StoreError(f"{FILE} holds {size // KNOWN.itemsize} URLs where the snapshot says {count}")
        if writable and size > count * KNOWN.itemsize:
            disk.truncate(FILE, count * KNOWN.itemsize)
        self._disk = disk
        self._writable = writable
        self._written = count
        self._waiting: list[NDArray[Any]] = []
        self._firsts: list[int] = []  # slots with which those begin
        self._last: tuple[int, Any] = (-1, None)
        self.count = count
        self.found_at = FoundAt()
        self._digest = xxhash.xxh3_64()
        self._keys: Keys = np.empty(count, np.uint64)
        self._columns = KnownColumns(np.empty(count, np.uint32), np.empty(count, np.uint32), np.empty(count, np.uint8))
        for start in range(0, count, _READ_ROWS):
            part = slice(start, min(start + _READ_ROWS, count))
            rows = self.rows(part.start, part.stop)
            self._digest.update(rows.view(np.uint8).data)
            self.found_at.see(start, rows["found"])
            self._keys[part] = rows["key"]
            for name, column in self._columns._asdict().items():
                column[part] = rows[name]
        self._pages: tuple[tuple[int, int], Slots] = (0, 0), np.empty(0, np.uint32)
        self._held = True
        if not writable:
            self.release()

    def take_keys(self) -> Keys:
        """Return the keys of the rows there were when it was opened, shape (n,), once."""
        keys, self._keys = self._keys, np.empty(0, np.uint64)
        return keys

    def columns(self) -> KnownColumns:
        """Return host, source and depth of all rows."""
        there = len(self._columns.host)
        if there == self.count:
            return self._columns
        rows = self.rows(there)
        columns = KnownColumns(
            *(np.concatenate((column, rows[name])) for name, column in self._columns._asdict().items())
        )
        if self._held:
            self._columns = columns
        return columns

    def pages_of_hosts(self, hosts: int) -> Slots:
        """Return how many rows there are of each host, shape (hosts,); not to be written to."""
        if self._pages[0] != (self.count, hosts):
            self._pages = (self.count, hosts), np.bincount(self.columns().host, minlength=hosts).astype(np.uint32)
        return self._pages[1]

    def release(self) -> None:
        """Keep no columns at hand any more: who asks for them has them read."""
        self._pages = (0, 0), np.empty(0, np.uint32)
        self._held = False
        self._columns = KnownColumns(np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8))

    def digest(self) -> int:
        """Return the XXH3-64 of all rows, written or not, as they were when they were added."""
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
        """Write what waits; on NoRoomError it goes on waiting."""
        if self._waiting and self._writable:
            rows = np.concatenate(self._waiting)
            self._disk.append(FILE, rows.tobytes())
            self._waiting.clear()
            self._firsts.clear()
            self._written += len(rows)

    @property
    def waiting(self) -> int:
        """How many rows are in memory only."""
        return self.count - self._written

    def let_go(self, count: int) -> None:
        """Keep none of the first `count` rows in memory, which the process that writes has put on the disk for good.

        What the disk has instead, if it is something else, is left aside: then they stay.
        """
        assert not self._writable, "who writes them knows what is written"
        parts = bisect_right(self._firsts, count) - (count < self.count)
        rows = self._waiting[: max(parts, 0)]
        data = b"".join(each.tobytes() for each in rows)
        if rows and self._disk.read(FILE, self._written * KNOWN.itemsize, len(data)) == data:
            self._written += sum(map(len, rows))
            del self._waiting[: len(rows)], self._firsts[: len(rows)]

    def sync(self) -> None:
        """Put what is written on the disk for good; may run in another thread than `append` and `flush`."""
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

    def row(self, slot: int) -> Any:
        """Return the row of one slot, which never changes; the last is kept, for several ask for it."""
        if slot != self._last[0]:
            place = bisect_right(self._firsts, slot) - 1
            found = self._waiting[place][slot - self._firsts[place]] if place >= 0 else self.rows(slot, slot + 1)[0]
            self._last = slot, found
            return found
        return self._last[1]

    def seeds(self) -> NDArray[np.int64]:
        """Return the slots of depth 0 that no page named."""
        columns = self.columns()
        return np.flatnonzero((columns.depth == 0) & (columns.source == NO_SLOT))
