"""What every checker may hear of a crawl, and how it says that a promise was broken."""

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
    """A crawl that lives.

    Attributes
    ----------
    number, last
        Which life it is, and whether it is the last one.
    began_at
        Instant of its start.
    config, partition, crawl, clock
        What it runs on; the clock is the crawl's, which may be wrong.
    index
        Its search index, where it has one.
    names
        Who is asked for names, where they are made up.
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
        """Return what the crawl takes for the time, in seconds since the epoch."""
        return self.clock.now()


class Checker:
    """Holds a crawl to one kind of promise, through all its lives.

    All instants are true ones, in seconds since the epoch: they go on evenly while the machine's clock jumps.

    Parameters
    ----------
    world
        The world it is in.
    blame
        Called with a sentence, numbers in it, when the promise is broken.
    """

    law: ClassVar[str] = ""
    """What is promised, in a few words."""

    def __init__(self, world: World, blame: Callable[[str], None]) -> None:
        self.world = world
        self.blame = blame

    def began(self, life: Running) -> None:
        """Take note that a life begins; the directory is open, nothing was asked yet."""

    def asked(self, request: Request, address: str, at: float) -> None:
        """Take note of a request as it starts."""

    def answered(self, exchange: Exchange, at: float) -> None:
        """Take note of an answer as the crawl is given it."""

    def remembered(self, event: Event, number: int, at: float) -> None:
        """Take note of an event that was journalled, in memory as yet, and folded."""

    def turned(self, at: float) -> None:
        """Look at the crawl between two turns of its loop."""

    def ended(self, at: float, *, clean: bool) -> None:
        """Take note that a life has ended; nothing is to be heard of it any more."""

    def expect(self, kept: bool, otherwise: str) -> None:
        """Blame, unless the promise was kept."""
        if not kept:
            self.blame(otherwise)
