"""The files of a partition on another machine, requested one after the other."""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from itertools import count
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from evercrawl.cluster.wire import FilesAsked, FilesTold
from evercrawl.errors import StoreError
from evercrawl.store.disk.database_image import BLOCK_BYTES, differing, renewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_T = TypeVar("_T")
AT_ONCE: Final = 256
"""Maximum number of blocks of a database in one answer."""
TOLD_S: Final = 60.0
"""Time limit for an answer."""


class RemoteFiles:
    """Sends questions from a thread, and waits for the answers; see `evercrawl.cluster.moving.transfer.PartFiles`.

    Parameters
    ----------
    ask
        Sends a question; called in that thread.
    """

    def __init__(self, ask: Callable[[FilesAsked], object]) -> None:
        self._ask, self._ids = ask, count(1)
        self._awaited: tuple[int, Future[FilesTold]] | None = None
        self._ended = False

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Return bytes of a file."""
        found = self._told(bytes, "read", name, offset, size)
        while len(found) < size and (more := self._told(bytes, "read", name, offset + len(found), size - len(found))):
            found += more
        return found

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        return self._told(int, "size", name)

    def names(self, prefix: str = "") -> list[str]:
        """Return the names that begin with `prefix`."""
        return self._told(list[str], "names", prefix)

    def written_ns(self, name: str) -> int:
        """Return the modification time of a file."""
        return self._told(int, "written_ns", name)

    def mode(self, name: str) -> int:
        """Return the mode for a copy of a file."""
        return self._told(int, "mode", name)

    def digest(self, name: str, offset: int, size: int) -> bytes:
        """Return a hash of bytes of a file, made where the file is."""
        return self._told(bytes, "digest", name, offset, size)

    def copy_database(self, name: str, goal: Path, before: Path) -> int:
        """Copy a database; of blocks that an earlier copy has, only the digests are sent."""
        size, digests = self._told(tuple[int, bytes], "image", name)
        lacks = differing(before, digests)
        same = not lacks and (not size or before.stat().st_size == size)
        if not same:
            renewed(before, goal, size, self._blocks(name, lacks))
        return 0 if same else max(len(lacks) * BLOCK_BYTES, 1)

    def _blocks(self, name: str, numbers: list[int]) -> Iterator[tuple[list[int], bytes]]:
        for first in range(0, len(numbers), AT_ONCE):
            some = numbers[first : first + AT_ONCE]
            yield some, self._told(bytes, "blocks", name, blocks=some)

    def tree(self) -> dict[str, tuple[int, int]]:
        """Return the files of folders that may contain folders."""
        return self._told(dict[str, tuple[int, int]], "tree")

    def given_since(self) -> int:
        """Return the offset from which on orders were given there."""
        return self._told(int, "given_since")

    def piece(self, path: str, at: int, size: int) -> bytes:
        """Return bytes of one of these files."""
        return self._told(bytes, "piece", path, at, size)

    def _told(
        self, kind: type[_T], what: str, name: str = "", at: int = 0, size: int = 0, blocks: Sequence[int] = ()
    ) -> _T:
        asked, told = FilesAsked(next(self._ids), what, name, at, size, list(blocks)), Future[FilesTold]()
        self._awaited = asked.id, told
        if self._ended:
            raise StoreError(_GONE)
        self._ask(asked)
        try:
            answer = told.result(TOLD_S)
        except NoAnswer:
            raise StoreError(f"the machine that the partition is on has not answered for {TOLD_S:.0f} s") from None
        if answer.trouble:
            raise StoreError(answer.trouble)
        return msgspec.msgpack.decode(answer.data, type=kind)

    def hear(self, told: FilesTold) -> None:
        """Receive an answer; drop it if nobody waits for it."""
        if self._awaited is not None and self._awaited[0] == told.id and not self._awaited[1].done():
            self._awaited[1].set_result(told)

    def end(self) -> None:
        """Make all questions fail from now on."""
        self._ended = True
        if self._awaited is not None and not self._awaited[1].done():
            self._awaited[1].set_result(FilesTold(self._awaited[0], b"", _GONE))

    def close(self) -> None:
        """Do nothing: no file is open here."""


_GONE: Final = "the coordinator is gone"
