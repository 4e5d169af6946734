"""Gzip members, each of which contains one archive record.

A body that the server has compressed does not shrink further, so it is stored uncompressed after its compressed
headers. That takes a tenth of the time of deflating it again, and less space.
"""

import struct
from typing import Final

from isal import isal_zlib

from evercrawl.errors import StoreError
from evercrawl.store.disk.inflating import Inflated

GZIP_MAGIC: Final = b"\x1f\x8b"
_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no name, no time, unknown system
_BLOCK: Final = 0xFFFF  # maximum size of a stored block (RFC 1951)
_GZIP: Final = 31  # window bits: 15, with gzip header and trailer
_RAW: Final = -15


def pack(data: bytes, level: int = 1) -> bytes:
    """Return `data` deflated as one gzip member; `level` is from 0 (fast) to 3 (small).

    >>> unpack(pack(b"WARC/1.1"))
    b'WARC/1.1'
    """
    return isal_zlib.compress(data, level, _GZIP)


def pack_stored(head: bytes, body: bytes, level: int = 1) -> bytes:
    r"""Return one gzip member with `head` deflated and `body` stored, because it does not shrink.

    >>> member = pack_stored(b"WARC/1.1\r\n" * 9, b"body")
    >>> b"body" in member, unpack(member)[-8:]
    (True, b'.1\r\nbody')
    """
    deflate = isal_zlib.compressobj(level, isal_zlib.DEFLATED, _RAW)
    parts = [_HEADER, deflate.compress(head), deflate.flush(isal_zlib.Z_SYNC_FLUSH)]
    last = max(len(body) - 1, 0) // _BLOCK * _BLOCK
    for start in range(0, last + 1, _BLOCK):
        piece = body[start : start + _BLOCK] if last else body
        parts += (struct.pack("<BHH", start == last, len(piece), len(piece) ^ _BLOCK), piece)
    check = isal_zlib.crc32(body, isal_zlib.crc32(head))
    parts.append(struct.pack("<II", check, (len(head) + len(body)) & 0xFFFFFFFF))
    return b"".join(parts)


def unpack(member: bytes) -> bytes:
    """Return the content of the single gzip member in `member`.

    Raises
    ------
    StoreError
        It is not one complete gzip member, or its checksum does not match.

    >>> unpack(pack(b"WARC/1.1")[:-1])
    Traceback (most recent call last):
    evercrawl.errors.StoreError: an archive record is damaged: its gzip member is incomplete
    """
    inflate = Inflated()
    inflate.feed(member)
    if not inflate.ended:
        raise StoreError("an archive record is damaged: its gzip member is incomplete")
    if inflate.rest:
        raise StoreError("an archive record is damaged: something follows its gzip member")
    return inflate.data
