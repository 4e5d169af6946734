"""The text of every known URL, by slot: an append log of compressed blocks.

Sixteen URLs, each with its newline, make a block, and a block is one zstd frame; most frames use a dictionary that was
trained on the crawl's own URLs, and a frame says whether it does. All of it can be read without this program:
`zstd -dc -D urls.dict urls.log`. The files are derived from the journal and only ever grow, so a snapshot has to say no
more than how many URLs there were, and which of them did not fill a block yet.
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
INDEX: Final = "urls.idx"  # where each of them ends, u64
DICTIONARY: Final = "urls.dict"

_WRITE_BYTES: Final = 1 << 16  # blocks are written out when there are this many bytes of them
_CACHED: Final = 256  # decoded blocks, of some 8 kB each
_TRAIN_AT: Final = 1 << 12  # blocks known when the dictionary is trained,
_SAMPLES: Final = 1 << 10  # on this many of them


class UrlLog:
    """URL text by slot, some 15 to 20 bytes a URL on the disk and next to none in memory.

    What is appended can be read at once, written or not; `sync` puts it on the disk. One thread may append and read
    while another syncs.

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
        """Return the log as it was when a snapshot found `count` URLs in it.

        Parameters
        ----------
        count, tail
            The snapshot's `count` and `tail()`; 0 and [] for a log from scratch.
        writable
            True: what the files hold beyond `count` is cut off. False: it is ignored, and nothing is ever written, so a
            reader can follow beside a running crawl.

        Raises
        ------
        StoreError
            The files hold less than the snapshot says.
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
        self._written = self._indexed = blocks  # blocks in LOG, their ends in INDEX
        self._waiting: list[bytes] = []  # blocks from `_written` on
        self._waiting_bytes = 0
        self._ends: list[int] = []  # of the blocks from `_indexed` on
        self._cache: OrderedDict[int, list[str]] = OrderedDict()
        self._train_at = _TRAIN_AT
        self._cut(INDEX, blocks * 8)
        self._end = self._stored_end(blocks)  # of LOG, with what waits
        self._cut(LOG, self._end)
        self._codec = self._read_codec()

    @property
    def count(self) -> int:
        """How many URLs there are, which is also the slot of the next."""
        return (self._written + len(self._waiting)) * BLOCK + len(self._tail)

    def tail(self) -> list[str]:
        """Return the last URLs, fewer than a block of them: a snapshot must keep them, the files do not."""
        return list(self._tail)

    def append(self, urls: Sequence[str]) -> None:
        """Add URLs; the first gets slot `count`.

        A full disk is no failure here: blocks wait in memory, and `sync` tells.
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
                    self._waiting_bytes = 0  # the next try comes after as much again

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
        """Write the full blocks out.

        Raises
        ------
        NoRoomError
            What was not written waits for the next time.
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
        """Keep no block of the first `count` URLs in memory, which the process that writes has put on the disk.

        It may have packed them otherwise, so the blocks behind them move.
        """
        assert not self._writable, "who writes them knows what is written"
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
        """Return once every full block would survive a power cut.

        Raises
        ------
        NoRoomError
            What was not written waits for the next time.
        """
        self.flush()
        if self._writable and self._written:
            self._disk.sync(LOG)
            self._disk.sync(INDEX)

    def _urls(self, block: int) -> list[str]:
        """Return the URLs of a full block."""
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
        if not self._codec.trained and needs_dictionary(frame):  # a crawl that we only read has trained one meanwhile
            self._codec = self._read_codec()
        try:
            return self._codec.decode(frame)
        except ValueError as error:
            raise _damaged(LOG, start, f"block {block} cannot be read ({error})") from error

    def span(self, block: int) -> tuple[int, int]:
        """Return where a block starts and ends in LOG."""
        if block >= self._indexed:
            at = block - self._indexed
            return self._ends[at - 1] if at else self._stored_end(block), self._ends[at]
        if block == 0:
            return 0, self._stored_end(1)
        ends = self._disk.read(INDEX, (block - 1) * 8, 16)
        return int.from_bytes(ends[:8], "little"), int.from_bytes(ends[8:], "little")

    def _stored_end(self, blocks: int) -> int:
        """Return where the first `blocks` blocks end, as INDEX has it."""
        return int.from_bytes(self._disk.read(INDEX, (blocks - 1) * 8, 8), "little") if blocks else 0

    def _cut(self, name: str, size: int) -> None:
        """Make sure that a file holds `size` bytes, and no more where it is ours."""
        found = self._disk.size(name)
        if found < size:
            raise _damaged(name, found, f"it ends there, and the snapshot counts on {size} bytes")
        if found > size and self._writable:
            self._disk.truncate(name, size)

    def _read_codec(self) -> BlockCodec:
        """Return a codec with the dictionary of DICTIONARY, if there is one."""
        try:
            return BlockCodec(self._disk.read(DICTIONARY, 0, self._disk.size(DICTIONARY)))
        except ValueError as error:
            raise _damaged(DICTIONARY, 0, str(error)) from error

    def _train(self) -> None:
        """Make the dictionary, once enough URLs are known; it is on the disk for good before a block uses it."""
        blocks = self.count // BLOCK
        if self._codec.trained or blocks < self._train_at:
            return
        self._train_at *= 4  # the next try, should this one fail
        dictionary = train([self._decode(block) for block in range(0, blocks, blocks // _SAMPLES)])
        if dictionary:
            self._disk.replace(DICTIONARY, [dictionary])
            self._codec = BlockCodec(dictionary)


def _damaged(name: str, offset: int, how: str) -> StoreError:
    return StoreError(
        f"{name} is damaged at offset {offset}: {how}; put back a copy, or remove urls.* and snapshot-* from the "
        "crawl's directory, and the next start makes them again from the journal"
    )
