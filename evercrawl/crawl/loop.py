"""The loop: choose, fetch, read, learn, store. Read this file first.

Everything from outside comes through an interface: clock, network, names, disk, random bytes and a place for slow work.
The same loop runs on the web and on a virtual clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.access import GO, WAIT, Access
from evercrawl.crawl.budgets import Budgets
from evercrawl.crawl.cash import Cashier
from evercrawl.crawl.changes import Changes
from evercrawl.crawl.columns import Columns, counts_bytes
from evercrawl.crawl.focus import Focusing, discovery_weight, unasked
from evercrawl.crawl.head_checks import HeadChecks
from evercrawl.crawl.known_graph import KnownGraph
from evercrawl.crawl.learning import Learner
from evercrawl.crawl.leisure import Leisure
from evercrawl.crawl.lessons import PATIENCE_S, Lessons
from evercrawl.crawl.mirrors import Mirrors
from evercrawl.crawl.notices import Notices
from evercrawl.crawl.pace import Pace
from evercrawl.crawl.parsers import Inline, Parsers
from evercrawl.crawl.planning import Planning
from evercrawl.crawl.probes import Probes, ProbeTag
from evercrawl.crawl.random_probes import RandomProbes
from evercrawl.crawl.reading import Before, Reading, judge, partial, read, rest
from evercrawl.crawl.recall import recall
from evercrawl.crawl.robots import RobotsKeeper, RobotsTag
from evercrawl.crawl.scope import Scope
from evercrawl.crawl.settling import Settling
from evercrawl.crawl.sitemap_cache import SitemapCache
from evercrawl.crawl.sitemaps import Sitemaps, SitemapTag
from evercrawl.crawl.soft404_book import Soft404Book
from evercrawl.crawl.starting import fill, resume
from evercrawl.crawl.storing import Storing
from evercrawl.crawl.telling import Telling
from evercrawl.crawl.weights import weight_of
from evercrawl.errors import NoRoomError
from evercrawl.fetch.asking import validator
from evercrawl.importance.push import Push
from evercrawl.progress import Limits, Progress, Summary
from evercrawl.schedule.frontier import Frontier
from evercrawl.types import Exchange, Outcome, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evercrawl.clock import Clock
    from evercrawl.config import Config
    from evercrawl.crawl.indexing import Indexing
    from evercrawl.crawl.network import Names, Network, Offload
    from evercrawl.fetch.guard import Guard
    from evercrawl.importance.base import Importance
    from evercrawl.schedule.base import Policy
    from evercrawl.schedule.hosts import Host
    from evercrawl.store.partition import Partition

REPORT_S: Final = 0.5
IDLE_S: Final = 0.02  # a wait as long as that means that there is time for what can wait
WAITING_S: Final = 0.005  # while the crawl is busy, hosts that have rested are looked at after this long at the latest
GRACE_S: Final = 3.0  # what is under way when the crawl is told to stop may take this long to finish
PROBE_BYTES: Final = 1 << 20  # of an answer to a path that cannot exist
BATCH: Final = 32  # exchanges read before the network is looked after again


@dataclass(frozen=True, slots=True)
class VisitTag:
    """Says that an exchange visits a page, what was known of it, and how likely its copy was to be fresh."""

    host: Host
    slot: int
    before: Before
    said: float = math.nan


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
    importance
        How much a page matters; push where none is given.
    sitemap_cache
        What is known of sitemaps; nothing is kept where none is given.
    parsers
        Who reads bodies; this process where none are given.
    soft404
        What is known of hosts that answer dead paths with pages; nothing is kept where none is given.
    indexing
        Keeps the search index in step; without it there is none.
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
        importance: Importance | None = None,
        sitemap_cache: SitemapCache | None = None,
        parsers: Parsers | None = None,
        indexing: Indexing | None = None,
        soft404: Soft404Book | None = None,
    ) -> None:
        state = partition.state
        self.partition = partition
        self._state = state
        self._config = config
        self._network = network
        self._clock = clock
        self._watch = watch
        scheme = importance or Push(internal=partition.birth.scheme.internal)
        assert scheme.handout == state.accounts.handout, "the crawl was begun with another kind of scheme"
        notices = Notices(state.accounts)
        changes = Changes(state, notices)
        self._policy, self._changes = policy, changes
        policy.resume(state.notes)
        known = KnownGraph(partition, policy.needs) if policy.needs else None
        soon_s = min(PATIENCE_S, config.refresh_after_s)  # no page is chosen again before the policy was told of it
        self._lessons = Lessons(policy, partition, patience_s=soon_s) if policy.learns else None
        self._weight = weight_of(config.weight, partition, lasting=config.lasting)
        self.columns = Columns(
            state,
            scheme,
            changes.priors,
            notices,
            in_bytes=counts_bytes(config),
            expecting=True,
            new_weight=discovery_weight(config.discovery),
            focus=Focusing(state, config.focus, partition.journal.read) if config.focus else None,
            known=known,
            newcomers=config.newcomers,
            weight=self._weight,
            comebacks=changes.comebacks if policy.awaits else None,
        )
        self._planning = Planning(policy, state, self.columns) if policy.plans else None
        self.frontier = Frontier(
            policy,
            self.columns,
            state.visited_at,
            delay_s=config.delay_s,
            connections_per_host=config.connections_per_host,
            connections_per_ip=config.connections_per_ip,
            ip_delay_s=config.delay_s / config.connections_per_ip,
            refresh_after_s=config.refresh_after_s,
            weighed=self._weight is not None,
        )
        self._random_probes = RandomProbes(
            partition,
            self.frontier,
            policy,
            self.columns,
            Columns(state, scheme, changes.priors, notices, in_bytes=False),
            share=config.probe_share,
            refresh_after_s=config.refresh_after_s,
            tell=self._lessons.tell if self._lessons is not None else lambda: None,
        )
        self._scope = Scope(config, self._pages_of)
        self._budgets = Budgets(state, config)
        self._mirrors = Mirrors(state) if config.spare_mirrors else None
        cashier = Cashier(state, scheme)
        self._settling = Settling(partition, cashier) if scheme.settles else None
        self._learner = Learner(
            partition,
            self.frontier,
            self._scope,
            cashier,
            changes,
            indexing,
            self._budgets,
            known,
            self._mirrors,
            self._lessons,
            focus=config.focus,
            max_redirects=config.max_redirects,
            refresh_after_s=config.refresh_after_s,
        )
        self._storing = Storing(
            partition,
            clock,
            offload,
            network.wake,
            disk_wait_s=config.disk_wait_s,
            snapshot_every_s=config.snapshot_every_s,
            copied=self._lessons.copied if self._lessons is not None else None,
        )
        self._indexing = indexing
        if indexing is not None:
            indexing.connect(self._storing.settle, network.wake)
        self._access = Access(
            self.frontier,
            robots,
            guard,
            network,
            names,
            clock,
            self._host_of,
            self._unreachable,
            proxied=bool(config.proxy),
            delay_s=config.delay_s,
        )
        self._sitemaps = Sitemaps(
            self._learner,
            self.frontier,
            robots,
            self._access,
            network,
            self._host_of,
            sitemap_cache or SitemapCache(":memory:"),
            deadline_s=config.exchange_deadline_s,
            stored_until=state.last_at(),
        )
        self._soft404 = soft404 or Soft404Book(":memory:")
        self._probes = Probes(
            self._soft404,
            self.frontier,
            self._access,
            network,
            self._host_of,
            partition.random,
            deadline_s=config.exchange_deadline_s,
            max_bytes=min(config.body_max_bytes, PROBE_BYTES),
        )
        self._learner.watch(self._probes)
        self._heads = HeadChecks(policy)
        self._pace = Pace(config.rate_per_s, config.rate_bytes_per_s)
        self._leisure = Leisure(clock.now(), network.idle_s)
        self._underway = 0  # visits among the exchanges in flight
        self._parsers: Parsers = parsers or Inline(
            config.product_token, text=indexing is not None or config.looks_for_words or "facts" in policy.needs
        )
        self._waiting: list[Reading] = []  # read, and not yet taken in
        self._reported_at = 0.0
        self._reason = ""
        self._limits = Limits()
        self._until = float("inf")
        self._telling = Telling(
            state,
            self._learner,
            self.frontier,
            network,
            self._pace,
            self._budgets,
            self._access,
            self._sitemaps,
            self._storing,
            self._parsers,
            indexing,
            begun_at=clock.now(),
        )
        resume(partition, self.frontier, self._scope, clock.now(), config.delay_s)

    def stop(self) -> None:
        """End the run cleanly: no new exchanges, a moment for those under way, everything stored."""
        self._reason = self._reason or "stopped"

    async def run(self, seeds: Sequence[str], limits: Limits, only: Sequence[str] = ()) -> Summary:
        """Crawl until a limit is reached or `stop` is called.

        Where `only` names known pages, these are due now, and nothing else waits but what they lead to.

        Raises
        ------
        NoRoomError
            The disk was full for longer than `disk_wait_s`.
        StoreError
            The disk failed in another way.
        """
        begun_at = self._telling.begun_at = self._clock.now()
        self._limits = limits
        self._until = begun_at + limits.seconds if limits.seconds is not None else float("inf")
        self._learner.queued(fill(self._state, self.frontier, seeds, only, self._config.refresh_after_s))
        if only:
            self._random_probes.stop()
        if self._learner.seed(seeds, begun_at):
            self._storing.changed()
        about_worth = unasked(self._config, self._policy) or (self._weight.message if self._weight is not None else "")
        if about_worth and not only:
            self._watch(Progress(at=begun_at, known=self._state.known.count, message=about_worth))
        for trouble in self._lessons.troubles if self._lessons is not None else ():
            self._watch(Progress(at=begun_at, known=self._state.known.count, message=trouble))
        while not self._over(self._clock.now()):
            now = self._clock.now()
            if not self._storing.full:
                self._dispatch(now)
            await self._turn(self._patience(now))
        await self._finish()
        return self._summary()

    # Choose and fetch

    def _dispatch(self, now: float) -> None:
        if self._config.sitemaps:
            for _ in range(self._sitemaps.start(now, self._free(now))):
                self._pace.started(now)
        for _ in range(self._probes.start(now, self._free(now))):
            self._pace.started(now)
        if self._lessons is not None and (self._planning is not None or self._lessons.ripe(now)):
            self._lessons.tell()
        if self._policy.reconsiders(now):
            self.frontier.planned()
        if self._planning is not None and self._planning.turn(now, self.frontier.new_count):
            self.frontier.planned()
        while self._free(now) > 0 and (drawn := self._random_probes.start(now)) is not None:
            self.frontier.said[drawn[1]] = self._random_probes.said(drawn[1], now)
            self._begin(*drawn, now, new=False)
        least, most = self._leisure.least(self._policy.usual), self._config.connections
        while (free := self._free(now)) > 0:
            chosen = self.frontier.choose(now, min(free, most), least)
            if not chosen and least > -math.inf and not self._network.in_flight:
                chosen = self.frontier.choose(now, min(free, most))  # nothing better waits, and nothing is under way
            if not chosen:
                return
            most = len(chosen)  # one of each address: at the same instant the next choice cannot find more
            for host, slot, new in chosen:
                self._begin(host, slot, now, new=new)

    @property
    def _visits(self) -> int:
        return self._learner.visits + self._unlearned

    @property
    def _unlearned(self) -> int:
        """Visits that have ended, and are not remembered yet."""
        return self._parsers.pending + len(self._waiting)

    def _free(self, now: float) -> int:
        """Return how many exchanges may start now."""
        if not self._pace.free(now) or self._unlearned > self._config.connections or self._parsers.behind:
            return 0
        if self._indexing is not None and self._indexing.behind:
            return 0
        free = 1 if self._pace.bounded else self._config.connections - self._network.in_flight
        return min(free, self._pages_left(), self._config.connections - self._network.in_flight)

    def _pages_left(self) -> int:
        if self._limits.pages is None:
            return self._config.connections
        return self._limits.pages - self._visits - self._underway

    def _begin(self, host: Host, slot: int, now: float, *, new: bool) -> None:
        if new and self._mirrors is not None and self._mirrors.spared(slot):
            self.frontier.give_up(host, slot)
            return
        url = self._state.urls.get(slot)
        leave = self._access.judge(host, url, now)
        if leave == GO:
            self._sitemaps.met(url, now)
            self._visit(host, slot, url, now)
        elif leave == WAIT:
            self.frontier.put_first(host, slot, new=new)
        else:
            self._refuse(host, slot, Exchange(Request(url), now), leave, new=new)

    def _refuse(self, host: Host, slot: int, nothing: Exchange, why: str, *, new: bool) -> None:
        self.frontier.said.pop(slot, None)
        before = recall(self.partition, slot)
        if new and before.depth and before.outcome == Outcome.REFUSED and why.startswith("robots:"):
            self.frontier.add_seen(host.number, slot)  # as before the start: news when its refresh is due
        else:
            self._waiting.append(Reading(nothing, host, slot, before, Outcome.REFUSED, error=why))
        self.frontier.release(host)

    def _visit(self, host: Host, slot: int, url: str, now: float) -> None:
        before, config = recall(self.partition, slot), self._config
        size, deadline_s = config.body_max_bytes, config.exchange_deadline_s
        validators = () if self._soft404.doubts(url, before, now) else _validators(before)
        head = self._heads.wanted(host.number, slot, validators)
        asked = () if head else validators
        tag = VisitTag(host, slot, before, self.frontier.said.pop(slot, math.nan))
        request = Request(url, tag, asked, size, size, deadline_s, packed=True, head=head)
        if self._planning is not None and (noted := self._planning.noted(now)) is not None:
            self.partition.remember(noted)
            self._storing.changed()
        self._network.start(request, host.addresses)
        self.frontier.began(host, now)
        self._underway += 1
        self._pace.started(now)
        if self._random_probes.began(slot, now):
            self._storing.changed()

    def _unreachable(self, host: Host, why: str) -> None:
        """Count the page that a host would have offered as failed; its name leads nowhere."""
        taken = self.frontier.take_first(host) if self._pages_left() > 0 else None
        if taken is not None:
            slot, _ = taken
            failed = Exchange(Request(self._state.urls.get(slot)), self._clock.now(), error="dns", detail=why)
            self._waiting.append(read(failed, host, slot, recall(self.partition, slot), ""))

    # Read, learn and store

    async def _turn(self, timeout_s: float) -> None:
        began = self._clock.now()
        exchanges = await self._network.finished(timeout_s)
        idle = self._clock.now() >= began + IDLE_S
        self._leisure.observe(self._clock.now(), self._network.idle_s)
        self._access.check()
        for start in range(0, len(exchanges), BATCH):
            self._take(exchanges[start : start + BATCH])
            self._learn()
        self._learn()
        now = self._clock.now()
        self._read_sitemaps(now)
        if idle and self._settling is not None and not self._storing.full and self._settling.turn(now):
            self._storing.changed()
        self._storing.turn(now)
        if self._indexing is not None and not self._storing.full:
            self._indexing.turn(now)
        self._report(now)

    def _take(self, exchanges: Sequence[Exchange]) -> None:
        now = self._clock.now()
        for exchange in exchanges:
            tag = exchange.request.tag
            if isinstance(tag, RobotsTag):
                self._access.take_robots(exchange, now)
                continue
            if isinstance(tag, SitemapTag):
                self._pace.received(now, len(exchange.wire) + len(exchange.head))
                self._sitemaps.take(exchange, now)
                continue
            if isinstance(tag, ProbeTag):
                self._pace.received(now, len(exchange.wire) + len(exchange.head))
                self._probes.take(exchange, now)
                continue
            assert isinstance(tag, VisitTag)
            if exchange.request.head and not self._heads.visited(exchange, tag.host.number, tag.slot, tag.before):
                self._ask_again(exchange, tag, now)
                continue
            reading = judge(exchange, tag.host, tag.slot, tag.before)
            reading.said = tag.said
            self._underway -= 1
            self._pace.received(now, len(exchange.wire) + len(exchange.head))
            rest(reading, now)
            self.frontier.ended(tag.host, now)
            self._parsers.submit(reading)

    def _ask_again(self, exchange: Exchange, tag: VisitTag, now: float) -> None:
        """Let a page be asked for at its host's next turn, of which the head alone was asked for."""
        self._underway -= 1
        self._pace.received(now, len(exchange.head))
        self.frontier.ended(tag.host, now)
        self.frontier.put_first(tag.host, tag.slot, new=False)

    def _read_sitemaps(self, now: float) -> None:
        """Read a piece of what has come in; what it makes known is an event."""
        news = self._learner.news
        if not self._storing.full:
            self._sitemaps.read(now)
        if self._learner.news > news:
            self._storing.changed()

    def _learn(self) -> None:
        now = self._clock.now()
        for reading in self._parsers.done():
            self._soft404.judge(reading, now)
            if reading.feeds:
                self._sitemaps.feeds(reading.exchange.request.url, reading.feeds, now)
            self._waiting.append(reading)
        if not self._waiting or not self._storing.may_try(now):
            return
        batch, self._waiting = self._waiting, []
        try:
            self._learner.learn(batch)
        except NoRoomError as error:
            self._waiting = batch + self._waiting
            self._storing.no_room(now, error)
        else:
            self._storing.changed()
            for reading in batch:
                self._random_probes.visited(reading.slot)

    async def _finish(self) -> None:
        """Let what is under way end, then store everything."""
        until = self._clock.now() + GRACE_S
        while self._network.in_flight and self._clock.now() < until:
            await self._turn(until - self._clock.now())
        await self._network.close()
        self._access.close()
        await self._parsers.settle()
        self._learn()
        await self._storing.finish(hurry=self._reason == "stopped")
        if self._indexing is not None:
            await self._indexing.finish()

    # When to stop, how long to wait, what to say

    def _over(self, now: float) -> bool:
        if not self._reason:
            if now >= self._until:
                self._reason = "seconds"
            elif self._limits.pages is not None and self._visits >= self._limits.pages:
                self._reason = "pages"
            elif self._limits.until_idle and self._idle(now):
                self._reason = "idle"
        return bool(self._reason)

    def _idle(self, now: float) -> bool:
        busy = self._network.in_flight or self._access.busy or self._unlearned or not self._probes.idle(now)
        return not busy and self.frontier.idle(now) and (not self._config.sitemaps or self._sitemaps.idle(now))

    def _patience(self, now: float) -> float:
        """Return how long the network may be waited for before something else is due (s)."""
        until = min(self._until, self._reported_at + REPORT_S, self._storing.next_at())
        if not self._storing.full:
            if self._waiting:
                return 0.0
            until = min(until, self._indexing.next_at()) if self._indexing is not None else until
            if self._settling is not None and self._settling.busy:
                until = min(until, now + 1.5 * IDLE_S)
            until = min(until, self._sitemaps.next_at()) if self._config.sitemaps else until
            if self._free(now) > 0:
                soonest = now + WAITING_S if self._leisure.busy and self._network.in_flight else now
                until = min(until, max(self.frontier.next_at(), soonest), self._probes.next_at())
                until = min(until, self._random_probes.next_at())
            elif not self._pace.free(now):
                until = min(until, self._pace.next_at)
        return max(until - now, 0.0)

    def _host_of(self, name: str) -> Host | None:
        number = self._state.host_numbers.get(name)
        return self.frontier.hosts[number] if number is not None else None

    def _pages_of(self, name: str) -> int:
        host = self._host_of(name)
        return host.pages if host is not None else 0

    def _report(self, now: float) -> None:
        if now >= self._reported_at + REPORT_S:
            self._reported_at = now
            self._pace.observed(now, self._learner.visits)
            self._policy.deaths_per_s = self._changes.deaths.per_s
            self._state.notes.update(self._policy.notes(), **self._changes.notes())
            self._watch(self._telling.progress(now))

    def _summary(self) -> Summary:
        now = self._clock.now()
        progress = self._telling.progress(now)
        self._watch(progress)
        return Summary(progress.visits, progress.fetched, progress.known, progress.elapsed_s, self._reason)


def _validators(before: Before) -> tuple[tuple[str, str], ...]:
    """Return the request headers that make the answer 304 where the content held is still the page's."""
    last = before.last
    if last is None or not before.digest or last.digest != before.digest or last.outcome == Outcome.TRUNCATED:
        return ()
    if partial(before):  # it has to be read anew
        return ()
    pairs = (("If-None-Match", last.etag), ("If-Modified-Since", last.last_modified))
    return tuple(pair for pair in pairs if validator(pair[1]))
