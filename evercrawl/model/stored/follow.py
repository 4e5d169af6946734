"""A crawl directory, opened to be asked, that takes in what a crawl beside it adds, and is not opened again for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evercrawl.errors import EvercrawlError
from evercrawl.model.stored.reader import opened
from evercrawl.store import folding
from evercrawl.store.forgotten import stamp
from evercrawl.store.journal.events import Event, Switched, Visit
from evercrawl.store.journal.segment import segments
from evercrawl.store.partition import Partition, crawl_id
from evercrawl.store.snapshots.snapshot import newest_head

TURN_S: Final = 0.02
"""Time that one turn takes in events at most; the rest waits for the next."""
RECENT: Final = 256
HELD: Final = 4096
"""URLs that are in memory only, before it is seen whether they are on the disk."""


class Follower:
    """The state of a crawl as its journal has it, kept up to date by `turn`.

    It is what opening the directory anew would give, bit for bit. A directory that was replaced by another crawl, whose
    journal became shorter, or whose new events cannot be folded is opened anew.

    Parameters
    ----------
    directory
        Of the crawl; nothing is written there.
    heard
        Called with each event that was taken in.

    Attributes
    ----------
    partition
        The crawl as far as it was read.
    recent
        The last visits that were taken in, the newest last: number of the event and the event.
    openings
        How often it was opened; whoever keeps something made from the state makes it anew when this changes.

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
        """How many events the state has taken in."""
        return self.partition.journal.sequence

    def turn(self, most_s: float = TURN_S) -> int:
        """Take in what is new, for about `most_s` at most; return how many events that were.

        What a snapshot holds of the URLs is on the disk for good, so it is kept in memory no longer.

        Raises
        ------
        EvercrawlError
            The directory cannot be opened any more; the next turn tries again.
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
                    elif isinstance(event, Switched):  # what it moves is on the disk, and not in the events
                        self._lost = True
                        return count + 1
                count += len(frame)
                if time.perf_counter() > until:
                    break
        except (EvercrawlError, AssertionError, LookupError, ValueError):  # nothing half folded is kept
            self.take(opened(self.directory)).close()
        return count

    def take(self, anew: Partition) -> Partition:
        """Go on from a directory that was opened anew; return what was followed before, for the caller to close."""
        before, self.partition = self.partition, anew
        self.openings += 1
        self.recent.clear()
        self._lost, self._kept = False, HELD
        return before

    def lose(self) -> None:
        """Have the directory opened anew."""
        self._lost = True

    def close(self) -> None:
        """Let the directory go."""
        self.partition.close()

    def replaced(self) -> bool:
        """Whether the directory has to be opened anew.

        Another crawl is there now, something was forgotten, the journal ends before what was read, importance is
        learned in another way, or following failed.
        """
        if self._lost or stamp(self.directory) != self.partition.forgotten_stamp:
            return True
        try:
            end = segments(self.partition.disk)[-1].end
        except (OSError, IndexError, EvercrawlError):
            return False
        return end < self.partition.journal.position or crawl_id(self.directory) not in ("", self.partition.birth.id)

    def _release(self) -> None:
        """Let go of URLs that the last snapshot holds: no crash takes those from the disk."""
        state = self.partition.state
        if state.known.waiting >= self._kept:
            head = newest_head(self.partition.disk)
            if head is not None and head.sequence <= self.sequence:
                state.let_go(head.known)
            self._kept = state.known.waiting + HELD
