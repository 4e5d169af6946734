"""The crawl loop: choose, fetch, read, learn, store. Read this file first.

The loop reaches the outside through interfaces only: clock, network, names, disk, random bytes and a place for slow
work. The same loop therefore runs on the web and on a virtual clock.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

from evercrawl.arrays.shelf import Shelvable
from evercrawl.config import Config
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.memory_use.footprint import items_of
from evercrawl.crawl.noting import PriceNotes
from evercrawl.crawl.pace import StepTime
from evercrawl.crawl.parts import Parts
from evercrawl.crawl.ports import Outside
from evercrawl.crawl.receiving import Receiving
from evercrawl.crawl.timekeeping import fill, resume
from evercrawl.errors import ApplyError, CeilingError, NoMemoryError
from evercrawl.importance.base import Importance
from evercrawl.model.focus import unasked
from evercrawl.model.footprint import MemoryItem
from evercrawl.progress import Limits, Progress, Summary
from evercrawl.schedule.abilities import Learns, Tunable, notes_of, price_of
from evercrawl.schedule.base import Policy
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.store.orders import FORGET

REPORT_S: Final = 0.5
IDLE_S: Final = 0.02  # after a wait of at least this length, the loop has time for deferred work
WAITING_S: Final = 0.005  # while the crawl is busy, it checks at least this often for hosts that have rested
RENDERED_S: Final = 60.0  # time for pages in a browser at the end, unless a person or the time limit ends the run
GRACE_S: Final = 3.0  # time for exchanges under way to finish once the crawl is told to stop
MEMORY_WAIT_S: Final = 30.0  # after memory has been short for this long, the run ends
STARTS: Final = 32  # visits begun in one step; then other tasks run
WRITES: Final = 3  # additional writes to the index in one turn, while much waits for the index
DISPATCHED: Final = 64  # such steps before ended exchanges are taken in; without a bound, fast hosts would delay them

_NO_MEMORY: Final = (
    "memory is used up; nothing acknowledged is lost: give the crawl more memory, or set a limit with --max-memory, "
    "and start it again"
)


class Crawl:
    """The crawl of one partition; made by `assemble`.

    Parameters
    ----------
    config, memory, outside, watch, policy
        The parameters of `assemble` with the same names.
    scheme
        The scheme that computes the importance of pages.

    Attributes
    ----------
    partition, policy, columns, frontier
        The open crawl directory, the policy that values pages, the columns that the policy reads, and the queues in
        which pages wait.
    scope, tuning, obeying
        The rules that decide which pages belong to the crawl, the run's current settings, and the part that obeys
        orders.
    """

    def __init__(
        self,
        config: Config,
        memory: Memory,
        outside: Outside,
        watch: Callable[[Progress], None],
        policy: Policy,
        scheme: Importance,
    ) -> None:
        self.partition, self.policy = memory.partition, policy
        self._state = memory.partition.state
        self._config = config
        self._network, self._clock = outside.network, outside.clock
        self._watch = watch
        parts = Parts(config, memory, outside, policy, scheme, self._unreachable)
        self._indexing = parts.indexing
        self._choosing = choosing = parts.choosing
        self.columns, self.frontier = choosing.columns, choosing.frontier
        self._changes, self._weight, self._surroundings = choosing.changes, choosing.weight, choosing.surroundings
        self._lessons, self._planning, self._random_probes = choosing.lessons, choosing.planning, choosing.random_probes
        self._access, self._sitemaps, self._probes = parts.access, parts.sitemaps, parts.probes
        self._silences, self._rendering, self._requisites = parts.silences, parts.rendering, parts.requisites
        self._visiting, self._parsers, self._learner = parts.visiting, parts.parsers, parts.learner
        self._enforcing, self.scope, self.tuning = parts.enforcing, parts.scope, parts.tuning
        self.obeying, self._checks, self._crowded_pages = parts.obeying, parts.checks, parts.crowded_pages
        self._storing, self._settling = parts.storing, parts.settling
        self._step = StepTime(outside.clock)
        self._receiving = Receiving(parts, memory.quarantine, outside.clock, self._step)
        self.frontier.hurried = lambda: self._step.long
        self._pace, self._leisure, self._telling = parts.pace, parts.leisure, parts.telling
        self._room, self._short_at = outside.room, math.inf
        self._gate, self._post, self._posting = outside.gate, outside.post, parts.posting
        if self._post is not None:
            self._post.listen(self._network.wake)
        if self._gate is not None:
            self._gate.wake = self._network.wake
        self._noting = PriceNotes(self.partition, policy)
        self._reported_at = 0.0
        self._reason = self._ineffective = ""
        self._limits = Limits()
        self._until = float("inf")
        resume(self.partition, self.frontier, parts.scope, self._clock.now(), config.delay_s)

    def stop(self, reason: str = "stopped") -> None:
        """End the run cleanly: start no new exchanges, give those under way a moment, and store everything."""
        self._reason = self._reason or reason

    @property
    def stored(self) -> int:
        """Number of durable events of the journal: on the disk, and at the keeper if there is one."""
        return self._storing.stored

    def at_rest(self) -> bool:
        """Return whether no unread page is left to fetch, and nothing is owed to other partitions."""
        return self._idle(self._clock.now()) and (self._posting is None or self._posting.idle())

    def progress(self) -> Progress:
        """Return the counts of the crawl at this instant."""
        return self._telling.progress(self._clock.now())

    def footprint(self) -> tuple[MemoryItem, ...]:
        """Return the memory use of the crawl, item by item."""
        return items_of(self._state, self._choosing, self.policy, self._learner)

    def shelvables(self) -> list[Shelvable]:
        """Return the tables by page, site or folder, which may move to a shelf: few rows are in use at once."""
        lessons = self._lessons.rows if self._lessons is not None else ()
        return [self._state.records, self._state.originals, *self._learner.shelvables(), *lessons]

    def close(self) -> None:
        """Close the parsers; bodies that they have not read are lost."""
        self._parsers.close()

    async def run(self, seeds: Sequence[str], limits: Limits, only: Sequence[str] = ()) -> Summary:
        """Crawl until a limit is reached or `stop` is called.

        If `only` names known pages, those pages are due now. Nothing else waits, except pages that they lead to.

        Raises
        ------
        NoRoomError
            The disk was full for longer than `disk_wait_s`.
        StoreError
            The disk failed in another way.
        CeilingError
            The partition is as large as it can become; acknowledged events are safe.
        ApplyError
            Memory no longer equals the fold of the journal: assemble the crawl again from the journal.
        NoMemoryError
            Memory was short for 30 s, and everything was stored; or memory was used up, and acknowledged events are
            safe.
        """
        begun_at = self._telling.begun_at = self._clock.now()
        self._limits = limits
        self._until = begun_at + limits.seconds if limits.seconds is not None else float("inf")
        self._learner.queued(fill(self._state, self.frontier, seeds, only, self._config.refresh_after_s))
        self._state.known.release()
        if only:
            self._random_probes.stop()
            self._crowded_pages.stop()
        if self._learner.seed(seeds, begun_at):
            self._storing.changed()
        about_worth = unasked(self._config, self.policy) or (self._weight.message if self._weight is not None else "")
        if about_worth and not only:
            self._watch(Progress(at=begun_at, known=self._state.known.count, message=about_worth))
        if not only:
            self._report_ineffective(begun_at)
        for trouble in self._lessons.troubles if self._lessons is not None else ():
            self._watch(Progress(at=begun_at, known=self._state.known.count, message=trouble))
        try:
            while not self._over(self._clock.now()):
                now = self._clock.now()
                more = False
                if not self._storing.full and not self.obeying.paused and not self._is_short(now):
                    more = await self._dispatch(now)
                await self._turn(0.0 if more else self._patience(now))
            await self._finish()
        except (ApplyError, CeilingError):
            await self.obeying.close()
            await self._storing.abandon()
            raise
        except MemoryError as error:
            await self._storing.abandon()
            raise NoMemoryError(_NO_MEMORY) from error
        if self._reason == "memory" and self._room is not None:
            self._summary()
            raise NoMemoryError(self._room.message or _NO_MEMORY)
        return self._summary()

    def _is_short(self, now: float) -> bool:
        """Return whether memory is short; while it is, nothing new is requested."""
        short = self._room is not None and self._room.short(now)
        self._short_at = min(self._short_at, now) if short else math.inf
        return short

    def _report_ineffective(self, now: float) -> None:
        """Report a parameter of the policy that has no effect, unless it was reported before."""
        before = self._ineffective
        if isinstance(self.policy, Tunable):
            self._ineffective = self.policy.ineffective_option(self._surroundings(now))
        if self._ineffective and self._ineffective != before:
            self._watch(Progress(at=now, known=self._state.known.count, message=self._ineffective))

    # Choose and fetch

    async def _dispatch(self, now: float) -> bool:
        """Begin what is due; return whether more visits can begin once ended exchanges are taken in."""
        for host, slot, new in self._checks.due(now) if self._free(now) > 0 else ():
            self._visiting.begin(host, slot, now, new=new, named=True)
            if self._free(now) <= 0:
                break
        for host, slot, new in self._crowded_pages.due(now) if self._free(now) > 0 else ():
            self._visiting.begin(host, slot, now, new=new)
            if self._free(now) <= 0:
                break
        if self.tuning.config.sitemaps:
            for _ in range(self._sitemaps.start(now, self._free(now))):
                self._pace.started(now)
        for _ in range(self._probes.start(now, self._free(now))):
            self._pace.started(now)
        if self._lessons is not None and (self._planning is not None or self._lessons.due(now)):
            self._lessons.flush()
        if isinstance(self.policy, Learns) and self.policy.wants_rescan(self._surroundings(now)):
            self.frontier.planned()
        if self._planning is not None and self._planning.turn(now, self.frontier.new_count):
            self.frontier.planned()
            self._report_ineffective(now)
        if self._choosing.aiming.turn(now):
            self.frontier.planned()
        while self._free(now) > 0 and (drawn := self._random_probes.start(now)) is not None:
            self.frontier.predicted_fresh[drawn[1]] = self._random_probes.said(drawn[1], now)
            self._visiting.begin(*drawn, now, new=False)
        self._access.turns.call(now)
        await self._step.end_if_long()
        now = self._clock.now()
        if self._requisites is not None and not self._shut():
            self._requisites.start(now, pages_wait=self._pages_left() > 0 and not self.frontier.idle(now))
        for _ in range(DISPATCHED):
            if not self._start(now):
                return False
            await self._step.end()
            now = self._clock.now()
        return True

    def _start(self, now: float) -> bool:
        """Begin `STARTS` visits or a few more; return whether only this bound kept further visits from beginning."""
        least, most, started = self._leisure.least(price_of(self.policy)), STARTS, 0
        while started < STARTS:
            if (free := self._free(now)) <= 0 or self._storing.full or self.obeying.paused:
                return False
            chosen = self.frontier.choose(now, min(free, most), least)
            if not chosen and least > -math.inf and not self._network.in_flight:
                chosen = self.frontier.choose(now, min(free, most))  # nothing better waits, and nothing is under way
            if not chosen:
                return False
            most = len(chosen)  # a choice has one page per address, so the next one at this instant cannot find more
            for host, slot, new in chosen:
                self._visiting.begin(host, slot, now, new=new)
            started += len(chosen)
            if self.frontier.spent or self._access.turns.crowded(now) or self._enforcing.crowded:
                return False
            if self._step.long:
                break
        return True

    @property
    def _visits(self) -> int:
        return self._learner.tally.visits + self._visiting.unlearned

    def _shut(self) -> bool:
        """Return whether no request may start now."""
        shut = self._short_at < math.inf or (self._gate is not None and self._gate.shut)
        return shut or (self._post is not None and not self._post.may_fetch())

    def _free(self, now: float) -> int:
        """Return the number of exchanges that may start now."""
        if self._shut():
            return 0
        if self._post is not None:
            self._pace.share(self._post.ceiling(), now)
        unlearned = self._visiting.unlearned - self._parsers.apart
        if not self._pace.free(now) or unlearned > self._config.connections or self._parsers.behind:
            return 0
        if self._indexing is not None and self._indexing.behind:
            return 0
        free = 1 if self._pace.bounded else self._config.connections - self._network.in_flight
        return min(free, self._pages_left(), self._config.connections - self._network.in_flight)

    def _pages_left(self) -> int:
        if self._post is not None and (allowed := self._post.pages()) is not None:
            return allowed - self._visits - self._visiting.underway
        if self._limits.pages is None:
            return self._config.connections
        return self._limits.pages - self._visits - self._visiting.underway

    def _unreachable(self, host: Host, why: str) -> None:
        """Count a failed visit of the page that an unreachable host would have offered, if the run's limit allows."""
        if self._pages_left() > 0:
            self._visiting.unreachable(host, why, self._clock.now())

    # Take in and store

    async def _turn(self, timeout_s: float) -> None:
        began = self._clock.now()
        exchanges = await self._network.finished(timeout_s)
        self._step.waited(began)
        idle = self._clock.now() >= began + IDLE_S
        self._leisure.observe(self._clock.now(), self._network.idle_s)
        self._access.check()
        self._silences.turn(self._clock.now())
        await self._receiving.receive(exchanges)
        await self._receiving.learn_rest()
        await self._step.end_if_long()
        now = self._clock.now()
        if self._requisites is not None:
            self._requisites.turn(now)
        self._receiving.read_sitemaps(now)
        if not self._storing.full:
            self._steer(now)
        if self._posting is not None and self._posting.turn(now, full=self._storing.full):
            self._storing.changed()
        if idle and self._settling is not None and not self._storing.full and self._settling.turn(now):
            self._storing.changed()
        self._storing.turn(now)
        if self._indexing is not None and not self._storing.full:
            await self._index(now)
        await self._step.end_if_long()
        self._report(self._clock.now())

    async def _index(self, now: float) -> None:
        """Write to the index, and up to `WRITES` times more while much waits for it."""
        assert self._indexing is not None
        await self._step.end_if_long()
        now = self._clock.now()
        self._indexing.turn(now)
        for _ in range(WRITES if self._indexing.pressing else 0):
            await self._step.end()
            self._indexing.turn(now)
            if not self._indexing.pressing:
                break

    def _steer(self, now: float) -> None:
        """Obey orders, and enforce the rules of the scope."""
        if self.obeying.turn(now):
            self._storing.changed()
        self._access.paused = self.obeying.paused
        if self._enforcing.turn(now):
            self._storing.changed()

    async def _finish(self) -> None:
        """Let exchanges under way end, then store everything."""
        until = self._clock.now() + GRACE_S
        while self._network.in_flight and self._clock.now() < until:
            await self._turn(until - self._clock.now())
        if self._rendering is not None:
            await self._end_rendering()
        if self._requisites is not None:
            await self._requisites.close()
        await self._visiting.close()
        await self._network.close()
        self._access.close()
        await self.obeying.close()
        await self._parsers.settle()
        self._receiving.learn()
        await self._storing.finish(hurry=self._reason == "stopped")
        if self._indexing is not None:
            await self._indexing.finish()

    async def _end_rendering(self) -> None:
        """Let pages in the browser finish within the time left; the others count as the server sent them."""
        assert self._rendering is not None
        until = self._clock.now() + {"stopped": 0.0, "seconds": GRACE_S}.get(self._reason, RENDERED_S)
        while self._rendering.pending and self._clock.now() < until:
            await self._turn(REPORT_S)
        await self._rendering.close()
        self._visiting.gather(self._clock.now())

    # When to stop, how long to wait, what to report

    def _over(self, now: float) -> bool:
        if not self._reason:
            if self.obeying.to_forget and self._storing.distrusts():
                self._reason = FORGET
            elif now >= self._until:
                self._reason = "seconds"
            elif now >= self._short_at + MEMORY_WAIT_S:
                self._reason = "memory"
            elif self._limits.pages is not None and self._visits >= self._limits.pages and self._shown(now):
                self._reason = "pages"
            elif self._limits.until_idle and self._idle(now):
                self._reason = "idle"
        return bool(self._reason)

    def _shown(self, now: float) -> bool:
        """Return whether every requisite that may be requested now has been fetched."""
        return self._requisites is None or self._requisites.idle(now)

    def _idle(self, now: float) -> bool:
        busy = self._network.in_flight or self._access.busy or self._visiting.unlearned or not self._probes.idle(now)
        busy = busy or not self._shown(now) or not self._crowded_pages.idle(now)
        return not busy and self.frontier.idle(now) and (not self.tuning.config.sitemaps or self._sitemaps.idle(now))

    def _patience(self, now: float) -> float:
        """Return how long the loop may wait for the network before something else is due, in seconds."""
        until = min(self._until, self._reported_at + REPORT_S, self._storing.next_at())
        if not self._storing.full:
            if self._visiting.readings:
                return 0.0
            until = min(until, self._indexing.next_at()) if self._indexing is not None else until
            if self._settling is not None and self._settling.busy:
                until = min(until, now + 1.5 * IDLE_S)
            until = min(until, now if self._enforcing.busy else until, self.obeying.next_at())
            until = min(until, self._posting.next_at()) if self._posting is not None else until
            if self.obeying.paused:
                return max(until - now, 0.0)
            if self.tuning.config.sitemaps and self._short_at == math.inf:
                until = min(until, self._sitemaps.next_at())
            until = min(until, self._requisites.next_at()) if self._requisites is not None else until
            if self._free(now) > 0:
                soonest = now + WAITING_S if self._leisure.busy and self._network.in_flight else now
                until = min(until, max(self.frontier.next_at(), soonest), self._probes.next_at())
                until = min(until, self._random_probes.next_at(), self._checks.next_at())
                until = min(until, self._crowded_pages.next_at())
            elif not self._pace.free(now):
                until = min(until, self._pace.next_at)
        return max(until - now, 0.0)

    def _report(self, now: float) -> None:
        if now >= self._reported_at + REPORT_S:
            self._reported_at = now
            self._pace.observed(now, self._learner.tally.visits)
            self._surroundings.deaths_per_s = self._changes.deaths.per_s
            self._telling.orders_trouble = self.obeying.trouble
            self._state.notes.update(notes_of(self.policy), **self._changes.notes())
            if not self._storing.full and self._noting.turn(now):
                self._storing.changed()
            self._silences.tell(self._state.notes)
            if self._posting is not None:
                used = self._pace.used(now)
                self._posting.report(at_rest=self.at_rest(), used=used)
            self._watch(self._telling.progress(now))

    def _summary(self) -> Summary:
        now = self._clock.now()
        progress = self._telling.progress(now)
        self._watch(progress)
        return Summary(progress.visits, progress.fetched, progress.known, progress.elapsed_s, self._reason)
