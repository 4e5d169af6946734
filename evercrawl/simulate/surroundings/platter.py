"""The durable state behind a virtual disk, and the effect of a power cut on unsynced changes.

After a power cut, a file that was appended to, truncated or renamed without a sync has any state between that of the
last sync and the present one, chosen at random.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

BLOCK_BYTES: Final = 4096  # a file system writes and loses whole blocks
PLENTY_BYTES: Final = 1 << 60


@dataclass(slots=True, eq=False)
class FileBytes:
    """The bytes of one file, independent of its name.

    Attributes
    ----------
    data
        The contents as read.
    kept
        Number of leading bytes unchanged since the last sync.
    cut
        The bytes that followed them then, and were truncated since.
    renamed
        Whether it got its name by a rename, so that no power cut leaves the name without a file.
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
        """Make everything durable."""
        self.kept, self.cut = len(self.data), b""

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes; a power cut before the next sync may undo it."""
        if size < self.kept:
            self.cut = bytes(self.data[size : self.kept]) + self.cut
            self.kept = size
        del self.data[size:]


@dataclass(frozen=True, slots=True)
class Odds:
    """Probabilities of the fates of an unsynced change.

    Attributes
    ----------
    lose
        The change is lost: an append, a truncation, a new name, a removal.
    tear
        Only the first part of an append that is not lost was written, up to any byte.
    scatter
        Blocks within the written part are missing: they read as zeros, or as former disk contents.
    """

    lose: float = 0.4
    tear: float = 0.5
    scatter: float = 0.3


class Platter:
    """Names and contents, as a running system sees them, and as a power cut would leave them.

    Parameters
    ----------
    draw
        Random source that decides what survives.
    odds
        Probabilities of each fate.

    Attributes
    ----------
    files
        Name -> content, as a running system sees them.
    capacity_bytes
        Capacity for all of them together; None for unlimited.
    """

    def __init__(self, draw: random.Random, odds: Odds, capacity_bytes: int | None = None) -> None:
        self.files: dict[str, FileBytes] = {}
        self.capacity_bytes = capacity_bytes
        self._entries: dict[str, FileBytes] = {}  # the durable state
        self._draw, self._odds = draw, odds

    def room(self) -> int:
        """Return the free space in bytes; a very large number without a limit."""
        if self.capacity_bytes is None:
            return PLENTY_BYTES
        return max(self.capacity_bytes - sum(len(content.data) for content in self.files.values()), 0)

    def unsynced(self) -> list[str]:
        """Return the names that a power cut might change, sorted."""
        changed = {name for name, content in self.files.items() if not content.synced}
        return sorted(changed.union(self._unsettled()))

    def copy(self) -> Platter:
        """Return the same files, all of them synced."""
        other = Platter(self._draw, self._odds, self.capacity_bytes)
        other.files = {name: FileBytes(content.data.copy(), len(content.data)) for name, content in self.files.items()}
        other._entries = dict(other.files)
        return other

    def sync_names(self, folder: str) -> None:
        """Make the names of the files in `folder` durable; "" is the directory itself."""
        for name in self._unsettled():
            if name.rpartition("/")[0] == folder:
                self._settle(name, self.files.get(name))

    def named(self, name: str) -> bool:
        """Return whether the file's name is durable."""
        return self._entries.get(name) is self.files.get(name)

    def cut_power(self) -> None:
        """Reduce every file to what a power cut leaves of it."""
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
        """Return the file that a name refers to if its last change was not synced."""
        if self._chance(self._odds.lose):
            return old
        if new is not None and old is not None and not new.renamed and self._chance(self._odds.lose):
            return None  # it was removed and created again; only the removal survived
        return new

    def _remains(self, content: FileBytes) -> bytearray:
        """Return what is left of a file changed without a sync."""
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
        """Return a file at its old length, whose block after the cut may already be overwritten."""
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
    """Yield the pieces of `start` to `end`, split at block boundaries."""
    while start < end:
        stop = min((start // BLOCK_BYTES + 1) * BLOCK_BYTES, end)
        yield start, stop
        start = stop
