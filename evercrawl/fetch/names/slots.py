"""Places for look-ups: a fixed number, of which slow look-ups hold at most half while others wait."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from evercrawl.clock import Clock

__all__ = ["Slots"]

SLOW_S: Final = 1.0  # a longer look-up is slow


class Slots:
    """Gives places in the order of requests.

    Parameters
    ----------
    at_once
        The number of places.
    clock
        The clock.
    """

    def __init__(self, at_once: int, clock: Clock) -> None:
        self.at_once = at_once
        self._clock = clock
        self._free = at_once
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held: dict[asyncio.Future[None], float] = {}  # what tells each to give way -> its start
        self._alarm: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[asyncio.Future[None]]:
        """Hold a place; yield a future that is done when the place should be given to another."""
        await self._taken()
        gives_way: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held[gives_way] = self._clock.now()
        if self._waiting and self._alarm is None:
            self._make_room()
        try:
            yield gives_way
        finally:
            self._held.pop(gives_way, None)
            gives_way.cancel()
            self._give()

    async def _taken(self) -> None:
        if self._free > 0:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._make_room()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given a place that nobody takes
                self._give()
            raise

    def _give(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _make_room(self) -> None:
        """Tell the oldest slow look-ups to give way, while slow ones hold more than half and others wait."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if not self._waiting:
            return
        now, most = self._clock.now(), self.at_once // 2
        slow = [each for each, since in self._held.items() if now - since >= SLOW_S and not each.done()]
        for each in slow[: max(len(slow) - most, 0)]:
            each.set_result(None)
        quick = [since for since in self._held.values() if now - since < SLOW_S]
        if quick:
            wait_s = max(quick[0] + SLOW_S - now, 0.01)
            self._alarm = asyncio.get_running_loop().call_later(wait_s, self._make_room)
