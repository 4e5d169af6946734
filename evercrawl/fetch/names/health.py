"""Distinguishes a name server that is down from domains that do not answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from evercrawl.fetch.names.base import NameAnswer, ResolveError, Resolver

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.clock import Clock

__all__ = ["NameServer"]

_FIRST: Final = 32  # the first answered domains are remembered for good, so that nobody can crowd them out
_LATEST: Final = 32  # and the latest ones
_ASKED: Final = 3  # names that must go unanswered before a server counts as down
_BACK_OFF_FIRST_S: Final = 1.0
_BACK_OFF_MOST_S: Final = 60.0


class NameServer:
    """A resolver and whether it answers.

    A name without an answer does not count against a server that answers others at the time. If the server has been
    quiet, it is asked for names of other domains that it answered before. Only if these go unanswered too does it
    count as down. From then on it is asked only for such names, from time to time, until it answers one.

    Parameters
    ----------
    resolver, clock
        The resolver, and the clock.
    answered
        Domain -> a name of it that was answered before; kept up to date.
    changed
        Called when the server goes down, and when it is back.

    Attributes
    ----------
    down_since, next_at
        When it went down, and when it is tried next; infinite while it is up.
    """

    def __init__(self, resolver: Resolver, clock: Clock, answered: dict[str, str], changed: Callable[[], None]) -> None:
        self._resolver, self._clock, self._answered, self._changed = resolver, clock, answered, changed
        self._answered_at = -float("inf")
        self._turn = 0
        self._check: asyncio.Task[bool] | None = None
        self._revival: asyncio.Task[None] | None = None
        self.down_since = self.next_at = float("inf")

    @property
    def up(self) -> bool:
        """Whether it may be asked."""
        return self._revival is None

    @property
    def label(self) -> str:
        """The description of the server for people."""
        return self._resolver.label

    async def ask(self, host: str, domain: str) -> NameAnswer:
        """Return its answer; see `Resolver.resolve`."""
        try:
            answer = await self._resolver.resolve(host)
        except ResolveError as error:
            if not error.silent:
                self._answered_at = self._clock.now()
            raise
        self._answered_at = self._clock.now()
        self._note(host, domain)
        return answer

    async def alive(self, domain: str, since: float) -> bool:
        """Whether the server answers others, after a name of `domain`, asked for at `since`, went unanswered."""
        now = self._clock.now()
        if not self.up:
            return False
        if self._answered_at >= (since + now) / 2:  # it was answering when the answer was due
            return True
        others = [host for other, host in self._answered.items() if other != domain]
        if not others:
            return True  # there is no other name to test with
        if self._check is None:
            self._check = asyncio.ensure_future(self._checked(others))
            self._check.add_done_callback(self._check_ended)
        return await asyncio.shield(self._check)

    def close(self) -> None:
        """Stop asking."""
        for task in (self._check, self._revival):
            if task is not None:
                task.cancel()

    def _note(self, host: str, domain: str) -> None:
        if self._answered.pop(domain, None) is None and len(self._answered) >= _FIRST + _LATEST:
            del self._answered[list(self._answered)[_FIRST]]
        self._answered[domain] = host

    def _check_ended(self, _: object) -> None:
        self._check = None

    async def _checked(self, others: list[str]) -> bool:
        """Return whether one of a few names is answered; if none is, the server counts as down from now on."""
        if await self._one_of(others):
            return True
        self.down_since = self._clock.now()
        self._revival = asyncio.ensure_future(self._revived())
        self._changed()
        return False

    async def _one_of(self, others: list[str]) -> bool:
        """Whether one of a few names is answered; they are asked for in turn, different ones each time."""
        for _ in range(min(_ASKED, len(others))):
            self._turn += 1
            host = others[-1] if self._turn % _ASKED == 1 else others[self._turn % len(others)]
            try:
                await self._resolver.resolve(host)
            except ResolveError as error:
                if error.silent:
                    continue
            self._answered_at = self._clock.now()
            return True
        return False

    async def _revived(self) -> None:
        """Wait until the server is back."""
        wait_s = _BACK_OFF_FIRST_S
        while True:
            self.next_at = self._clock.now() + wait_s
            await self._clock.sleep(wait_s)
            if await self._one_of(list(self._answered.values())):
                break
            wait_s = min(2 * wait_s, _BACK_OFF_MOST_S)
        self.down_since = self.next_at = float("inf")
        self._revival = None
        self._changed()
