"""Files made of pieces, each with a checksum: what is kept beside the journal, and could be made again from it."""

from typing import Final

import xxhash

_LENGTH_BYTES: Final = 8
_HEAD_BYTES: Final = 16

END: Final = bytes(_LENGTH_BYTES) + xxhash.xxh3_64_digest(b"")
"""What follows the last piece, so that a file that lost its end is known by it."""


def packed(data: bytes) -> bytes:
    """Return a piece as it stands in the file: its length, its checksum, itself.

    >>> len(packed(b"three")), packed(b"") == END
    (21, True)
    """
    return len(data).to_bytes(_LENGTH_BYTES, "little") + xxhash.xxh3_64_digest(data) + data


def pieces(data: bytes, magic: bytes) -> list[memoryview]:
    """Return the pieces of a file that begins with `magic`, one at least.

    Raises
    ------
    ValueError
        It is not whole.

    Examples
    --------
    >>> [bytes(piece) for piece in pieces(b"MAGIC" + packed(b"one") + packed(b"two") + END, b"MAGIC")]
    [b'one', b'two']
    """
    whole, at, found = memoryview(data), len(magic), list[memoryview]()
    if bytes(whole[:at]) != magic:
        raise ValueError("it does not begin as such a file does")
    while True:
        size = int.from_bytes(whole[at : at + _LENGTH_BYTES], "little")
        begun, end = at + _HEAD_BYTES, at + _HEAD_BYTES + size
        piece = whole[begun:end]
        if len(whole) < end or xxhash.xxh3_64_digest(piece) != bytes(whole[at + _LENGTH_BYTES : begun]):
            raise ValueError(f"checksum at offset {at}")
        if not size:
            break
        found.append(piece)
        at = end
    if not found:
        raise ValueError("it is empty")
    return found
