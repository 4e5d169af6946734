"""One world from its beginning to its end: the shipped crawl, life after life, and whoever watches it."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
import traceback
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl import catalog, schedule
from evercrawl.crawl.findings import Findings
from evercrawl.crawl.indexing import Indexing
from evercrawl.crawl.loop import Crawl
from evercrawl.crawl.robots import ROBOTS_FILE, RobotsKeeper
from evercrawl.crawl.schemes import kind_of, scheme_of
from evercrawl.crawl.sitemap_cache import SITEMAPS_FILE, SitemapCache
from evercrawl.crawl.soft404_book import SOFT404_FILE, Soft404Book
from evercrawl.crawl.timekeeping import go_on
from evercrawl.crawl.verify import inspect
from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.fetch.guard import Guard
from evercrawl.parse.digest import keys
from evercrawl.parse.sites import site
from evercrawl.progress import Limits
from evercrawl.search.anchors import Anchors
from evercrawl.search.index import FOLDER, Index
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.checkers.budget import Budget
from evercrawl.simulate.checkers.cash import CashConserved
from evercrawl.simulate.checkers.index import IndexFollows
from evercrawl.simulate.checkers.journal import Acknowledged, MemoryFollows
from evercrawl.simulate.checkers.politeness import Politeness
from evercrawl.simulate.checkers.robots import RobotsObeyed
from evercrawl.simulate.checkers.starvation import NoneStarves
from evercrawl.simulate.checkers.visits import EachVisit
from evercrawl.simulate.clock import Crash, SimulationError, run_virtual
from evercrawl.simulate.log import Log
from evercrawl.simulate.network import MadeNetwork
from evercrawl.simulate.result import Result
from evercrawl.simulate.surroundings import Surroundings
from evercrawl.simulate.watched import SlowOffload, SlowParsers, WatchedNetwork, WatchedPartition
from evercrawl.simulate.world import BEGAN_AT, DIRECTORY, End, Life, World, drawn
from evercrawl.store.events import Visit
from evercrawl.store.partition import Partition, Scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evercrawl.clock import Clock
    from evercrawl.progress import Progress
    from evercrawl.store.events import Event
    from evercrawl.types import Exchange, Request

CHECKERS: Final[tuple[type[Checker], ...]] = (
    Politeness, RobotsObeyed, Budget, EachVisit, CashConserved, Acknowledged, MemoryFollows, IndexFollows, NoneStarves,
)  # fmt: skip
_MEMORY: Final = Path("/dev/shm")  # the index and the caches sync; here that costs nothing


class BrokenPromiseError(SimulationError):
    """A law was broken; the message says which, and by how much."""


def simulate(
    seed: int,
    *,
    watch: Callable[[str], None] | None = None,
    checkers: Sequence[type[Checker]] | None = None,
    world: World | None = None,
) -> Result:
    """Live through the world of a seed and return what became of it.

    Parameters
    ----------
    seed
        Draws everything; the same seed, the same log.
    watch
        Given each line of the log.
    checkers
        Who watches; all there are, where none is named.
    world
        The world of the seed, or another one.
    """
    simulation = Simulation(world or drawn(seed), watch, CHECKERS if checkers is None else checkers)
    with tempfile.TemporaryDirectory(prefix="evercrawl-world-", dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        return simulation.run(Path(folder))


class Simulation:
    """Runs a crawl through all the lives of a world.

    Parameters
    ----------
    world, watch, checkers
        As for `simulate`.
    """

    def __init__(self, world: World, watch: Callable[[str], None] | None, checkers: Sequence[type[Checker]]) -> None:
        self.world = world
        self.log = Log(watch)
        self.result = Result(world.seed)
        self.now = BEGAN_AT
        self.checkers = [checker(world, self._blames(checker.law)) for checker in checkers]
        self._failures = 0  # of the disk, before this life
        self._running: Running | None = None
        self._around: Surroundings | None = None

    @property
    def around(self) -> Surroundings:
        """Return what surrounds the crawl; there is nothing before `run`."""
        assert self._around is not None
        return self._around

    def run(self, folder: Path) -> Result:
        """Live all lives, or those until a promise is broken; `folder` is for what cannot be made up."""
        began, result = time.perf_counter(), self.result
        self._around = Surroundings(self.world, folder, self._befell)
        for number, life in enumerate(self.world.lives):
            self._live(number, life, last=number == len(self.world.lives) - 1)
            if result.broken:
                break
        result.real_s, result.virtual_s = time.perf_counter() - began, self.now - BEGAN_AT
        result.hash, result.lines = self.log.hash, self.log.lines
        result.revisited = sum(one.pages for one in self.checkers if isinstance(one, NoneStarves))
        return result

    # One life

    def _live(self, number: int, life: Life, *, last: bool) -> None:
        if last:  # lives may have ended sooner than they were to
            self.now = max(self.now, self.world.web.settles_at)
        self.log.add(self.now, "life", number, life.end.value)
        self.result.lives += 1
        self.around.begin()
        self._failures = self.result.faults["disk failed"]
        clean = False
        try:
            clean = run_virtual(self._run(number, life, last=last), start=self.now)
        except Crash:
            self.result.faults["crash"] += 1
        except BrokenPromiseError:
            pass
        except Exception as error:
            if self._excused(error):
                self._befell("ended by the disk", error)
            else:
                where = "".join(traceback.format_exception(error)[-3:])
                self._blame("the program's own", f"{type(error).__name__}: {error}\n{where}")
        self._bury(number, life, clean=clean)

    def _bury(self, number: int, life: Life, *, clean: bool) -> None:
        """See what a life left behind, and let time pass until the next."""
        self.result.ends[life.end.value if clean or life.end.crash else "early"] += 1
        for checker in self.checkers:
            checker.ended(self.now, clean=clean)
        self._running = None
        if not self.result.broken:
            if life.end is End.POWER and not clean:
                self.around.disk.crash()
                self.around.spoil(life)
            self._inspect(interrupted=not clean)
        self.now += life.pause_s
        self.log.add(self.now, "buried", number, "in order" if clean else "crashed")

    async def _run(self, number: int, life: Life, *, last: bool) -> bool:
        """Open the directory, crawl, close it; return whether the end was in order."""
        around, config, folder = self.around, life.config, self.around.folder
        loop, draw = asyncio.get_running_loop(), random.Random(f"{self.world.seed} life {number}")
        loop.set_exception_handler(self._unheard)
        clock, guard = around.machine.clock(), Guard()
        offload = SlowOffload(lambda: draw.choice([0.0, 0.001, 0.02, 0.3]))
        around.threaten(life)
        for after_s in life.looks:
            loop.call_later(after_s, lambda: self._running and self._inspect(running=True))
        async with AsyncExitStack() as stack:
            partition = WatchedPartition(
                self._remembered, DIRECTORY, keys, draw.randbytes, now=clock.now(), disk=around.disk, site=site,
                segment_bytes=config.segment_bytes,
                scheme=Scheme(config.importance, kind_of(config.importance).handout, self.world.internal),
            )  # fmt: skip
            stack.enter_context(closing(partition))
            behind = go_on(clock, partition.state)
            for sentence in [*partition.repairs, *([behind] if behind else [])]:
                self._befell("repair", sentence)
            index = stack.enter_context(closing(Index(folder / FOLDER))) if config.index else None
            robots = RobotsKeeper(str(folder / ROBOTS_FILE), config.product_token, config.exchange_deadline_s)
            sitemaps = SitemapCache(str(folder / SITEMAPS_FILE))
            stack.enter_context(closing(robots))
            stack.enter_context(closing(sitemaps))
            soft404 = stack.enter_context(closing(Soft404Book(str(folder / SOFT404_FILE))))
            network = self._network(clock, guard)
            stack.push_async_callback(network.close)
            parsers = SlowParsers(
                config.product_token, text=config.index, lasts_s=lambda: draw.uniform(0.0, life.slow_s),
                wake=network.wake,
            )  # fmt: skip
            indexing = (
                Indexing(index, Anchors(), partition, clock, offload, every_s=config.index_every_s) if index else None
            )
            crawl = Crawl(
                partition, config, network, around.names(clock), clock, offload, guard,
                catalog.pick(schedule, schedule.Policy, config.policy)(),  # type: ignore[type-abstract]
                robots, self._progress, scheme_of(partition.birth.scheme), sitemaps, parsers if life.slow_s else None,
                indexing, soft404,
            )  # fmt: skip
            self._running = Running(number, last, self._at(), config, partition, crawl, clock, index)
            for checker in self.checkers:
                checker.began(self._running)
            self._enough()
            clean = await self._crawl(crawl, life)
            if clean:
                for checker in self.checkers:
                    checker.ended(self._at(), clean=True)
            return clean

    def _network(self, clock: Clock, guard: Guard) -> WatchedNetwork:
        inner = MadeNetwork(self.around.weather, clock, judge=guard.judge, true=self.around.machine.true)
        return WatchedNetwork(inner, self._asked, self._answered, self._turned)

    async def _crawl(self, crawl: Crawl, life: Life) -> bool:
        limits = Limits(pages=life.pages or None, seconds=life.lasts_s if life.end is End.TIME else None)
        if life.end in (End.STOP, End.PAGES):
            asyncio.get_running_loop().call_later(max(life.lasts_s, 0.1), crawl.stop)
        begun = crawl.partition.state.known.count > 0
        summary = await crawl.run(self.around.web.seeds if life.named or not begun else (), limits)
        self._enough()
        self.log.add(self._at(), "summary", summary.visits, summary.fetched, summary.known, summary.reason)
        return True

    # What is heard of it

    def _at(self) -> float:
        """Return the true time, and remember it, for a crash leaves no loop to ask."""
        self.now = self.around.machine.true()
        return self.now

    def _befell(self, what: str, *more: object) -> None:
        self.log.add(self._at() if self._has_loop() else self.now, what, *more)
        if what not in ("struck", "room again"):
            self.result.faults[what] += 1

    @staticmethod
    def _has_loop() -> bool:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return False
        return True

    def _asked(self, request: Request, address: str) -> None:
        at = self._at()
        self.result.requests += 1
        self.log.add(at, "asked", request.url, address, *(f"{name}: {value}" for name, value in request.headers))
        for checker in self.checkers:
            checker.asked(request, address, at)

    def _answered(self, exchange: Exchange) -> None:
        at = self._at()
        self.log.add(at, "answered", exchange.request.url, exchange.status, exchange.error, exchange.wire)
        if exchange.error or exchange.status >= 500 or exchange.status == 429:
            self.result.faults[exchange.error or str(exchange.status)] += 1
        for checker in self.checkers:
            checker.answered(exchange, at)

    def _remembered(self, event: Event, number: int) -> None:
        at = self._at()
        self.log.add(at, "event", number, event)
        self.result.visits += isinstance(event, Visit)
        for checker in self.checkers:
            checker.remembered(event, number, at)

    def _turned(self) -> None:
        at = self._at()
        if self._running is not None:
            for checker in self.checkers:
                checker.turned(at)
        self._enough()

    def _progress(self, progress: Progress) -> None:
        if progress.message:
            self.log.add(self._at(), "says", progress.message)

    def _unheard(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, Crash) and not self._excused(error):
            self._blame("the program's own", f"{context.get('message')}: {error!r}")

    # Judgement

    def _excused(self, error: object) -> bool:
        """Whether an error is the right answer to what the disk was made to do in this life."""
        failed = self.result.faults["disk failed"] > self._failures
        return isinstance(error, NoRoomError) or (failed and isinstance(error, StoreError))

    def _inspect(self, *, interrupted: bool = False, running: bool = False) -> None:
        """Verify what lies on the disk, as `evercrawl verify` does, also while the crawl runs."""
        found, disk = Findings(), self.around.disk.reader()
        try:
            partition = Partition(
                DIRECTORY, keys, random.Random(0).randbytes, now=self.now, writable=False, disk=disk, site=site
            )
            with closing(partition):
                inspect(partition, found, interrupted=interrupted, running=running)
        except ConfigError:
            return  # it died before it was born
        except (StoreError, AssertionError) as error:
            found.blame(f"{type(error).__name__}: {error}")
        for sentence in found.wrong:
            self._blame("journal = archive", sentence + " (while the crawl runs)" * running)
        self.log.add(self.now, "verified", *sorted(found.checked.items()))

    def _blames(self, law: str) -> Callable[[str], None]:
        return lambda sentence: self._blame(law, sentence)

    def _blame(self, law: str, sentence: str) -> None:
        self.result.broken.append(f"{law}: {sentence}")
        self.log.add(self.now, "broken", law, sentence)

    def _enough(self) -> None:
        if self.result.broken:
            raise BrokenPromiseError(self.result.broken[0])
