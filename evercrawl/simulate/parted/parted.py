"""One world of several partitions from its beginning to its end: the shipped crawl, P times, and what befalls them."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.together import Together, together
from evercrawl.ask.verify.verify import inspect
from evercrawl.change.levels import Levels
from evercrawl.config import Config
from evercrawl.crawl.assemble import assemble
from evercrawl.crawl.loop import Crawl
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.errors import ConfigError
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import StaticResolver
from evercrawl.model.policy.schemes import wanted
from evercrawl.model.rates import priors_of
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits
from evercrawl.simulate.parted.keepers import MadeKeeper
from evercrawl.simulate.parted.mail import Mail, Roads
from evercrawl.simulate.parted.manners import SharedManners
from evercrawl.simulate.parted.mortal import Killed, MortalDisk, Processes
from evercrawl.simulate.parted.plan import BACKUP, Blow, PartedWorld
from evercrawl.simulate.parted.reached import reached
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.simulate.surroundings.network import MadeNetwork
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.store.disk.stamped import SNAPSHOT, forget_later
from evercrawl.store.journal.journal import Journal
from evercrawl.store.partition import Partition
from evercrawl.store.post.cut import account_of, consistent, cut_journal
from evercrawl.store.post.ownership import Share

BEGAN_AT: Final = 1_700_000_000.0
CLUSTER: Final = "made-up"
CALM_S: Final = 3600.0
"""After the last blow it may take so long until every page was visited."""
SETTLES_S: Final = 60.0
"""Once every page was visited, for so long is waited for a moment at which nothing is under way."""
_LOOK_S: Final = 5.0
_READ_EVERY: Final = 12


@dataclass
class PartedResult:
    """What became of a world.

    Attributes
    ----------
    seed, wrong
        Which world, and what was not as it should be.
    visits, letters, lost, doubled, lives
        How much happened.
    opened, cut
        How many second copies were opened, and how many journals of backups were cut off to fit the others.
    blows
        How often each kind of blow fell.
    scales_s
        By partition, the scale at the end of what it believes of a page of which nothing is known, and what its own
        sites alone would make it believe.
    found
        The partitions together, at the end.
    """

    seed: int
    wrong: list[str] = field(default_factory=list[str])
    visits: int = 0
    letters: int = 0
    lost: int = 0
    doubled: int = 0
    lives: int = 0
    opened: int = 0
    cut: int = 0
    blows: Counter[str] = field(default_factory=Counter[str])
    scales_s: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])
    found: Together | None = None


class _Life:
    """One process of a partition."""

    def __init__(self, name: str, disk: MortalDisk) -> None:
        self.name, self.disk = name, disk
        self.crawl: Crawl | None = None
        self.task: asyncio.Task[None] | None = None
        self.post: Any = None
        self.hangs = False


class PartedSimulation:
    """Runs P partitions of one crawl on one virtual clock.

    Parameters
    ----------
    world
        What it is like.
    """

    def __init__(self, world: PartedWorld) -> None:
        self._world, self._draw = world, random.Random(f"parted {world.seed}")
        origins = tuple(f"http://s{number}.example{number % 3}.site{number}.org" for number in range(world.sites))
        self.web = MadeWeb(world.seed, origins, pages=world.pages, changing=world.changing)
        self._config = Config(
            scope="any", delay_s=world.delay_s, refresh_after_s=world.refresh_after_s, sitemaps=False, index=False,
            snapshot_every_s=world.snapshot_every_s, connections_per_ip=1, probe_share=0.0, internal="1",
        )  # fmt: skip
        self._secret = random.Random(f"secret {world.seed}").randbytes(16)
        self._mail = Mail(random.Random(f"mail {world.seed}"), world.roads)
        self._manners = SharedManners(world.delay_s, 1, self._config.connections_per_ip)
        self._processes, self._rested = Processes(), 0
        self._lives = dict[int, _Life]()
        self._begun = Counter[int]()
        self._disks = {
            number: MortalDisk(random.Random(f"{world.seed} disk {number}"), directory=Path(f"/made-up/part-{number}"))
            for number in range(world.parts)
        }
        self._keepers = {
            number: MadeKeeper(number, random.Random(f"keeper {world.seed} {number}"), lambda: self._mail.roads)
            for number in (range(world.parts) if world.kept else ())
        }
        self._names = {
            hostname(f"{origin}/"): [f"8.8.4.{number % world.addresses}"] for number, origin in enumerate(origins)
        }
        self.result = PartedResult(world.seed)

    def run(self) -> PartedResult:
        """Live through the world."""
        try:
            run_virtual(self._all(), start=BEGAN_AT)
        except Exception as error:
            if not self.result.wrong:
                raise
            self.result.wrong.append(repr(error))
        return self.result

    # The world

    async def _all(self) -> None:
        self._processes.install()
        for number in range(self._world.parts):
            self._begin(number)
        loop, began = asyncio.get_running_loop(), asyncio.get_running_loop().time()
        befalling = [self._processes.start("fate", self._befall(blow, began + blow.at_s)) for blow in self._world.blows]
        await asyncio.sleep(max(began + self._world.lasts_s - loop.time(), 0.0))
        await asyncio.gather(*befalling)
        self._mail.roads = Roads()
        self._mail.heal()
        for keeper in self._keepers.values():
            keeper.away = False
        await self._calm()
        for life in list(self._lives.values()):
            assert life.crawl is not None
            life.crawl.stop()
        await asyncio.gather(*(life.task for life in self._lives.values() if life.task is not None))
        self._judge()

    async def _calm(self) -> None:
        """Wait until all pages were visited, and all letters were applied."""
        loop, looks = asyncio.get_running_loop(), 0
        until = loop.time() + CALM_S
        while loop.time() < until and self._rested < 2:
            await asyncio.sleep(_LOOK_S)
            self._hear()
            crawls = [life.crawl for life in self._lives.values()]
            self._rested = self._rested + 1 if all(one is not None and one.at_rest() for one in crawls) else 0
            looks += 1
            if (
                looks % _READ_EVERY == 0
                and until > loop.time() + SETTLES_S
                and self._wanted() <= set(self._read().visited)
            ):
                until = loop.time() + SETTLES_S  # pages are refreshed for ever, so that there may be no such moment

    def _begin(self, number: int) -> None:
        """Let a process of a partition begin."""
        self._begun[number] += 1
        self.result.lives += 1
        life = self._lives[number] = _Life(f"{number}.{self._begun[number]}", self._disks[number])
        life.task = self._processes.start(life.name, self._live(number, life))

    async def _live(self, number: int, life: _Life) -> None:
        """Open the partition, crawl, close it."""
        world, draw = self._world, random.Random(f"{self._world.seed} life {life.name}")
        life.post = post = self._mail.open(number, self._begun[number])
        clock = VirtualClock()

        async def offload(function: Any, *arguments: Any) -> Any:
            await asyncio.sleep(draw.choice([0.0, 0.001, 0.02, 0.2]))
            if life.hangs:
                await asyncio.Event().wait()
            return function(*arguments)

        renewing = asyncio.ensure_future(post.renew())
        async with AsyncExitStack() as stack:
            stack.callback(renewing.cancel)
            partition = Partition(
                Path(f"/made-up/part-{number}"), draw.randbytes, now=clock.now(), disk=life.disk, site=found_site,
                site_rules=site_rules(), secret=self._secret, scheme=wanted(self._config),
                share=Share(number, world.parts, CLUSTER, site_rules()),
            )  # fmt: skip
            stack.enter_context(closing(partition))
            memory = Memory.beside(partition, self._config, None)
            stack.enter_context(closing(memory))
            latency = draw.uniform(0.02, 0.4)
            network = MadeNetwork(self.web, clock, lambda _: draw.uniform(0.0, 2 * latency), self._manners.of(number))
            stack.push_async_callback(self._hang_up, network)
            outside = Outside(network, [StaticResolver(self._names)], clock, offload, Guard(), post=post,
                              keeper=self._keepers.get(number))  # fmt: skip
            life.crawl = assemble(self._config, memory, outside)
            stack.callback(life.crawl.close)
            await life.crawl.run([f"{self.web.origins[0]}/"], Limits())

    async def _hang_up(self, network: MadeNetwork) -> None:
        """Let the far ends see that a process is gone."""
        now = asyncio.get_running_loop().time()
        for asked in network.log:
            asked.ended_at = min(asked.ended_at, now)
        await network.close()

    # What befalls it

    async def _befall(self, blow: Blow, at: float) -> None:
        await asyncio.sleep(max(at - asyncio.get_running_loop().time(), 0.0))
        life = self._lives.get(blow.number)
        if blow.kind == "away":
            self.result.blows[blow.kind] += 1
            await self._away(blow)
            return
        if blow.kind == BACKUP:
            self.result.blows[blow.kind] += 1
            await self._back_up(blow)
            return
        if blow.kind in ("cut", "isolate"):
            self.result.blows[blow.kind] += 1
            if blow.kind == "isolate":
                self._mail.isolate(blow.number)
            else:
                self._mail.cut(blow.number, (blow.number + 1) % self._world.parts)
            await asyncio.sleep(blow.lasts_s)
            self._mail.heal()
            return
        if life is None or life.crawl is None or life.hangs:
            return  # it is dead already, or being born
        del self._lives[blow.number]
        self.result.blows[blow.kind] += 1
        await getattr(self, f"_{blow.kind}")(blow, life)
        self._look()
        await asyncio.sleep(blow.lasts_s)
        self._begin(blow.number)

    async def _kill(self, blow: Blow, life: _Life) -> None:
        life.disk.kill()
        await self._bury(blow, life)

    async def _power(self, blow: Blow, life: _Life) -> None:
        life.disk.crash()
        await self._bury(blow, life)

    async def _strike(self, blow: Blow, life: _Life) -> None:
        """Let the process end within one of its next operations on the disk, or a while later."""
        left, struck = random.Random(f"{blow}").randrange(1, 40), asyncio.Event()

        def before(operation: str, name: str) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                struck.set()
                raise Killed(operation, name)

        life.disk.before = before
        with suppress(TimeoutError):
            await asyncio.wait_for(struck.wait(), 60.0)
        if not struck.is_set():
            life.disk.kill()
        await self._bury(blow, life)

    async def _away(self, blow: Blow) -> None:
        """Let a keeper lose its power while it writes, and then be away for a while."""
        keeper = self._keepers[blow.number]
        keeper.strike()
        await asyncio.sleep(blow.lasts_s / 2)
        keeper.away = True
        await asyncio.sleep(blow.lasts_s)
        keeper.away = False

    async def _lose(self, blow: Blow, life: _Life) -> None:
        """Let a process and its disk be gone; what its keeper has takes their place."""
        life.disk.kill()
        await self._bury(blow, life)
        self._open_copy(blow, life)

    async def _usurp(self, blow: Blow, life: _Life) -> None:
        """Let what a keeper has take the place of a process that goes on with a disk that nobody sees any more."""
        self._disks[blow.number] = life.disk.cut_off()  # type: ignore[assignment]
        life.post.zombie = True
        assert life.task is not None
        life.task.add_done_callback(lambda task: task.cancelled() or task.exception())  # it is refused, and ends
        if not self._open_copy(blow, life):
            life.hangs = True
        until = life.post.leave_until
        await asyncio.sleep(max(until - asyncio.get_running_loop().time(), 0.0) + self._world.delay_s)
        self._processes.start("fate", self._rest_in_peace(life, blow.lasts_s * 2))

    def _open_copy(self, blow: Blow, life: _Life) -> bool:
        """Open the copy of a partition in the place of its disk; return whether it has all that counts."""
        number, keeper = blow.number, self._keepers[blow.number]
        if not keeper.whole:
            return False
        line = self._begun[number] + 1
        draw = random.Random(f"{self._world.seed} disk {number} of life {line}")
        self._disks[number] = keeper.restored(draw, Path(f"/made-up/part-{number}"), line)
        self.result.opened += 1
        assert life.crawl is not None
        with closing(self._reader(number, self._disks[number])) as partition:
            if partition.journal.sequence < life.crawl.stored:
                self.result.wrong.append(
                    f"partition {number}: {life.crawl.stored} events counted, and its copy has "
                    f"{partition.journal.sequence}"
                )
        return True

    async def _bury(self, blow: Blow, life: _Life) -> None:
        await self._processes.end(life.name)
        self._disks[blow.number] = life.disk.reopen()  # type: ignore[assignment]

    async def _stop(self, blow: Blow, life: _Life) -> None:
        assert life.crawl is not None
        assert life.task is not None
        life.crawl.stop()
        await life.task
        await self._bury(blow, life)

    async def _zombie(self, blow: Blow, life: _Life) -> None:
        """Let a process lose its disk and whoever gives it leave, and go on; another takes its place."""
        self._disks[blow.number] = life.disk.cut_off()  # type: ignore[assignment]
        life.hangs = life.post.zombie = True
        until = life.post.leave_until
        await asyncio.sleep(max(until - asyncio.get_running_loop().time(), 0.0) + self._world.delay_s)
        self._processes.start("fate", self._rest_in_peace(life, blow.lasts_s * 2))

    async def _rest_in_peace(self, life: _Life, after_s: float) -> None:
        await asyncio.sleep(after_s)
        life.disk.kill()
        await self._processes.end(life.name)

    async def _back_up(self, blow: Blow) -> None:
        """Copy the disks one after the other while all goes on, and see that the copies, once cut, fit together."""
        draw, loop = random.Random(f"{blow}"), asyncio.get_running_loop()
        stored = {number: life.crawl.stored for number, life in self._lives.items() if life.crawl is not None}
        copies, until = dict[int, VirtualDisk](), loop.time() + blow.lasts_s
        for number in draw.sample(sorted(self._disks), len(self._disks)):
            copies[number] = self._disks[number].copy()
            await asyncio.sleep(draw.uniform(0.0, max(until - loop.time(), 0.0)))
        accounts = [account_of(Journal.open(copies[number], writable=False)) for number in sorted(copies)]
        ends = consistent(accounts)
        for number, end in enumerate(ends):
            if end.sequence < stored.get(number, 0):
                self.result.wrong.append(
                    f"partition {number}: {stored[number]} events counted before its backup, which has {end.sequence}"
                )
            if end != accounts[number].end:
                self.result.cut += 1
                forget_later(copies[number], SNAPSHOT, end.sequence)
                cut_journal(copies[number], end)
        with suppress(ConfigError):  # one was not born yet
            found = self._together(copies)
            self.result.wrong += [f"(in a backup) {sentence}" for sentence in found.wrong]

    # Judgement

    def _hear(self) -> None:
        self.result.wrong += self._processes.faults + self._manners.wrong
        self._processes.faults.clear()
        self._manners.wrong.clear()
        for number, life in self._lives.items():
            task = life.task
            if task is not None and task.done() and not task.cancelled() and task.exception() is not None:
                self.result.wrong.append(f"partition {number}: {task.exception()!r}")
        if self.result.wrong:
            raise AssertionError(self.result.wrong[0])

    def _look(self) -> None:
        """See that what all disks have at this instant adds up, as if all had lost their power now."""
        self._hear()
        with suppress(ConfigError):  # one died before it was born
            self.result.wrong += [f"(while they run) {sentence}" for sentence in self._read().wrong]
        self._hear()

    def _read(self) -> Together:
        return self._together(self._disks)

    def _together(self, disks: Mapping[int, VirtualDisk]) -> Together:
        partitions = list[Partition]()
        try:
            for number, disk in sorted(disks.items()):
                partitions.append(self._reader(number, disk))
            return together(partitions)
        finally:
            for partition in partitions:
                partition.close()

    def _reader(self, number: int, disk: VirtualDisk) -> Partition:
        return Partition(
            Path(f"/made-up/part-{number}"), random.Random(0).randbytes, now=BEGAN_AT, writable=False,
            disk=disk.reader(), site=found_site, site_rules=site_rules(),
        )  # fmt: skip

    def _judge(self) -> None:
        """See what all partitions have come to."""
        self._hear()
        result = self.result
        for number, disk in self._disks.items():
            found, partition = Findings(), self._reader(number, disk)
            with closing(partition):
                inspect(partition, found, interrupted=True)
                result.visits += partition.state.visits
                priors = priors_of(partition.state)
                believed_s, priors.elsewhere = priors.crawl_scale_s, Levels()
                result.scales_s[number] = believed_s, priors.crawl_scale_s
                post = partition.state.post
                assert post is not None
                result.letters += sum(peer.sent for peer in post.peers)
            result.wrong += [f"partition {number}: {sentence}" for sentence in found.wrong]
        result.lost, result.doubled = self._mail.lost, self._mail.doubled
        result.found = self._read()
        result.wrong += result.found.wrong
        if result.found.under_way and self._rested:
            result.wrong.append(f"{result.found.under_way:g} of cash is under way though all is calm")
        missing = self._wanted() - set(result.found.visited)
        if missing:
            result.wrong.append(f"{len(missing)} pages were never visited, such as {min(missing)}")

    def _wanted(self) -> set[str]:
        """Return what links lead to from the seed, robots.txt or not."""
        return reached(self.web, f"{self.web.origins[0]}/")


def simulate_parted(world: PartedWorld) -> PartedResult:
    """Live through a world of several partitions, and return what became of it."""
    return PartedSimulation(world).run()
