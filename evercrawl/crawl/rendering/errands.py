"""Fetches what a page's browser requests, subject to robots.txt, guard, rest, limits and budget like a page."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from evercrawl.crawl.backoff import apply_backoff
from evercrawl.crawl.visit.moved_robots import crowded_words
from evercrawl.fetch.answer import unwrap
from evercrawl.fetch.robots_policy import fresh_s
from evercrawl.model.stored.reading import REDIRECTS
from evercrawl.parse.sites import same_site
from evercrawl.parse.urls import hostname, normalise, origin, path_query
from evercrawl.types import Exchange, Request

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.config import Config
    from evercrawl.crawl.pace import Pace
    from evercrawl.crawl.visit.access import Access
    from evercrawl.model.rules.robots import RobotsKeeper
    from evercrawl.schedule.frontier.hosts import Host

MOST_HOPS: Final = 5
KEPT_BYTES: Final = 64 << 20
"""The size limit of the answers kept for other pages, such as scripts that a whole site shares."""
KEPT_S: Final = (300.0, 86_400.0)
"""The shortest and the longest time for which an answer is kept, whatever its headers say."""
_PACE_S: Final = 0.05


class RefusedError(Exception):
    """A request of a page's browser is refused; the message says why."""


@dataclass(frozen=True, eq=False, slots=True)
class ErrandTag:
    """Marks an exchange that fetches what a page's browser requests, and holds the future that awaits it."""

    answered: asyncio.Future[Exchange]
    host: Host


class Errands:
    """Fetches what browsers request; for a while, an answer serves all pages that request it.

    Parameters
    ----------
    access, robots
        Whether and when hosts may be asked; the robots.txt files.
    clock, pace
        The clock, and the ceilings of the whole crawl.
    config
        Limits of one exchange.

    Attributes
    ----------
    made
        The number of exchanges so far.
    """

    def __init__(
        self,
        access: Access,
        robots: RobotsKeeper,
        clock: Clock,
        pace: Pace,
        config: Config,
    ) -> None:
        self._access, self._robots = access, robots
        self._clock, self._pace, self._config = clock, pace, config
        self._kept: OrderedDict[tuple[str, bool], tuple[Exchange, float]] = OrderedDict()  # by URL, and if of its site
        self._kept_bytes = 0
        self._wanted: dict[tuple[str, bool], asyncio.Task[Exchange]] = {}
        self._began_at: dict[str, dict[asyncio.Task[Any] | None, float]] = {}  # by URL, and the task that fetches it
        self.made = 0

    async def fetch(
        self,
        url: str,
        headers: tuple[tuple[str, str], ...] = (),
        *,
        initiator: str = "",
        shared: bool = True,
        most_bytes: int | None = None,
    ) -> tuple[Exchange, bool]:
        """Fetch a URL; return the exchange and whether it is new. Redirects are answers.

        Parameters
        ----------
        url, headers
            The request.
        initiator
            The URL of the page that has it requested, "" for none. Credentials are used only for pages of the site.
        shared
            Whether the answer may serve other pages too; of pages of its own site, and of others, apart.
        most_bytes
            Size limit of the body, both as sent and unpacked, if it is below that of pages; only if it is not `shared`.

        Raises
        ------
        RefusedError
            It may not be requested.
        """
        key = url, same_site(initiator, url)
        kept = self._kept.get(key)
        if kept is not None and kept[1] > self._clock.now():
            self._kept.move_to_end(key)
            return kept[0], False
        if not shared:
            try:
                return await self._fetch(url, headers, initiator, shared=False, most_bytes=most_bytes), True
            finally:
                self._waits_no_more(url, asyncio.current_task())
        under_way, new = self._wanted.get(key), False
        if under_way is None:  # a task of its own: if one page is abandoned, others that wait still get it
            under_way, new = asyncio.create_task(self._fetch(url, headers, initiator, shared=True)), True
            self._wanted[key] = under_way
            under_way.add_done_callback(lambda done: self._came(key, done))
        return await asyncio.shield(under_way), new

    def _came(self, key: tuple[str, bool], done: asyncio.Task[Exchange]) -> None:
        del self._wanted[key]
        self._waits_no_more(key[0], done)
        if not done.cancelled():
            done.exception()  # perhaps nobody waits for it any more

    def rests_s(self, url: str) -> float:
        """Return how long the host of a URL has still to rest, as far as is known (s)."""
        return self._access.side_requests.rests_s(url)

    def began_at(self, url: str) -> float:
        """Return since when a fetch has waited for hosts, rather than for the pace of the crawl; else infinity."""
        return min(self._began_at.get(url, {}).values(), default=float("inf"))

    def _waits_no_more(self, url: str, task: asyncio.Task[Any] | None) -> None:
        waits = self._began_at.get(url, {})
        waits.pop(task, None)
        if not waits:
            self._began_at.pop(url, None)

    def forget(self, urls: Iterable[str]) -> None:
        """Drop the stored answers of these URLs."""
        for key in [(url, own) for url in urls for own in (True, False)]:
            self._drop(key)

    def _drop(self, key: tuple[str, bool]) -> None:
        kept = self._kept.pop(key, None)
        self._kept_bytes -= _size(kept[0]) if kept is not None else 0

    def take(self, exchange: Exchange, tag: ErrandTag) -> None:
        """Process the result of an exchange."""
        now, vacant = self._clock.now(), self._access.addresses.vacant(tag.host, exchange)
        self._pace.received(now, len(exchange.wire) + len(exchange.head))
        if not vacant:
            apply_backoff(tag.host, exchange, now)
        self._access.ended(tag.host, exchange, now)
        if vacant and not tag.host.in_flight:
            self._access.addresses.move_on(tag.host)
        if not tag.answered.done():
            tag.answered.set_result(exchange)

    async def _fetch(
        self,
        url: str,
        headers: tuple[tuple[str, str], ...],
        initiator: str,
        *,
        shared: bool,
        most_bytes: int | None = None,
    ) -> Exchange:
        await self._allowed(url)
        most = min(self._config.body_max_bytes, most_bytes or self._config.body_max_bytes)
        deadline_s = self._config.exchange_deadline_s
        request = Request(url, None, headers, most, most, deadline_s, initiator=initiator)
        exchange = await self._exchange(request, url)
        if exchange.packed:
            unwrap(exchange)
        if shared:
            self._keep((url, same_site(initiator, url)), exchange)
        return exchange

    async def _allowed(self, url: str) -> None:
        """Check that robots.txt allows a URL; fetch the file if necessary."""
        home = origin(url)
        rules = self._robots.of(home, self._clock.now())
        if rules is None:
            request = self._robots.request(home)
            exchange = await self._exchange(request, url)
            for _ in range(MOST_HOPS):
                moved = self._robots.moved(exchange)
                if moved is None:
                    break
                exchange = await self._moved(url, moved)
            rules = await self._access.robots_of(exchange)
        if not rules.open:
            raise RefusedError(f"robots_unreachable: {rules.reason}")
        if rules.rules is not None and not rules.rules.allowed(path_query(url)):
            raise RefusedError("robots: robots.txt disallows it")

    async def _moved(self, url: str, request: Request) -> Exchange:
        """Return the answer where a host's robots.txt was moved to, within the budget that all such requests share."""
        name, now, target, elsewhere = hostname(url), self._clock.now(), hostname(request.url), self._access.elsewhere
        if target == name:
            return await self._exchange(request, url)
        if (known := elsewhere.known(request, now)) is not None:
            return known
        if not elsewhere.allows(name, target, now):
            return Exchange(request, now, error="budget", detail=crowded_words(request.url))
        exchange = await self._exchange(request, url)
        elsewhere.keep(exchange, self._clock.now())
        return exchange

    async def _exchange(self, request: Request, url: str) -> Exchange:
        """Make one exchange to fetch `url`; if nothing answers at an address of the host, try the next one."""
        tried = 1
        while True:
            exchange, host = await self._once(request, url)
            if tried >= len(host.addresses) or not self._access.addresses.vacant(host, exchange):
                return exchange
            tried += 1

    async def _once(self, request: Request, url: str) -> tuple[Exchange, Host]:
        """Make one exchange to fetch `url` when its host has rested and the pace allows it; return the host too."""
        task = asyncio.current_task()
        while not self._pace.free(self._clock.now()) or self._access.shut:
            self._waits_no_more(url, task)
            await self._clock.sleep(_PACE_S)
        self._began_at.setdefault(url, {})[task] = self._clock.now()
        try:
            host, held = await self._access.side_requests.turn(request.url)
        except PermissionError as error:
            raise RefusedError(str(error)) from error
        try:
            answered: asyncio.Future[Exchange] = asyncio.get_running_loop().create_future()
            now = self._clock.now()
            self._access.start(msgspec.structs.replace(request, tag=ErrandTag(answered, host)), host, now)
            self._pace.started(now)
            self.made += 1
            exchange = await asyncio.shield(answered)
        finally:
            self._access.side_requests.give_back(host, held)
        exchange.request = request
        return exchange, host

    def _keep(self, key: tuple[str, bool], exchange: Exchange) -> None:
        if not 200 <= exchange.status < 400 or exchange.error or "no-store" in _cache_control(exchange):
            return
        least_s, most_s = KEPT_S
        self._drop(key)
        until = self._clock.now() + min(max(fresh_s(_cache_control(exchange)), least_s), most_s)
        self._kept[key] = exchange, until
        self._kept_bytes += _size(exchange)
        while self._kept_bytes > KEPT_BYTES:
            _, (old, _) = self._kept.popitem(last=False)
            self._kept_bytes -= _size(old)


def target_of(exchange: Exchange) -> str | None:
    """Return the target of a redirect; None if the answer is none."""
    if exchange.status not in REDIRECTS:
        return None
    return normalise(exchange.headers.get("location", ""), exchange.request.url)


def _cache_control(exchange: Exchange) -> str:
    return exchange.headers.get("cache-control", "")


def _size(exchange: Exchange) -> int:
    return len(exchange.wire) + len(exchange.body) + len(exchange.head)
