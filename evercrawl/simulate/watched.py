"""Where a simulation listens: every request, answer and event passes here on its way."""

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
    """A made-up network that tells what passes through it.

    Parameters
    ----------
    inner
        What answers.
    asked
        Told of each request and the address it goes to, as it starts.
    answered
        Told of each answer as the crawl is given it.
    turned
        Called whenever the crawl comes to wait: between two turns of its loop.
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
        """Exchanges under way."""
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
    """A crawl directory that tells of every event that it remembers.

    Parameters
    ----------
    heard
        Told of each event and its number, once it is folded.
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
    """Reads bodies after a while, as other processes would; what comes out is in the order of what went in.

    Parameters
    ----------
    agent, hasher, text
        As for `Inline`.
    lasts_s
        How long one body takes.
    wake
        Called when there is something to be `done`.
    """

    def __init__(
        self, agent: str, hasher: Hasher, *, text: bool, lasts_s: Callable[[], float], wake: Callable[[], None]
    ) -> None:
        super().__init__(agent, hasher, text=text)
        self._lasts_s, self._wake = lasts_s, wake
        self._line: deque[Fetched] = deque()

    @property
    def pending(self) -> int:
        """Return how many answers have gone in and have yet to come out."""
        return len(self._line)

    def submit(self, fetched: Fetched) -> None:
        """Take an answer in; its body is read later, if there is one to be read."""
        self._line.append(fetched)
        if fetched.unread:
            asyncio.get_running_loop().call_later(self._lasts_s(), self._read, fetched)

    def done(self) -> list[Fetched]:
        """Return the answers whose bodies are read, each once, as far as none before them is not."""
        done: list[Fetched] = []
        while self._line and not self._line[0].unread:
            done.append(self._line.popleft())
        return done

    async def settle(self) -> None:
        """Return once nothing is unread any more."""
        while any(fetched.unread for fetched in self._line):  # noqa: ASYNC110 - as `Workers` does
            await asyncio.sleep(0.01)

    def _read(self, fetched: Fetched) -> None:
        super().submit(fetched)
        super().done()
        self._wake()


class SlowOffload:
    """The place for slow work: done at once, but after a while, and heard of a while later.

    Parameters
    ----------
    lasts_s
        How long each half of the wait is.
    """

    def __init__(self, lasts_s: Callable[[], float]) -> None:
        self._lasts_s = lasts_s

    async def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `function(*arguments)` returns."""
        await asyncio.sleep(self._lasts_s())
        result = function(*arguments)
        await asyncio.sleep(self._lasts_s())
        return result
