"""Compressed data of a crawl directory, undone up to a bound: the directory may be a stranger's, and a bomb in it.

What evercrawl writes of one piece is a few megabytes, but for archive records, whose bodies people may allow to be as
large as they like; these are bounded, too, by what a machine can hold.
"""

from __future__ import annotations

from typing import Final

import zstandard
from isal import isal_zlib

from evercrawl.errors import StoreError

__all__ = ["MOST_BYTES", "Inflated", "inflated"]

MOST_BYTES: Final = 2 << 30
"""Of what one piece may come to."""
_GZIP: Final = 31  # window bits: 15, with gzip header and trailer


def inflated(data: bytes | memoryview, decompressor: zstandard.ZstdDecompressor | None = None) -> bytes:
    """Return what a zstd frame holds.

    Raises
    ------
    zstandard.ZstdError
        It is damaged, or says that it holds more than anything of a crawl directory does.

    Examples
    --------
    >>> inflated(zstandard.compress(b"page"))
    b'page'
    """
    if not 0 <= zstandard.frame_content_size(data) <= MOST_BYTES:
        raise zstandard.ZstdError("it says that it holds more than it can")
    return (decompressor or zstandard.ZstdDecompressor()).decompress(data)


class Inflated:
    """A gzip member that is undone piece by piece.

    Attributes
    ----------
    data, rest
        What it holds, as far as it was read; what followed its end.
    ended
        Whether its end was met.
    """

    def __init__(self) -> None:
        self._inflate, self._parts, self._left = isal_zlib.decompressobj(_GZIP), list[bytes](), MOST_BYTES
        self.ended, self.rest = False, b""

    @property
    def data(self) -> bytes:
        """Return what was undone so far."""
        return b"".join(self._parts)

    def feed(self, data: bytes) -> None:
        """Undo the next bytes of the member.

        Raises
        ------
        StoreError
            They are damaged, or the member holds more than anything of a crawl directory does.
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
