"""Cached answers for names, for as long as they are valid, in memory and in a file that may be lost."""

from __future__ import annotations

import binascii
import contextlib
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import xxhash

from evercrawl.decoding import msgpack_of
from evercrawl.errors import StoreError
from evercrawl.small_file import read_small

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LEAST_S", "MOST_S", "NAMES_FILE", "NameCache", "NameEntry"]

NAMES_FILE: Final = "names.cache"
LEAST_S: Final = 60.0
MOST_S: Final = 86_400.0
_MOST_NAMES: Final = 1 << 16
_MOST_BYTES: Final = 256 << 20
_MOST_DOMAINS: Final = 1 << 14
_MAGIC: Final = b"evercrawl names 1\n"
_A_BUCKET: Final = 8  # names that share a piece of text
_MAP: Final = struct.Struct(">BI")  # MessagePack's header of a map of any length
_UNTIL: Final = struct.Struct("<d")
_NONE: Final = b"!"  # precedes the reason, if there is no address


class NameEntry(NamedTuple):
    """The answer for a name.

    Attributes
    ----------
    addresses
        Its addresses; () for none.
    until
        Until when the answer is valid, s since the epoch.
    reason
        Why it has no address; "" if it has one.
    put_off
        Whether the host is not at fault; see `ResolveError`. This is not stored.
    """

    addresses: tuple[str, ...]
    until: float
    reason: str = ""
    put_off: bool = False


class SilentDomain(msgspec.Struct, array_like=True):
    """How often in a row names of a domain went unanswered, and until when none of its names is looked up."""

    times: int
    until: float


class _Kept(msgspec.Struct, array_like=True):
    """The file: names, silent domains, and names that each server answered."""

    names: dict[str, bytes]
    silent: dict[str, SilentDomain]
    answered: dict[str, dict[str, str]]


class _PackedNames:
    """Names and their answers without an object each: some 40 bytes per name, a fourth of what a dict takes.

    A name's hash selects the one of many short texts that holds its line; in a full text, the oldest line makes room.

    Parameters
    ----------
    most
        The number of names to hold; no text gets more than its share of them.

    Examples
    --------
    >>> names = _PackedNames(3)
    >>> for name in ("a.org", "b.org", "a.org", "c.org", "d.org"):
    ...     names.put(name, f"of {name}".encode())
    >>> names.get("a.org"), names.get("b.org"), dict(names.items())
    (b'of a.org', None, {'a.org': b'of a.org', 'c.org': b'of c.org', 'd.org': b'of d.org'})
    """

    def __init__(self, most: int) -> None:
        self._each = min(most, _A_BUCKET)
        self._buckets = [b""] * max(most // _A_BUCKET, 1)

    def __len__(self) -> int:
        return sum(bucket.count(b"\n") for bucket in self._buckets)

    def get(self, name: str) -> bytes | None:
        """Return the answer for a name; None if it is not known."""
        bucket, start, stop = self._found(name)
        return binascii.a2b_base64(bucket[bucket.index(b" ", start) + 1 : stop]) if stop else None

    def put(self, name: str, said: bytes) -> None:
        """Store the answer for a name as the newest line."""
        bucket, start, stop = self._found(name)
        bucket = bucket[:start] + bucket[stop:]
        if bucket.count(b"\n") >= self._each:
            bucket = bucket[bucket.index(b"\n") + 1 :]
        line = b"%b %b\n" % (name.encode(), binascii.b2a_base64(said, newline=False))
        self._buckets[hash(name) % len(self._buckets)] = bucket + line

    def items(self) -> Iterator[tuple[str, bytes]]:
        """Yield all names with their answers."""
        for bucket in self._buckets:
            for line in bucket.splitlines():
                name, said = line.split(b" ")
                yield name.decode(), binascii.a2b_base64(said)

    def copied(self) -> _PackedNames:
        """Return a copy."""
        copy = _PackedNames(0)
        copy._each, copy._buckets = self._each, self._buckets.copy()
        return copy

    def _found(self, name: str) -> tuple[bytes, int, int]:
        """Return the text that may hold a name's line, and the line's start and end; the end is 0 if it has none."""
        bucket, wanted = self._buckets[hash(name) % len(self._buckets)], b"%b " % name.encode()
        start = 0 if bucket.startswith(wanted) else bucket.find(b"\n" + wanted) + 1
        there = start > 0 or bucket.startswith(wanted)
        return bucket, start, bucket.index(b"\n", start) + 1 if there else 0


class NameCache:
    """Stores answers, failures and silences; the oldest make room.

    Parameters
    ----------
    path
        A file that outlives the run; None keeps everything in memory. A damaged file counts as lost.
    most_names
        The number of names to store.

    Attributes
    ----------
    silent
        Domain -> its silence.
    answered
        Server -> domain -> a name of it that the server answered.

    Examples
    --------
    >>> cache = NameCache(None)
    >>> cache.put("a.example", NameEntry(("192.0.2.1", "2001:db8::1"), until=160.0))
    >>> cache.get("a.example", 100.0)
    NameEntry(addresses=('192.0.2.1', '2001:db8::1'), until=160.0, reason='', put_off=False)
    >>> cache.get("a.example", 160.0) is None
    True
    """

    def __init__(self, path: Path | None = None, most_names: int = _MOST_NAMES) -> None:
        self._path = path
        kept = _read(path) if path is not None else None
        kept = kept or _Kept({}, {}, {})
        self._names, self.silent, self.answered = _PackedNames(most_names), kept.silent, kept.answered
        for name, packed in kept.names.items():
            self._names.put(name, packed)

    def get(self, host: str, now: float) -> NameEntry | None:
        """Return the valid answer for a name at `now`; None if it has to be looked up."""
        packed = self._names.get(host)
        if packed is None:
            return None
        (until,) = _UNTIL.unpack_from(packed)
        if not now < until <= now + MOST_S:  # it has expired, or the clock was set back
            return None
        if packed.startswith(_NONE, _UNTIL.size):
            return NameEntry((), until, packed[_UNTIL.size + 1 :].decode())
        return NameEntry(tuple(packed[_UNTIL.size :].decode().split(",")), until)

    def put(self, host: str, entry: NameEntry) -> None:
        """Store the answer for a name."""
        said = ",".join(entry.addresses).encode() if entry.addresses else _NONE + entry.reason.encode()
        self._names.put(host, _UNTIL.pack(entry.until) + said)

    def put_silent(self, domain: str, silence: SilentDomain) -> None:
        """Store the silence of a domain."""
        self.silent.pop(domain, None)
        while len(self.silent) >= _MOST_DOMAINS:
            del self.silent[next(iter(self.silent))]
        self.silent[domain] = silence

    def __len__(self) -> int:
        return len(self._names)

    def copied(self) -> NameCache:
        """Return a copy, to be saved while this one changes."""
        copy = NameCache(None, 0)
        copy._path, copy._names, copy.silent = self._path, self._names.copied(), dict(self.silent)
        copy.answered = {server: dict(names) for server, names in self.answered.items()}
        return copy

    def save(self) -> None:
        """Replace the file; if the disk fails, the names are looked up again after the next start."""
        if self._path is None:
            return
        encode, names = msgspec.msgpack.encode, self._names
        pairs = b"".join(encode(name) + encode(packed) for name, packed in names.items())  # without a dict of them all
        rest = encode([self.silent, self.answered])[1:]
        body = b"\x93" + _MAP.pack(0xDF, len(names)) + pairs + rest
        new = self._path.with_name(f"{self._path.name}.new")
        with contextlib.suppress(OSError):
            with open(new, "wb", opener=_of_owner) as file:
                file.write(_MAGIC + xxhash.xxh3_64_digest(body) + body)
            new.replace(self._path)

    def close(self) -> None:
        """Write the file for the next run."""
        self.save()


def _of_owner(path: str, flags: int) -> int:
    """Open a file that nobody else may write, whatever the umask: it says where connections go."""
    return os.open(path, flags, 0o644)


def is_whole(path: Path) -> bool:
    """Whether a file is intact."""
    return _read(path) is not None


def _read(path: Path) -> _Kept | None:
    """Return the content of a file; None if there is none or it is damaged."""
    head = len(_MAGIC)
    try:
        data = read_small(path, _MOST_BYTES)
        body = data[head + 8 :]
        if not data.startswith(_MAGIC) or data[head : head + 8] != xxhash.xxh3_64_digest(body):
            return None
        kept = msgpack_of(body, _Kept)
    except (OSError, StoreError, msgspec.DecodeError):
        return None
    return kept if all(map(_sound, kept.names.values())) else None


def _sound(packed: bytes) -> bool:
    """Whether an entry can be decoded; the guard checks whether it is an address."""
    return len(packed) > _UNTIL.size and packed[_UNTIL.size :].isascii()
