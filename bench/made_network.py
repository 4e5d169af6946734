"""A network without sockets: the answers of a made-up web of many hosts, each a moment after it was asked for."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from made_hosts import ROBOTS, MadeHosts

from evercrawl.errors import EvercrawlError
from evercrawl.fetch.answer import settle
from evercrawl.fetch.names import NameAnswer
from evercrawl.parse.urls import hostname, path_query
from evercrawl.types import Exchange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.clock import Clock
    from evercrawl.types import Request, Silence

STEP_S: Final = 0.002
"""For which answers are made up before other tasks have their turn."""
_HTML: Final = b"Content-Type: text/html; charset=utf-8\r\n"


class MadeNames:
    """Knows the address of every host of a made-up web.

    Attributes
    ----------
    asked
        How often it was asked.
    """

    label = "the made-up web"

    def __init__(self, web: MadeHosts) -> None:
        self._web = web
        self.asked = 0

    async def resolve(self, host: str) -> NameAnswer:
        """Return the address of `host`."""
        self.asked += 1
        number = self._web.number(host)
        assert number is not None, f"no page links to {host}"
        return NameAnswer((self._web.address(number),))


class MadeAnswers:
    """Answers requests after `latency_s` each, in their order; a `Network` as the loop knows it.

    Attributes
    ----------
    answered
        Answers so far, by status; those to robots.txt apart, as 0.
    first_at
        When the first page was asked for (`time.monotonic`); infinite before.
    cpu_s
        CPU of this thread that went into making answers up.
    hosts_named
        Hosts to which some page linked that came.
    """

    def __init__(self, web: MadeHosts, clock: Clock, latency_s: float = 0.05) -> None:
        self._web, self._clock, self._latency_s = web, clock, latency_s
        self._under_way: deque[tuple[float, Exchange]] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._waited_s = 0.0
        self.answered: Counter[int] = Counter()
        self.first_at = float("inf")
        self.cpu_s = 0.0
        self.hosts_named = 0
        self._named = bytearray(web.hosts)

    @property
    def in_flight(self) -> int:
        """Exchanges under way."""
        return len(self._under_way)

    def silent(self, over_s: float) -> list[Silence]:
        """Return nothing: every answer comes in time."""
        return []

    def hang_up(self, silences: Sequence[Silence]) -> None:
        """End nothing."""

    @property
    def idle_s(self) -> float:
        """How long `finished` has waited so far with nothing to do."""
        return self._waited_s

    def start(self, request: Request, addresses: Sequence[str] = (), *, beside: str = "") -> None:
        """Begin an exchange."""
        if self.first_at == float("inf") and not request.url.endswith("/robots.txt"):
            self.first_at = time.monotonic()
        exchange = Exchange(request, self._clock.now(), ip=addresses[0] if addresses else "")
        self._under_way.append((time.monotonic() + self._latency_s, exchange))

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended, after waiting for one of them for up to `timeout_s`."""
        now = time.monotonic()
        ready_s = self._under_way[0][0] - now if self._under_way else float("inf")
        await self._wait(max(min(timeout_s, ready_s), 0.0))
        began, now = time.thread_time(), time.monotonic()
        ended = list[Exchange]()
        while self._under_way and self._under_way[0][0] <= now:
            if (spent := time.thread_time() - began) > STEP_S:  # a step of the loop is not to be that of this
                self.cpu_s += spent
                await asyncio.sleep(0)
                began = time.thread_time()
            ended.append(self._answer(self._under_way.popleft()[1]))
        self.cpu_s += time.thread_time() - began
        await asyncio.sleep(0)
        return ended

    async def _wait(self, timeout_s: float) -> None:
        loop, began = asyncio.get_running_loop(), time.monotonic()
        self._waiter = loop.create_future()
        alarm = loop.call_later(timeout_s, self.wake)
        try:
            await self._waiter
        finally:
            alarm.cancel()
            self._waiter = None
            self._waited_s += time.monotonic() - began

    def wake(self) -> None:
        """Make the `finished` that waits return now."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def close(self) -> None:
        """Abandon what is under way."""
        self._under_way.clear()

    def _answer(self, exchange: Exchange) -> Exchange:
        url = exchange.request.url
        name, target = hostname(url), path_query(url)
        host, page = self._web.number(name), self._web.page(target)
        if host is None:
            raise EvercrawlError(f"the crawl invented {url}")
        status, kind, body = b"404 Not Found", _HTML, b"<title>not here</title>"
        if target == "/robots.txt":
            status, kind, body = b"200 OK", b"Content-Type: text/plain\r\n", ROBOTS
        elif page is not None and any(field.lower() == "if-none-match" for field, _ in exchange.request.headers):
            status, kind, body = b"304 Not Modified", b'ETag: "1"\r\n', b""
        elif page is not None:
            status, kind, body = b"200 OK", _HTML + b'ETag: "1"\r\n', self._web.body(host, page)
            self._name(host, page)
        exchange.sent = f"GET {target} HTTP/1.1\r\nHost: {name}\r\nUser-Agent: evercrawl\r\n\r\n".encode()
        exchange.wire, exchange.elapsed_s = body, self._clock.now() - exchange.at
        length = b"" if status[:1] == b"3" else b"Content-Length: %d\r\n" % len(body)
        lines = [b"HTTP/1.1 %b\r\n" % status, *(kind + length).splitlines(keepends=True), b"\r\n"]
        settle(exchange, lines, 0, "")
        self.answered[0 if target == "/robots.txt" else exchange.status] += 1
        return exchange

    def _name(self, host: int, page: int) -> None:
        for number in (host, *self._web.others(host, page)):
            self.hosts_named += not self._named[number]
            self._named[number] = 1
