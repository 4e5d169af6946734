"""Orders: what people ask of a crawl, in a file of lines that survives whatever happens to either of them.

Whoever gives an order appends a line of JSON under a lock, and returns when it is on the disk. The crawl reads on from
where it had got to and journals what became of each order together with what it changed (`Obeyed`), so that a kill can
neither lose nor repeat one. Nobody ever shortens the file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError
from evercrawl.store.disk.plain import read_piece
from evercrawl.store.disk.trouble import in_words

FILE: Final = "orders.jsonl"
FORGET: Final = "forget"
MASK: Final = "~"
"""Stands in the place of each byte that was forgotten."""
LINE_BYTES: Final = 1 << 16
"""A line that is longer is no order."""
PIECE_BYTES: Final = 4 * LINE_BYTES
"""So much is read at once."""
_TOO_LONG: Final = f"a line of more than {LINE_BYTES} bytes"
_MODE: Final = 0o600
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class CrawlOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One order.

    Attributes
    ----------
    id, at, by
        A name of its own, when it was given (s since the epoch, by the giver's clock), and who gave it.
    do
        What is to be done: "seed", "check", "pause", "resume", "exclude", "include", "boost", "set" or `FORGET`. A
        crawl refuses what it does not know.
    urls
        Of a seed or a check; of `FORGET` also hosts and expressions.
    pattern, lift
        Of a rule or a boost, and whether that rule or boost, or the key of a section, is to go.
    factor, lasts_s
        Of a boost: how many times as much pages count, and for how long, 0 for no end.
    name, values
        Of a setting, or of a key of a section, such as site."example.org".delay_s.
    """

    do: str
    id: str = ""
    at: float = 0.0
    by: str = ""
    urls: tuple[str, ...] = ()
    pattern: str = ""
    lift: bool = False
    factor: float = 1.0
    lasts_s: float = 0.0
    name: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A line of the file: where it ends, and its order, or what is wrong with it."""

    upto: int
    order: CrawlOrder | None
    trouble: str = ""


class OrderSource(Protocol):
    """Where a crawl reads orders."""

    def distrusted(self) -> str:
        """Return why nothing is to be read, as a sentence; "" where there is no reason."""
        ...

    def size(self) -> int:
        """Return how many bytes there are."""
        ...

    def read(self, offset: int, size: int) -> bytes:
        """Return up to so many bytes from an offset on."""
        ...


class OrderFile:
    """The file of orders of a crawl directory, as the crawl reads it."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE

    def distrusted(self) -> str:
        """Return why nothing is to be read: who may write there may steer the crawl."""
        try:
            about = os.lstat(self._path)
        except OSError:
            return ""
        if not stat.S_ISREG(about.st_mode):
            return f"{self._path} is no plain file; orders are not read until it is removed"
        if about.st_uid not in (os.geteuid(), 0):
            return f"{self._path} belongs to user {about.st_uid}; orders are not read until it is given back or removed"
        if about.st_mode & _OTHERS_WRITE:
            return f"{self._path} can be written by others; orders are not read until: chmod 600 {self._path}"
        return ""

    def size(self) -> int:
        """Return how many bytes there are."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def read(self, offset: int, size: int) -> bytes:
        """Return up to so many bytes from an offset on."""
        return read_piece(self._path, offset, size)


def named(order: CrawlOrder, at: float, by: str) -> CrawlOrder:
    """Return an order with an id of its own, when it is given and by whom."""
    return msgspec.structs.replace(order, id=secrets.token_hex(8), at=at, by=by)


def line_of(order: CrawlOrder) -> bytes:
    r"""Return an order as a line of the file.

    Raises
    ------
    ConfigError
        It is longer than a line may be.

    Examples
    --------
    >>> line_of(CrawlOrder("pause", id="1", at=2.0, by="ann"))
    b'{"do":"pause","id":"1","at":2.0,"by":"ann"}\n'
    """
    line = msgspec.json.encode(order) + b"\n"
    if len(line) > LINE_BYTES:
        raise ConfigError(f"the order has {len(line)} bytes and may have {LINE_BYTES}; give it in several")
    return line


def append(directory: Path, orders: Sequence[CrawlOrder]) -> int:
    """Write orders to the file; return its size once they are on the disk.

    Raises
    ------
    ConfigError
        The file is one that a crawl would not read.
    StoreError
        It cannot be written.
    """
    path, lines = directory / FILE, b"".join(line_of(order) for order in orders)
    if trouble := OrderFile(directory).distrusted():
        raise ConfigError(trouble)
    try:
        new = not path.exists()
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, _MODE)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            return _write(fd, lines, directory if new else None)
        finally:
            os.close(fd)
    except OSError as error:
        raise in_words(error, "write", path) from error


def _write(fd: int, lines: bytes, folder: Path | None) -> int:
    """Append whole lines or nothing, behind a line end of its own where a crash left a part of a line."""
    size = os.fstat(fd).st_size
    if size and os.pread(fd, 1, size - 1) != b"\n":
        lines = b"\n" + lines
    try:
        written = os.write(fd, lines)
        while written < len(lines):
            written += os.write(fd, lines[written:])
        os.fsync(fd)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(fd, size)
        raise
    if folder is not None:
        entry = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)
    return size + len(lines)


def lines_from(source: OrderSource, offset: int) -> Iterator[OrderLine]:
    """Yield the next lines from an offset on, of one piece of the file; a line that has no end yet is left for later.

    What is longer than a line may be is reported piece by piece.
    """
    data = source.read(offset, PIECE_BYTES)
    *lines, last = data.split(b"\n")
    passed = offset
    for line in lines:
        offset += len(line) + 1
        if len(line) >= LINE_BYTES:
            yield OrderLine(offset, None, _TOO_LONG)
        elif line.strip():
            yield _read(line, offset)
        else:
            continue
        passed = offset
    if len(last) >= LINE_BYTES:
        yield OrderLine(offset + len(last), None, _TOO_LONG)
    elif offset > passed:  # empty lines
        yield OrderLine(offset, None)


def _read(line: bytes, upto: int) -> OrderLine:
    try:
        order = json_of(line, CrawlOrder)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return OrderLine(upto, None, f"not an order: {str(error)[:200]}")
    if not order.id or len(order.id) > 64:
        return OrderLine(upto, None, "an order without an id of 1 to 64 characters")
    return OrderLine(upto, order)


def words_masked(data: bytes, name: str) -> bytes:
    r"""Return the lines of a file with the words of one order written over, each line as long as before.

    >>> words_masked(b'{"do":"forget", "id":"1","urls":["/a/"]}\n', "1")
    b'{"do":"forget","id":"1","urls":["~~~"]} \n'
    """
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        order = _read(line, 0).order if msgspec.json.encode(name) in line else None
        if order is not None and order.id == name:
            masks = tuple(MASK * (len(msgspec.json.encode(word)) - 2) for word in order.urls)
            masked = msgspec.json.encode(msgspec.structs.replace(order, urls=masks))
            if len(masked) > len(line):  # as where somebody left out fields that we write
                masked = msgspec.json.encode(CrawlOrder(order.do, id=order.id, urls=(MASK,)))
            lines[number] = masked.ljust(len(line))[: len(line)]
    return b"\n".join(lines)


def is_masked(order: CrawlOrder) -> bool:
    """Whether the words of an order were written over, as those of one to forget are when it is carried out."""
    return bool(order.urls) and all(word and not word.strip(MASK) for word in order.urls)


def ends_with(source: OrderSource, upto: int, last: str) -> bool:
    """Whether the line that ends at `upto` has the id `last`, as it has unless somebody put another file there."""
    if source.size() < upto:
        return False
    if not upto or not last:
        return True
    text = source.read(max(upto - LINE_BYTES, 0), min(upto, LINE_BYTES))
    return text.endswith(b"\n") and msgspec.json.encode(last) in text[:-1].rpartition(b"\n")[2]
