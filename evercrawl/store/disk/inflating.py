"""Decompression of data in a crawl directory, with a size limit, because a foreign directory may contain a bomb.

Pieces written by evercrawl have a few megabytes. Archive records may be larger, because the size limit of bodies is a
setting, but are limited too, by what a machine can hold.
"""

from __future__ import annotations

from typing import Final

import zstandard
from isal import isal_zlib

from evercrawl.errors import StoreError

__all__ = ["MOST_BYTES", "Inflated", "inflated"]

MOST_BYTES: Final = 2 << 30
"""Maximum size of one decompressed piece."""
_GZIP: Final = 31  # window bits: 15, with gzip header and trailer


def inflated(data: bytes | memoryview, decompressor: zstandard.ZstdDecompressor | None = None) -> bytes:
    """Return the content of a zstd frame.

    Raises
    ------
    zstandard.ZstdError
        It is damaged, or states a size above the limit.

    Examples
    --------
    >>> inflated(zstandard.compress(b"page"))
    b'page'
    """
    if not 0 <= zstandard.frame_content_size(data) <= MOST_BYTES:
        raise zstandard.ZstdError("its stated size exceeds the limit")
    return (decompressor or zstandard.ZstdDecompressor()).decompress(data)


class Inflated:
    """A gzip member that is decompressed piece by piece.

    Attributes
    ----------
    data, rest
        The content read so far; the bytes after the end of the member.
    ended
        Whether the end was reached.
    """

    def __init__(self) -> None:
        self._inflate, self._parts, self._left = isal_zlib.decompressobj(_GZIP), list[bytes](), MOST_BYTES
        self.ended, self.rest = False, b""

    @property
    def data(self) -> bytes:
        """Return the content decompressed so far."""
        return b"".join(self._parts)

    def feed(self, data: bytes) -> None:
        """Decompress the next bytes of the member.

        Raises
        ------
        StoreError
            They are damaged, or the content exceeds the limit.
        """
        try:
            part = self._inflate.decompress(data, self._left + 1)
        except isal_zlib.error as error:
            raise StoreError(f"an archive record is damaged: {error}") from error
        self._left -= len(part)
        if self._left < 0:
            raise StoreError(f"an archive record is damaged: it would be larger than {MOST_BYTES >> 30} GiB")
        self._parts.append(part)
        self.ended, self.rest = self._inflate.eof, self._inflate.unused_data
