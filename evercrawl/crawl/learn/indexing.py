"""Synchronisation of the search index with a running crawl.

Pages go into the index as they are learned, some in each turn of the crawl. The index's own thread processes their
words; another Python thread in between would only compete with the crawl for the interpreter. The index is committed
now and then, in a thread, and only up to an event that is on the disk, so the index never has a visit that a crash
removes from the journal. If a crash removes pages from the index, the next start finds them by comparing the index with
the records, and reads them from the archive.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from itertools import islice
from typing import Final

import numpy as np

from evercrawl.clock import Clock
from evercrawl.crawl.ports import Offload
from evercrawl.errors import StoreError
from evercrawl.model.stored.contents import spans
from evercrawl.model.stored.indexed import difference, entry_of, page_of, slots_of_targets, unread
from evercrawl.model.stored.remembered import Remembered
from evercrawl.search.anchors import Anchors
from evercrawl.search.index import Index, IndexedPage
from evercrawl.store.journal.events import NOINDEX
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import FINDABLE
from evercrawl.types import NO_SLOT

TOGETHER: Final = 64  # pages written to the index at once: some 2 ms
WORDS_TOGETHER: Final = 1 << 12  # anchor texts written to the index at once
MOST_BYTES: Final = 48 << 20  # text waiting for the index; if there is more, the crawl waits
MOST_WORDS: Final = 1 << 15  # anchor texts waiting for the index; if there are more, the crawl waits
MENDED_TOGETHER: Final = 16  # pages read from the archive at once
TOLD_TOGETHER: Final = 5  # messages about unreadable pages reported at once
CROWDED: Final = 1.5  # crowding of anchor texts within the index (1 is normal) above which the crawl waits
TRIED_S: Final = 60.0  # time between two attempts while the index cannot be written


class Indexing:
    """Synchronises one search index with one partition.

    Parameters
    ----------
    index, anchors
        The search index, and the filter of its anchor texts.
    partition, clock
        The crawl directory, and the time.
    offload
        Runs commits in a thread; a commit takes a second, most of it waiting for the index's own threads.
    every_s
        Time between two commits of the index.

    Attributes
    ----------
    message
        Why the index cannot be written at present; "" if it can.
    """

    def __init__(
        self, index: Index, anchors: Anchors, partition: Partition, clock: Clock, offload: Offload, *, every_s: float
    ) -> None:
        self._index, self._anchors = index, anchors
        self._partition, self._state = partition, partition.state
        self._clock, self._offload, self._every_s = clock, offload, every_s
        self.message = ""
        self._told: list[str] = []
        self._pages: dict[int, IndexedPage] = {}
        self._words: list[tuple[int, str]] = []
        self._removed: set[int] = set()
        self._bytes = 0
        self._missing: list[int] = []  # slots of pages to be read from the archive, the last first
        self._task: asyncio.Task[None] | None = None
        self._dirty_at: float | None = None
        self._settle: Callable[[], Awaitable[None]] = _at_once
        self._wake: Callable[[], None] = _nothing
        self._tried_at = float("-inf")
        self._abandoned = True  # False while changes of a failed write could not be discarded
        if index.at != partition.journal.sequence:
            self._compare()

    def connect(self, settle: Callable[[], Awaitable[None]], wake: Callable[[], None]) -> None:
        """Set the function that commits everything learned so far, and the one to call when a commit has ended."""
        self._settle, self._wake = settle, wake

    def news(self) -> str:
        """Return a message for the user, "" for none; each message about a page is returned once."""
        told, self._told = self._told, []
        return self.message or "; ".join(told[:TOLD_TOGETHER])

    @property
    def behind(self) -> bool:
        """Whether the crawl should wait for the index."""
        return self._bytes > MOST_BYTES or self._index.crowding > CROWDED or len(self._words) > MOST_WORDS

    @property
    def missing(self) -> int:
        """Number of pages that have yet to be read from the archive."""
        return len(self._missing)

    def learned(self, visit: Remembered) -> None:
        """Take in a visit that has just been remembered."""
        if self.message:
            return  # once the index can be written again, `_compare` finds what it lacks
        reading, event = visit.reading, visit.event
        slot, content, before = event.slot, reading.content, reading.before
        record = self._state.record_of(slot)
        now = record is not None and bool(self._state.records.rows["flags"][record] & FINDABLE)
        if not now:
            if before.findable:
                self._forget(slot)
            return
        if before.findable and before.digest == event.digest:
            return
        if content is None or content.digest != event.digest or content.digest == before.digest:
            self._missing.append(slot)  # the stored content was not parsed again
        else:
            url, hidden = reading.exchange.request.url, bool(event.flags & NOINDEX)
            page = page_of(self._state, slot, url, event.digest, content, hidden=hidden)
            slots = slots_of_targets(content, visit.leads.slots)
            if self._state.forgotten:
                slots = np.where(self._state.forgotten.mask(slots), np.uint32(NO_SLOT), slots)
            words = self._anchors.new(spans(content), slots, content.text)
            self._take(page, words)
        self._changed()

    @property
    def _much_waits(self) -> bool:
        words = len(self._words) > MOST_WORDS
        return words or len(self._pages) >= TOGETHER or self._bytes > MOST_BYTES // 2

    @property
    def pressing(self) -> bool:
        """Whether enough waits that the next `turn` writes a part of it."""
        return self._task is None and not self.message and (self._much_waits or self._index.crowding > 1.0)

    def next_at(self) -> float:
        """Return the instant at which the next `turn` is due."""
        if self._task is not None:
            return float("inf")  # its end wakes the crawl
        if self.message:
            return self._tried_at + TRIED_S
        if self._missing or self._much_waits or self._index.crowding > 1.0:
            return float("-inf")
        return self._dirty_at + self._every_s if self._dirty_at is not None else float("inf")

    def turn(self, now: float) -> None:
        """Begin the work that is due, and take in the result of a commit that has ended."""
        if self._task is not None and self._task.done():
            task, self._task = self._task, None
            self._hear(task, now)
        if self._task is not None or (self.message and now < self._tried_at + TRIED_S):
            return
        if self.message:
            if not self._abandoned and not self._renew(now):
                return
            self.message = ""
            self._compare()
        if self._dirty_at is not None and now >= self._dirty_at + self._every_s:
            self._begin(self._commit())
        elif self._index.crowding > 1.0:
            self._put(now, self._index.write_waiting)
        elif self._much_waits:
            self._put(now, lambda: self._write(TOGETHER))
        elif self._missing:
            self._mend()

    async def finish(self) -> None:
        """Commit everything learned; pages that have yet to be read from the archive are left for the next start."""
        if self._task is not None:
            await asyncio.wait([self._task])
            task, self._task = self._task, None
            self._hear(task, self._clock.now())
        if not self.message and (self._dirty_at is not None or self._index.at != self._partition.journal.sequence):
            try:
                await self._commit()
            except StoreError as error:
                self.message = str(error)

    def close(self) -> None:
        """Close the index; uncommitted changes are lost."""
        self._index.close()

    def _begin(self, work: Coroutine[object, object, None]) -> None:
        self._task = asyncio.ensure_future(work)
        self._task.add_done_callback(lambda _: self._wake())

    def _hear(self, task: asyncio.Task[None], now: float) -> None:
        try:
            task.result()
        except StoreError as error:
            self._failed(error, now)

    def _failed(self, error: StoreError, now: float) -> None:
        """Continue without the index for a while; it can be rebuilt."""
        self.message, self._tried_at = str(error), now
        self._renew(now)

    def _renew(self, now: float) -> bool:
        """Have the index be written again from its last commit on; return whether it can be."""
        self._tried_at, self._abandoned = now, False
        try:
            self._index.abandon()
        except StoreError as error:
            self.message = str(error)
            return False
        self._anchors.forget()  # what it let through is lost
        self._abandoned = True
        return True

    def _compare(self) -> None:
        """Find the pages that the index lacks, and those that it should not have."""
        self._pages.clear()
        self._words.clear()
        self._bytes = 0
        lacking = difference(self._state, self._index)
        self._missing = lacking.missing[::-1].tolist()
        self._removed = set(lacking.extra.tolist())
        if self._missing or self._removed:
            self._changed()

    def _changed(self) -> None:
        if self._dirty_at is None:
            self._dirty_at = self._clock.now()

    def _take(self, page: IndexedPage, words: list[tuple[int, str]]) -> None:
        old = self._pages.get(page.slot)
        self._pages[page.slot] = page
        self._removed.discard(page.slot)
        self._words += words
        self._bytes += len(page.text) - (len(old.text) if old is not None else 0)

    def _forget(self, slot: int) -> None:
        old = self._pages.pop(slot, None)
        self._bytes -= len(old.text) if old is not None else 0
        self._removed.add(slot)
        self._changed()

    def _put(self, now: float, write: Callable[[], None]) -> None:
        try:
            write()
        except StoreError as error:
            self._failed(error, now)

    def _write(self, most: int) -> None:
        """Write up to `most` waiting pages to the index, with removals and a piece of the anchor texts."""
        slots = list(islice(self._pages, most))
        pages, removed = [self._pages.pop(slot) for slot in slots], sorted(self._removed)
        words, self._words = self._words[:WORDS_TOGETHER], self._words[WORDS_TOGETHER:]
        self._removed = set()
        self._bytes -= sum(len(page.text) for page in pages)
        if removed:
            self._index.remove(removed)
        if pages:
            self._index.put(pages)
        if words:
            self._index.add_anchors(words)

    async def _commit(self) -> None:
        """Commit the index up to the newest event, once that event is on the disk."""
        sequence, whole = self._partition.journal.sequence, not self._missing
        self._dirty_at = None if whole else self._clock.now()
        pieces = max(-(-len(self._pages) // TOGETHER), -(-len(self._words) // WORDS_TOGETHER), 1)
        for _ in range(pieces):  # pages learned meanwhile may wait for the next commit
            while self._index.crowding > CROWDED:  # otherwise the whole excess would be written at once
                self._index.write_waiting()
                await asyncio.sleep(0)
            self._write(TOGETHER)
            await asyncio.sleep(0)
        await self._settle()
        await self._offload(self._index.commit, sequence if whole else -1)

    def _mend(self) -> None:
        """Read some pages from the archive."""
        for slot in [self._missing.pop() for _ in range(min(MENDED_TOGETHER, len(self._missing)))]:
            try:
                entry = entry_of(self._partition, slot, self._anchors)
            except StoreError as error:  # a damaged archive must not stop the crawl
                self._told.append(f"{self._state.urls.get(slot)} will not be found until it changes: {error}")
                entry = unread(self._state, slot)
            if entry is not None:
                self._take(*entry)


async def _at_once() -> None:
    pass


def _nothing() -> None:
    pass
