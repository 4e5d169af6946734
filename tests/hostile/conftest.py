"""Servers on loopback that mean harm, and the shipped network and crawl set upon them."""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from loopback import CERTIFICATES, Server, Server2

from evercrawl.clock import SystemClock
from evercrawl.fetch.http import CurlNetwork
from evercrawl.types import Exchange, Request

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
OPEN = "127.0.9.1"
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


class Far(Server):
    """A server that says exactly what a test wants, byte by byte.

    `replies` maps a path (without its query) to bytes, or to a coroutine function that is given a `Say` and may return
    bytes; after one that returns None the connection is closed. Other paths are not found.
    """

    def __init__(self, replies: dict[str, Any], address: str = OPEN, *, port: int = 0, pem: str = "") -> None:
        super().__init__(address, port, pem=pem)
        self.replies = replies
        self.asked: list[str] = []
        self.sent_bytes = 0

    async def answer(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self.asked.append(path)
        reply, say = self.replies.get(path.partition("?")[0], NOT_FOUND), Say(reader, writer)
        try:
            if callable(reply):
                reply = await reply(say)
            if reply is not None:
                await say(reply)
        finally:
            self.sent_bytes += say.sent_bytes
        return reply is not None


Reply = Callable[["Far2", asyncio.StreamWriter, int], Awaitable[None]]


class Far2(Server2):
    """A server of HTTP/2 frames, which `reply(server, writer, stream)` writes."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(OPEN)
        self.reply = reply

    async def answer_stream(self, writer: asyncio.StreamWriter, stream: int) -> None:
        await self.reply(self, writer, stream)


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
        far = far if isinstance(far, Server) else Far({"/": far})
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
        until_idle: bool = True, until: Callable[[list[Any]], bool] = lambda _: False, **settings: Any,
    ) -> Crawled:  # fmt: skip
        """Crawl from the front page of each server until nothing is left to do, or `seconds` have passed.

        The seeds `first` come before them; servers `beside` them run, too. What was said may end it as well: `until`.
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
                stop = asyncio.Event()

                def watch(progress: Any) -> None:
                    said.append(progress)
                    if until(said):
                        stop.set()

                return await crawl(self.directory, config, seeds, limits, watch, stop)

        began = time.monotonic()
        summary = asyncio.run(run())
        took_s = time.monotonic() - began
        outcomes, visits = self._read()
        return Crawled(outcomes, visits, summary, took_s, said)

    def _read(self) -> tuple[dict[str, str], list[Any]]:
        from evercrawl.store.journal.events import Visit
        from evercrawl.store.partition import Partition
        from evercrawl.types import Outcome

        partition = Partition(self.directory, os.urandom, now=time.time(), writable=False)
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
