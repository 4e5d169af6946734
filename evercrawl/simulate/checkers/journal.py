"""Journal: acknowledged events survive any crash, in order, and the state in memory is a fold of the journal."""

from collections.abc import Callable
from typing import ClassVar, Final

import msgspec

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.state import compare
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.worlds.world import World
from evercrawl.store.folding import replay
from evercrawl.store.journal.events import Event, Lost

EVERY: Final = 100
"""Events after which memory is held against the journal for the first time; then whenever a third has been added."""


class Acknowledged(Checker):
    """Events covered by a returned commit are in the journal of every later life, byte for byte and in order.

    Unacknowledged events may be there or not, but no other events may. The archive record of an acknowledged event is
    there, too: when a crawl opens, it gives up contents whose record is missing, which is an event of its own.
    """

    law: ClassVar[str] = "no acknowledged visit lost"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._events: list[bytes] = []
        self._written = 0
        self._encode = msgspec.msgpack.Encoder().encode

    def began(self, life: Running) -> None:
        """Compare the journal with the events remembered."""
        found = [self._encode(event) for _, _, event in life.partition.journal.replay()]
        self.expect(
            len(found) >= self._written, f"{self._written} events were acknowledged, and {len(found)} are there"
        )
        for number, (one, other) in enumerate(zip(found, self._events, strict=False)):
            if one != other:
                self.blame(f"event {number} is another than was remembered")
                break
        more = len(found) - len(self._events)
        self.expect(more <= 0, f"the journal has {more} events more than were ever remembered")
        self._events, self._life = found, life
        self._written = life.partition.journal.written

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Record an event; contents given up on opening were acknowledged, so they should exist."""
        if isinstance(event, Lost):
            self.blame(f"event {number}: the record of a visit to slot {event.slot} is lost, for {event.why}")
        if self._life is None:  # on opening; later events were never acknowledged, and are gone
            self.expect(number >= self._written, f"{self._written} events were acknowledged, and {number} are there")
            del self._events[number:]
        self.expect(number == len(self._events), f"event {number} follows event {len(self._events) - 1}")
        self._events.append(self._encode(event))

    def turned(self, at: float) -> None:
        """Record which events are acknowledged."""
        assert self._life is not None
        self._written = self._life.partition.journal.written

    def ended(self, at: float, *, clean: bool) -> None:
        """Check that a clean end acknowledged everything."""
        if self._life is None:
            return
        self._written = self._life.partition.journal.written
        if clean:
            self.expect(
                self._written == len(self._events), f"a clean end, and {len(self._events) - self._written} not stored"
            )
        self._life = None


class MemoryFollows(Checker):
    """The state in memory equals the fold of the journal, including events not yet written."""

    law: ClassVar[str] = "journal = memory"

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        super().__init__(world, blame)
        self._next = 0

    def began(self, life: Running) -> None:
        """Check that opening restored the journal's state."""
        super().began(life)
        self._check()

    def turned(self, at: float) -> None:
        """Fold the journal now and then, and compare."""
        assert self._life is not None
        if self._life.partition.journal.sequence >= self._next:
            self._check()

    def ended(self, at: float, *, clean: bool) -> None:
        """Fold and compare once more, unless the crash came in the middle of a change."""
        if clean and self._life is not None:
            self._check()
        self._life = None

    def _check(self) -> None:
        assert self._life is not None
        partition, found = self._life.partition, Findings()
        folded = partition.empty_state()
        for pointer, number, event in partition.journal.replay():
            replay(folded, event, pointer, number)
        compare(partition.state, folded, found)
        for sentence in found.wrong:
            self.blame(sentence.replace("the snapshot's", "memory's"))
        count = partition.state.known.count
        if partition.state.urls.get_many(range(count)) != folded.urls.get_many(range(count)):
            self.blame("the texts of the URLs differ")
        self._next = partition.journal.sequence * 4 // 3 + EVERY
