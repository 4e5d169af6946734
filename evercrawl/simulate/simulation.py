"""One world from its beginning to its end: the shipped crawl, life after life, and whoever watches it."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl import catalog, schedule
from evercrawl.crawl.findings import Findings
from evercrawl.crawl.loop import Crawl
from evercrawl.crawl.robots import ROBOTS_FILE, RobotsKeeper
from evercrawl.crawl.schemes import kind_of, scheme_of
from evercrawl.crawl.sitemap_cache import SITEMAPS_FILE, SitemapCache
from evercrawl.crawl.verify import inspect
from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.resolve import StaticResolver
from evercrawl.parse.digest import keys
from evercrawl.parse.sites import site
from evercrawl.progress import Limits
from evercrawl.simulate.checkers.base import Checker, Running
from evercrawl.simulate.checkers.budget import Budget
from evercrawl.simulate.checkers.cash import CashConserved
from evercrawl.simulate.checkers.journal import Acknowledged, MemoryFollows
from evercrawl.simulate.checkers.politeness import Politeness
from evercrawl.simulate.checkers.robots import RobotsObeyed
from evercrawl.simulate.checkers.starvation import NoneStarves
from evercrawl.simulate.checkers.visits import EachVisit
from evercrawl.simulate.clock import Crash, SimulationError, VirtualClock, run_virtual
from evercrawl.simulate.disk import VirtualDisk
from evercrawl.simulate.drawn_web import DrawnWeb
from evercrawl.simulate.log import Log
from evercrawl.simulate.network import MadeNetwork
from evercrawl.simulate.watched import SlowOffload, WatchedNetwork, WatchedPartition
from evercrawl.simulate.world import BEGAN_AT, End, Life, World, drawn
from evercrawl.store.events import Visit
from evercrawl.store.partition import Partition, Scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evercrawl.progress import Progress
    from evercrawl.store.events import Event
    from evercrawl.types import Exchange, Request

CHECKERS: Final[tuple[type[Checker], ...]] = (
    Politeness, RobotsObeyed, Budget, EachVisit, CashConserved, Acknowledged, MemoryFollows, NoneStarves,
)  # fmt: skip
DIRECTORY: Final = Path("/made-up")


class BrokenPromiseError(SimulationError):
    """A law was broken; the message says which, and by how much."""


@dataclass(slots=True)
class Result:
    """What became of one world.

    Attributes
    ----------
    seed, hash, lines
        The world, and its log.
    virtual_s, real_s
        How long it lasted, and how long that took.
    lives, visits, requests
        Runs, events of visits, requests for anything.
    ends, faults
        How the lives ended; what befell them, by kind.
    broken
        What was promised and not kept, "law: how"; empty where all is well.
    """

    seed: int
    hash: str = ""
    lines: int = 0
    virtual_s: float = 0.0
    real_s: float = 0.0
    lives: int = 0
    visits: int = 0
    requests: int = 0
    ends: Counter[str] = field(default_factory=Counter[str])
    faults: Counter[str] = field(default_factory=Counter[str])
    broken: list[str] = field(default_factory=list[str])

    @property
    def speed(self) -> float:
        """Return how many times faster than real time it was."""
        return self.virtual_s / max(self.real_s, 1e-9)


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
    return Simulation(world or drawn(seed), watch, CHECKERS if checkers is None else checkers).run()


class Simulation:
    """Runs a crawl through all the lives of a world.

    Parameters
    ----------
    world, watch, checkers
        As for `simulate`.
    """

    def __init__(
        self,
        world: World,
        watch: Callable[[str], None] | None,
        checkers: Sequence[type[Checker]],
    ) -> None:
        self.world = world
        self.log = Log(watch)
        self.result = Result(world.seed)
        self.now = BEGAN_AT
        self.web = DrawnWeb(world.web)
        self.disk = VirtualDisk(self._draw("disk"), directory=DIRECTORY)
        self.checkers = [checker(world, self._blames(checker.law)) for checker in checkers]
        self._running: Running | None = None

    def run(self) -> Result:
        """Live all lives, or those until a promise is broken."""
        began = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="evercrawl-world-") as folder:
            for number in range(len(self.world.lives)):
                self._live(number, Path(folder))
                if self.result.broken:
                    break
        result = self.result
        result.real_s, result.virtual_s = time.perf_counter() - began, self.now - BEGAN_AT
        result.hash, result.lines = self.log.hash, self.log.lines
        return result

    # One life

    def _live(self, number: int, folder: Path) -> None:
        life, clean = self.world.lives[number], False
        self.log.add(self.now, "life", number, life.end.value)
        self.result.lives += 1
        self.disk = self.disk.reopen()
        try:
            clean = run_virtual(self._run(number, folder), start=self.now)
        except Crash:
            self.result.faults["crash"] += 1
        except BrokenPromiseError:
            pass
        except Exception as error:  # whatever it is, it is a finding
            where = "".join(traceback.format_exception(error)[-3:])
            self._blame("the program's own", f"{type(error).__name__}: {error}\n{where}")
        self._bury(number, folder, clean=clean)

    def _bury(self, number: int, folder: Path, *, clean: bool) -> None:
        """End a life, see what it left behind, and let time pass until the next."""
        life = self.world.lives[number]
        self.result.ends[life.end.value if clean or life.end.crash else "broken"] += 1
        for checker in self.checkers:
            checker.ended(self.now, clean=clean)
        self._running = None
        if not self.result.broken:
            if life.end is End.POWER and not clean:
                self.disk.crash()
                self._spoil(life.spoilt, folder)
            self._inspect(interrupted=not clean)
        self.now += life.pause_s
        self.log.add(self.now, "buried", number, "in order" if clean else "crashed")

    def _spoil(self, how: str, folder: Path) -> None:
        for name in (ROBOTS_FILE, SITEMAPS_FILE):
            for path in folder.glob(f"{name}*"):
                if how == "gone":
                    path.unlink()
                elif how == "damaged":
                    path.write_bytes(b"not a database at all")
        if how:
            self.result.faults[f"caches {how}"] += 1

    async def _run(self, number: int, folder: Path) -> bool:
        """Open the directory, crawl, close it; return whether the end was in order."""
        life, last = self.world.lives[number], number == len(self.world.lives) - 1
        loop, config, draw = asyncio.get_running_loop(), life.config, self._draw("life", number)
        loop.set_exception_handler(self._unheard)
        clock, guard = VirtualClock(), Guard()
        if life.end.crash:
            loop.call_later(life.lasts_s, self._strike, life.strike)
        for since_s, until_s in life.full:
            loop.call_later(since_s, self._fill, draw.randrange(3000))
            loop.call_later(until_s, self._make_room)
        partition = WatchedPartition(
            self._remembered, DIRECTORY, keys, draw.randbytes, now=clock.now(), disk=self.disk, site=site,
            segment_bytes=config.segment_bytes,
            scheme=Scheme(config.importance, kind_of(config.importance).handout, self.world.internal),
        )  # fmt: skip
        inner = MadeNetwork(self.web, clock, lambda _: draw.uniform(0.01, self.world.slowest_s), judge=guard.judge)
        network = WatchedNetwork(inner, self._asked, self._answered, self._turned)
        robots = RobotsKeeper(str(folder / ROBOTS_FILE), config.product_token, config.exchange_deadline_s)
        sitemaps = SitemapCache(str(folder / SITEMAPS_FILE))
        try:
            crawl = Crawl(
                partition, config, network, StaticResolver(self.world.addresses), clock,
                SlowOffload(lambda: draw.choice([0.0, 0.001, 0.02, 0.3])), guard,
                catalog.pick(schedule, schedule.Policy, config.policy)(),  # type: ignore[type-abstract]
                robots, self._progress, scheme_of(partition.birth.scheme), sitemaps,
            )  # fmt: skip
            for sentence in partition.repairs:
                self.log.add(self._at(), "repair", sentence)
                self.result.faults["repair"] += 1
            self._running = Running(number, last, loop.time(), config, partition, crawl, clock)
            for checker in self.checkers:
                checker.began(self._running)
            self._enough()
            return await self._crawl(crawl, life)
        finally:
            await network.close()
            robots.close()
            sitemaps.close()
            partition.close()

    async def _crawl(self, crawl: Crawl, life: Life) -> bool:
        limits = Limits(pages=life.pages or None, seconds=life.lasts_s if life.end is End.TIME else None)
        if life.end is not End.TIME:
            asyncio.get_running_loop().call_later(max(life.lasts_s, 0.1), self._stop, crawl, life)
        try:
            summary = await crawl.run(self.web.seeds, limits)
        except NoRoomError as error:
            self.log.add(self._at(), "no room", error)
            self.result.faults["ended by a full disk"] += 1
            return False
        self._enough()
        self.log.add(self._at(), "summary", summary.visits, summary.fetched, summary.known, summary.reason)
        return True

    # What befalls it

    def _stop(self, crawl: Crawl, life: Life) -> None:
        if not life.end.crash:
            crawl.stop()

    def _strike(self, operations: int) -> None:
        """End the process now, or in the middle of one of the next operations on the disk."""
        if not operations:
            self._at()
            self.disk.kill()
            raise Crash("struck")
        left = operations

        def before(operation: str, name: str) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                self.log.add(self._at(), "struck", operation, name)
                raise Crash("struck")

        self.disk.before = before

    def _fill(self, left_bytes: int) -> None:
        self.result.faults["full disk"] += 1
        self.disk.capacity_bytes = None
        used = sum(self.disk.size(name) for name in self.disk.names())
        self.disk.capacity_bytes = used + left_bytes

    def _make_room(self) -> None:
        self.disk.capacity_bytes = None

    # What is heard of it

    def _at(self) -> float:
        """Return the true time, and remember it, for a crash leaves no loop to ask."""
        self.now = asyncio.get_running_loop().time()
        return self.now

    def _asked(self, request: Request, address: str) -> None:
        at = self._at()
        self.result.requests += 1
        self.log.add(at, "asked", request.url, address, *(f"{name}: {value}" for name, value in request.headers))
        for checker in self.checkers:
            checker.asked(request, address, at)

    def _answered(self, exchange: Exchange) -> None:
        at = self._at()
        self.log.add(at, "answered", exchange.request.url, exchange.status, exchange.error, exchange.wire)
        if exchange.error:
            self.result.faults[exchange.error] += 1
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
        if not isinstance(error, Crash | NoRoomError):
            self._blame("the program's own", f"{context.get('message')}: {error!r}")

    # Judgement

    def _inspect(self, *, interrupted: bool) -> None:
        """Verify what lies on the disk, as `evercrawl verify` does."""
        found = Findings()
        partition = None
        try:
            partition = Partition(
                DIRECTORY, keys, random.Random(0).randbytes, now=self.now, writable=False, disk=self.disk.reader(),
                site=site,
            )  # fmt: skip
            inspect(partition, found, interrupted=interrupted)
        except ConfigError:
            return  # it died before it was born
        except (StoreError, AssertionError) as error:
            found.blame(f"{type(error).__name__}: {error}")
        finally:
            if partition is not None:
                partition.close()
        for sentence in found.wrong:
            self._blame("journal = archive", sentence)
        self.log.add(self.now, "verified", *sorted(found.checked.items()))

    def _blames(self, law: str) -> Callable[[str], None]:
        return lambda sentence: self._blame(law, sentence)

    def _blame(self, law: str, sentence: str) -> None:
        self.result.broken.append(f"{law}: {sentence}")
        self.log.add(self.now, "broken", law, sentence)

    def _enough(self) -> None:
        if self.result.broken:
            raise BrokenPromiseError(self.result.broken[0])

    def _draw(self, *of: object) -> random.Random:
        return random.Random(f"{self.world.seed} {' '.join(map(str, of))}")
