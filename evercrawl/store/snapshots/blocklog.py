"""Incremental storage of blocks of columns, in which a save costs about as much as has changed.

Changed blocks are appended to files (`frames`), and a manifest names the files that count. Blocks that were saved
again become garbage. If that is more than half of all, some unchanged blocks of the oldest file are saved again, no
more than changed ones, until the file is unused and can be deleted. So a save costs about twice what changed, and the
files take about twice the space of the columns.

References
----------
Rosenblum, Ousterhout (1992). The Design and Implementation of a Log-Structured File System, section 3: segments, and
their cleaning.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evercrawl.arrays.rows import grown
from evercrawl.store.snapshots.frames import BlockSegment, file_name, numbers, pressed
from evercrawl.types import Slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.snapshots.frames import PlacedFrame

SEGMENT_BYTES: Final = 64 << 20
LEAST_BYTES: Final = 1 << 20  # minimum amount to clean at a time, if there is that much
MANY_BLOCKS: Final = 1 << 17
"""Number of blocks above which finding those to be saved takes more than a few milliseconds."""
FEW_SEGMENTS: Final = 8  # allowed beyond what the bytes would fill, because each run of a crawl starts a file


class ColumnSize(NamedTuple):
    """The number of blocks of a column, and the approximate size of one in bytes."""

    blocks: int
    block_bytes: int


class BlockLog:
    """Files of frames of one kind, and the positions of the current blocks.

    Parameters
    ----------
    disk, kind
        Disk of the files, and the prefix of their names.
    placed
        The current frames, in order, if something was saved before.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from evercrawl.store.disk.disk import RealDisk
    >>> log = BlockLog(RealDisk(pathlib.Path(tempfile.mkdtemp())), "blocks")
    >>> sizes = {"cash": ColumnSize(blocks=3, block_bytes=4)}
    >>> log.due(sizes, {"cash": np.array([1], np.uint32)})["cash"].tolist()  # nothing was ever saved
    [0, 1, 2]
    >>> log.append("cash", np.arange(3, dtype=np.uint32), b"aaaabbbbcccc", 7)
    >>> [segment.number for segment in log.end(sizes)]
    [1]
    >>> log.due(sizes, {"cash": np.array([1], np.uint32)})["cash"].tolist()
    [1]
    """

    def __init__(self, disk: Disk, kind: str, placed: Sequence[PlacedFrame] = ()) -> None:
        self._disk, self._kind = disk, kind
        self._owners = dict[str, Slots]()  # for each block, the file with its last frame; 0 if there is none
        self._raw = Counter[int]()  # bytes saved in each file, before compression
        self._ends = dict[int, int]()
        self._unsynced = set[int]()
        self._number = 0  # of the file that is appended to
        for frame in placed:
            self._take(frame.column, frame.blocks, frame.segment, frame.raw_bytes)
            self._ends[frame.segment] = frame.offset + frame.size_bytes

    @staticmethod
    def is_large(sizes: Mapping[str, ColumnSize]) -> bool:
        """Return whether `due` takes so long that another thread should call it."""
        return sum(size.blocks for size in sizes.values()) >= MANY_BLOCKS

    def due(
        self, sizes: Mapping[str, ColumnSize], changed: Mapping[str, Slots], *, clean: bool = True
    ) -> dict[str, Slots]:
        """Return the blocks of each column to be saved now, in order.

        Parameters
        ----------
        sizes
            Sizes of all columns.
        changed
            Blocks that differ from what was last saved.
        clean
            Whether to add blocks of the oldest file if that is worthwhile.
        """
        found = dict[str, Slots]()
        for column, size in sizes.items():
            wanted = self._of(column, size.blocks) == 0
            wanted[changed[column]] = True
            found[column] = np.flatnonzero(wanted).astype(np.uint32)
        if clean and self._wasteful(sizes):
            budget = sum(len(found[column]) * size.block_bytes for column, size in sizes.items())
            self._clean(sizes, found, max(budget, LEAST_BYTES))
        return found

    def append(self, column: str, blocks: Slots, raw: bytes, sequence: int) -> None:
        """Save some blocks; they count once a later manifest is written.

        Raises
        ------
        NoRoomError
            The disk is full.
        """
        if not self._number or self._ends[self._number] >= SEGMENT_BYTES:
            self._number = max([0, *self._ends, *numbers(self._disk, self._kind)]) + 1
            self._ends[self._number] = 0
        frame = pressed(column, sequence, blocks, raw)
        start = self._disk.append(file_name(self._kind, self._number), frame)
        assert start == self._ends[self._number], "nobody else writes files of frames"
        self._ends[self._number] += len(frame)
        self._unsynced.add(self._number)
        self._take(column, blocks, self._number, len(raw))

    def end(self, sizes: Mapping[str, ColumnSize]) -> list[BlockSegment]:
        """Sync what was appended; return the current files, for a manifest.

        Raises
        ------
        StoreError
            The disk has failed.
        """
        for number in sorted(self._unsynced):
            self._disk.sync(file_name(self._kind, number))
            self._unsynced.discard(number)
        oldest = self._oldest(sizes)
        return [BlockSegment(number, size) for number, size in sorted(self._ends.items()) if number >= oldest]

    def forget(self, named: Iterable[BlockSegment]) -> None:
        """Delete all files except those in a manifest, and the one that is appended to."""
        wanted = {segment.number for segment in named} | {self._number}
        for number in numbers(self._disk, self._kind):
            if number not in wanted:
                self._disk.remove(file_name(self._kind, number))
                self._raw.pop(number, None)
                self._ends.pop(number, None)

    def _wasteful(self, sizes: Mapping[str, ColumnSize]) -> bool:
        live = sum(np.count_nonzero(self._of(column, size.blocks)) * size.block_bytes for column, size in sizes.items())
        raw = sum(self._raw.values())
        return bool(raw > 2 * live) or len(self._raw) > FEW_SEGMENTS + raw // SEGMENT_BYTES

    def _clean(self, sizes: Mapping[str, ColumnSize], found: dict[str, Slots], budget: int) -> None:
        """Add blocks of the oldest file to those to be saved, up to `budget` bytes."""
        oldest = self._oldest(sizes)
        for column, size in sizes.items():
            old = np.setdiff1d(np.flatnonzero(self._of(column, size.blocks) == oldest), found[column])
            old = old[: max(budget // size.block_bytes, 0)]
            found[column] = np.union1d(found[column], old).astype(np.uint32)
            budget -= len(old) * size.block_bytes

    def _oldest(self, sizes: Mapping[str, ColumnSize]) -> int:
        """Return the oldest file that has the last frame of a block."""
        owners = [self._of(column, size.blocks) for column, size in sizes.items()]
        return min((int(each[each > 0].min(initial=self._number or 1 << 31)) for each in owners), default=self._number)

    def _take(self, column: str, blocks: Slots, number: int, raw_bytes: int) -> None:
        self._raw[number] += raw_bytes
        if len(blocks):
            self._of(column, int(blocks[-1]) + 1)[blocks] = number

    def _of(self, column: str, blocks: int) -> Slots:
        """Return, for the first blocks of a column, the files with their last frames, as a view."""
        owners = self._owners.get(column)
        if owners is None or len(owners) < blocks:
            owners = self._owners[column] = grown(np.zeros(0, np.uint32) if owners is None else owners, blocks)
        return owners[:blocks]
