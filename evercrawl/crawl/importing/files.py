"""Reading files of other programs, compressed or not, sequentially and at a position.

They may be a stranger's. So neither links nor pipes nor devices are opened, and what is decompressed is limited.
"""

from __future__ import annotations

import errno
import gzip
import os
import stat
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from isal import isal_zlib

from evercrawl.crawl.importing.captures import UnusableError
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.store.archive.member import GZIP_MAGIC
from evercrawl.store.disk.trouble import in_words

MOST_BYTES: Final = 64 << 20
"""Maximum size of what is read into memory as a whole, decompressed: a record, or a file of a cache."""
MOST_RATIO: Final = 100
"""Maximum size of a temporary file, in sizes of the compressed file; `MOST_BYTES` are always allowed."""
MOST_LINE_BYTES: Final = 1 << 20
_HEAD: Final = 1 << 16
_PIECE: Final = 1 << 20
_GZIP: Final = 31  # window bits: 15, with gzip header and trailer


def opened(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises
    ------
    ConfigError
        It is a link, a pipe, a device or a folder.
    StoreError
        It cannot be read.
    """
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ConfigError(f"{path} is a link; name the file that it leads to") from error
        raise in_words(error, "read", path) from error
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise ConfigError(f"{path} is not a regular file")


def head_of(path: Path) -> bytes:
    """Return the beginning of a file's content, up to 64 KiB, decompressed if necessary."""
    try:
        with opened(path) as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise in_words(error, "read", path) from error
    if not head.startswith(GZIP_MAGIC):
        return head
    try:
        return isal_zlib.decompressobj(_GZIP).decompress(head, _HEAD)  # of the first member
    except isal_zlib.error as error:
        raise ConfigError(f"{path} is not a complete gzip file: {error}") from error


def content(path: Path, most: int = MOST_BYTES, *, packed: bool = False) -> bytes:
    """Return the content of a small file; if it may be `packed`, a gzip member is decompressed.

    Raises
    ------
    UnusableError
        It cannot be read, or has more than `most` bytes.
    """
    try:
        with opened(path) as file:
            data = file.read(most + 1)
    except (EvercrawlError, OSError) as error:
        raise UnusableError(f"{path.name} cannot be read: {error}") from error
    if packed and data.startswith(GZIP_MAGIC):
        return unpacked(data, most)
    if len(data) > most:
        raise UnusableError(f"{path.name} has more than {most >> 20} MiB")
    return data


def unpacked(member: bytes, most: int = MOST_BYTES) -> bytes:
    """Return the content of a gzip member.

    Raises
    ------
    UnusableError
        It is damaged or incomplete, or its content has more than `most` bytes.
    """
    inflate = isal_zlib.decompressobj(_GZIP)
    try:
        data = inflate.decompress(member, most + 1)
    except isal_zlib.error as error:
        raise UnusableError(f"the compressed data is damaged: {error}") from error
    if len(data) > most:
        raise UnusableError(f"the data decompresses to more than {most >> 20} MiB")
    if not inflate.eof:
        raise UnusableError("the compressed data is incomplete")
    return data


def plain(path: Path, beside: Path | None = None) -> BinaryIO:
    """Return a file that can be read at any position; a file compressed as a whole is decompressed to a temporary file.

    The temporary file, in the folder `beside`, has no name, so it disappears with the process.

    Raises
    ------
    ConfigError
        It decompresses to more than `MOST_RATIO` times its size.
    """
    file = opened(path)
    try:
        packed = file.read(2) == GZIP_MAGIC
        file.seek(0)
        if not packed:
            return file
        with file:
            most = max(MOST_BYTES, MOST_RATIO * os.fstat(file.fileno()).st_size)
            return _decompressed(file, most, path, beside)
    except OSError as error:
        raise in_words(error, "read", path) from error


def _decompressed(file: BinaryIO, most: int, path: Path, beside: Path | None) -> BinaryIO:
    made: BinaryIO = tempfile.TemporaryFile(dir=beside)  # noqa: SIM115 - the caller's
    try:
        with gzip.GzipFile(fileobj=file) as source:
            while piece := source.read(_PIECE):
                made.write(piece)
                if made.tell() > most:
                    why = f"{path} decompresses to more than {MOST_RATIO} times its size"
                    raise ConfigError(f"{why}; if you trust it, decompress it and import the result")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        pass  # of a truncated file, the part before the cut remains; it may end inside a record
    except BaseException:
        made.close()
        raise
    made.seek(0)
    return made


def lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the position and the bytes of each line of a file, line ends included.

    Of a line longer than `MOST_LINE_BYTES`, only the first bytes are yielded, one more than that.
    """
    place = 0
    file.seek(0)
    while line := file.readline(MOST_LINE_BYTES + 1):
        yield place, line
        place += len(line)
        while not line.endswith(b"\n") and (line := file.readline(MOST_LINE_BYTES)):
            place += len(line)


def read_at(file: BinaryIO, place: int, length: int) -> bytes:
    """Return `length` bytes at position `place`.

    Raises
    ------
    UnusableError
        The file ends before these bytes, or they are too many.
    """
    if place + length > os.fstat(file.fileno()).st_size:
        raise UnusableError("the file ends before it; do not change files while they are imported")
    if length > MOST_BYTES:
        raise UnusableError(f"it has more than {MOST_BYTES >> 20} MiB")
    data = os.pread(file.fileno(), length, place)
    while len(data) < length:
        more = os.pread(file.fileno(), length - len(data), place + len(data))
        if not more:
            raise UnusableError("the file became shorter; do not change files while they are imported")
        data += more
    return data
