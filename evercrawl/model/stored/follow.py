"""Following a crawl directory: a read-only state that takes in new events without reopening."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evercrawl.errors import EvercrawlError
from evercrawl.model.stored.reader import opened
from evercrawl.store import folding
from evercrawl.store.birth import crawl_id
from evercrawl.store.forgotten import stamp
from evercrawl.store.journal.events import Event, Switched, Visit
from evercrawl.store.journal.segment import segments
from evercrawl.store.partition import Partition
from evercrawl.store.snapshots.snapshot import newest_head

TURN_S: Final = 0.02
"""Time that one turn takes in events at most; the rest waits for the next."""
RECENT: Final = 256
HELD: Final = 4096
"""URLs that are in memory only, before it is seen whether they are on the disk."""


class Follower:
    """The state of a crawl by its journal, kept up to date by `turn`.

    It equals, bit for bit, the state after reopening the directory. The directory is reopened if it was replaced by
    another crawl, if its journal became shorter, or if its new events cannot be folded.

    Parameters
    ----------
    directory
        The crawl's directory; nothing is written there.
    heard
        Called with each new event.

    Attributes
    ----------
    partition
        The crawl as read so far.
    recent
        The last visits taken in, the newest last: number of the event, and the event.
    openings
        Number of times it was opened; anything computed from the state is invalid when this changes.

    Raises
    ------
    ConfigError
        There is no crawl.
    StoreError
        It is damaged.
    """

    def __init__(self, directory: Path, heard: Callable[[Event], None] = lambda _: None) -> None:
        self.directory, self._heard = directory, heard
        self.partition: Partition = opened(directory)
        self.recent: deque[tuple[int, Visit]] = deque(maxlen=RECENT)
        self.openings = 1
        self._lost = False
        self._kept = HELD

    @property
    def sequence(self) -> int:
        """Number of events folded into the state."""
        return self.partition.journal.sequence

    def turn(self, most_s: float = TURN_S) -> int:
        """Take in new events, for about `most_s` at most; return their number.

        URLs that a snapshot contains are safely on disk, so they are dropped from memory.

        Raises
        ------
        EvercrawlError
            The directory cannot be opened; the next turn tries again.
        """
        if self.replaced():
            self.take(opened(self.directory)).close()
        self._release()
        journal, state = self.partition.journal, self.partition.state
        count, until = 0, time.perf_counter() + most_s
        try:
            for frame in journal.news():
                for pointer, number, event in frame:
                    folding.replay(state, event, pointer, number)
                    self._heard(event)
                    if isinstance(event, Visit):
                        self.recent.append((number, event))
                    elif isinstance(event, Switched):  # it moves data on disk that the events do not contain
                        self._lost = True
                        return count + 1
                count += len(frame)
                if time.perf_counter() > until:
                    break
        except (EvercrawlError, AssertionError, LookupError, ValueError):  # no partial fold is kept
            self.take(opened(self.directory)).close()
        return count

    def take(self, anew: Partition) -> Partition:
        """Continue from a directory just opened; return the former one for the caller to close."""
        before, self.partition = self.partition, anew
        self.openings += 1
        self.recent.clear()
        self._lost, self._kept = False, HELD
        return before

    def lose(self) -> None:
        """Have the directory reopened at the next turn."""
        self._lost = True

    def close(self) -> None:
        """Close the directory."""
        self.partition.close()

    def replaced(self) -> bool:
        """Whether the directory has to be reopened.

        That is so if it contains another crawl, data was forgotten, the journal ends before the position read, the
        importance scheme changed, or following failed.
        """
        if self._lost or stamp(self.directory) != self.partition.forgotten_stamp:
            return True
        try:
            end = segments(self.partition.disk)[-1].end
        except (OSError, IndexError, EvercrawlError):
            return False
        return end < self.partition.journal.position or crawl_id(self.directory) not in ("", self.partition.birth.id)

    def _release(self) -> None:
        """Drop URLs from memory that the last snapshot contains: a crash cannot lose those."""
        state = self.partition.state
        if state.known.waiting >= self._kept:
            head = newest_head(self.partition.disk)
            if head is not None and head.sequence <= self.sequence:
                state.let_go(head.known)
            self._kept = state.known.waiting + HELD
