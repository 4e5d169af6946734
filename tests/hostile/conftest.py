"""Servers on loopback that mean harm, and the shipped network and crawl set upon them."""

import asyncio
import contextlib
import os
import ssl
import struct
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest

from evercrawl.clock import SystemClock
from evercrawl.fetch.http import CurlNetwork
from evercrawl.types import Exchange, Request

CERTIFICATES = Path(__file__).parents[1] / "fetch" / "data"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
OUTSIDE = "127.0.9.0/24"  # stands for the open Internet; every other address is inside
MOST_SENT_BYTES = 64 << 20  # so that a defence that fails does not fill the machine


class Say:
    """One connection as a reply sees it: call it with bytes; it raises once the far end has left."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self._writer, self.sent_bytes = reader, writer, 0

    async def __call__(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        self.sent_bytes += len(data)

    async def forever(self, data: bytes, pause_s: float = 0.0) -> None:
        while self.sent_bytes < MOST_SENT_BYTES:
            await self(data)
            await asyncio.sleep(pause_s)

    async def silence(self) -> None:
        """Say nothing until the far end leaves."""
        while await self.reader.read(1 << 16):
            pass


class Far:
    """A server that says exactly what a test wants, byte by byte.

    `replies` maps a path (without its query) to bytes, or to a coroutine function that is given a `Say` and may return
    bytes; after one that returns None the connection is closed. Other paths are not found.
    """

    def __init__(self, replies: dict[str, Any], address: str = "127.0.9.1", *, port: int = 0, pem: str = "") -> None:
        self.replies, self.address, self.port, self.pem = replies, address, port, pem
        self.alpn: tuple[str, ...] = ()
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self.connections = self.sent_bytes = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        context = None
        if self.pem:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.pem if "/" in self.pem else CERTIFICATES / self.pem)
            context.set_alpn_protocols(list(self.alpn))
        self._server = await asyncio.start_server(self._accept, self.address, self.port, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", host: str = "") -> str:
        return f"{'https' if self.pem else 'http'}://{host or self.address}:{self.port}{path}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        try:
            await self.speak(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            pass  # the crawler, or the test, has had enough
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split()[1].decode()
            self.asked.append(path)
            self.heads.append(head)
            reply, say = self.replies.get(path.partition("?")[0]), Say(reader, writer)
            try:
                if callable(reply):
                    reply = await reply(say)
                elif reply is None:
                    reply = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                if reply is None:
                    await writer.drain()
                    writer.close()
                    return
                await say(reply)
            finally:
                self.sent_bytes += say.sent_bytes


Reply = Callable[["Far2", asyncio.StreamWriter, int], Awaitable[None]]


class Far2(Far):
    """A server of HTTP/2 frames, which `reply(server, writer, stream)` writes."""

    HEADERS, DATA, RESET, SETTINGS, PUSH, PING, AWAY, CONTINUATION = 1, 0, 3, 4, 5, 6, 7, 9
    END_STREAM, END_HEADERS, PADDED = 1, 4, 8
    STATUS_200 = b"\x88"

    def __init__(self, reply: Reply) -> None:
        super().__init__({}, pem="site.pem")
        self.alpn, self.reply = ("h2",), reply

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(24)
        writer.write(self.frame(self.SETTINGS, 0, 0, b""))
        while True:
            head = await reader.readexactly(9)
            kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
            await reader.readexactly(int.from_bytes(head[:3], "big"))
            if kind == self.SETTINGS and not flags & 1:
                writer.write(self.frame(self.SETTINGS, 1, 0, b""))
            if kind == self.HEADERS:
                self.asked.append("/")
                await self.reply(self, writer, stream)
            await writer.drain()

    @staticmethod
    def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    @staticmethod
    def field(name: str, value: str) -> bytes:
        """One literal header field, not indexed, as HPACK writes it (RFC 7541, 6.2.2)."""
        return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


@dataclass
class Crawled:
    """What became of a crawl."""

    outcomes: dict[str, str]
    visits: list[Any]
    summary: Any
    took_s: float
    said: list[Any] = field(default_factory=list[Any])

    def titles(self) -> dict[int, str]:
        return {visit.slot: visit.title for visit in self.visits}


class Hostile:
    """Fetches from, and crawls, servers of a test."""

    Far, Far2, OK, OUTSIDE = Far, Far2, OK, OUTSIDE

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @staticmethod
    def reply(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
        fields = [f"Content-Length: {len(body)}", *lines]
        if not any(line.lower().startswith("content-type") for line in lines):
            fields.append("Content-Type: text/html")
        return "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode("latin-1") + body

    @classmethod
    def page(cls, *links: str, title: str = "t", text: str = "") -> bytes:
        anchors = "".join(f'<p><a href="{link}">x</a>' for link in links)
        return cls.reply(f"<title>{title}</title><p>{text}{anchors}".encode())

    @classmethod
    def moved(cls, to: str, status: str = "302 Found") -> bytes:
        return cls.reply(b"", f"Location: {to}", status=status)

    def fetch(
        self, far: Any, *, times: int = 1, options: dict[str, Any] | None = None, **fields: Any
    ) -> list[Exchange]:
        """Fetch "/" from a server (or from one that makes this reply), one time after another."""
        far = far if isinstance(far, Far) else Far({"/": far})
        host = "site.test" if far.pem else ""

        exchanges: list[Exchange] = []

        async def run() -> None:  # what it returned, asyncio would write out
            settings = {"ca_file": str(CERTIFICATES / "site.pem")} | (options or {})
            network = CurlNetwork(SystemClock(), lambda _: "", agent="testbot/1", **settings)
            async with far:
                for _ in range(times):
                    request = Request(far.url("/", host), **{"deadline_s": 5.0, **fields})
                    network.start(request, (far.address,))
                    exchanges.extend(await network.finished(20.0))
                await network.close()

        asyncio.run(run())
        assert len(exchanges) == times, "every exchange ends"
        return exchanges

    def crawl(
        self, *fars: Far, first: tuple[str, ...] = (), beside: tuple[Any, ...] = (), seconds: float = 20.0,
        until_idle: bool = True, **settings: Any,
    ) -> Crawled:  # fmt: skip
        """Crawl from the front page of each server until nothing is left to do, or `seconds` have passed.

        The seeds `first` come before them; servers `beside` them run, too.
        """
        from evercrawl.config import Config
        from evercrawl.crawl import crawl
        from evercrawl.progress import Limits

        config = Config(
            **(
                {"delay_s": 0.01, "allow_net": (OUTSIDE,), "exchange_deadline_s": 0.4, "connections_per_ip": 4}
                | settings
            )
        )
        said: list[Any] = []

        async def run() -> Any:
            async with contextlib.AsyncExitStack() as stack:
                for far in (*beside, *fars):
                    await stack.enter_async_context(far)
                limits = Limits(until_idle=until_idle, seconds=seconds)
                seeds = [*first, *(far.url() for far in fars)]
                return await crawl(self.directory, config, seeds, limits, watch=said.append)

        began = time.monotonic()
        summary = asyncio.run(run())
        took_s = time.monotonic() - began
        outcomes, visits = self._read()
        return Crawled(outcomes, visits, summary, took_s, said)

    def _read(self) -> tuple[dict[str, str], list[Any]]:
        from evercrawl.parse.digest import keys
        from evercrawl.store.events import Visit
        from evercrawl.store.partition import Partition
        from evercrawl.types import Outcome

        partition = Partition(self.directory, keys, os.urandom, now=time.time(), writable=False)
        state = partition.state
        cells = [state.record_of(slot) for slot in range(state.known.count)]
        labels = ["" if cell is None else Outcome(int(state.records.rows["outcome"][cell])).label for cell in cells]
        outcomes = dict(zip(state.urls.get_many(range(len(cells))), labels, strict=True))
        visits = [event for _, _, event in partition.journal.replay() if isinstance(event, Visit)]
        partition.close()
        return outcomes, visits


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path / "crawl")
