"""Incremental saving of a policy's lessons while the crawl goes on learning.

Sums must not count an event twice, so a save has to be consistent at one instant. Changed blocks are copied a
megabyte at a time; blocks changed meanwhile are copied again, until the rest is small enough to copy at once: that is
the instant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from evercrawl.arrays.blocks import blocks_of
from evercrawl.errors import NoRoomError
from evercrawl.model.policy.lessons_file import file_of, head_of, keep, segments_named
from evercrawl.store.disk.stamped import LEARNED
from evercrawl.store.snapshots.blocklog import BlockLog, ColumnSize

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from evercrawl.arrays.saved import SavedRows
    from evercrawl.schedule.abilities import Learns
    from evercrawl.store.partition import Partition
    from evercrawl.store.snapshots.frames import PlacedFrame
    from evercrawl.types import Slots

COPIED_BYTES: Final = 1 << 20
"""Of rows, copied at a time: within a millisecond."""
AT_ONCE_BYTES: Final = 4 << 20
"""So little is copied at one instant."""
_PASSES: Final = 16
"""After so many all that is left is."""


class LessonsLog:
    """Writes a policy's lessons.

    Parameters
    ----------
    partition, policy
        The crawl and the policy.
    rows
        The arrays saved in blocks.
    placed
        Where blocks saved earlier are.
    """

    def __init__(
        self, partition: Partition, policy: Learns, rows: Mapping[str, SavedRows], placed: Sequence[PlacedFrame]
    ) -> None:
        self._partition, self._policy, self._rows = partition, policy, rows
        self._log = BlockLog(partition.disk, LEARNED, placed)

    async def write(
        self,
        told: Callable[[], dict[str, NDArray[Any]]],
        settle: Callable[[], Awaitable[None]],
        offload: Callable[..., Awaitable[Any]],
    ) -> None:
        """Write the lessons so far; if the disk is full, the former ones stay.

        Parameters
        ----------
        told
            Feeds all pending visits to the policy, and returns the state outside rows.
        settle
            Returns once every event so far is on disk.
        offload
            Runs a function without blocking the crawl, and returns its result.
        """
        taken = {name: list["Slots"]() for name in self._rows}
        try:
            large = self._log.is_large(self._sizes())
            if large:  # what is written to meanwhile is due below
                found = await offload(self._log.due, self._sizes(), self._changed(taken))
                for name, blocks in self._parts(found):
                    await offload(self._log.append, name, blocks, self._rows[name].copied(blocks), 0)
            memory, due = told(), self._due(taken, clean=not large)
            for _ in range(_PASSES):
                if self._bytes(due) <= AT_ONCE_BYTES:
                    break
                for name, blocks in self._parts(due):
                    await offload(self._log.append, name, blocks, self._rows[name].copied(blocks), 0)
                memory, due = told(), self._due(taken, clean=False)
            last = [(name, blocks, self._rows[name].copied(blocks)) for name, blocks in due.items() if len(blocks)]
            head, sizes = head_of(self._partition, self._policy, memory, self._rows), self._sizes()
            for name, blocks, data in last:
                await offload(self._log.append, name, blocks, data, 0)
            await settle()
            segments = await offload(self._log.end, sizes)
            await offload(self._end, msgspec.structs.replace(head, segments=segments), memory)
        except BaseException as error:
            for name, parts in taken.items():
                for blocks in parts:
                    self._rows[name].changed.put_back(blocks)
            if not isinstance(error, NoRoomError):
                raise

    def _end(self, head: Any, memory: dict[str, NDArray[Any]]) -> None:
        disk = self._partition.disk
        keep(disk, head.sequence, file_of(head, memory))
        self._log.forget([*segments_named(disk), *head.segments])

    def _due(self, taken: dict[str, list[Slots]], *, clean: bool) -> dict[str, Slots]:
        return self._log.due(self._sizes(), self._changed(taken), clean=clean)

    def _changed(self, taken: dict[str, list[Slots]]) -> dict[str, Slots]:
        changed = {name: rows.changed.take(len(rows)) for name, rows in self._rows.items()}
        for name, blocks in changed.items():
            taken[name].append(blocks)
        return changed

    def _sizes(self) -> dict[str, ColumnSize]:
        return {
            name: ColumnSize(blocks_of(len(rows), rows.bits), rows.block_bytes) for name, rows in self._rows.items()
        }

    def _bytes(self, due: Mapping[str, Slots]) -> int:
        return sum(len(blocks) * self._rows[name].block_bytes for name, blocks in due.items())

    def _parts(self, due: Mapping[str, Slots]) -> Iterator[tuple[str, Slots]]:
        """Yield the blocks to copy, in batches."""
        for name, blocks in due.items():
            many = max(COPIED_BYTES // self._rows[name].block_bytes, 1)
            for first in range(0, len(blocks), many):
                yield name, np.ascontiguousarray(blocks[first : first + many])
