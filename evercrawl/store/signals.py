"""Publishers' announcements of changes, in a file of lines that the server writes and the crawl follows.

The file is not part of the journal. A crawl reads all of it at its start: announcements of pages visited since are
outdated, and the others are still news. So a kill loses nothing, and the file may be shortened from its beginning.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from evercrawl.store.disk.plain import read_piece
from evercrawl.store.disk.trouble import in_words

FILE: Final = "signals.jsonl"
MOST_BYTES: Final = 16 << 20
"""Maximum size of the file; beyond it, the older half is dropped."""
MOST_URLS: Final = 200
"""Maximum number of URLs in one line."""
PIECE_BYTES: Final = 1 << 18
"""Number of bytes read at once."""


class Signal(msgspec.Struct, frozen=True):
    """Pages that a publisher announced as changed.

    Attributes
    ----------
    at
        Time of the announcement, in seconds since the epoch, by the receiver's clock.
    via
        "indexnow" or "websub".
    urls
        Normalised URLs.
    """

    at: float
    via: str
    urls: tuple[str, ...]


_START: Final = 40  # bytes that identify a file: every line is at least as long, and has a different time
_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Signal)


class SignalSource(Protocol):
    """Interface from which a crawl reads announcements."""

    def look(self) -> tuple[int, int]:
        """Return the identity and the size of the file; (0, 0) if there is none that can be trusted."""
        ...

    def read(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from an offset on."""
        ...


class SignalFile:
    """The file of announcements in a crawl directory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE

    def look(self) -> tuple[int, int]:
        """Return the identity and the size of the file; a file that others can write to is not trusted."""
        try:
            about = os.lstat(self._path)
        except OSError:
            return 0, 0
        others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or about.st_uid not in (os.geteuid(), 0)
        if others or not stat.S_ISREG(about.st_mode) or about.st_size < _START:
            return 0, 0
        return about.st_ino ^ zlib.crc32(self.read(0, _START)), about.st_size

    def read(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from an offset on."""
        return read_piece(self._path, offset, size)


def signals_in(data: bytes) -> tuple[list[Signal], int]:
    r"""Return the signals in complete lines, and the size of these lines in bytes; invalid lines are skipped.

    Examples
    --------
    >>> found, used = signals_in(b'{"at":1.0,"via":"websub","urls":["http://a.example/"]}\nnonsense\n{"at"')
    >>> [signal.urls for signal in found], used
    ([('http://a.example/',)], 64)
    """
    whole = data.rfind(b"\n") + 1
    found: list[Signal] = []
    for line in data[:whole].splitlines():
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            found.append(_DECODER.decode(line))
    return found, whole


def append_signals(directory: Path, signals: Sequence[Signal]) -> None:
    """Append signals to the file; they are on the disk on return.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    path = directory / FILE
    lines = b"".join(
        _ENCODER.encode(Signal(one.at, one.via, one.urls[start : start + MOST_URLS])) + b"\n"
        for one in signals
        for start in range(0, len(one.urls), MOST_URLS)
    )
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            size = os.fstat(fd).st_size
            if size + len(lines) > MOST_BYTES:
                _shortened(path, os.pread(fd, size, size // 2), lines)
                return
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            os.write(fd, b"\n" * torn + lines)
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise in_words(error, "write", path) from error


def _shortened(path: Path, newer: bytes, lines: bytes) -> None:
    """Replace the file by its newer lines followed by these."""
    beside = path.with_suffix(".new")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as out:
        kept = newer[newer.find(b"\n") + 1 :]
        out.write(kept[: kept.rfind(b"\n") + 1] + lines)
        out.flush()
        os.fsync(out.fileno())
    beside.replace(path)
