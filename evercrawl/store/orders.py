"""Orders of people to a crawl, as lines of a file that survives crashes of either side.

To give an order, a process appends a line of JSON under a lock, and returns when it is on the disk. The crawl reads
on from its last position, and journals each order's result together with its effects (`Obeyed`), so that a kill
neither loses nor repeats an order. The file is never truncated.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError
from evercrawl.store.disk.leaving import see_staying
from evercrawl.store.disk.owner import hand_over, trusted, user_name
from evercrawl.store.disk.plain import read_piece
from evercrawl.store.disk.trouble import in_words
from evercrawl.store.orders_place import given_since, vouch

FILE: Final = "orders.jsonl"
FORGET: Final = "forget"
MASK: Final = "~"
"""Replaces each byte that was forgotten."""
LINE_BYTES: Final = 1 << 16
"""Maximum length of a valid line."""
PIECE_BYTES: Final = 4 * LINE_BYTES
"""Number of bytes read at once."""
_TOO_LONG: Final = f"a line of more than {LINE_BYTES} bytes"
_MODE: Final = 0o600
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class CrawlOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One order.

    Attributes
    ----------
    id, at, by
        A unique id, the time of the order (s since the epoch, by the giver's clock), and who gave it.
    do
        The verb: "seed", "check", "pause", "resume", "exclude", "include", "boost", "set" or `FORGET`. A crawl
        refuses unknown verbs.
    urls
        URLs of a seed or a check; for `FORGET` also hosts and expressions.
    pattern, lift
        Expression of a rule or a boost; whether that rule or boost, or the key of a section, should be removed.
    factor, lasts_s
        Factor of a boost on the worth of pages, and its duration, 0 for no end.
    name, values
        Name and values of a setting, or of a key of a section, such as site."example.org".delay_s.
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
    """A line of the file: the offset of its end, and its order, or what is wrong with it."""

    upto: int
    order: CrawlOrder | None
    trouble: str = ""


class OrderSource(Protocol):
    """Interface from which a crawl reads orders."""

    def distrusted(self) -> str:
        """Return a sentence why nothing may be read; "" if there is no reason."""
        ...

    def given_since(self) -> int:
        """Return the offset from which on orders were given in this directory; those before came from elsewhere."""
        ...

    def size(self) -> int:
        """Return the number of bytes."""
        ...

    def read(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from an offset on."""
        ...


class OrderFile:
    """The file of orders in a crawl directory, as the crawl reads it."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE

    def distrusted(self) -> str:
        """Return why nothing may, or can, be read: whoever can write to the file can steer the crawl."""
        try:
            about = os.lstat(self._path)
        except OSError:
            return ""
        if not stat.S_ISREG(about.st_mode):
            return f"{self._path} is not a regular file; orders are not read until it is removed"
        if not trusted(about.st_uid, self._path.parent):
            return f"{self._path} belongs to user {about.st_uid}; orders are not read until it is given back or removed"
        if about.st_mode & _OTHERS_WRITE:
            return f"{self._path} can be written by others; orders are not read until: chmod 600 {self._path}"
        if not os.access(self._path, os.R_OK, effective_ids=True):
            me = user_name(os.geteuid())
            return (
                f"{self._path} belongs to {user_name(about.st_uid)} and cannot be read by {me}; orders are not carried "
                f"out until: chown {me} {self._path}"
            )
        return ""

    def given_since(self) -> int:
        """Return the offset from which on orders were given in this directory."""
        return given_since(self._path)

    def size(self) -> int:
        """Return the number of bytes."""
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    def read(self, offset: int, size: int) -> bytes:
        """Return up to `size` bytes from an offset on."""
        return read_piece(self._path, offset, size)


def named(order: CrawlOrder, at: float, by: str) -> CrawlOrder:
    """Return an order with a new id, its time and its giver."""
    return msgspec.structs.replace(order, id=secrets.token_hex(8), at=at, by=by)


def line_of(order: CrawlOrder) -> bytes:
    r"""Return an order as a line of the file.

    Raises
    ------
    ConfigError
        It exceeds the maximum length of a line.

    Examples
    --------
    >>> line_of(CrawlOrder("pause", id="1", at=2.0, by="ann"))
    b'{"do":"pause","id":"1","at":2.0,"by":"ann"}\n'
    """
    line = msgspec.json.encode(order) + b"\n"
    if len(line) > LINE_BYTES:
        raise ConfigError(f"the order has {len(line)} bytes, and at most {LINE_BYTES} are allowed; split it")
    return line


def append(directory: Path, orders: Sequence[CrawlOrder]) -> int:
    """Write orders to the file; return its size once they are on the disk.

    Raises
    ------
    ConfigError
        A crawl would refuse to read the file.
    StoreError
        The file cannot be written, or the partition is being moved (`LeavingError`).
    """
    path, lines = directory / FILE, b"".join(line_of(order) for order in orders)
    if trouble := OrderFile(directory).distrusted():
        raise ConfigError(trouble)
    try:
        fd, new = _opened(directory)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            see_staying(directory)
            _vouch_from_here(path, fd)
            return _write(fd, lines, directory if new else None)
        finally:
            os.close(fd)
    except OSError as error:
        raise in_words(error, "write", path) from error


def _opened(directory: Path) -> tuple[int, bool]:
    """Return the file, and whether it is new; root gives a new one to the crawl's owner."""
    path, flags = directory / FILE, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, flags), False
    with contextlib.suppress(FileExistsError):  # given to another process just now
        fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, _MODE)
        hand_over(fd, directory)
        return fd, True
    return os.open(path, flags), False


def _vouch_from_here(path: Path, fd: int) -> None:
    """Let appended lines count as given here; lines that came with the directory still do not."""
    size = os.fstat(fd).st_size
    if given_since(path) > size:
        whole = not size or os.pread(fd, 1, size - 1) == b"\n"
        vouch(path, size if whole else size + 1)  # a line that is incomplete is completed first


def vouch_for_all(directory: Path) -> None:
    """Let all orders of a directory count as given here, because a person says so.

    Raises
    ------
    StoreError
        The directory cannot be written.
    """
    path = directory / FILE
    if not path.is_file():
        return
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            vouch(path, 0)
        finally:
            os.close(fd)
    except OSError as error:
        raise in_words(error, "write", path) from error


def came_along(source: OrderSource, upto: int, done: Container[str]) -> int:
    """Return how many orders behind an offset came with the directory from elsewhere, and were not carried out.

    Parameters
    ----------
    source, upto
        The file, and how far it was read.
    done
        Ids of orders that were carried out, or refused.
    """
    since, count, offset = source.given_since(), 0, upto
    while offset < since:
        last = offset
        for line in lines_from(source, offset):
            offset = line.upto
            count += line.order is not None and line.upto <= since and line.order.id not in done
        if offset == last:
            break
    return count


def along_in_words(count: int) -> str:
    """Return what to do about orders that came with a directory.

    >>> along_in_words(2)[:50]
    '2 orders came with this directory and are not carr'
    """
    return (
        f"{count} order{'' if count == 1 else 's'} came with this directory and {'is' if count == 1 else 'are'} not "
        f"carried out: see them with `evercrawl orders`, then give --obey-orders to `evercrawl crawl`, or remove {FILE}"
    )


def unread_in_words(source: OrderSource, offset: int, last: str = "", *, cut: bool = False) -> str:
    """Return how many lines from an offset on are not orders, and the error of the first; "" if there are none.

    Parameters
    ----------
    source
        The file.
    offset, last
        Where a line with this id ends; if it does not, the file was replaced, and all lines are looked at.
    cut
        Whether a line may begin before the offset; what is left of it is skipped.
    """
    troubles, size = list[str](), source.size()
    offset = offset if ends_with(source, offset, last) else 0
    while offset < size:
        begun = offset
        for line in lines_from(source, offset):
            offset = line.upto
            troubles += [line.trouble] if line.trouble and not cut else []
            cut = False
        if offset == begun:
            break
    if not troubles:
        return ""
    lines = "1 line" if len(troubles) == 1 else f"{len(troubles)} lines"
    return f"{lines} of {FILE} cannot be read ({troubles[0]}): give those orders again"


def _write(fd: int, lines: bytes, folder: Path | None) -> int:
    """Append complete lines or nothing; begin with a line end if a crash left an incomplete line."""
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
    """Yield the lines in the next piece of the file, from an offset on; an incomplete last line is left for later.

    Lines beyond the maximum length are reported piece by piece.
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
    elif offset > passed:  # only empty lines
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
    r"""Return the lines of a file with the words of one order masked; the length of each line is unchanged.

    >>> words_masked(b'{"do":"forget", "id":"1","urls":["/a/"]}\n', "1")
    b'{"do":"forget","id":"1","urls":["~~~"]} \n'
    """
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        order = _read(line, 0).order if msgspec.json.encode(name) in line else None
        if order is not None and order.id == name:
            masks = tuple(MASK * (len(msgspec.json.encode(word)) - 2) for word in order.urls)
            masked = msgspec.json.encode(msgspec.structs.replace(order, urls=masks))
            if len(masked) > len(line):  # e.g. because somebody left out fields that we write
                masked = msgspec.json.encode(CrawlOrder(order.do, id=order.id, urls=(MASK,)))
            lines[number] = masked.ljust(len(line))[: len(line)]
    return b"\n".join(lines)


def is_masked(order: CrawlOrder) -> bool:
    """Return whether the words of an order are masked, as for an executed order to forget."""
    return bool(order.urls) and all(word and not word.strip(MASK) for word in order.urls)


def ends_with(source: OrderSource, upto: int, last: str) -> bool:
    """Return whether the line that ends at `upto` has the id `last`; if not, the file was replaced."""
    if source.size() < upto:
        return False
    if not upto or not last:
        return True
    text = source.read(max(upto - LINE_BYTES, 0), min(upto, LINE_BYTES))
    return text.endswith(b"\n") and msgspec.json.encode(last) in text[:-1].rpartition(b"\n")[2]
