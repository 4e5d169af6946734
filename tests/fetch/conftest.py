"""Servers on loopback that say exactly what a test wants, byte by byte."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from answers import OK
from loopback import Server, Server2

from evercrawl.clock import SystemClock
from evercrawl.fetch.http import CurlNetwork
from evercrawl.types import Exchange, Request


class Site(Server):
    """A server of HTTP/1.1; `replies` maps a path to bytes, or to a coroutine function that makes them.

    The function is given the connection; None for a reply closes it.
    """

    def __init__(self, replies: dict[str, Any], *, pem: str = "", alpn: tuple[str, ...] = ()) -> None:
        super().__init__(pem=pem, alpn=alpn)
        self.replies = replies

    async def answer(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        reply = self.replies[path.partition("?")[0]]
        if not isinstance(reply, bytes):
            reply = await reply((reader, writer))
        writer.write(reply or b"")
        return reply is not None


class Site2(Server2):
    """A little server of HTTP/2: to every request it sends the frames in `frames`, given as (type, flags, bytes)."""

    def __init__(self, frames: list[tuple[int, int, bytes]]) -> None:
        super().__init__()
        self.frames = frames

    async def answer_stream(self, writer: asyncio.StreamWriter, stream: int) -> None:
        for kind, flags, payload in self.frames:
            writer.write(self.frame(kind, flags, stream, payload))


class Fetcher:
    """Runs a site and a network in one loop, and fetches from the one with the other."""

    Site, Site2 = Site, Site2

    def network(self, judge: Callable[[str], str] = lambda _: "", **options: Any) -> CurlNetwork:
        return CurlNetwork(SystemClock(), judge, agent="testbot/1", **options)

    @staticmethod
    def reply(body: bytes, *lines: str) -> bytes:
        fields = "".join(f"{line}\r\n" for line in (f"Content-Length: {len(body)}", *lines))
        return OK + fields.encode("latin-1") + b"\r\n" + body

    @staticmethod
    async def one(network: CurlNetwork, request: Request | str, addresses: tuple[str, ...] = ()) -> Exchange:
        if isinstance(request, str):
            request = Request(request, deadline_s=5.0)
        network.start(request, addresses)
        ended = await network.finished(8.0)
        assert len(ended) == 1
        return ended[0]

    def from_site(self, reply: Any, *, judge: Callable[[str], str] = lambda _: "", **fields: Any) -> Exchange:
        """Fetch one page from a site of its own."""

        async def run() -> Exchange:
            async with Site({"/": reply}) as site:
                network = self.network(judge)
                exchange = await self.one(network, Request(site.url("/"), **{"deadline_s": 5.0, **fields}))
                await network.close()
                return exchange

        return asyncio.run(run())

    def with_site(self, site: Site, work: Callable[[Site, CurlNetwork], Awaitable[Any]], **options: Any) -> Any:
        """Run `work` with the site up and a network."""

        async def run() -> Any:
            async with site:
                network = self.network(**options)
                try:
                    return await work(site, network)
                finally:
                    await network.close()

        return asyncio.run(run())


@pytest.fixture
def fetcher():
    return Fetcher()
