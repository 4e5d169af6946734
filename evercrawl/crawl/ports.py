"""The loop's interfaces to the outside world: exchanges, addresses, and a place for slow work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from evercrawl.crawl.memory_use.memory_room import MemoryRoom
from evercrawl.model.stored.remembered import VisitListener

if TYPE_CHECKING:
    from evercrawl.arrays.hasher import Hasher
    from evercrawl.clock import Clock
    from evercrawl.config import Config
    from evercrawl.config.written import Change
    from evercrawl.crawl.posting.carrier import Carrier, KeeperLine
    from evercrawl.crawl.visit.parsers import Parsers
    from evercrawl.fetch.guard import Guard
    from evercrawl.fetch.names import Resolver, StaticResolver
    from evercrawl.store.orders import OrderSource
    from evercrawl.store.signals import SignalSource
    from evercrawl.types import Exchange, Request, Silence


class Network(Protocol):
    """Interface that answers requests: the web, or a simulated web."""

    @property
    def in_flight(self) -> int:
        """Exchanges under way."""
        ...

    @property
    def idle_s(self) -> float:
        """The total time for which `finished` has waited with nothing to do."""
        ...

    def start(self, request: Request, addresses: Sequence[str] = (), *, beside: str = "") -> None:
        """Begin an exchange with the first of `addresses` (empty: the URL's host is one); no fault of the web raises.

        `beside` is an address of the other family. If it is given, both are tried and the first to answer is asked.
        """
        ...

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended, after waiting up to `timeout_s` for one."""
        ...

    def silent(self, over_s: float) -> list[Silence]:
        """Return the exchanges under way that have received next to nothing for longer than `over_s`."""
        ...

    def hang_up(self, silences: Sequence[Silence]) -> None:
        """End exchanges that `silent` has just returned, with the error `SILENT`."""
        ...

    def wake(self) -> None:
        """Make a waiting `finished` return now."""
        ...

    async def close(self) -> None:
        """Abandon the exchanges under way."""
        ...


class AroundNetwork:
    """A network that wraps another and forwards everything that a subclass does not override.

    Parameters
    ----------
    inner
        The wrapped network.
    """

    def __init__(self, inner: Network) -> None:
        self._inner = inner

    @property
    def idle_s(self) -> float:
        """The total time for which `finished` has waited with nothing to do."""
        return self._inner.idle_s

    def silent(self, over_s: float) -> list[Silence]:
        """Return the exchanges under way that have received next to nothing for longer than `over_s`."""
        return self._inner.silent(over_s)

    def hang_up(self, silences: Sequence[Silence]) -> None:
        """End these exchanges."""
        self._inner.hang_up(silences)

    def wake(self) -> None:
        """Make a waiting `finished` return now."""
        self._inner.wake()

    async def close(self) -> None:
        """Abandon the exchanges under way."""
        await self._inner.close()


class Offload(Protocol):
    """Runs a function where it does not block the crawl: in a thread, or at once on a virtual clock."""

    async def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `function(*arguments)` returns."""
        ...


class Identifies(Protocol):
    """Interface that identifies the crawler to sites, as their sections demand."""

    def check(self, config: Config) -> None:
        """Check that settings could be adopted; raise ConfigError if a secret is not available."""
        ...

    def adopt(self, config: Config) -> None:
        """Use other settings from now on; raise ConfigError, and change nothing, if a secret is not available."""
        ...


class Gate:
    """Pauses a crawl while the consumer of its visits is behind: while the gate is shut, nothing new is fetched.

    Attributes
    ----------
    shut
        Whether the gate is shut.
    wake
        Makes the crawl check the gate again; the crawl sets it.
    """

    def __init__(self) -> None:
        self.shut = False
        self.wake: Callable[[], None] = lambda: None

    def open(self) -> None:
        """Let the crawl continue."""
        self.shut = False
        self.wake()


@dataclass(frozen=True, slots=True)
class Outside:
    """The world outside a crawl, real or simulated.

    Attributes
    ----------
    network, names, clock, guard
        Answers requests; resolves names (the resolvers are asked in order); tells the time; judges addresses and
        URLs.
    offload
        Runs slow work.
    committing
        Runs commits of the search index, one after another; None means `offload`.
    readers
        Makes the parser of bodies, given whether text is wanted; None means that this process parses them.
    listed
        Names with fixed answers, for which no resolver is asked.
    room
        Tells whether memory is short; None means never.
    heard
        Called with each remembered visit, after all other listeners; it must not raise.
    orders
        Where people give orders; None if nobody can.
    amend
        Changes the file of settings for an order; None if there is no file.
    signals
        Where publishers announce changes; None if nobody can.
    forgets
        Whether orders to forget are carried out when the run ends, and another run follows.
    before_commit
        Called in a thread before each commit, for what must be on the disk before the journal is; None for nothing.
    gate
        Pauses the crawl; None if nothing does.
    sessions
        Identifies the crawler to sites, and learns of changed sections before they apply; None if no site needs that.
    post
        Carries messages to the other partitions of the crawl; None if there are none.
    keeper
        Leads to the keeper of a second copy, without which nothing is acknowledged; None if this disk is enough.
    """

    network: Network
    names: Sequence[Resolver]
    clock: Clock
    offload: Offload
    guard: Guard
    committing: Offload | None = None
    readers: Callable[[bool, Hasher], Parsers] | None = None
    listed: StaticResolver | None = None
    heard: VisitListener | None = None
    room: MemoryRoom | None = None
    orders: OrderSource | None = None
    amend: Callable[[Change], None] | None = None
    signals: SignalSource | None = None
    forgets: bool = False
    before_commit: Callable[[], None] | None = None
    gate: Gate | None = None
    sessions: Identifies | None = None
    post: Carrier | None = None
    keeper: KeeperLine | None = None
