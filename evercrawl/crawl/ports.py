"""What the loop needs of the outside world, as interfaces: exchanges, addresses, and somewhere to do slow work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from evercrawl.crawl.memory_room import MemoryRoom
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
    """Whatever answers requests: the web, a simulated web."""

    @property
    def in_flight(self) -> int:
        """Exchanges under way."""
        ...

    @property
    def idle_s(self) -> float:
        """How long `finished` has waited so far with nothing to do."""
        ...

    def start(self, request: Request, addresses: Sequence[str] = (), *, beside: str = "") -> None:
        """Begin an exchange with the first of `addresses` (empty: the URL's host is one); never raises for the web.

        With `beside`, an address of the other family, whichever of the two answers first is asked.
        """
        ...

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended, after waiting for one of them for up to `timeout_s`."""
        ...

    def silent(self, over_s: float) -> list[Silence]:
        """Return the exchanges under way whose far ends have said next to nothing for longer than `over_s`."""
        ...

    def hang_up(self, silences: Sequence[Silence]) -> None:
        """End these exchanges, which are among those that `silent` has just returned, with the error `SILENT`."""
        ...

    def wake(self) -> None:
        """Make the `finished` that waits return now."""
        ...

    async def close(self) -> None:
        """Abandon what is under way."""
        ...


class AroundNetwork:
    """A network around another, which does all that a subclass does not do itself.

    Parameters
    ----------
    inner
        What answers.
    """

    def __init__(self, inner: Network) -> None:
        self._inner = inner

    @property
    def idle_s(self) -> float:
        """How long `finished` has waited so far with nothing to do."""
        return self._inner.idle_s

    def silent(self, over_s: float) -> list[Silence]:
        """Return the exchanges under way whose far ends say next to nothing."""
        return self._inner.silent(over_s)

    def hang_up(self, silences: Sequence[Silence]) -> None:
        """End these exchanges."""
        self._inner.hang_up(silences)

    def wake(self) -> None:
        """Make the `finished` that waits return now."""
        self._inner.wake()

    async def close(self) -> None:
        """Abandon what is under way."""
        await self._inner.close()


class Offload(Protocol):
    """Runs a function where it does not hold up the crawl: a thread, or (on a virtual clock) at once."""

    async def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `function(*arguments)` returns."""
        ...


class Identifies(Protocol):
    """Lets sites know who asks, as their sections say."""

    def check(self, config: Config) -> None:
        """See that settings could be adopted; raises ConfigError where a secret cannot be had."""
        ...

    def adopt(self, config: Config) -> None:
        """Go by other settings from now on; raises ConfigError, and changes nothing, where a secret cannot be had."""
        ...


class Gate:
    """Lets whoever takes visits hold up the crawl: while it is shut nothing new is fetched.

    Attributes
    ----------
    shut
        Whether it is.
    wake
        Has the crawl look again; the crawl sets it.
    """

    def __init__(self) -> None:
        self.shut = False
        self.wake: Callable[[], None] = lambda: None

    def open(self) -> None:
        """Let the crawl go on."""
        self.shut = False
        self.wake()


@dataclass(frozen=True, slots=True)
class Outside:
    """The world outside a crawl: the real one, or one that is made up.

    Attributes
    ----------
    network, names, clock, guard
        Who answers requests, who is asked for addresses (one after another), who tells the time, and who judges
        addresses and URLs.
    offload
        Where slow work is done.
    committing
        Where commits of the search index are done, one after another; `offload` where there is None.
    readers
        Makes whoever reads bodies, told whether their words are wanted; this process reads them where there is None.
    listed
        Names that nobody is asked for.
    room
        Says whether memory is short; it never is where there is None.
    heard
        Hears of each visit that is remembered, last of all; it must not raise.
    orders
        Where people give orders; None where nobody can.
    amend
        Changes the file of settings because of an order; None where there is none.
    signals
        Where publishers say what has changed; None where nobody can.
    forgets
        Whether a run that ends because an order asks to forget something is followed by that, and by another run.
    before_commit
        Called in a thread before each commit: what has to be on the disk before the journal is. None for nothing.
    gate
        Holds up the crawl; None where nobody does.
    sessions
        Lets sites know who asks, and is told of other sections before they hold; None where nobody is.
    post
        Carries messages to the other partitions of the crawl; None where there are none.
    keeper
        Leads to the keeper of a second copy, without which nothing counts; None where the disk is enough.
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
