"""One frame of the journal: up to 16 events, compressed together, checked together.

On the disk, little endian::

    u32 checksum   low half of xxh3-64 of all that follows, seeded with the frame's offset
    u32 magic
    u32 size       of the whole frame
    u32 back       bytes from the start of the batch that was synced as one
    u64 sequence   events in the journal before this frame
    u32 count      events in this frame
        body       zstd of: count u32 lengths, then the events
    u32 size       once more, so that the journal can be walked backwards

A frame of which so much was forgotten that what is left takes more room has a body that says so, and its events are
with what tells what was forgotten (`store/forgotten.py`).

The seed makes a frame in the wrong place a bad one. `back` tells a write that a power cut left in pieces (frames of one
batch may reach the disk in any order) from damage to what had been acknowledged.
"""

import struct
import threading
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import xxhash
import zstandard

from evercrawl.errors import StoreError
from evercrawl.store.disk.inflating import inflated

MAGIC: Final = b"EvJf"
MOVED: Final = b"EvMoved\0"
"""Begins a body whose events are elsewhere; no zstd frame begins so."""
EVENTS: Final = 16  # in a full frame; of 32 an event took 7 % less room, and twice as long to read back
_HEADER: Final = struct.Struct("<4sIIQI")  # without the checksum
_WORD: Final = struct.Struct("<I")
_START: Final = _WORD.size + _HEADER.size
FOOTER: Final = _WORD.size
OVERHEAD: Final = _START + FOOTER


class Frame(NamedTuple):
    """A frame whose checksum holds.

    Attributes
    ----------
    offset, size
        Where it starts, counted over the whole journal, and its length in bytes.
    back
        Bytes from the start of the batch that it was synced with.
    sequence, events
        How many events come before it, and are in it.
    body
        The events, compressed.
    """

    offset: int
    size: int
    back: int
    sequence: int
    events: int
    body: bytes

    @property
    def batch(self) -> int:
        """Return the offset where the batch starts; all before it was synced when this frame was written."""
        return self.offset - self.back


class Press:
    """Packs and unpacks frames, each of the two for one thread after the other, since it reuses its buffers.

    Parameters
    ----------
    moved
        Offset of a frame -> its body, where that is elsewhere; None where nobody knows.

    >>> press = Press()
    >>> frame = parse(press.pack([b"one", b"two"], offset=24, back=0, sequence=0), 0, 24)
    >>> press.unpack(frame)
    [b'one', b'two']
    """

    def __init__(self, moved: Callable[[int], bytes | None] = lambda offset: None) -> None:
        self._moved = moved
        self._compress = zstandard.ZstdCompressor(level=1).compress
        self._decompressor = zstandard.ZstdDecompressor()
        self._unpacking = threading.Lock()

    def pack(self, events: Sequence[bytes], *, offset: int, back: int, sequence: int) -> bytes:
        """Return the frame of `events` as it stands on the disk at `offset`."""
        lengths = struct.pack(f"<{len(events)}I", *map(len, events))
        body = self._compress(lengths + b"".join(events))
        size = len(body) + OVERHEAD
        checked = b"".join((_HEADER.pack(MAGIC, size, back, sequence, len(events)), body, _WORD.pack(size)))
        return _WORD.pack(_checksum(checked, offset)) + checked

    def pack_again(self, frame: Frame, events: Sequence[bytes]) -> bytes | None:
        """Return a frame as it stands on the disk with other events in it, of the same size; None where they need more.

        What the events leave of the body is zeros behind them, which are not read.
        """
        lengths = struct.pack(f"<{len(events)}I", *map(len, events))
        data = lengths + b"".join(events)
        for level in (3, 5, 12, 16, 19, 22):
            body = zstandard.ZstdCompressor(level=level).compress(data)
            if len(body) <= len(frame.body):
                break
        else:
            return None
        return self._sealed(frame, body, len(events))

    def pack_moved(self, frame: Frame, events: Sequence[bytes]) -> tuple[bytes, bytes]:
        """Return a frame as it stands on the disk whose events are elsewhere, and the body that is to be kept there."""
        lengths = struct.pack(f"<{len(events)}I", *map(len, events))
        body = zstandard.ZstdCompressor(level=19).compress(lengths + b"".join(events))
        return self._sealed(frame, MOVED, len(events)), body

    @staticmethod
    def _sealed(frame: Frame, body: bytes, count: int) -> bytes:
        """Return the bytes of a frame with another body, which is no longer."""
        assert len(body) <= len(frame.body), "it takes no more room"
        body = body.ljust(len(frame.body), b"\0")
        head = _HEADER.pack(MAGIC, frame.size, frame.back, frame.sequence, count)
        checked = b"".join((head, body, _WORD.pack(frame.size)))
        return _WORD.pack(_checksum(checked, frame.offset)) + checked

    def unpack(self, frame: Frame) -> list[bytes]:
        """Return the events of `frame`, each still encoded.

        Raises
        ------
        StoreError
            Its body is none, though its checksum matches.
        """
        body: bytes | None = frame.body
        if frame.body.startswith(MOVED):
            body = self._moved(frame.offset)
            if body is None:
                what = f"the events of the journal's frame at offset {frame.offset} should be in forgotten.bin"
                raise StoreError(f"{what} and are not; restore that file from a copy of the directory")
        try:
            assert body is not None
            with self._unpacking:  # it lets other threads go on meanwhile
                data = inflated(body, self._decompressor)
            lengths = struct.unpack_from(f"<{frame.events}I", data)
        except (zstandard.ZstdError, struct.error) as error:
            raise StoreError(f"the journal's frame at offset {frame.offset} is damaged: {error}") from error
        ends = accumulate(lengths, initial=_WORD.size * frame.events)
        return [data[start:end] for start, end in pairwise(ends)]


def parse(data: bytes, at: int, offset: int) -> Frame | None:
    """Return the frame at `data[at:]`, offset `offset` of the journal; None unless it is there, whole and sound."""
    size = claimed_size(data, at)
    if not size or at + size > len(data) or _WORD.unpack_from(data, at + size - FOOTER)[0] != size:
        return None
    if _WORD.unpack_from(data, at)[0] != _checksum(data[at + _WORD.size : at + size], offset):
        return None
    _, _, back, sequence, count = _HEADER.unpack_from(data, at + _WORD.size)
    return Frame(offset, size, back, sequence, count, data[at + _START : at + size - FOOTER])


def claimed_size(data: bytes, at: int = 0) -> int:
    """Return the size that the frame at `data[at:]` says it has, which may be more than there is; 0 for no frame."""
    if len(data) < at + _START:
        return 0
    magic, size, _, _, _ = _HEADER.unpack_from(data, at + _WORD.size)
    return size if magic == MAGIC and size >= OVERHEAD else 0


def footer_size(data: bytes) -> int:
    """Return the size of the frame that ends where `data` ends, as its last four bytes have it."""
    return int(_WORD.unpack_from(data, len(data) - FOOTER)[0]) if len(data) >= FOOTER else 0


def _checksum(data: bytes, offset: int) -> int:
    return xxhash.xxh3_64_intdigest(data, offset) & 0xFFFFFFFF
