"""Reading of WARC records: a single record, or all records of a file in order."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from evercrawl.errors import StoreError
from evercrawl.store.archive.member import GZIP_MAGIC
from evercrawl.store.disk.disk import Disk
from evercrawl.store.disk.inflating import Inflated

_END: Final = b"\r\n\r\n"
_LENGTH_DIGITS: Final = 15
_CHUNK: Final = 1 << 16
_HEAD_MAX: Final = 1 << 20  # maximum size of a record's fields in bytes


@dataclass(slots=True)
class WarcRecord:
    """One WARC record.

    Attributes
    ----------
    fields
        Named fields, lower-case name -> value; the last one wins if repeated.
    block
        Content of the record; for an HTTP message, its header block and body as on the wire.
    size_bytes
        Size of the whole uncompressed record, with the empty lines after it.
    problems
        A sentence about each problem.
    damaged
        Whether some of it is missing or misplaced.
    """

    fields: dict[str, str]
    block: bytes
    size_bytes: int
    problems: list[str] = field(default_factory=list[str])
    damaged: bool = False

    def blame(self, problem: str) -> None:
        """Mark the record as damaged, with a reason."""
        self.problems.append(problem)
        self.damaged = True

    @property
    def kind(self) -> str:
        """Return the WARC-Type."""
        return self.fields.get("warc-type", "")

    @property
    def url(self) -> str:
        """Return the target, without the angle brackets that some writers add."""
        return self.fields.get("warc-target-uri", "").removeprefix("<").removesuffix(">")

    @property
    def at(self) -> float:
        """Return the WARC date in seconds since the epoch; nan if it is missing or invalid."""
        return epoch(self.fields.get("warc-date", ""))

    def message(self) -> tuple[bytes, bytes]:
        """Return the HTTP header block with the empty line after it, and the body."""
        ends = [self.block.find(mark) + len(mark) for mark in (_END, b"\n\n") if mark in self.block]
        end = min(ends, default=len(self.block))
        return self.block[:end], self.block[end:]


def epoch(date: str) -> float:
    """Return a WARC date as seconds since the epoch; nan if it is invalid.

    >>> epoch("1970-01-02T00:00:00.250000Z"), epoch("yesterday")
    (86400.25, nan)
    """
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return float("nan")


def fields_of(lines: bytes) -> dict[str, str]:
    r"""Return header lines as lower-case name -> value; folded lines are joined, repeated ones by a comma.

    >>> fields_of(b"A: 1\r\n 2\r\nb:3\r\nB: 4\r\n")
    {'a': '1 2', 'b': '3, 4'}
    """
    fields: dict[str, str] = {}
    name = ""
    for line in lines.decode("utf-8", "replace").replace("\r\n", "\n").split("\n"):
        if line[:1] in (" ", "\t") and name:
            fields[name] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        name = name.strip().lower()
        if colon:
            fields[name] = f"{fields[name]}, {value.strip()}" if name in fields else value.strip()
    return fields


def parse(data: bytes) -> WarcRecord:
    """Return the record at the start of `data`.

    Raises
    ------
    StoreError
        No record starts there, its fields do not end, or they give no length.
    """
    end = data.find(_END, 0, _HEAD_MAX)
    if not data.startswith(b"WARC/") or end < 0:
        raise StoreError("an archive record is damaged: no WARC header where one should be")
    fields = fields_of(data[data.index(b"\r\n") + 2 : end])
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) <= _LENGTH_DIGITS):
        raise StoreError("an archive record is damaged: it does not give its length")
    start, stop = end + len(_END), end + len(_END) + int(length)
    record = WarcRecord(fields, data[start:stop], stop + len(_END))
    if len(data) < stop:
        record.blame("truncated: the file ends inside the record")
    elif data[stop : stop + len(_END)] != _END:
        record.blame("does not end where its Content-Length says")
    if " " in record.url:
        record.problems.append("space in WARC-Target-URI")
    return record


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """One record of a file, with the position and length of its gzip member (in a plain file, of the record)."""

    offset: int
    length: int
    record: WarcRecord


def walk(disk: Disk, name: str) -> Iterator[FoundRecord]:
    """Yield the records of a WARC file, compressed or plain, up to the first unreadable one.

    Problems of a record are in its `problems`; the last record may be incomplete.

    Raises
    ------
    StoreError
        The file continues with something that is neither a gzip member nor a WARC record.
    """
    start = disk.read(name, 0, len(GZIP_MAGIC))
    return _compressed(disk, name) if start and GZIP_MAGIC.startswith(start) else _plain(disk, name)


def _plain(disk: Disk, name: str) -> Iterator[FoundRecord]:
    start, size = 0, disk.size(name)
    while start < size:
        head = disk.read(name, start, _CHUNK)
        if _END not in head:
            head = disk.read(name, start, _HEAD_MAX)
        if _END not in head and start + len(head) == size:
            yield FoundRecord(start, len(head), _beginning(head, "truncated: the file ends inside the record"))
            return
        record = parse(head)
        if record.size_bytes > len(head):
            record = parse(disk.read(name, start, min(record.size_bytes, size - start)))
        yield FoundRecord(start, min(record.size_bytes, size - start), record)
        if record.damaged:
            return
        start += record.size_bytes


def _beginning(data: bytes, problem: str) -> WarcRecord:
    """Return the beginning of a record whose fields do not end."""
    record = WarcRecord({}, data, len(data))
    record.blame(problem)
    return record


def _compressed(disk: Disk, name: str) -> Iterator[FoundRecord]:
    start, ahead = 0, b""
    while data := ahead or disk.read(name, start, _CHUNK):
        inflate, read = Inflated(), start
        whole = True
        while not inflate.ended and whole:
            try:
                inflate.feed(data)
            except StoreError as error:
                raise StoreError(f"{name} is damaged at byte {read}: {error}") from error
            read += len(data)
            data = b"" if inflate.ended else disk.read(name, read, _CHUNK)
            whole = inflate.ended or bool(data)
        ahead = inflate.rest
        length = read - len(ahead) - start
        yield from _records_of(inflate.data, start, length, whole)
        start += length


def _records_of(data: bytes, offset: int, length: int, whole: bool) -> Iterator[FoundRecord]:
    """Yield the records in one gzip member; a valid member has one."""
    several = False
    while data:
        if whole or _END in data:
            record = parse(data)
        else:
            record = _beginning(data, "truncated: the file ends inside its gzip member")
        if not whole and not record.damaged:
            record.blame("truncated: the file ends inside its gzip member")
        several = several or record.size_bytes < len(data)
        if several:
            record.problems.append("not compressed record by record: it cannot be read by its offset")
        yield FoundRecord(offset, length, record)
        data = data[record.size_bytes :]
