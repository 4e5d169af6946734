"""Look-ups of names: their number at a time, the servers asked, and who is at fault if there is no answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from evercrawl.fetch.names.base import NO_SUCH_NAME, TIME_OUT, NameAnswer, ResolveError, Resolver
from evercrawl.fetch.names.cache import LEAST_S, MOST_S, NameCache, NameEntry, SilentDomain
from evercrawl.fetch.names.health import NameServer
from evercrawl.fetch.names.slots import Slots

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.fetch.names.listed import StaticResolver

__all__ = ["LookUps"]

UNSAID_S: Final = 300.0  # lifetime of addresses without a TTL
A_DOMAIN: Final = 4  # look-ups of one registrable domain that run or wait
WAITING: Final = 4  # look-ups that may wait for each that may run; others are deferred
SILENT_MOST_S: Final = 3600.0
SAVE_EVERY_S: Final = 120.0
_LATER_LEAST_S: Final = 0.02
_LATER_MOST_S: Final = 60.0  # hosts in a queue are called earlier, when there is room
_FADING: Final = 0.05  # weight of the last look-up in their average duration


class LookUps:
    """Looks names up: a limited number at a time, each name once for all callers, with a cache of answers.

    If a name goes unanswered, its registrable domain is at fault, unless the servers answer for no name at all. In
    that case no domain is at fault, and look-ups wait until a server is back.

    Parameters
    ----------
    servers
        The resolvers, asked one after another.
    cache
        Stores the answers.
    clock
        Decides what is valid.
    domain_of
        Host name -> its registrable domain.
    at_once
        The highest number of look-ups under way.
    listed
        Names with fixed answers.
    offload
        Runs the writes of the cache now and then; with None it is written only at the end.
    changed
        Called when all servers are down, and when one is back.
    """

    def __init__(
        self,
        servers: Sequence[Resolver],
        cache: NameCache,
        clock: Clock,
        domain_of: Callable[[str], str],
        *,
        at_once: int = 64,
        listed: StaticResolver | None = None,
        offload: Callable[..., Awaitable[Any]] | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._cache, self._clock, self._domain_of, self._listed = cache, clock, domain_of, listed
        self._changed, self._offload = changed, offload
        self._servers = [
            NameServer(each, clock, cache.answered.setdefault(each.label, {}), self._server_changed) for each in servers
        ]
        self._back = asyncio.Event()
        self._slots = Slots(at_once, clock)
        self._most = at_once * (1 + WAITING)
        self._asked: dict[str, asyncio.Task[NameEntry]] = {}
        self._of_domain = Counter[str]()
        self._takes_s = 0.05
        self._next_at: dict[str, float] = {}  # domain -> the last turn given; "" is for all
        self._saved_at = clock.now()
        self._saving: asyncio.Future[Any] | None = None

    @property
    def trouble(self) -> str:
        """What is wrong while no server answers, in a sentence; else ""."""
        if any(server.up for server in self._servers) or not self._servers:
            return ""
        next_s = max(min(server.next_at for server in self._servers) - self._clock.now(), 0.0)
        who = " and ".join(server.label for server in self._servers)
        return f"{who} answers for no name; the crawl waits, and tries again in {next_s:.0f} s"

    def known(self, host: str, now: float) -> NameEntry | None:
        """Return the known answer for a name; None if it has to be looked up."""
        if self._listed is not None and (found := self._listed.find(host)):
            return NameEntry(found, now + UNSAID_S)
        return self._cache.get(host, now)

    @property
    def room(self) -> int:
        """How many more look-ups may begin or wait for their turn."""
        return max(self._most - len(self._asked), 0)

    def put_off(self, host: str, now: float, others: int = 0) -> tuple[float, bool]:
        """Return until when a new look-up is deferred, and whether its domain is at fault.

        The time is 0 if the look-up may begin, with `others` before it. A deferred caller has a turn at the returned
        time, so a host should have only one caller.
        """
        whose, at_once = "", self._slots.at_once
        if others < self.room:  # else its domain is not needed; finding it takes as long as all the rest
            domain = self._domain_of(host)
            silence = self._cache.silent.get(domain)
            if silence is not None and now < silence.until <= now + SILENT_MOST_S:
                return silence.until, True
            if self._of_domain[domain] < A_DOMAIN:
                return 0.0, False
            whose, at_once = domain, A_DOMAIN
        if len(self._next_at) > self._most:  # mostly of domains that are not looked up any more
            self._next_at.clear()
        turn_at = min(max(self._next_at.get(whose, 0.0), now) + self._takes_s / at_once, now + _LATER_MOST_S)
        self._next_at[whose] = turn_at
        return max(turn_at, now + _LATER_LEAST_S), False

    def full(self, host: str) -> bool:
        """Whether so many names of a host's domain are being looked up that another has to wait for them."""
        return self._of_domain[self._domain_of(host)] >= A_DOMAIN

    async def resolve(self, host: str) -> NameEntry:
        """Return the answer for a name, from the cache or from a server.

        Raises
        ------
        ResolveError
            It has no address, or there is no answer for its domain.
        """
        now = self._clock.now()
        entry = self.known(host, now)
        if entry is None:
            silence = self._cache.silent.get(self._domain_of(host))
            if silence is not None and now < silence.until <= now + SILENT_MOST_S and host not in self._asked:
                raise ResolveError(TIME_OUT, silence.until, put_off=True)
            entry = await asyncio.shield(self.begin(host))  # a cancelled caller does not take the answer from others
        if not entry.addresses:
            raise ResolveError(entry.reason, entry.until, put_off=entry.put_off)
        return entry

    def begin(self, host: str) -> asyncio.Task[NameEntry]:
        """Start a look-up of a name, if none waits or runs; `resolve` waits for its result."""
        task = self._asked.get(host)
        if task is None:
            domain = self._domain_of(host)
            self._of_domain[domain] += 1
            task = self._asked[host] = asyncio.ensure_future(self._look_up(host, domain))
        return task

    def close(self) -> None:
        """Abandon look-ups under way."""
        for task in (*self._asked.values(), *([self._saving] if self._saving is not None else [])):
            task.cancel()
        for server in self._servers:
            server.close()

    async def _look_up(self, host: str, domain: str) -> NameEntry:
        try:
            while True:
                async with self._slots.one() as gives_way:
                    entry = await self._ask_all(host, domain, gives_way)
                if entry is not None:
                    return entry
                await self._back.wait()
        finally:
            del self._asked[host]
            self._of_domain[domain] -= 1
            if not self._of_domain[domain]:
                del self._of_domain[domain]

    async def _ask_all(self, host: str, domain: str, gives_way: asyncio.Future[None]) -> NameEntry | None:
        """Return the answer of the servers that are up; None if none of them answers at all."""
        began = self._clock.now()
        alive, reason = False, TIME_OUT
        for server in [server for server in self._servers if server.up]:
            try:
                answer = await _unless(gives_way, server.ask(host, domain))
            except ResolveError as error:
                if not error.silent:
                    return self._keep(host, domain, None, began)
                reason, answer = error.reason, None
            if answer is not None:
                return self._keep(host, domain, answer, began)
            alive = await server.alive(domain, began) or alive
        self._took(began)
        if not alive:
            self._server_changed()
            return None
        # If it had to give way, it had less time than others, so this does not count against its host.
        return NameEntry((), self._silent(domain).until, reason, put_off=gives_way.done())

    def _keep(self, host: str, domain: str, answer: NameAnswer | None, began: float) -> NameEntry:
        now = self._clock.now()
        self._took(began)
        self._cache.silent.pop(domain, None)
        if answer is None:
            entry = NameEntry((), now + LEAST_S, NO_SUCH_NAME)
        else:
            ttl_s = UNSAID_S if answer.ttl_s is None else answer.ttl_s
            entry = NameEntry(answer.addresses, now + min(max(ttl_s, LEAST_S), MOST_S))
        self._cache.put(host, entry)
        if self._offload is not None and now >= self._saved_at + SAVE_EVERY_S:
            self._saved_at = now
            self._saving = asyncio.ensure_future(self._offload(self._cache.copied().save))
        return entry

    def _silent(self, domain: str) -> SilentDomain:
        """Record that a domain is silent; return for how often and how long."""
        now, before = self._clock.now(), self._cache.silent.get(domain)
        if before is not None and now < before.until <= now + SILENT_MOST_S:
            return before  # other look-ups of it were under way
        times = before.times + 1 if before is not None else 1
        silence = SilentDomain(times, now + min(LEAST_S * 2.0 ** min(times - 1, 16), SILENT_MOST_S))
        self._cache.put_silent(domain, silence)
        return silence

    def _took(self, began: float) -> None:
        self._takes_s += _FADING * (self._clock.now() - began - self._takes_s)

    def _server_changed(self) -> None:
        if any(server.up for server in self._servers):
            self._back.set()
        else:
            self._back.clear()
        self._changed()


async def _unless(gives_way: asyncio.Future[None], asking: Awaitable[NameAnswer]) -> NameAnswer | None:
    """Return an answer; None if the place is needed for another look-up."""
    task = asyncio.ensure_future(asking)
    try:
        await asyncio.wait((task, gives_way), return_when=asyncio.FIRST_COMPLETED)
        return await task if task.done() else None
    finally:
        task.cancel()
