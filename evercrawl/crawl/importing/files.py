"""Reading files of other programs, compressed or not, sequentially and at a position."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from isal import isal_zlib

from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.archive.member import GZIP_MAGIC
from evercrawl.store.disk.trouble import in_words

_HEAD: Final = 1 << 16
_PIECE: Final = 1 << 20


def head_of(path: Path) -> bytes:
    """Return the beginning of a file's content, up to 64 KiB, decompressed if necessary."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise in_words(error, "read", path) from error
    if not head.startswith(GZIP_MAGIC):
        return head
    try:
        return isal_zlib.decompressobj(31).decompress(head, _HEAD)  # of the first member
    except isal_zlib.error as error:
        raise ConfigError(f"{path} is not a complete gzip file: {error}") from error


def plain(path: Path, beside: Path | None = None) -> BinaryIO:
    """Return a file that can be read at any position; a file compressed as a whole is decompressed to a temporary file.

    The temporary file, in the folder `beside`, has no name, so it disappears with the process.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == GZIP_MAGIC
        if not packed:
            return path.open("rb")
        made: BinaryIO = tempfile.TemporaryFile(dir=beside)  # noqa: SIM115 - the caller's
        # of a truncated file, the part before the cut remains; it may end inside a record
        with gzip.open(path) as unpacked, contextlib.suppress(EOFError, gzip.BadGzipFile, zlib.error):
            shutil.copyfileobj(unpacked, made, _PIECE)
        made.seek(0)
        return made
    except OSError as error:
        raise in_words(error, "read", path) from error


def lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the position and the bytes of each line of a file, line ends included."""
    place = 0
    file.seek(0)
    for line in file:
        yield place, line
        place += len(line)


def read_at(file: BinaryIO, place: int, length: int) -> bytes:
    """Return `length` bytes at position `place`.

    Raises
    ------
    StoreError
        The file has changed: it ends before these bytes.
    """
    data = os.pread(file.fileno(), length, place)
    while len(data) < length:
        more = os.pread(file.fileno(), length - len(data), place + len(data))
        if not more:
            raise StoreError("a file became shorter during the import; do not change files while they are imported")
        data += more
    return data
