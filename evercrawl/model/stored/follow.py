"""A crawl directory, opened to be asked, that takes in what a crawl beside it adds, and is not opened again for it."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from typing import Final

from evercrawl.errors import EvercrawlError
from evercrawl.model.stored.reader import opened
from evercrawl.store import folding
from evercrawl.store.journal.events import Switched, Visit
from evercrawl.store.journal.segment import segments
from evercrawl.store.partition import Partition, crawl_id

TURN_S: Final = 0.02
"""Time that one turn takes in events at most; the rest waits for the next."""
RECENT: Final = 256


class Follower:
    """The state of a crawl as its journal has it, kept up to date by `turn`.

    It is what opening the directory anew would give, bit for bit. A directory that was replaced by another crawl, whose
    journal became shorter, or whose new events cannot be folded is opened anew.

    Parameters
    ----------
    directory
        Of the crawl; nothing is written there.

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

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.partition: Partition = opened(directory)
        self.recent: deque[tuple[int, Visit]] = deque(maxlen=RECENT)
        self.openings = 1

    @property
    def sequence(self) -> int:
        """How many events the state has taken in."""
        return self.partition.journal.sequence

    def turn(self, most_s: float = TURN_S) -> int:
        """Take in what is new, for about `most_s` at most; return how many events that were.

        Raises
        ------
        EvercrawlError
            The directory cannot be opened any more; the next turn tries again.
        """
        if self._replaced():
            self._reopen()
        journal, state = self.partition.journal, self.partition.state
        count, until = 0, time.perf_counter() + most_s
        try:
            for frame in journal.news():
                for pointer, number, event in frame:
                    folding.replay(state, event, pointer, number)
                    if isinstance(event, Visit):
                        self.recent.append((number, event))
                    elif isinstance(event, Switched):  # what it moves is on the disk, and not in the events
                        self._reopen()
                        return count
                count += len(frame)
                if time.perf_counter() > until:
                    break
        except (EvercrawlError, AssertionError, LookupError, ValueError):  # nothing half folded is kept
            self._reopen()
        return count

    def close(self) -> None:
        """Let the directory go."""
        self.partition.close()

    def _replaced(self) -> bool:
        """Whether another crawl is there now, or the journal ends before what was read."""
        try:
            end = segments(self.partition.disk)[-1].end
        except (OSError, IndexError, EvercrawlError):
            return False
        return end < self.partition.journal.position or crawl_id(self.directory) not in ("", self.partition.birth.id)

    def _reopen(self) -> None:
        before = self.partition
        self.partition = opened(self.directory)
        self.openings += 1
        self.recent.clear()
        before.close()
