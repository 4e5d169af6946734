"""Real crawls of real sockets: the whole session, and the command line as a process of its own."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl import crawl
from evercrawl.progress import Limits, Progress
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.simulate.worlds.made_web import Answer, MadeWeb
from evercrawl.store.journal.events import Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Outcome

ROOT = Path(__file__).parents[2]
IDLE = Limits(until_idle=True, seconds=600)


class Server(Loopback):
    """A made web with pages written out by the test besides: path (on any host) or URL -> Answer, or a function."""

    def __init__(self, hosts: int = 1, pages: int = 4, **made: Any) -> None:
        super().__init__(hosts, pages, **({"changing": 0} | made))
        self.extra: dict[str, Any] = {}

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.web = _Web(self.web, self.extra)
        return self

    @property
    def pages(self) -> Counter[str]:
        """How often each page was asked for."""
        return Counter(served.origin + served.path for served in self.log if served.path != "/robots.txt")

    def gaps(self) -> dict[str, list[float]]:
        """Return for each host the times from the end of an answer to the next request."""
        of = defaultdict(list)
        for served in sorted(self.log, key=lambda served: served.at):
            of[served.origin].append(served)
        return {o: [b.at - a.ended_at for a, b in pairwise(s)] for o, s in of.items()}


class _Web:
    def __init__(self, made: MadeWeb, extra: dict[str, Any]) -> None:
        self.made, self.extra = made, extra
        self.origins, self.urls = made.origins, made.urls

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        said = self.extra.get(origin + path, self.extra.get(path))
        if said is None:
            return self.made.answer(origin, path, headers, at)
        return said(headers, at) if callable(said) else said


class Live:
    """Servers and crawls for one test."""

    Server = Server

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.said: list[Progress] = []

    @staticmethod
    def html(*links: str, text: str = "words", head: str = "", status: int = 200, **headers: str) -> Answer:
        anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
        body = f"<html><head><title>t</title>{head}</head><p>{text}</p>{anchors}</html>".encode()
        fields = {"Content-Type": "text/html", **{k.replace("_", "-"): v for k, v in headers.items()}}
        return Answer(status, fields, body)

    async def crawl(self, seeds: list[str], limits: Limits = IDLE, **settings: Any):
        """Run the real session; loopback is allowed, and a delay next to nothing, unless the test says otherwise."""
        config = Config(**({"delay_s": 0.01, "allow_net": (NETWORK,), "connections_per_ip": 4} | settings))
        return await crawl(self.directory, config, seeds, limits, watch=self.said.append)

    def visits(self) -> list[Visit]:
        with self.partition() as partition:
            return [event for _, _, event in partition.journal.replay() if isinstance(event, Visit)]

    def urls(self) -> list[str]:
        """Return every known URL by slot."""
        with self.partition() as partition:
            return partition.state.urls.get_many(range(partition.state.known.count))

    def outcomes(self) -> dict[str, str]:
        """Return the label of each known page's last outcome, "" before the first visit."""
        with self.partition() as partition:
            state = partition.state
            cells = [state.record_of(slot) for slot in range(state.known.count)]
            labels = ["" if cell is None else Outcome(int(state.records.rows["outcome"][cell])).label for cell in cells]
            return dict(zip(state.urls.get_many(range(len(cells))), labels, strict=True))

    def records(self) -> Counter[tuple[str, str]]:
        """Return how many archive records there are of each (kind, URL)."""
        from evercrawl.store.archive.warc_read import walk

        found: Counter[tuple[str, str]] = Counter()
        with self.partition() as partition:
            for segment in partition.archive.segments():
                for each in walk(partition.disk, partition.archive.name(segment)):
                    assert not each.record.damaged
                    found[each.record.kind, each.record.fields.get("warc-target-uri", "")] += 1
        return found

    @contextmanager
    def partition(self) -> Iterator[Partition]:
        partition = Partition(self.directory, os.urandom, now=time.time(), writable=False)
        try:
            yield partition
        finally:
            partition.close()

    def verified(self) -> None:
        found = verify(self.directory)
        assert found.fine, found.wrong


@pytest.fixture
def live(tmp_path: Path) -> Live:
    return Live(tmp_path / "crawl")


class Shell:
    """The command line as processes, beside a server in a thread."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.children: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        argv = [sys.executable, "-m", "evercrawl", *arguments]
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, **options)
        self.children.append(child)
        return child

    def crawl(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        fixed = ["--dir", str(self.directory), "--allow-net", NETWORK, "--json"]
        return self.start("crawl", *arguments, *fixed, **options)

    @staticmethod
    def events(text: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in text.splitlines()]

    def close(self) -> None:
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path / "crawl")
    yield shell
    shell.close()


@pytest.fixture
def serve() -> Iterator[Any]:
    """Run servers in a thread: `serve(server)` returns it once it listens."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    running: list[Server] = []

    def begin(server: Server) -> Server:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
        running.append(server)
        return server

    yield begin
    for server in running:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: needs pywb and a Chromium (make replay installs them, and runs these)")
