"""The text of every known URL, by slot, in an append-only log of compressed blocks.

A block of sixteen URLs, each with a newline, is one zstd frame; most frames use a dictionary that was trained on the
crawl's own URLs, and each frame says whether it does. The log can be read without evercrawl:
`zstd -dc -D urls.dict urls.log`. The files are derived from the journal and only grow, so a snapshot only stores the
number of URLs, and the URLs that did not fill a block yet.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.store.disk.disk import Disk
from evercrawl.store.table.urlblocks import BLOCK, BlockCodec, needs_dictionary, train

LOG: Final = "urls.log"  # the blocks
INDEX: Final = "urls.idx"  # the end of each block, u64
DICTIONARY: Final = "urls.dict"

_WRITE_BYTES: Final = 1 << 16  # blocks are written when this many bytes are pending
_CACHED: Final = 256  # decoded blocks, some 8 kB each
_TRAIN_AT: Final = 1 << 12  # number of blocks at which the dictionary is trained,
_SAMPLES: Final = 1 << 10  # on this number of blocks


class UrlLog:
    """URL texts by slot; some 15 to 20 bytes per URL on the disk, and almost none in memory.

    Appended URLs can be read at once, written or not; `sync` makes them durable. One thread may append and read while
    another one syncs.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from evercrawl.store.disk.disk import RealDisk
    >>> disk = RealDisk(pathlib.Path(tempfile.mkdtemp()))
    >>> log = UrlLog.open(disk, 0, [])
    >>> log.append([f"http://example.org/{i}" for i in range(20)])
    >>> log.get(17), log.count, len(log.tail())
    ('http://example.org/17', 20, 4)
    >>> log.sync()
    >>> UrlLog.open(disk, log.count, log.tail()).get_many([19, 3])
    ['http://example.org/19', 'http://example.org/3']
    """

    @classmethod
    def open(cls, disk: Disk, count: int, tail: Sequence[str], writable: bool = True) -> UrlLog:
        """Open the log as it was when a snapshot found `count` URLs in it.

        Parameters
        ----------
        count, tail
            The snapshot's `count` and `tail()`; 0 and [] for a new log.
        writable
            If True, data beyond `count` is cut off. If False, it is ignored and nothing is ever written, so that a
            reader can follow a running crawl.

        Raises
        ------
        StoreError
            The files have fewer URLs than the snapshot.
        """
        return cls(disk, count, tail, writable)

    def __init__(self, disk: Disk, count: int, tail: Sequence[str], writable: bool) -> None:
        blocks, rest = divmod(count, BLOCK)
        if len(tail) != rest:
            raise StoreError(
                f"a snapshot of {count} URLs has {rest} that fill no block, not {len(tail)}: use an older one"
            )
        self._disk = disk
        self._writable = writable
        self._lock = threading.RLock()
        self._tail = list(tail)
        self._written = self._indexed = blocks  # number of blocks in LOG, and in INDEX
        self._waiting: list[bytes] = []  # blocks from `_written` on
        self._waiting_bytes = 0
        self._ends: list[int] = []  # of the blocks from `_indexed` on
        self._cache: OrderedDict[int, list[str]] = OrderedDict()
        self._train_at = _TRAIN_AT
        self._cut(INDEX, blocks * 8)
        self._end = self._stored_end(blocks)  # of LOG, including pending blocks
        self._cut(LOG, self._end)
        self._codec = self._read_codec()

    @property
    def count(self) -> int:
        """Return the number of URLs, which is also the next slot."""
        return (self._written + len(self._waiting)) * BLOCK + len(self._tail)

    def tail(self) -> list[str]:
        """Return the last URLs, fewer than a block; a snapshot must store them, because the files do not."""
        return list(self._tail)

    def append(self, urls: Sequence[str]) -> None:
        """Add URLs; the first gets slot `count`.

        A full disk raises no error here: blocks wait in memory, and `sync` raises it.
        """
        with self._lock:
            self._tail += urls
            full = len(self._tail) // BLOCK * BLOCK
            for start in range(0, full, BLOCK):
                frame = self._codec.encode(self._tail[start : start + BLOCK])
                self._waiting.append(frame)
                self._waiting_bytes += len(frame)
                self._end += len(frame)
                self._ends.append(self._end)
            del self._tail[:full]
            if self._writable and self._waiting_bytes >= _WRITE_BYTES:
                try:
                    self._train()
                    self.flush()
                except NoRoomError:
                    self._waiting_bytes = 0  # retry after the same amount again

    def get(self, slot: int) -> str:
        """Return the URL of one slot.

        Raises
        ------
        IndexError
            There is no such slot.
        StoreError
            Its block is damaged.
        """
        with self._lock:
            if not 0 <= slot < self.count:
                raise IndexError(f"slot {slot} of {self.count}")
            block, place = divmod(int(slot), BLOCK)
            if block == self._written + len(self._waiting):
                return self._tail[place]
            return self._urls(block)[place]

    def get_many(self, slots: Iterable[int]) -> list[str]:
        """Return the URLs of `slots`, in their order; each block is decoded once.

        Raises
        ------
        IndexError
            There is no such slot.
        StoreError
            A block is damaged.
        """
        wanted = np.fromiter(slots, np.int64)
        urls = [""] * len(wanted)
        for place in np.argsort(wanted, kind="stable").tolist():
            urls[place] = self.get(int(wanted[place]))
        return urls

    def flush(self) -> None:
        """Write the complete blocks.

        Raises
        ------
        NoRoomError
            The disk is full; what was not written stays pending.
        """
        with self._lock:
            if self._waiting and self._writable:
                start = self._disk.append(LOG, b"".join(self._waiting))
                assert start + sum(map(len, self._waiting)) == self._end, "nobody else writes the URL log"
                self._written += len(self._waiting)
                self._waiting, self._waiting_bytes = [], 0
            if self._ends and self._writable:
                self._disk.append(INDEX, np.array(self._ends, "<u8").tobytes())
                self._indexed += len(self._ends)
                self._ends = []

    def let_go(self, count: int) -> None:
        """Release all blocks of the first `count` URLs from memory, which the writing process has durably written.

        Its compressed sizes may differ, so the later blocks are shifted.
        """
        assert not self._writable, "only for readers"
        with self._lock:
            blocks = min(count // BLOCK, self._written + len(self._waiting), self._disk.size(INDEX) // 8)
            parts = blocks - self._written
            if parts > 0:
                shift = self._stored_end(blocks) - self._ends[parts - 1]
                del self._waiting[:parts]
                self._ends = [end + shift for end in self._ends[parts:]]
                self._end += shift
                self._written = self._indexed = blocks

    def sync(self) -> None:
        """Return once every complete block will survive a power cut.

        Raises
        ------
        NoRoomError
            The disk is full; what was not written stays pending.
        """
        self.flush()
        if self._writable and self._written:
            self._disk.sync(LOG)
            self._disk.sync(INDEX)

    def _urls(self, block: int) -> list[str]:
        """Return the URLs of a complete block."""
        urls = self._cache.pop(block, None)
        if urls is None:
            urls = self._decode(block)
            if len(self._cache) == _CACHED:
                self._cache.popitem(last=False)
        self._cache[block] = urls
        return urls

    def _decode(self, block: int) -> list[str]:
        if block >= self._written:
            return self._codec.decode(self._waiting[block - self._written])
        start, end = self.span(block)
        frame = self._disk.read(LOG, start, end - start) if 0 <= start < end <= self._end else b""
        if not self._codec.trained and needs_dictionary(frame):  # the writing crawl has trained one meanwhile
            self._codec = self._read_codec()
        try:
            return self._codec.decode(frame)
        except ValueError as error:
            raise _damaged(LOG, start, f"block {block} cannot be read ({error})") from error

    def span(self, block: int) -> tuple[int, int]:
        """Return start and end of a block in LOG."""
        if block >= self._indexed:
            at = block - self._indexed
            return self._ends[at - 1] if at else self._stored_end(block), self._ends[at]
        if block == 0:
            return 0, self._stored_end(1)
        ends = self._disk.read(INDEX, (block - 1) * 8, 16)
        return int.from_bytes(ends[:8], "little"), int.from_bytes(ends[8:], "little")

    def _stored_end(self, blocks: int) -> int:
        """Return the end of the first `blocks` blocks, from INDEX."""
        return int.from_bytes(self._disk.read(INDEX, (blocks - 1) * 8, 8), "little") if blocks else 0

    def _cut(self, name: str, size: int) -> None:
        """Check that a file has at least `size` bytes; if it is writable, cut it to that size."""
        found = self._disk.size(name)
        if found < size:
            raise _damaged(name, found, f"it ends there, but the snapshot expects {size} bytes")
        if found > size and self._writable:
            self._disk.truncate(name, size)

    def _read_codec(self) -> BlockCodec:
        """Return a codec with the stored dictionary, if there is one."""
        try:
            return BlockCodec(self._disk.read(DICTIONARY, 0, self._disk.size(DICTIONARY)))
        except ValueError as error:
            raise _damaged(DICTIONARY, 0, str(error)) from error

    def _train(self) -> None:
        """Train the dictionary once enough URLs are known; it is durable before a block uses it."""
        blocks = self.count // BLOCK
        if self._codec.trained or blocks < self._train_at:
            return
        self._train_at *= 4  # for the next attempt, if this one fails
        dictionary = train([self._decode(block) for block in range(0, blocks, blocks // _SAMPLES)])
        if dictionary:
            self._disk.replace(DICTIONARY, [dictionary])
            self._codec = BlockCodec(dictionary)


def _damaged(name: str, offset: int, how: str) -> StoreError:
    return StoreError(
        f"{name} is damaged at offset {offset}: {how}; put back a copy, or remove urls.* and snapshot-* from the "
        "crawl's directory, and the next start rebuilds them from the journal"
    )
