"""A server of a simulated web on this machine's loopback addresses, with a log of requests."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from types import TracebackType
from typing import Self, cast

from evercrawl.clock import Clock, SystemClock
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.simulate.worlds.made_web import Answer, MadeWeb

NETWORK = "127.0.0.0/8"


@dataclass(frozen=True, slots=True)
class Served:
    """One request and its response, as the server saw them.

    Attributes
    ----------
    at, ended_at
        When the request was complete, and when the response was written; seconds since the epoch.
    origin, path
        The URL requested.
    status, size_bytes
        Of the response; size of the body only.
    headers
        Request headers, names in lower case.
    """

    at: float
    ended_at: float
    origin: str
    path: str
    status: int
    size_bytes: int
    headers: dict[str, str] = field(default_factory=dict[str, str])


class Loopback:
    """A running server of a `MadeWeb`, with one loopback address per host, all on one free port.

    Attributes
    ----------
    web
        The web served; its origins are known once the context is entered.
    log
        Every request so far.

    Examples
    --------
    ::

        async with Loopback(hosts=3) as server:
            await crawl(directory, Config(allow_net=(NETWORK,)), server.seeds, ...)
    """

    def __init__(
        self,
        hosts: int = 4,
        pages: int = 30,
        *,
        seed: int = 1,
        change_every_s: float = 3.0,
        changing: int = 5,
        latency_s: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        self.log: list[Served] = []
        self.web = MadeWeb(seed, (), pages, change_every_s, changing)
        self._addresses = [f"127.0.{1 + i // 250}.{1 + i % 250}" for i in range(hosts)]
        self._latency_s = latency_s
        self._clock = clock or SystemClock()
        self._servers: list[asyncio.Server] = []
        self._talks: set[asyncio.Task[None]] = set()

    @property
    def seeds(self) -> list[str]:
        """Return the front page of every host."""
        return [f"{origin}/" for origin in self.web.origins]

    async def __aenter__(self) -> Self:
        sockets = _bound(self._addresses)
        port = sockets[0].getsockname()[1]
        self.web = replace(self.web, origins=tuple(f"http://{address}:{port}" for address in self._addresses))
        for origin, bound in zip(self.web.origins, sockets, strict=True):
            self._servers.append(await asyncio.start_server(partial(self._talk, origin), sock=bound))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening and hang up."""
        for server in self._servers:
            server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return len(self._talks)

    async def _talk(self, origin: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until the client closes it."""
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._talks.add(task)
        task.add_done_callback(self._talks.discard)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
                while await self._exchange(origin, reader, writer):
                    pass
        finally:
            writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def _exchange(self, origin: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; return whether the connection can be reused."""
        method, path, headers = _parsed(await reader.readuntil(b"\r\n\r\n"))
        at = self._clock.now()
        answer = self._answer(origin, path, headers, at) if method in ("GET", "HEAD") else Answer(405)
        await self._clock.sleep(self._latency_s)
        ended_at = self._clock.now()  # once it is written, the client may be ahead of us
        writer.write(_written(answer, with_body=method != "HEAD"))
        await writer.drain()
        self.log.append(Served(at, ended_at, origin, path, answer.status, len(answer.body), headers))
        return headers.get("connection", "").lower() != "close"

    def _answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        return self.web.answer(origin, path, headers, at)


class LivingLoopback(Loopback):
    """A running server of any web; hosts and addresses as in `Loopback`.

    Parameters
    ----------
    make
        Origins of the hosts -> the web; called when the context is entered.
    hosts
        Number of hosts.

    Attributes
    ----------
    living
        The web, once the context is entered.
    """

    living: LivingWeb

    def __init__(self, make: Callable[[tuple[str, ...]], LivingWeb], hosts: int = 20) -> None:
        super().__init__(hosts)
        self._make = make

    async def __aenter__(self) -> Self:
        """Bind the sockets, and create the web for them."""
        await super().__aenter__()
        try:
            self.living = self._make(self.web.origins)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    def _answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        return self.living.answer(origin, path, headers, at)


def _bound(addresses: list[str], tries: int = 20) -> list[socket.socket]:
    """Return listening sockets on one port that is free at every address."""
    for _ in range(tries):
        sockets: list[socket.socket] = []
        port = 0
        try:
            for address in addresses:
                sockets.append(socket.create_server((address, port)))
                port = sockets[0].getsockname()[1]
        except OSError:
            for bound in sockets:
                bound.close()
            continue
        return sockets
    raise OSError(f"no port is free at all of {', '.join(addresses)}")


def _parsed(head: bytes) -> tuple[str, str, dict[str, str]]:
    r"""Return method, path and headers of a request.

    Examples
    --------
    >>> _parsed(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
    ('GET', '/a', {'host': 'x'})
    """
    first, *rest = head.decode("latin-1").split("\r\n")
    method, path, _ = (*first.split(" "), "", "")[:3]
    pairs = (line.partition(":") for line in rest if ":" in line)
    return method, path, {name.strip().lower(): value.strip() for name, _, value in pairs}


def _written(answer: Answer, *, with_body: bool) -> bytes:
    head = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    head += [f"{name}: {value}" for name, value in answer.headers.items()]
    if answer.status != HTTPStatus.NOT_MODIFIED:
        head.append(f"Content-Length: {len(answer.body)}")
    return "\r\n".join([*head, "\r\n"]).encode("latin-1") + (answer.body if with_body else b"")
