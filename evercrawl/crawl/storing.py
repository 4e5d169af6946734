"""Stores what was learned: group commits, snapshots, and the handling of a full disk."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from evercrawl.errors import ApplyError, NoRoomError

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.crawl.ports import Offload
    from evercrawl.crawl.posting.second_copy import SecondCopy
    from evercrawl.store.journal.journal import Batch
    from evercrawl.store.partition import Partition

COMMIT_EVENTS: Final = 256
COMMIT_S: Final = 0.05
ROOM_TRIED_S: Final = 1.0
HURRY_BYTES: Final = 128 << 20  # a segment of this size is read and indexed within 2 s


class Storing:
    """Commits and snapshots of one partition, made alongside the crawl.

    Parameters
    ----------
    partition, clock, offload
        The partition, the clock, and a place for slow work.
    wake
        Called when a commit has ended, so that `turn` is called again.
    disk_wait_s
        How long a full disk is tolerated.
    snapshot_every_s
        The time between snapshots.
    also
        Called when a snapshot is written, to write other files; its arguments commit, and run slow work.
    before
        Called where slow work runs, before each commit is written, for what must be on the disk before the journal.
    second
        The second copy that has to hold a commit before it counts; None if the disk here is enough.

    Attributes
    ----------
    stored
        The number of events of the journal that are on the disk, as far as this run knows.
    message
        Why fetching has stopped; "" if it has not.
    """

    def __init__(
        self,
        partition: Partition,
        clock: Clock,
        offload: Offload,
        wake: Callable[[], None],
        *,
        disk_wait_s: float,
        snapshot_every_s: float,
        also: Callable[[Callable[[], Awaitable[None]], Offload], Awaitable[None]] | None = None,
        before: Callable[[], None] | None = None,
        second: SecondCopy | None = None,
    ) -> None:
        self._partition = partition
        self._journal = partition.journal
        self._clock = clock
        self._offload = offload
        self._wake = wake
        self._disk_wait_s = disk_wait_s
        self._snapshot_every_s = snapshot_every_s
        self._also, self._before, self._second = also, before, second
        self._sealed: deque[Batch] = deque()
        self._commit: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()  # a snapshot commits too, and batches are written one at a time
        self._committed = self.stored = self._journal.sequence
        self._changed_at: float | None = None
        self._snapshot: asyncio.Task[str] | None = None
        self._snapshot_at = clock.now()
        self._snapshot_sequence = -1 if partition.repairs else self._journal.sequence
        self._indexing: asyncio.Task[None] | None = None
        self._segment = partition.archive.end.segment
        self._full_at: float | None = None
        self._again_at = 0.0
        self._error: NoRoomError | None = None
        self._abandoned = False
        self._counts = second is None  # whether earlier events count as stored, as far as this run knows
        if second is not None:
            self.changed()

    @property
    def full(self) -> bool:
        """Whether nothing can be stored: the disk is full, or the second copy cannot be written."""
        return self._full_at is not None or not self._counts or (self._second is not None and self._second.away)

    @property
    def message(self) -> str:
        """What is wrong; "" if nothing is."""
        return str(self._error) if self._error is not None else self._second.message if self._second else ""

    def changed(self) -> None:
        """Note that there is something new to commit."""
        if self._changed_at is None:
            self._changed_at = self._clock.now()

    def distrusts(self) -> bool:
        """Mark a second copy as not to be opened until a later run has compared it; return whether it is marked."""
        if self._second is None or self._second.distrusted:
            return True
        self._second.distrust()
        self.changed()
        return False

    def next_at(self) -> float:
        """Return the time of the next thing to do."""
        if self._commit is not None:  # its end wakes the crawl
            return float("inf")
        return max(self._due_at(), self._again_at) if self.full else self._due_at()

    def may_try(self, now: float) -> bool:
        """Whether to try writing: there is room, or it is time to check again."""
        return not self.full or now >= self._again_at

    def no_room(self, now: float, error: NoRoomError) -> None:
        """Note that the disk is full.

        Raises
        ------
        NoRoomError
            It has been full for longer than `disk_wait_s`.
        """
        self._again_at = now + ROOM_TRIED_S
        if self._full_at is None:
            self._full_at, self._error = now, error
        elif now - self._full_at >= self._disk_wait_s:
            raise error

    def turn(self, now: float) -> None:
        """Start what is due, and handle what has ended."""
        self._hear(now)
        self._index_finished()
        waited = now >= self._due_at()
        many = self._journal.sequence - self._committed >= COMMIT_EVENTS
        if (waited or many) and self._commit is None and self.may_try(now):
            self._commit = asyncio.ensure_future(self.commit())
            self._commit.add_done_callback(self._heard_of)
            self._commit.add_done_callback(lambda _: self._wake())
        if now - self._snapshot_at >= self._snapshot_every_s and self._snapshot is None and not self.full:
            self._snapshot_at = now
            if self._journal.sequence != self._snapshot_sequence:
                self._snapshot = asyncio.ensure_future(self._write_snapshot())
                self._snapshot.add_done_callback(self._heard_of)

    @staticmethod
    def _heard_of(task: asyncio.Task[Any]) -> None:
        """Retrieve the exception of a task; if the crawl has ended, it was reported elsewhere."""
        _ = task.cancelled() or task.exception()

    def _index_finished(self) -> None:
        """Index a segment once the next one has begun; until then its contents are kept in memory."""
        if self._indexing is not None and self._indexing.done():
            indexing, self._indexing = self._indexing, None
            with contextlib.suppress(NoRoomError):  # archive and journal report it, and the end tries again
                indexing.result()
        if self._indexing is None and self._partition.archive.end.segment != self._segment:
            self._segment = self._partition.archive.end.segment
            self._indexing = asyncio.ensure_future(self._index())

    async def _index(self) -> None:
        await self._offload(self._partition.index_archive, False)

    async def commit(self) -> None:
        """Store everything learned so far; when this returns, it is acknowledged.

        Raises
        ------
        ApplyError
            Nothing may be stored any more.
        """
        if self._abandoned:
            raise ApplyError("memory was only partly changed and is not written any more")
        self._changed_at = None
        self._committed = upto = self._journal.sequence
        self._partition.flush()
        self._sealed.append(self._journal.seal())
        async with self._writing:
            await self._offload(self._write)
            position = self._journal.durable
        if self._second is None or await self._second.hold(position):
            self.stored, self._counts = max(self.stored, upto), True

    async def abandon(self) -> None:
        """Wait until nothing is written any more; what is not on its way to the disk yet is never written."""
        self._abandoned = True
        self._wait_no_longer()
        for task in (self._commit, self._snapshot, self._indexing):
            if task is not None:
                await asyncio.wait([task])
                _ = task.cancelled() or task.exception()  # the failure is known

    async def settle(self) -> None:
        """Commit, after any commit under way."""
        if self._commit is not None:
            with contextlib.suppress(NoRoomError):
                await self._commit
        await self.commit()

    async def finish(self, *, hurry: bool = False) -> None:
        """Store everything: commit, snapshot, index of the archive.

        Parameters
        ----------
        hurry
            Whether someone waits for the end. Then slow work that can be made up for later is left out: the index of
            a large segment after a crash.

        Raises
        ------
        NoRoomError
            The disk is full; what was acknowledged is safe.
        """
        if self._error is not None:
            raise self._error
        self._wait_no_longer()
        if self._snapshot is not None:
            await self._snapshot
        await self.settle()
        if self._journal.sequence != self._snapshot_sequence:
            await self._write_snapshot()
        if self._indexing is not None:
            await self._indexing
        await self._offload(self._partition.index_archive, True, HURRY_BYTES if hurry else None)

    def _wait_no_longer(self) -> None:
        if self._second is not None:
            self._second.end()

    def _due_at(self) -> float:
        return self._changed_at + COMMIT_S if self._changed_at is not None else float("inf")

    def _hear(self, now: float) -> None:
        if self._commit is not None and self._commit.done():
            commit, self._commit = self._commit, None
            try:
                commit.result()
            except NoRoomError as error:
                self.no_room(now, error)
                self._changed_at = now
            else:
                self._room()
        if self._snapshot is not None and self._snapshot.done():
            snapshot, self._snapshot = self._snapshot, None
            try:
                snapshot.result()
            except NoRoomError as error:
                self.no_room(now, error)
                self._changed_at = now

    def _room(self) -> None:
        """Note that everything could be written; a write to the archive alone says nothing about the other files."""
        if not self._sealed:
            self._full_at, self._error = None, None

    async def _write_snapshot(self) -> str:
        sequence = self._journal.sequence
        name = await self._partition.snapshot(self.settle, self._offload)
        self._snapshot_sequence = sequence
        if self._also is not None:
            await self._also(self.settle, self._offload)
        return name

    def _write(self) -> None:
        """Write the archive first, then the journal that names its records."""
        if self._before is not None:
            self._before()
        self._partition.archive.sync()
        while self._sealed:
            self._journal.write(self._sealed[0])
            self._sealed.popleft()
