"""Immutable column files: compressed in blocks with a checksum each, so that reading a few values is cheap.

On disk: magic, blocks, directory (MessagePack: the header and where the blocks are), then its offset (u64), size
(u32) and checksum (u64, XXH3), little endian, and the magic once more.
"""

import itertools
import os
import struct
from collections import OrderedDict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec
import numpy as np
import xxhash
import zstandard
from numpy.typing import NDArray

from evercrawl.decoding import msgpack_of
from evercrawl.store.disk.inflating import inflated
from evercrawl.types import Ints

MAGIC: Final = b"evderiv1"
BLOCK: Final = 8192  # values in a block
CACHE_BYTES: Final = 64 << 20
_TRAILER: Final = struct.Struct("<QIQ8s")
_LEVEL: Final = 1
_numbers: Final = itertools.count()

H = TypeVar("H", bound=msgspec.Struct)


class DamagedError(Exception):
    """A derived file is corrupt, and must be deleted and rebuilt."""


class PlacedColumn(msgspec.Struct, array_like=True, frozen=True):
    """The location of a column.

    Attributes
    ----------
    dtype, count
        Type and number of its values.
    ascending
        Whether its values ascend, so that differences are stored.
    offsets, checks, firsts
        Of its blocks: the start of each and the end of the last (u64), checksums (u64), first values (dtype of the
        column).
    """

    dtype: str
    count: int
    ascending: bool
    offsets: bytes
    checks: bytes
    firsts: bytes


class _Directory(msgspec.Struct, Generic[H], array_like=True, frozen=True):
    header: H
    columns: dict[str, PlacedColumn]


class BlockCache:
    """An LRU cache of decoded blocks of several files."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._blocks: OrderedDict[tuple[int, str, int], NDArray[Any]] = OrderedDict()

    def get(self, key: tuple[int, str, int]) -> NDArray[Any] | None:
        """Return a block; None if it is not cached."""
        found = self._blocks.get(key)
        if found is not None:
            self._blocks.move_to_end(key)
        return found

    def put(self, key: tuple[int, str, int], block: NDArray[Any]) -> None:
        """Cache a block."""
        self._blocks[key] = block
        self._bytes += block.nbytes
        while self._bytes > self._most_bytes:
            self._bytes -= self._blocks.popitem(last=False)[1].nbytes


def write_columns(
    path: Path, header: msgspec.Struct, columns: dict[str, NDArray[Any]], ascending: frozenset[str]
) -> None:
    """Write a column file atomically: under a temporary name, then renamed.

    Parameters
    ----------
    header
        The file's header.
    columns, ascending
        Values by name, each of shape (n,); names of those whose values ascend.

    Raises
    ------
    OSError
        It cannot be written.
    """
    temporary = path.with_name(path.name + ".part")
    press = zstandard.ZstdCompressor(level=_LEVEL)
    placed = dict[str, PlacedColumn]()
    try:
        with temporary.open("wb") as file:
            at = file.write(MAGIC)
            for name, values in columns.items():
                offsets, checks = [at], list[int]()
                for start in range(0, len(values), BLOCK):
                    data = press.compress(_gaps(values[start : start + BLOCK], name in ascending).tobytes())
                    at += file.write(data)
                    offsets.append(at)
                    checks.append(xxhash.xxh3_64_intdigest(data))
                marks = np.array(offsets, np.uint64).tobytes(), np.array(checks, np.uint64).tobytes()
                firsts = values[::BLOCK].tobytes()
                placed[name] = PlacedColumn(values.dtype.str, len(values), name in ascending, *marks, firsts)
            directory = msgspec.msgpack.encode(_Directory(header, placed))
            file.write(directory)
            file.write(_TRAILER.pack(at, len(directory), xxhash.xxh3_64_intdigest(directory), MAGIC))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class ColumnFile(Generic[H]):
    """A column file opened for reading; it stays readable after it is unlinked.

    Raises
    ------
    DamagedError
        It is incomplete, or of another version.
    OSError
        It is not there.
    """

    def __init__(self, path: Path, kind: type[H], cache: BlockCache) -> None:
        self.path, self._cache, self._number = path, cache, next(_numbers)
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            directory = self._directory(kind)
        except BaseException:
            self.close()
            raise
        self.header = directory.header
        self._columns = directory.columns
        self._offsets = {name: np.frombuffer(column.offsets, np.uint64) for name, column in self._columns.items()}
        self._checks = {name: np.frombuffer(column.checks, np.uint64) for name, column in self._columns.items()}
        self._firsts = {
            name: np.frombuffer(column.firsts, np.dtype(column.dtype)) for name, column in self._columns.items()
        }

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()

    def count(self, name: str) -> int:
        """Return the number of values of a column."""
        return self._columns[name].count

    def slice(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the values [start, stop) of a column."""
        column = self._columns[name]
        stop = column.count if stop is None else min(stop, column.count)
        if start >= stop:
            return np.zeros(0, np.dtype(column.dtype))
        first, last = start // BLOCK, (stop - 1) // BLOCK
        parts = [self._block(name, block, keep=first == last) for block in range(first, last + 1)]
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return whole[start - first * BLOCK : stop - first * BLOCK]

    def take(self, name: str, places: Ints) -> NDArray[Any]:
        """Return the values of a column at positions, shape (n,)."""
        column = self._columns[name]
        found = np.empty(len(places), np.dtype(column.dtype))
        for block, here in grouped(places // BLOCK):
            found[here] = self._block(name, block, keep=True)[places[here] - block * BLOCK]
        return found

    def spans(self, name: str, values: NDArray[Any]) -> tuple[Ints, Ints]:
        """Return the span of each of ascending distinct `values`, shape (n,), in an ascending column."""
        firsts = self._firsts[name]
        sides = np.zeros((2, len(values)), np.int64)
        for side, how in enumerate(("left", "right")):
            blocks = np.maximum(np.searchsorted(firsts, values, how) - 1, 0)  # type: ignore[call-overload]
            if not self.count(name):
                continue
            for block, here in grouped(blocks):
                inside = np.searchsorted(self._block(name, block, keep=True), values[here], how)  # type: ignore[call-overload]
                sides[side, here] = block * BLOCK + inside
        return sides[0], sides[1]

    def _directory(self, kind: type[H]) -> _Directory[H]:
        size = os.fstat(self._fd).st_size
        trailer = os.pread(self._fd, _TRAILER.size, max(size - _TRAILER.size, 0))
        if len(trailer) < _TRAILER.size or os.pread(self._fd, len(MAGIC), 0) != MAGIC:
            raise DamagedError(f"{self.path} is not whole")
        at, length, check, magic = _TRAILER.unpack(trailer)
        data = os.pread(self._fd, length, at) if magic == MAGIC else b""
        if at + length + _TRAILER.size != size or xxhash.xxh3_64_intdigest(data) != check:
            raise DamagedError(f"{self.path} is not whole")
        try:
            return msgpack_of(data, _Directory[kind])  # type: ignore[valid-type]
        except msgspec.MsgspecError as error:
            raise DamagedError(f"{self.path} is of another version: {error}") from error

    def _block(self, name: str, block: int, *, keep: bool) -> NDArray[Any]:
        key = (self._number, name, block)
        found = self._cache.get(key)
        if found is None:
            found = self._read(name, block)
            if keep:
                self._cache.put(key, found)
        return found

    def _read(self, name: str, block: int) -> NDArray[Any]:
        column, offsets = self._columns[name], self._offsets[name]
        start, end = int(offsets[block]), int(offsets[block + 1])
        data = os.pread(self._fd, end - start, start)
        if xxhash.xxh3_64_intdigest(data) != int(self._checks[name][block]):
            raise DamagedError(f"{self.path} is damaged at byte {start}")
        try:
            values = np.frombuffer(inflated(data), np.dtype(column.dtype))
        except (zstandard.ZstdError, ValueError) as error:
            raise DamagedError(f"{self.path} is damaged at byte {start}: {error}") from error
        return np.cumsum(values, dtype=values.dtype) if column.ascending else values


def _gaps(values: NDArray[Any], ascending: bool) -> NDArray[Any]:
    return np.diff(values, prepend=values.dtype.type(0)) if ascending else np.ascontiguousarray(values)


def grouped(numbers: Ints) -> Iterator[tuple[int, slice | Ints]]:
    """Yield each distinct value, ascending, with its positions in `numbers`, shape (n,), in [0, 2^32).

    Examples
    --------
    >>> list(grouped(np.array([0, 0, 3])))
    [(0, slice(0, 2, None)), (3, slice(2, 3, None))]
    >>> list(grouped(np.array([3, 0, 3])))
    [(0, array([1])), (3, array([0, 2]))]
    """
    order = None
    if (numbers[1:] < numbers[:-1]).any():
        small = int(numbers.max()) <= np.iinfo(np.uint16).max  # these sort ten times as fast
        order = np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")
        numbers = numbers[order]
    ends = np.append(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1, len(numbers))
    for start, stop in pairwise([0, *ends.tolist()] if len(numbers) else []):
        yield int(numbers[start]), slice(start, stop) if order is None else order[start:stop]
