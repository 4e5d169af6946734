"""Servers on loopback that say exactly what a test wants, byte by byte."""

import asyncio
import ssl
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from evercrawl.clock import SystemClock
from evercrawl.fetch.http import CurlNetwork
from evercrawl.types import Exchange, Request

DATA = Path(__file__).parent / "data"
OK = b"HTTP/1.1 200 OK\r\n"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Site:
    """A raw HTTP/1.1 server; `replies` maps a path to bytes, or to a coroutine function that makes them.

    The function is given the connection; None for a reply closes it.
    """

    def __init__(self, replies: dict[str, Any], *, pem: str = "", alpn: tuple[str, ...] = ()) -> None:
        self.replies = replies
        self.pem, self.alpn = pem, alpn
        self.requests: list[bytes] = []
        self.connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Site":
        context = None
        if self.pem:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(DATA / self.pem)
            context.set_alpn_protocols(list(self.alpn))
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=context)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{'https' if self.pem else 'http'}://{host}:{self.port}{path}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            await self.speak(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass  # the far end, or the test, has had enough
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(request)
            reply = self.replies[request.split()[1].decode().split("?")[0]]
            if not isinstance(reply, bytes):
                reply = await reply((reader, writer))
            if reply is None:  # close
                await writer.drain()
                writer.close()
                return
            writer.write(reply)
            await writer.drain()


class Site2(Site):
    """A little HTTP/2 server: to every request it sends the frames in `answer`, given as (type, flags, bytes)."""

    HEADERS, DATA, END_STREAM, END_HEADERS = 1, 0, 1, 4

    def __init__(self, answer: list[tuple[int, int, bytes]]) -> None:
        super().__init__({}, pem="site.pem", alpn=("h2",))
        self.answer = answer

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(24)
        writer.write(self.frame(4, 0, 0, b""))
        while True:
            head = await reader.readexactly(9)
            kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
            payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
            if kind == 4 and not flags & 1:
                writer.write(self.frame(4, 1, 0, b""))
            if kind == self.HEADERS:
                self.requests.append(payload)
                for part in self.answer:
                    writer.write(self.frame(part[0], part[1], stream, part[2]))
            await writer.drain()

    @staticmethod
    def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    @staticmethod
    def field(name: str, value: str) -> bytes:
        """One literal header field, not indexed, as HPACK writes it (RFC 7541, 6.2.2)."""
        return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


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
