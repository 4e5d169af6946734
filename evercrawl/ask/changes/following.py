"""Follow a crawl: its new journal events are folded turn by turn."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from evercrawl.ask.changes.question import ChangeQuestion
from evercrawl.ask.changes.streaming import StreamPart, part_after
from evercrawl.errors import StoreError
from evercrawl.model.stored.derived.column_file import DamagedError
from evercrawl.model.stored.derived.derived import Derived
from evercrawl.model.stored.reader import Tell, opened
from evercrawl.model.view import View, settings
from evercrawl.store.folding import replay
from evercrawl.store.forgotten import stamp
from evercrawl.store.journal.segment import segments
from evercrawl.store.partition import Partition

VIEW_S: Final = 60.0
"""Greatest age of the importance reported with changes."""
EVENTS: Final = 500_000
"""Number of events after which the crawl is reopened, because events folded after the snapshot stay in memory."""
_STUCK: Final = 5  # turns without an event although the journal is longer: it was cut and has grown again


class FollowedCrawl:
    """A follower of a crawl, which may run, stop and start again meanwhile.

    Parameters
    ----------
    directory
        The crawl directory.
    clock
        Seconds since the epoch.
    tell
        Progress callback while the journal is read for the first time.

    Attributes
    ----------
    crawl, derived
        The crawl and its derived files, as of the last turn.
    """

    crawl: Partition
    derived: Derived

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time, tell: Tell | None = None) -> None:
        self._directory, self._clock = directory, clock
        self._opened = self._stuck = 0
        self._viewed_at = 0.0
        self._open(tell)

    @property
    def sequence(self) -> int:
        """Return the number of events folded so far."""
        return self.derived.events

    def turn(self) -> None:
        """Fold the events that the journal has gained since the last turn.

        Raises
        ------
        StoreError
            The crawl's directory is damaged.
        """
        before = self.sequence
        if stamp(self._directory) != self.crawl.forgotten_stamp:
            self._reopen()
            return
        try:
            ended = segments(self.crawl.disk)[-1].end
            for pointer, number, event in self.crawl.journal.replay(self.crawl.journal.position, follow=True):
                replay(self.crawl.state, event, pointer, number)
            self.derived.follow()
        except (StoreError, DamagedError, AssertionError, IndexError):  # it was cut, copied over or repaired
            self._reopen()
            return
        behind = ended > self.crawl.journal.position and self.sequence == before
        self._stuck = self._stuck + 1 if behind else 0
        if ended < self.crawl.journal.position or self._stuck >= _STUCK or self.sequence - self._opened > EVENTS:
            self._reopen()
        elif self._clock() - self._viewed_at > VIEW_S and self.sequence > before:
            self._look()

    def part(self, question: ChangeQuestion, most: int = 100) -> StreamPart:
        """Return the next changes after `question.after`; if the journal was cut, after its present end."""
        after = min(question.after, self.sequence)
        try:
            return part_after(self.view, self.derived.runs, replace(question, after=after), self.sequence, most)
        except DamagedError:
            self.derived.forget()
            self._reopen()
            return part_after(self.view, self.derived.runs, replace(question, after=after), self.sequence, most)

    def close(self) -> None:
        """Close the directory."""
        self.derived.close()
        self.crawl.close()

    def _reopen(self) -> None:
        crawl, derived = self.crawl, self.derived
        self._open(None)  # if that fails, as while a URL is being forgotten, the next turn tries again
        derived.close()
        crawl.close()

    def _open(self, tell: Tell | None) -> None:
        self.crawl = opened(self._directory)
        self.derived = Derived(self.crawl)
        try:
            self.derived.current(tell)
        except DamagedError:
            self.derived.forget()
            self.derived.current(tell)
        self._opened, self._stuck = self.sequence, 0
        self._look()

    def _look(self) -> None:
        self._viewed_at = self._clock()
        self.view = View(self.crawl, settings(self._directory)[0], self._viewed_at)
