"""Where a simulation listens: every request, answer and event passes here on its way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from evercrawl.store.partition import Partition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evercrawl.simulate.network import MadeNetwork
    from evercrawl.store.events import Event, Visit
    from evercrawl.types import Exchange, Request


class WatchedNetwork:
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
        self._inner = inner
        self._asked, self._answered, self._turned = asked, answered, turned

    @property
    def in_flight(self) -> int:
        """Exchanges under way."""
        return self._inner.in_flight

    def start(self, request: Request, addresses: Sequence[str] = ()) -> None:
        """Begin an exchange; see `MadeNetwork.start`."""
        before = len(self._inner.log)
        self._inner.start(request, addresses)
        if len(self._inner.log) > before:
            self._asked(request, self._inner.log[-1].address)

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended; see `MadeNetwork.finished`."""
        self._turned()
        ended = await self._inner.finished(timeout_s)
        for exchange in ended:
            self._answered(exchange)
        return ended

    def wake(self) -> None:
        """Make the `finished` that waits return now."""
        self._inner.wake()

    async def close(self) -> None:
        """Abandon what is under way."""
        await self._inner.close()


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
