"""What lies behind the files of a virtual disk: what is there for good, and what a power cut makes of the rest.

A file that was appended to, cut or put in place and then not synced is, after a power cut, anything between what it
was at the last sync and what it was made since. Which of it is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

BLOCK_BYTES: Final = 4096  # a file system writes and forgets whole blocks
PLENTY_BYTES: Final = 1 << 60


@dataclass(slots=True, eq=False)
class FileBytes:
    """The bytes of one file, whatever its name.

    Attributes
    ----------
    data
        What reading it yields.
    kept
        So many of its first bytes are as they were at the last sync.
    cut
        What followed them then, and was cut off since.
    renamed
        It came to its name by a rename, so that no power cut finds the name without a file.
    """

    data: bytearray = field(default_factory=bytearray)
    kept: int = 0
    cut: bytes = b""
    renamed: bool = False

    @property
    def synced(self) -> bool:
        """Whether every byte survives a power cut."""
        return self.kept == len(self.data) and not self.cut

    def sync(self) -> None:
        """Bring everything to the platter."""
        self.kept, self.cut = len(self.data), b""

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes; until the next sync a power cut may undo it."""
        if size < self.kept:
            self.cut = bytes(self.data[size : self.kept]) + self.cut
            self.kept = size
        del self.data[size:]


@dataclass(frozen=True, slots=True)
class Odds:
    """How likely each fate of something that was not synced is.

    Attributes
    ----------
    lose
        It never happened: an append, a cut, a new name, a removal.
    tear
        Of an append that was not lost, only a first part arrived; it may end within any byte.
    scatter
        Blocks amid what arrived did not: they read as zeros, or as what lay on the disk before.
    """

    lose: float = 0.4
    tear: float = 0.5
    scatter: float = 0.3


class Platter:
    """Names and contents, as a running system sees them, and as a power cut would leave them.

    Parameters
    ----------
    draw
        Decides what survives.
    odds
        How likely each fate is.

    Attributes
    ----------
    files
        Name -> content, as a running system sees them.
    capacity_bytes
        Room for all of them together; None is without end.
    """

    def __init__(self, draw: random.Random, odds: Odds, capacity_bytes: int | None = None) -> None:
        self.files: dict[str, FileBytes] = {}
        self.capacity_bytes = capacity_bytes
        self._entries: dict[str, FileBytes] = {}  # as they are on the platter
        self._draw, self._odds = draw, odds

    def room(self) -> int:
        """Return the bytes that may still be written; plenty where there is no limit."""
        if self.capacity_bytes is None:
            return PLENTY_BYTES
        return max(self.capacity_bytes - sum(len(content.data) for content in self.files.values()), 0)

    def unsynced(self) -> list[str]:
        """Return the names that a power cut might leave otherwise than they are, sorted."""
        changed = {name for name, content in self.files.items() if not content.synced}
        return sorted(changed.union(self._unsettled()))

    def copy(self) -> Platter:
        """Return the same files, all of them synced."""
        other = Platter(self._draw, self._odds, self.capacity_bytes)
        other.files = {name: FileBytes(content.data.copy(), len(content.data)) for name, content in self.files.items()}
        other._entries = dict(other.files)
        return other

    def sync_names(self, folder: str) -> None:
        """Bring the names of the files in `folder` to the platter; "" is the directory itself."""
        for name in self._unsettled():
            if name.rpartition("/")[0] == folder:
                self._settle(name, self.files.get(name))

    def named(self, name: str) -> bool:
        """Whether the file's name is on the platter."""
        return self._entries.get(name) is self.files.get(name)

    def cut_power(self) -> None:
        """Make every file what a power cut leaves of it."""
        for name in self._unsettled():
            self._settle(name, self._survivor(self._entries.get(name), self.files.get(name)))
        self.files = dict(sorted(self._entries.items()))
        for content in self.files.values():
            if not content.synced:
                content.data = self._remains(content)
                content.sync()

    def _unsettled(self) -> list[str]:
        names = self.files.keys() | self._entries.keys()
        return sorted(name for name in names if not self.named(name))

    def _settle(self, name: str, content: FileBytes | None) -> None:
        if content is None:
            self._entries.pop(name, None)
        else:
            self._entries[name] = content

    def _survivor(self, old: FileBytes | None, new: FileBytes | None) -> FileBytes | None:
        """Return which file a name leads to whose last change was not synced."""
        if self._chance(self._odds.lose):
            return old
        if new is not None and old is not None and not new.renamed and self._chance(self._odds.lose):
            return None  # it was removed and made again; only the first of it happened
        return new

    def _remains(self, content: FileBytes) -> bytearray:
        """Return what is left of a file that was changed and not synced."""
        kept, data = content.kept, content.data
        if content.cut and self._chance(self._odds.lose):
            return self._not_cut(content)
        if self._chance(self._odds.lose):
            return data[:kept]
        end = self._draw.randint(kept, len(data)) if self._chance(self._odds.tear) else len(data)
        left = data[:end]
        if self._chance(self._odds.scatter):
            for start, stop in _blocks(kept, end):
                if self._draw.random() < 0.5:
                    left[start:stop] = self._stale(stop - start)
        return left

    def _not_cut(self, content: FileBytes) -> bytearray:
        """Return a file that is as long as it was, of which the block behind the cut may have been written already."""
        left = content.data[: content.kept] + content.cut
        if self._chance(self._odds.tear):
            stop = min((content.kept // BLOCK_BYTES + 1) * BLOCK_BYTES, len(left))
            written = content.data[content.kept : stop]
            left[content.kept : stop] = written.ljust(stop - content.kept, b"\0")
        return left

    def _stale(self, size: int) -> bytes:
        return bytes(size) if self._chance(0.7) else self._draw.randbytes(size)

    def _chance(self, odds: float) -> bool:
        return self._draw.random() < odds


def _blocks(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the pieces of `start` to `end` that lie in one block each."""
    while start < end:
        stop = min((start // BLOCK_BYTES + 1) * BLOCK_BYTES, end)
        yield start, stop
        start = stop
