"""The checkers' interface: the events they observe, and how they report a violation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from evercrawl.clock import Clock
from evercrawl.config import Config
from evercrawl.crawl.loop import Crawl
from evercrawl.search.index import Index
from evercrawl.simulate.surroundings.names import MadeNames
from evercrawl.simulate.worlds.world import World
from evercrawl.store.journal.events import Event
from evercrawl.store.partition import Partition
from evercrawl.types import Exchange, Request


@dataclass(slots=True)
class Running:
    """A running crawl, as checkers see it.

    Attributes
    ----------
    number, last
        Number of the life, and whether it is the last one.
    began_at
        Time of its start.
    config, partition, crawl, clock
        The crawl's components; the clock is the crawl's own, which may be wrong.
    index
        Its search index; None without one.
    names
        The simulated name servers; None without any.
    """

    number: int
    last: bool
    began_at: float
    config: Config
    partition: Partition
    crawl: Crawl
    clock: Clock
    index: Index | None = None
    names: MadeNames | None = None

    def now(self) -> float:
        """Return the time by the crawl's own clock, in seconds since the epoch."""
        return self.clock.now()


class Checker:
    """Verifies one kind of invariant throughout all lives of a crawl.

    All instants are true times in seconds since the epoch, which advance evenly even if the machine's clock jumps.

    Parameters
    ----------
    world
        The simulated world.
    blame
        Called on a violation, with a sentence that includes the numbers.
    """

    law: ClassVar[str] = ""
    """What is promised, in a few words."""

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        self.world = world
        self.blame = blame
        self._life: Running | None = None

    def began(self, life: Running) -> None:
        """Observe the start of a life: the directory is open, and no request was made yet."""
        self._life = life

    def asked(self, request: Request, address: str, at: float) -> None:
        """Observe the start of a request."""

    def answered(self, exchange: Exchange, at: float) -> None:
        """Observe a response as the crawl receives it."""

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Observe an event that was journalled (perhaps not synced yet) and folded."""

    def turned(self, at: float) -> None:
        """Observe the crawl between two turns of its loop."""

    def ended(self, at: float, *, clean: bool) -> None:
        """Observe the end of a life; no more events follow from it."""

    def expect(self, kept: bool, otherwise: str) -> None:
        """Report a violation unless the condition holds."""
        if not kept:
            self.blame(otherwise)
