"""The loop: choose, fetch, read, learn, store. Read this file first.

Everything from outside comes through an interface: clock, network, names, disk, random bytes and a place for slow work.
The same loop runs on the web and on a virtual clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.crawl import reading as readings
from evercrawl.crawl.learning import Learner, take_away
from evercrawl.crawl.robots import RobotsKeeper, RobotsTag
from evercrawl.crawl.scope import Scope
from evercrawl.errors import NoRoomError
from evercrawl.fetch.resolve import ResolveError
from evercrawl.parse.urls import hostname, origin, path_query
from evercrawl.progress import Limits, Progress, Summary
from evercrawl.schedule.frontier import Frontier
from evercrawl.store.events import Visit
from evercrawl.store.state import RETRIES
from evercrawl.store.table import NO_RECORD
from evercrawl.types import Exchange, Outcome, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evercrawl.clock import Clock
    from evercrawl.config import Config
    from evercrawl.crawl.network import Names, Network, Offload
    from evercrawl.fetch.guard import Guard
    from evercrawl.schedule.base import Policy
    from evercrawl.schedule.hosts import Host
    from evercrawl.store.journal import Batch
    from evercrawl.store.partition import Partition

COMMIT_EVENTS: Final = 256
COMMIT_S: Final = 0.05
REPORT_S: Final = 0.5
GRACE_S: Final = 3.0  # what is under way when the crawl is told to stop may take this long to finish
BATCH: Final = 32  # exchanges read before the network is looked after again
NAMES_KEPT_S: Final = 300.0
ROOM_TRIED_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class VisitTag:
    """Says that an exchange visits a page, and what was known of the page."""

    host: Host
    slot: int
    before: readings.Before


class Crawl:
    """One crawl of one partition.

    Parameters
    ----------
    partition
        The open crawl directory.
    network, names, clock, offload
        The outside world.
    guard
        Judges addresses and URLs.
    policy
        Which page next.
    robots
        What sites allow.
    watch
        Told of the progress now and then.
    """

    def __init__(
        self,
        partition: Partition,
        config: Config,
        network: Network,
        names: Names,
        clock: Clock,
        offload: Offload,
        guard: Guard,
        policy: Policy,
        robots: RobotsKeeper,
        watch: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self.partition = partition
        self._state = partition.state
        self._config = config
        self._network = network
        self._names = names
        self._clock = clock
        self._offload = offload
        self._guard = guard
        self._robots = robots
        self._watch = watch
        self._begun_at = clock.now()
        self.frontier = Frontier(
            policy,
            self._state.table.following,
            self._state.columns,
            self._state.visited_at,
            delay_s=config.delay_s,
            connections_per_host=config.connections_per_host,
            connections_per_ip=config.connections_per_ip,
            refresh_after_s=config.refresh_after_s,
        )
        self._scope = Scope(config, self._pages_of)
        self.learner = Learner(
            partition, self.frontier, self._scope, retries=RETRIES, max_redirects=config.max_redirects
        )
        self._visits = 0
        self._underway = 0  # visits among the exchanges in flight
        self._waiting: list[readings.Reading] = []  # read, and not yet taken in
        self._looking: set[asyncio.Task[None]] = set()
        self._start_at = 0.0  # the rate's next start
        self._bytes_at = 0.0
        self._commit: asyncio.Task[None] | None = None
        self._sealed: deque[Batch] = deque()
        self._dirty_at: float | None = None
        self._committed = partition.journal.sequence
        self._full_at: float | None = None
        self._room_at = 0.0
        self._snapshot: asyncio.Task[str] | None = None
        self._snapshot_at = self._begun_at
        self._snapshot_sequence = partition.journal.sequence if not partition.repairs else -1
        self._reported_at = 0.0
        self._pace: deque[tuple[float, int]] = deque(maxlen=21)
        self._stop = ""
        self._limits = Limits()
        self._deadline = float("inf")
        self._resume()

    def stop(self) -> None:
        """End the run cleanly: no new exchanges, a moment for those under way, everything stored."""
        self._stop = self._stop or "stopped"

    async def run(self, seeds: Sequence[str], limits: Limits) -> Summary:
        """Crawl until a limit is reached or `stop` is called.

        Raises
        ------
        NoRoomError
            The disk was full for longer than `disk_wait_s`.
        StoreError
            The disk failed in another way.
        """
        self._begun_at = self._clock.now()
        self._deadline = self._begun_at + limits.seconds if limits.seconds is not None else float("inf")
        self._limits = limits
        self.learner.seed(seeds, self._begun_at)
        self._touch()
        while not self._over(self._clock.now()):
            now = self._clock.now()
            if self._full_at is None:
                self._dispatch(now)
            await self._turn(self._patience(now))
        await self._finish()
        return self._summary()

    async def _turn(self, timeout_s: float) -> None:
        exchanges = await self._network.finished(timeout_s)
        for start in range(0, len(exchanges), BATCH):
            self._take(exchanges[start : start + BATCH])
            self._learn()
        if self._waiting:
            self._learn()
        now = self._clock.now()
        self._begin_commit(now)
        self._begin_snapshot(now)
        self._report(now)

    def _resume(self) -> None:
        """Fill the queues from what is known; hosts that were asked before rest once, whatever was under way."""
        now = self._clock.now()
        for name in self._state.hosts:
            self.frontier.add_host(name)
        rows = self._state.known.rows()
        for number in set(rows["host"][rows["depth"] == 0].tolist()):
            self._scope.add_root(self._state.hosts[number])
        pages = np.bincount(rows["host"], minlength=len(self._state.hosts)).tolist()
        for host in self.frontier.hosts:
            host.pages = pages[host.number]
            host.ready_at = now + self._config.delay_s
            until = self._state.away.get(host.number, 0.0)
            if until > now:
                host.stay_away(until, "back-off")
        new, seen = self._state.to_try()
        hosts = rows["host"]
        for slot in new.tolist():
            self.frontier.add_new(int(hosts[slot]), (slot,))
        for slot in seen.tolist():
            self.frontier.add_seen(int(hosts[slot]), slot)
        self._resumed = bool(len(rows))

    # ---- choosing and starting

    def _dispatch(self, now: float) -> None:
        while (free := self._free(now)) > 0:
            chosen = self.frontier.choose(now, free)
            if not chosen:
                return
            for host, slot, new in chosen:
                self._begin(host, slot, now, new=new)

    def _free(self, now: float) -> int:
        """Return how many exchanges may start now."""
        free = self._config.connections - self._network.in_flight
        if self._limits.pages is not None:
            free = min(free, self._limits.pages - self._visits - self._underway)
        if self._config.rate_per_s:
            free = min(free, 1 if self._start_at <= now else 0)
        if self._config.rate_bytes_per_s and self._bytes_at > now:
            free = 0
        if len(self._waiting) > self._config.connections:
            free = 0
        return free

    def _begin(self, host: Host, slot: int, now: float, *, new: bool) -> None:
        before = self._before(slot)
        url = self._state.urls.get(slot)
        if not host.addresses or now - host.resolved_at > NAMES_KEPT_S:
            self.frontier.put_first(host, slot, new=new)
            self._look_up(host, now)
            return
        why = self._guard.judge_url(url) or self._inside(host)
        if why:
            self._refuse(host, slot, url, before, f"refused_address: {why}", now)
            return
        rules = self._robots.of(origin(url), now)
        if rules is None:
            self.frontier.put_first(host, slot, new=new)
            host.held = "robots.txt"
            self._start(host, self._robots.request(origin(url)), now)
        elif not rules.open:
            self.frontier.put_first(host, slot, new=new)
            host.stay_away(rules.expires_at, "robots.txt")
        elif rules.rules is not None and not rules.rules.allowed(path_query(url)):
            self._refuse(host, slot, url, before, "robots: robots.txt disallows it", now)
        elif rules.delay_s is not None and rules.delay_s > host.delay_s:
            host.delay_s = rules.delay_s
            if self._resumed:
                host.ready_at = max(host.ready_at, self._begun_at + host.delay_s)
            self.frontier.put_first(host, slot, new=new)
        else:
            self._visit(host, slot, url, before, now)

    def _visit(self, host: Host, slot: int, url: str, before: readings.Before, now: float) -> None:
        config = self._config
        request = Request(
            url,
            VisitTag(host, slot, before),
            self._validators(before),
            config.body_max_bytes,
            config.body_max_bytes,
            config.exchange_deadline_s,
        )
        self._underway += 1
        if config.rate_per_s:
            self._start_at = max(self._start_at, now - 1.0 / config.rate_per_s) + 1.0 / config.rate_per_s
        self._start(host, request, now)

    def _start(self, host: Host, request: Request, now: float) -> None:
        self._network.start(request, host.addresses)
        self.frontier.began(host, now)

    def _before(self, slot: int) -> readings.Before:
        cell = int(self._state.table.record[slot])
        if cell & NO_RECORD:
            return readings.Before(depth=cell & 0xFF, hops=cell >> 8 & 0xFF)
        _, _, ticks, _, digest, _, event, _, _, _, visits, changes, _, outcome, depth = self._state.records.rows[
            cell
        ].item()
        return readings.Before(visits, changes, self._state.instant(ticks), digest, outcome, event, depth, 0)

    def _validators(self, before: readings.Before) -> tuple[tuple[str, str], ...]:
        if not before.event or not before.digest:
            return ()
        event = self.partition.journal.read(before.event)
        if not isinstance(event, Visit) or event.digest != before.digest:
            return ()
        pairs = (("If-None-Match", event.etag), ("If-Modified-Since", event.last_modified))
        return tuple(pair for pair in pairs if pair[1])

    def _refuse(self, host: Host, slot: int, url: str, before: readings.Before, why: str, now: float) -> None:
        reading = readings.Reading(Exchange(Request(url), now), host, slot, before, Outcome.REFUSED, error=why)
        self._waiting.append(reading)
        self.frontier.release(host)

    def _inside(self, host: Host) -> str:
        """Return why no address of the host may be reached; "" where one may, or where a proxy does the reaching."""
        if self._config.proxy:
            return ""
        reasons = [self._guard.judge(address) for address in host.addresses]
        return reasons[0] if all(reasons) else ""

    # ---- names

    def _look_up(self, host: Host, now: float) -> None:
        if self._config.proxy:
            self.frontier.locate(host, (host.name,), now)
            return
        literal = _literal(host.name)
        if literal:
            self.frontier.locate(host, (literal,), now)
            return
        host.held = "name look-up"
        task = asyncio.ensure_future(self._resolve(host))
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    async def _resolve(self, host: Host) -> None:
        try:
            addresses = tuple(await self._names.resolve(host.name))
            why = ""
        except ResolveError as error:
            addresses, why = (), error.reason
        now = self._clock.now()
        host.held = ""
        self._network.wake()
        if addresses:
            self.frontier.locate(host, addresses, now)
            return
        host.failed(now)
        host.reason = "name look-up"
        taken = self.frontier.take_first(host)
        if taken is not None:
            slot, _ = taken
            url = self._state.urls.get(slot)
            failed = Exchange(Request(url), now, error="dns", detail=why)
            self._waiting.append(readings.read(failed, host, slot, self._before(slot), ""))
        self.frontier.release(host)

    # ---- reading and learning

    def _take(self, exchanges: Sequence[Exchange]) -> None:
        now = self._clock.now()
        for exchange in exchanges:
            tag = exchange.request.tag
            if isinstance(tag, RobotsTag):
                self._take_robots(exchange, tag, now)
                continue
            assert isinstance(tag, VisitTag)
            host = tag.host
            reading = readings.read(exchange, host, tag.slot, tag.before, self._config.product_token)
            self._waiting.append(reading)
            self._visits += 1
            self._underway -= 1
            if self._config.rate_bytes_per_s:
                cost_s = (len(exchange.wire) + len(exchange.head)) / self._config.rate_bytes_per_s
                self._bytes_at = max(self._bytes_at, now) + cost_s
            take_away(reading, now)
            self.frontier.ended(host, now)

    def _take_robots(self, exchange: Exchange, tag: RobotsTag, now: float) -> None:
        host = self.frontier.hosts[self._state.host_numbers[_host_of(tag.origin)]]
        moved = self._robots.moved(exchange)
        if moved is not None:
            self._follow_robots(host, moved, now)
            return
        host.held = ""
        rules = self._robots.learn(exchange, now)
        if rules.delay_s is not None:
            host.delay_s = max(host.delay_s, rules.delay_s)
        if not rules.open:
            host.stay_away(rules.expires_at, "robots.txt")
        self.frontier.ended(host, now)

    def _follow_robots(self, host: Host, request: Request, now: float) -> None:
        """Follow a redirect of robots.txt; the host stays busy meanwhile, and the host that it leads to rests."""
        task = asyncio.ensure_future(self._start_moved(host, request))
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)
        other = self._state.host_numbers.get(_host_of(origin(request.url)))
        if other is not None and other != host.number:
            self.frontier.hosts[other].ready_at = max(self.frontier.hosts[other].ready_at, now + self._config.delay_s)

    async def _start_moved(self, host: Host, request: Request) -> None:
        name = _host_of(origin(request.url))
        try:
            addresses = host.addresses if name == host.name else tuple(await self._names.resolve(name))
            await self._clock.sleep(self._config.delay_s if name == host.name else 0.0)
        except ResolveError as error:
            failed = Exchange(request, self._clock.now(), error="dns", detail=str(error))
            self._robots.learn(failed, self._clock.now())
            host.held = ""
            self.frontier.ended(host, self._clock.now())
            return
        self._network.start(request, addresses)

    def _learn(self) -> None:
        now = self._clock.now()
        if self._full_at is not None and now < self._room_at:
            return
        batch, self._waiting = self._waiting, list[readings.Reading]()
        try:
            self.learner.learn(batch)
        except NoRoomError as error:
            self._waiting = batch + self._waiting
            self._full(now, error)
            return
        if batch:
            self._has_room()
            self._touch()

    def _touch(self) -> None:
        if self._dirty_at is None:
            self._dirty_at = self._clock.now()

    # ---- storing

    def _begin_commit(self, now: float) -> None:
        journal = self.partition.journal
        due = self._dirty_at is not None and (
            now - self._dirty_at >= COMMIT_S or journal.sequence - self._committed >= COMMIT_EVENTS
        )
        if self._commit is not None and self._commit.done():
            commit, self._commit = self._commit, None
            try:
                commit.result()
                self._has_room()
            except NoRoomError as error:
                self._full(now, error)
                self._dirty_at = now
        if due and self._commit is None and (self._full_at is None or now >= self._room_at):
            self._commit = asyncio.ensure_future(self.commit())

    async def commit(self) -> None:
        """Put everything that was learned so far on the disk; what returns has been acknowledged."""
        journal = self.partition.journal
        self._dirty_at = None
        self._committed = journal.sequence
        self.partition.flush()
        self._sealed.append(journal.seal())
        await self._offload(self._write)

    def _write(self) -> None:
        """Archive first, then the journal that names its records."""
        self.partition.archive.sync()
        while self._sealed:
            self.partition.journal.write(self._sealed[0])
            self._sealed.popleft()

    def _full(self, now: float, error: NoRoomError) -> None:
        self._room_at = now + ROOM_TRIED_S
        if self._full_at is None:
            self._full_at = now
            self._reported_at = 0.0
        self._full_error = error
        if now - self._full_at >= self._config.disk_wait_s:
            raise error

    def _has_room(self) -> None:
        if self._full_at is not None and not self._waiting and not self._sealed:
            self._full_at = None
            self._reported_at = 0.0

    def _begin_snapshot(self, now: float) -> None:
        if self._snapshot is not None and self._snapshot.done():
            snapshot, self._snapshot = self._snapshot, None
            self._snapshot_at = now
            try:
                snapshot.result()
            except NoRoomError as error:
                self._full(now, error)
        due = now - self._snapshot_at >= self._config.snapshot_every_s
        if due and self._snapshot is None and self._full_at is None:
            if self.partition.journal.sequence == self._snapshot_sequence:
                self._snapshot_at = now
                return
            self._snapshot_sequence = self.partition.journal.sequence
            self._snapshot = asyncio.ensure_future(self.partition.snapshot(self._settle, self._offload))

    async def _settle(self) -> None:
        """Commit, after any commit under way."""
        if self._commit is not None:
            with contextlib.suppress(NoRoomError):
                await self._commit
        await self.commit()

    async def _finish(self) -> None:
        """Let what is under way end, then store everything."""
        until = min(self._clock.now() + GRACE_S, max(self._deadline, self._clock.now()) + GRACE_S)
        while self._network.in_flight and self._clock.now() < until:
            await self._turn(until - self._clock.now())
        await self._network.close()
        for task in list(self._looking):
            task.cancel()
        self._learn()
        if self._full_at is not None:
            raise self._full_error
        if self._snapshot is not None:
            await self._snapshot
        await self._settle()
        if self.partition.journal.sequence != self._snapshot_sequence:
            await self.partition.snapshot(self._settle, self._offload)
        await self._offload(self.partition.index_archive)

    # ---- when to stop, how long to wait, what to say

    def _over(self, now: float) -> bool:
        limits = self._limits
        if self._stop:
            return True
        if now >= self._deadline:
            self._stop = "seconds"
        elif limits.pages is not None and self._visits >= limits.pages:
            self._stop = "pages"
        elif limits.until_idle and self._idle(now):
            self._stop = "idle"
        return bool(self._stop)

    def _idle(self, now: float) -> bool:
        return not (self._network.in_flight or self._looking or self._waiting) and self.frontier.idle(now)

    def _patience(self, now: float) -> float:
        """Return how long the network may be waited for before something else is due (s)."""
        until = min(self._deadline, self._reported_at + REPORT_S)
        if self._dirty_at is not None:
            until = min(until, self._dirty_at + COMMIT_S)
        if self._full_at is not None:
            until = min(until, self._room_at)
        else:
            if self._waiting:
                return 0.0
            if self._free(now) > 0:
                until = min(until, self.frontier.next_at())
            elif max(self._start_at, self._bytes_at) > now:
                until = min(until, max(self._start_at, self._bytes_at))
        return max(until - now, 0.0)

    def _pages_of(self, host: str) -> int:
        number = self._state.host_numbers.get(host)
        return self.frontier.hosts[number].pages if number is not None else 0

    def _report(self, now: float) -> None:
        if now - self._reported_at >= REPORT_S:
            self._reported_at = now
            self._pace.append((now, self._visits))
            self._watch(self.progress(now))

    def progress(self, now: float) -> Progress:
        """Return the crawl at this instant."""
        state, learner = self._state, self.learner
        first_at, first = self._pace[0] if self._pace else (now, self._visits)
        outcomes = state.outcomes
        return Progress(
            at=now,
            elapsed_s=now - self._begun_at,
            known=state.known.count,
            fetched=sum(outcomes[kind] for kind in (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)),
            visits=self._visits,
            changed=learner.changed,
            duplicates=learner.outcomes["duplicate"],
            queue=self.frontier.new_count,
            in_flight=self._network.in_flight,
            rate_per_s=(self._visits - first) / (now - first_at) if now > first_at else 0.0,
            bytes_in=learner.bytes_in,
            outcomes=dict(learner.outcomes),
            errors=dict(learner.errors),
            waiting=self.frontier.waiting(now),
            disk_full=self._full_at is not None,
            message=str(self._full_error) if self._full_at is not None else "",
        )

    def _summary(self) -> Summary:
        now = self._clock.now()
        progress = self.progress(now)
        self._watch(progress)
        return Summary(self._visits, progress.fetched, progress.known, now - self._begun_at, self._stop)


def _host_of(origin_url: str) -> str:
    return hostname(origin_url + "/")


def _literal(name: str) -> str:
    """Return the address that a host name is; "" where it is a name."""
    try:
        return str(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        return ""
