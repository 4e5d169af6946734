"""Frames of the journal: up to 16 events that are compressed together and share a checksum.

On the disk, little endian::

    u32 checksum   low half of xxh3-64 of all that follows, seeded with the frame's offset
    u32 magic
    u32 size       of the whole frame
    u32 back       bytes from the start of the batch with which it was synced
    u64 sequence   events in the journal before this frame
    u32 count      events in this frame
        body       zstd of: count u32 lengths, then the events
    u32 size       repeated, so that the journal can be read backwards

If so much of a frame was forgotten that the rest would take more space, its body is a marker, and its events are in
the file of forgotten pages (`store/forgotten.py`).

The seed makes a frame in the wrong place invalid. `back` distinguishes a torn write after a power cut (frames of one
batch may reach the disk in any order) from damage to acknowledged events.
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
"""Beginning of a body whose events are elsewhere; no zstd frame begins like that."""
EVENTS: Final = 16  # in a full frame; with 32, an event took 7 % less space, and twice as long to read
_HEADER: Final = struct.Struct("<4sIIQI")  # without the checksum
_WORD: Final = struct.Struct("<I")
_START: Final = _WORD.size + _HEADER.size
FOOTER: Final = _WORD.size
OVERHEAD: Final = _START + FOOTER


class Frame(NamedTuple):
    """A frame with a valid checksum.

    Attributes
    ----------
    offset, size
        Offset in the whole journal, and length in bytes.
    back
        Bytes from the start of the batch with which it was synced.
    sequence, events
        Number of events before it, and in it.
    body
        The compressed events.
    """

    offset: int
    size: int
    back: int
    sequence: int
    events: int
    body: bytes

    @property
    def batch(self) -> int:
        """Return the offset of the batch; everything before was synced when this frame was written."""
        return self.offset - self.back


class Press:
    """Packs and unpacks frames; each is limited to one thread at a time, because buffers are reused.

    Parameters
    ----------
    moved
        Returns the body for a frame's offset if it is stored elsewhere; None if it is unknown.

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
        """Return the frame of `events` as stored at `offset`."""
        lengths = struct.pack(f"<{len(events)}I", *map(len, events))
        body = self._compress(lengths + b"".join(events))
        size = len(body) + OVERHEAD
        checked = b"".join((_HEADER.pack(MAGIC, size, back, sequence, len(events)), body, _WORD.pack(size)))
        return _WORD.pack(_checksum(checked, offset)) + checked

    def pack_again(self, frame: Frame, events: Sequence[bytes]) -> bytes | None:
        """Return a frame of the same size with other events, as stored on the disk; None if they need more space.

        Unused bytes at the end of the body are zeros, which are not read.
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
        """Return a frame, as stored on the disk, whose events are elsewhere; and the body to be stored there."""
        lengths = struct.pack(f"<{len(events)}I", *map(len, events))
        body = zstandard.ZstdCompressor(level=19).compress(lengths + b"".join(events))
        return self._sealed(frame, MOVED, len(events)), body

    @staticmethod
    def _sealed(frame: Frame, body: bytes, count: int) -> bytes:
        """Return the bytes of a frame with another body, which must not be longer."""
        assert len(body) <= len(frame.body), "it takes no more room"
        body = body.ljust(len(frame.body), b"\0")
        head = _HEADER.pack(MAGIC, frame.size, frame.back, frame.sequence, count)
        checked = b"".join((head, body, _WORD.pack(frame.size)))
        return _WORD.pack(_checksum(checked, frame.offset)) + checked

    def unpack(self, frame: Frame) -> list[bytes]:
        """Return the events of `frame`, still encoded.

        Raises
        ------
        StoreError
            The body is invalid, although its checksum matches.
        """
        body: bytes | None = frame.body
        if frame.body.startswith(MOVED):
            body = self._moved(frame.offset)
            if body is None:
                what = f"the events of the journal's frame at offset {frame.offset} should be in forgotten.bin"
                raise StoreError(f"{what} and are not; restore that file from a copy of the directory")
        try:
            assert body is not None
            with self._unpacking:  # other threads can continue meanwhile
                data = inflated(body, self._decompressor)
            lengths = struct.unpack_from(f"<{frame.events}I", data)
        except (zstandard.ZstdError, struct.error) as error:
            raise StoreError(f"the journal's frame at offset {frame.offset} is damaged: {error}") from error
        ends = accumulate(lengths, initial=_WORD.size * frame.events)
        return [data[start:end] for start, end in pairwise(ends)]


def parse(data: bytes, at: int, offset: int) -> Frame | None:
    """Return the frame at `data[at:]`, at offset `offset` of the journal; None unless it is complete and valid."""
    size = claimed_size(data, at)
    if not size or at + size > len(data) or _WORD.unpack_from(data, at + size - FOOTER)[0] != size:
        return None
    if _WORD.unpack_from(data, at)[0] != _checksum(data[at + _WORD.size : at + size], offset):
        return None
    _, _, back, sequence, count = _HEADER.unpack_from(data, at + _WORD.size)
    return Frame(offset, size, back, sequence, count, data[at + _START : at + size - FOOTER])


def claimed_size(data: bytes, at: int = 0) -> int:
    """Return the stated size of the frame at `data[at:]`, which may exceed the data; 0 if there is no frame."""
    if len(data) < at + _START:
        return 0
    magic, size, _, _, _ = _HEADER.unpack_from(data, at + _WORD.size)
    return size if magic == MAGIC and size >= OVERHEAD else 0


def footer_size(data: bytes) -> int:
    """Return the size of the frame that ends with `data`, as stated in its last four bytes."""
    return int(_WORD.unpack_from(data, len(data) - FOOTER)[0]) if len(data) >= FOOTER else 0


def _checksum(data: bytes, offset: int) -> int:
    return xxhash.xxh3_64_intdigest(data, offset) & 0xFFFFFFFF
