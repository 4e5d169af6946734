"""Observation points of a simulation, through which every request, response and event passes."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from evercrawl.arrays.hasher import Hasher
from evercrawl.crawl.ports import AroundNetwork
from evercrawl.crawl.visit.parsers import Inline
from evercrawl.model.stored.reading import Fetched
from evercrawl.simulate.surroundings.network import MadeNetwork
from evercrawl.store.journal.events import Event, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Exchange, Request


class WatchedNetwork(AroundNetwork):
    """A simulated network that reports its traffic.

    Parameters
    ----------
    inner
        The network itself.
    asked
        Called with each request and its address, as it starts.
    answered
        Called with each response as the crawl receives it.
    turned
        Called whenever the crawl waits: between two turns of its loop.
    """

    def __init__(
        self,
        inner: MadeNetwork,
        asked: Callable[[Request, str], None],
        answered: Callable[[Exchange], None],
        turned: Callable[[], None],
    ) -> None:
        super().__init__(inner)
        self._log = inner.log
        self._asked, self._answered, self._turned = asked, answered, turned

    @property
    def in_flight(self) -> int:
        """Number of exchanges in progress."""
        return self._inner.in_flight

    def start(self, request: Request, addresses: Sequence[str] = (), *, beside: str = "") -> None:
        """Begin an exchange; see `MadeNetwork.start`."""
        before = len(self._log)
        self._inner.start(request, addresses, beside=beside)
        if len(self._log) > before:
            self._asked(request, self._log[-1].address)

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended; see `MadeNetwork.finished`."""
        self._turned()
        ended = await self._inner.finished(timeout_s)
        for exchange in ended:
            self._answered(exchange)
        return ended


class WatchedPartition(Partition):
    """A crawl directory that reports every event.

    Parameters
    ----------
    heard
        Called with each event and its number, once it is folded.
    arguments, keywords
        As for `Partition`.
    """

    def __init__(self, heard: Callable[[Event, int], None], *arguments: Any, **keywords: Any) -> None:
        self._heard = heard
        super().__init__(*arguments, **keywords)

    def remember(self, event: Event, held: Visit | None = None) -> int:
        """Journal and fold an event; return its pointer."""
        pointer = super().remember(event, held)
        self._heard(event, self.journal.sequence - 1)
        return pointer


class SlowParsers(Inline):
    """Parses bodies with a delay, like other processes; results are in input order.

    Parameters
    ----------
    agent, hasher, text
        As for `Inline`.
    lasts_s
        Delay per body.
    wake
        Called when results are available from `done`.
    """

    def __init__(
        self, agent: str, hasher: Hasher, *, text: bool, lasts_s: Callable[[], float], wake: Callable[[], None]
    ) -> None:
        super().__init__(agent, hasher, text=text)
        self._lasts_s, self._wake = lasts_s, wake
        self._line: deque[Fetched] = deque()

    @property
    def pending(self) -> int:
        """Return the number of responses submitted but not returned."""
        return len(self._line)

    def submit(self, fetched: Fetched) -> None:
        """Take in a response; its body, if any, is parsed later."""
        self._line.append(fetched)
        if fetched.unread:
            asyncio.get_running_loop().call_later(self._lasts_s(), self._read, fetched)

    def done(self) -> list[Fetched]:
        """Return the responses that are parsed, each once, in order."""
        done: list[Fetched] = []
        while self._line and not self._line[0].unread:
            done.append(self._line.popleft())
        return done

    async def settle(self, *, patient: bool = False) -> None:
        """Return once everything is parsed."""
        while any(fetched.unread for fetched in self._line):  # noqa: ASYNC110 - as `Workers` does
            await asyncio.sleep(0.01)

    def _read(self, fetched: Fetched) -> None:
        super().submit(fetched)
        super().done()
        self._wake()


class SlowOffload:
    """An offload that runs work at once, after one delay, and reports it after another.

    Parameters
    ----------
    lasts_s
        Duration of each delay.
    """

    def __init__(self, lasts_s: Callable[[], float]) -> None:
        self._lasts_s = lasts_s

    async def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of `function(*arguments)`."""
        await asyncio.sleep(self._lasts_s())
        result = function(*arguments)
        await asyncio.sleep(self._lasts_s())
        return result
