"""Files of frames, which contain blocks of columns; the last frame of each block counts.

A frame is a length, a checksum, and some compressed blocks of one column. Files are numbered and only grow. A
manifest elsewhere names the files and their lengths; other files, and bytes beyond these lengths, are unused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np
import xxhash
import zstandard

from evercrawl.decoding import msgpack_of
from evercrawl.store.disk.inflating import inflated
from evercrawl.types import Slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evercrawl.store.disk.disk import Disk

_LEVEL: Final = 1
_HEAD: Final = 16  # length and checksum


class BlockSegment(msgspec.Struct, array_like=True, frozen=True):
    """A file of frames, and its length in bytes as far as it counts."""

    number: int
    size_bytes: int


class BlockFrame(msgspec.Struct, array_like=True, frozen=True):
    """Some blocks of a column.

    Attributes
    ----------
    column
        Its name.
    sequence
        Number of journal events folded when the blocks were copied.
    blocks
        Indexes of the blocks, u32 each, in order.
    data
        The blocks, concatenated and compressed.
    """

    column: str
    sequence: int
    blocks: bytes
    data: bytes


class PlacedFrame(NamedTuple):
    """The position of a frame, and its blocks.

    Attributes
    ----------
    segment, offset, size_bytes
        Number of the file, and position and size of the frame in it.
    column, sequence, blocks
        As in `BlockFrame`.
    raw_bytes
        Uncompressed size of the data.
    """

    segment: int
    offset: int
    size_bytes: int
    column: str
    sequence: int
    blocks: Slots
    raw_bytes: int


def file_name(kind: str, number: int) -> str:
    """Return the name of a file of frames.

    >>> file_name("blocks", 7)
    'blocks-00000007.bin'
    """
    return f"{kind}-{number:08x}.bin"


def numbers(disk: Disk, kind: str) -> list[int]:
    """Return the numbers of the existing files of frames, in order."""
    found = list[int]()
    for name in disk.names(f"{kind}-"):
        digits = name.removeprefix(f"{kind}-").removesuffix(".bin")
        if len(digits) == 8 and not digits.strip("0123456789abcdef") and name == file_name(kind, int(digits, 16)):
            found.append(int(digits, 16))
    return found


def pressed(column: str, sequence: int, blocks: Slots, raw: bytes) -> bytes:
    """Return a frame as stored in a file."""
    frame = BlockFrame(column, sequence, blocks.tobytes(), zstandard.ZstdCompressor(level=_LEVEL).compress(raw))
    data = msgspec.msgpack.encode(frame)
    return len(data).to_bytes(8, "little") + xxhash.xxh3_64_digest(data) + data


def frames(disk: Disk, kind: str, segments: list[BlockSegment]) -> Iterator[PlacedFrame]:
    """Yield all frames that count, in the order of writing, after verifying their checksums.

    Raises
    ------
    ValueError, msgspec.MsgspecError, zstandard.ZstdError
        A file is damaged or missing.
    """
    for segment in segments:
        name = file_name(kind, segment.number)
        data = memoryview(disk.read(name, 0, segment.size_bytes))
        if len(data) < segment.size_bytes:
            raise ValueError(f"{name} ends at byte {len(data)} of {segment.size_bytes}")
        offset = 0
        while offset < segment.size_bytes:
            size = int.from_bytes(data[offset : offset + 8], "little")
            body = data[offset + _HEAD : offset + _HEAD + size]
            if len(body) < size or xxhash.xxh3_64_digest(body) != bytes(data[offset + 8 : offset + _HEAD]):
                raise ValueError(f"checksum at byte {offset} of {name}")
            frame = msgpack_of(body, BlockFrame)
            blocks: Slots = np.frombuffer(frame.blocks, np.uint32)
            raw = zstandard.frame_content_size(frame.data)
            yield PlacedFrame(segment.number, offset, _HEAD + size, frame.column, frame.sequence, blocks, raw)
            offset += _HEAD + size


def data_of(disk: Disk, kind: str, placed: PlacedFrame) -> bytes:
    """Return the blocks of a frame, concatenated.

    Raises
    ------
    ValueError, msgspec.MsgspecError, zstandard.ZstdError
        It is damaged or missing.
    """
    data = disk.read(file_name(kind, placed.segment), placed.offset, placed.size_bytes)
    if xxhash.xxh3_64_digest(memoryview(data)[_HEAD:]) != data[8:_HEAD]:
        raise ValueError(f"checksum at byte {placed.offset} of {file_name(kind, placed.segment)}")
    frame = msgpack_of(memoryview(data)[_HEAD:], BlockFrame)
    return inflated(frame.data)
