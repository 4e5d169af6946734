"""Crawls of made-up webs on a virtual clock: the shipped loop, a network without sockets, a real disk."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evercrawl.arrays.hasher import Hasher
from evercrawl.config import Config
from evercrawl.config.written import Change
from evercrawl.crawl import loop
from evercrawl.crawl.assemble import assemble
from evercrawl.crawl.loop import Crawl
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.crawl.probes.soft404_book import Soft404Book
from evercrawl.crawl.sitemaps.cache import SitemapCache
from evercrawl.crawl.switching import due
from evercrawl.crawl.switching import switch as begin_switch
from evercrawl.crawl.visit.parsers import Parsers
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import StaticResolver
from evercrawl.importance.base import Importance
from evercrawl.model.rules.robots import RobotsKeeper
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname, path_query
from evercrawl.progress import Limits, Progress, Summary
from evercrawl.schedule.base import Policy
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.search.index import Index
from evercrawl.simulate.surroundings.clock import Crash, VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import Asked, MadeNetwork, NoAnswerError, inline
from evercrawl.simulate.worlds.made_web import Answer, MadeWeb
from evercrawl.store.disk.disk import Disk, RealDisk
from evercrawl.store.journal.events import Visit
from evercrawl.store.orders import OrderSource
from evercrawl.store.partition import Partition
from evercrawl.store.requisites.book import REQUISITES_FILE, RequisiteBook
from evercrawl.store.scheme import Scheme
from evercrawl.store.state import State

BEGAN_AT = 1_700_000_000.0
IDLE = Limits(until_idle=True, seconds=6 * 3600)  # a crawl that never gets idle fails its test
REPORT_S, OFTEN_S = 60.0, loop.REPORT_S
"""How often these crawls report: each report is a turn of the loop, and most of a crawl that waits for hours."""


class World:
    """A made-up web: pages written out by the test, then `made`; trouble drawn from a seed.

    `pages` maps a URL to an Answer, an outcome of NoAnswerError, or a function of (headers, at) that gives either.
    """

    def __init__(self, made: MadeWeb | None = None, *, seed: int = 1, trouble: float = 0.0) -> None:
        self.made = made or MadeWeb(seed, ())
        self.pages: dict[str, Any] = {}
        self.robots: dict[str, Any] = {}
        self._draw = random.Random(seed)
        self.trouble = trouble

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        if path != "/robots.txt" and self._draw.random() < self.trouble:
            return self.bad_day()
        said = self.pages.get(origin + path)
        if said is None:
            if origin in self.made.origins:
                return self.made.answer(origin, path, headers, at)
            return Answer(404, {"Content-Type": "text/html"}, b"nothing here")
        if callable(said):
            said = said(headers, at)
        if isinstance(said, NoAnswerError):
            raise said
        return said

    def bad_day(self) -> Answer:
        kind = self._draw.choice(["timeout", "reset", 500, 503, 429])
        if isinstance(kind, str):
            raise NoAnswerError(kind)
        retry = {"Retry-After": str(self._draw.randrange(1, 90))} if kind != 500 else {}
        return Answer(kind, {"Content-Type": "text/plain", **retry}, b"not now")

    @staticmethod
    def html(*links: str, text: str = "words", head: str = "", **headers: str) -> Answer:
        anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
        body = f"<html><head><title>t</title>{head}</head><p>{text}</p>{anchors}</html>".encode()
        return Answer(200, {"Content-Type": "text/html", **{k.replace("_", "-"): v for k, v in headers.items()}}, body)

    @staticmethod
    def robots_txt(text: str, **headers: str) -> Answer:
        return Answer(200, {"Content-Type": "text/plain", **{k.replace("_", "-"): v for k, v in headers.items()}},
                      text.encode())  # fmt: skip


class Manners:
    """Watches every request: one connection a host, the rest between two, the limit of an address, robots first."""

    def __init__(self, config: Config, read_robots_at: dict[str, float]) -> None:
        self.config = config
        self.read_robots_at = read_robots_at
        self.last: dict[str, Asked] = {}
        self.open: defaultdict[str, list[Asked]] = defaultdict(list)
        self.gaps: defaultdict[str, list[float]] = defaultdict(list)
        self.broken: list[str] = []  # raised by the runner at the end: a task that raises may be heard by nobody

    def __call__(self, asked: Asked) -> None:
        host = hostname(asked.url)
        before = self.last.get(host)
        if before is not None:
            gap_s = asked.at - before.ended_at
            self.expect(gap_s > self.config.delay_s - 1e-6, f"{asked.url}: {gap_s} s after the end of {before.url}")
            self.gaps[host].append(gap_s)
        self.last[host] = asked
        for address in filter(None, (asked.address, asked.beside)):
            sharing = self.open[address] = [a for a in self.open[address] if a.ended_at == float("inf")]
            sharing.append(asked)
            self.expect(len(sharing) <= self.config.connections_per_ip, f"{len(sharing)} connections to {address}")
        path = path_query(asked.url)
        if path == "/robots.txt":
            self.read_robots_at[host] = asked.at
        else:
            age_s = asked.at - self.read_robots_at.get(host, -math.inf)
            self.expect(age_s < 86_402, f"{asked.url} was asked for {age_s} s after its robots.txt")
            self.expect(not path.startswith("/private/"), f"robots.txt disallows {asked.url}")

    def expect(self, kept: bool, otherwise: str) -> None:
        if not kept:
            self.broken.append(otherwise)


@dataclass
class Ran:
    """One run: what it came to, what the far end saw, and the state it left behind."""

    summary: Summary | None
    network: MadeNetwork
    manners: Manners
    progress: list[Progress]
    error: Exception | None = None
    events: list[Any] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    took_s: float = 0.0
    said: list[str] = field(default_factory=list)

    @property
    def pages(self) -> Counter[str]:
        """How often each page was asked for."""
        return Counter(asked.url for asked in self.network.log if not asked.url.endswith("/robots.txt"))

    def asked(self, url: str) -> list[Asked]:
        return [asked for asked in self.network.log if asked.url == url]

    @property
    def visits(self) -> list[Visit]:
        return [event for event in self.events if isinstance(event, Visit)]

    @property
    def digest(self) -> str:
        return blake2b(msgspec.msgpack.encode(self.events)).hexdigest()


class DyingDisk(RealDisk):
    """Dies at the n-th operation, which is done in part, wholly or not at all; what was not synced may go with it."""

    def __init__(self, directory: Path, dies_at: int) -> None:
        super().__init__(directory)
        self.dies_at, self.done = dies_at, 0
        self.synced: dict[str, int] = {}
        self.draw = random.Random(dies_at)

    def append(self, name, data):
        self.synced.setdefault(name, self.size(name))
        if self.dies():
            super().append(name, data[: self.draw.choice([0, len(data) // 2, len(data)])])
            self.die()
        return super().append(name, data)

    def sync(self, name):
        if self.dies():
            self.die()
        self.synced[name] = self.size(name)

    def truncate(self, name, size):
        if self.dies():
            self.die()
        super().truncate(name, size)

    def replace(self, name, chunks, *, private=False):
        chunks = list(chunks)
        if self.dies():
            if self.draw.random() < 0.5:
                super().replace(name, chunks, private=private)
            self.die()
        super().replace(name, chunks, private=private)

    def remove(self, name):
        if self.dies():
            self.die()
        super().remove(name)

    def dies(self) -> bool:
        if self.done >= self.dies_at > 0:
            raise Crash
        self.done += 1
        return self.done == self.dies_at

    def die(self) -> None:
        for name, size in self.synced.items():
            super().truncate(name, self.draw.randint(min(size, self.size(name)), self.size(name)))
        raise Crash


class Runner:
    """Runs crawls in one directory, one after the other; time goes on from run to run."""

    World, Manners, Answer, NoAnswerError = World, Manners, Answer, NoAnswerError
    Crash, DyingDisk = Crash, DyingDisk
    html, robots_txt = staticmethod(World.html), staticmethod(World.robots_txt)

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.now = BEGAN_AT
        self.runs = 0
        self.read_robots_at: dict[str, float] = {}

    def __call__(
        self,
        world: World,
        seeds: list[str],
        limits: Limits = IDLE,
        *,
        hook: Callable[[str, str], None] | None = None,
        disk: Disk | None = None,
        names: dict[str, list[str]] | None = None,
        vacant: Callable[[str], str] = lambda _: "",
        latency_s: Callable[[Any], float] | None = None,
        offload: Callable[..., Any] = inline,
        during: Callable[[Crawl], Any] | None = None,
        polite: bool = True,
        raises: bool = True,
        seed: int = 1,
        guard: Guard | None = None,
        robots: str = "robots.sqlite",
        segment_bytes: int = 1 << 30,
        scheme: Scheme | None = None,
        importance: Importance | None = None,
        switch: Scheme | None = None,
        ends: Callable[[], bool] = lambda: False,
        policy: Policy | None = None,
        search: Index | None = None,
        parsers: Callable[[Hasher], Parsers] | None = None,
        orders: OrderSource | None = None,
        amend: Callable[[Change], None] | None = None,
        book: Callable[[str], RequisiteBook] = RequisiteBook.opened,
        **settings: Any,
    ) -> Ran:
        """Open the directory, crawl, close it; `during` may return a coroutine to run beside the crawl.

        Where the crawl was begun with another scheme than `switch`, its past is judged anew first; if that `ends`
        before it is done, there is no crawl.
        """
        config = Config(**settings)
        self.directory.mkdir(exist_ok=True)
        self.runs += 1
        draw = random.Random(f"{seed} {self.runs}")
        lasts_s = latency_s or (lambda _: draw.uniform(0.02, 0.8))

        async def crawl() -> Ran:
            clock = VirtualClock()
            judge = guard or Guard()
            manners = Manners(config, self.read_robots_at)
            progress: list[Progress] = []
            resolver = StaticResolver(names or {"*": ["8.8.4.4"]})
            network = MadeNetwork(
                world, clock, lasts_s, manners if polite else lambda _: None, judge.judge, vacant=vacant
            )
            ran = Ran(None, network, manners, progress)
            partition = None
            try:
                partition = Partition(
                    self.directory, draw.randbytes, now=clock.now(), segment_bytes=segment_bytes,
                    disk=disk or RealDisk(self.directory, before=hook), site=found_site, scheme=scheme,
                    secret=random.Random(f"{seed} secret").randbytes(16),
                )  # fmt: skip
                keeper = RobotsKeeper(
                    ":memory:" if robots == ":memory:" else str(self.directory / robots),
                    config.product_token,
                    config.exchange_deadline_s,
                )
                requisites = book(str(self.directory / REQUISITES_FILE)) if config.requisites else None
                if requisites is not None:
                    requisites.follow(partition.journal)
                memory = Memory(
                    partition, keeper, SitemapCache(":memory:"), Soft404Book(":memory:"), search, requisites=requisites
                )
                try:
                    if (
                        switch is not None
                        and due(partition, switch)
                        and not await begin_switch(partition, switch, clock, offload, ran.said.append, ends)
                    ):
                        ran.events = [event for _, _, event in partition.journal.replay()]
                        return ran
                    readers = None if parsers is None else lambda _, hasher: parsers(hasher)
                    outside = Outside(
                        network, [resolver], clock, offload, judge, inline, readers, orders=orders, amend=amend
                    )
                    one = assemble(
                        config, memory, outside, progress.append,
                        policy=policy or BreadthFirst(), importance=importance,
                    )  # fmt: skip
                    ran.repairs = list(partition.repairs)
                    await self._run(one, seeds, limits, during, ran)
                    ran.events = [event for _, _, event in partition.journal.replay()]
                finally:
                    await network.close()
                    memory.close()
            except Exception as error:
                if raises:
                    raise
                ran.error = error
            finally:
                if partition is not None:
                    partition.close()
            assert not manners.broken, manners.broken[:5]
            ran.took_s = clock.now() - self.now
            self.now = clock.now()
            return ran

        return run_virtual(crawl(), start=self.now)

    @staticmethod
    async def _run(one: Crawl, seeds: list[str], limits: Limits, during: Any, ran: Ran) -> None:
        import asyncio

        beside = during(one) if during is not None else None
        task = asyncio.ensure_future(beside) if beside is not None else None
        try:
            ran.summary = await one.run(seeds, limits)
        finally:
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def folded(self) -> Partition:
        """Open the directory for reading, from nothing but the journal."""
        return Partition(self.directory, random.randbytes, now=self.now, writable=False, fold_all=True, site=found_site)

    def restored(self) -> Partition:
        """Open the directory for reading, as a start does: newest snapshot, then the journal from there."""
        return Partition(self.directory, random.randbytes, now=self.now, writable=False, site=found_site)

    def outcomes(self) -> dict[str, tuple[int, int]]:
        """Return (outcome, visits) of every known page by URL, by the journal alone; (0, 0) before the first visit."""
        partition = self.folded()
        state = partition.state
        found = {}
        for slot in range(state.known.count):
            index = state.record_of(slot)
            row = state.records.rows[index] if index is not None else None
            found[state.urls.get(slot)] = (int(row["outcome"]), int(row["visits"])) if row is not None else (0, 0)
        partition.close()
        return found

    def archived(self) -> list[str]:
        """Return the target URI of each response or revisit record of the archive, in order."""
        from evercrawl.store.archive.warc_read import walk

        partition = self.folded()
        uris = []
        for segment in partition.archive.segments():
            for found in walk(partition.disk, partition.archive.name(segment)):
                assert not found.record.damaged
                if found.record.kind in ("response", "revisit"):
                    uris.append(found.record.fields["warc-target-uri"])
        partition.close()
        return uris

    def same(self) -> None:
        """Hold the state that a start restores against the fold of the whole journal."""
        folded, restored = self.folded(), self.restored()
        assert not restored.repairs
        compare(restored.state, folded.state)
        folded.close()
        restored.close()


def compare(state: State, other: State) -> None:
    from evercrawl.ask.verify.findings import Findings
    from evercrawl.ask.verify.state import compare as compare_states

    found = Findings()
    compare_states(state, other, found)
    assert found.fine, found.wrong
    count = state.known.count
    assert state.urls.get_many(range(count)) == other.urls.get_many(range(count))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.setattr(loop, "REPORT_S", REPORT_S)
    return Runner(tmp_path / "crawl")


@pytest.fixture
def reporting(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let crawls report as often as those that people run."""
    monkeypatch.setattr(loop, "REPORT_S", OFTEN_S)
