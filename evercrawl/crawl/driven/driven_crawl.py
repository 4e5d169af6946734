"""A crawl driven by another program, which fetches the pages when and how it likes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.crawl.driven.contents import lead_to, told
from evercrawl.crawl.learn.cash import Cashier
from evercrawl.crawl.learn.learning import learner_of
from evercrawl.crawl.noting import PriceNotes
from evercrawl.crawl.parts import Choosing
from evercrawl.crawl.storing import Storing
from evercrawl.crawl.timekeeping import fill, resume
from evercrawl.crawl.visit.recall import recall
from evercrawl.crawl.visit.visiting import validators
from evercrawl.model.policy.schemes import scheme_of
from evercrawl.model.rules.barred import Barred
from evercrawl.model.rules.scope import Scope
from evercrawl.model.stored.reading import Before, Fetched, fetched, understand
from evercrawl.parse.urls import hostname
from evercrawl.schedule.abilities import Learns
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.types import NO_SLOT, Exchange

if TYPE_CHECKING:
    from evercrawl.clock import SteadyClock
    from evercrawl.config import Config
    from evercrawl.crawl.ports import Offload
    from evercrawl.schedule.base import Policy
    from evercrawl.store.partition import Partition

_FOUND_DEPTH: Final = 1


class Turn(NamedTuple):
    """A page chosen for a fetch: its host, its slot, its URL, and whether it waited as an unread page."""

    host: Host
    slot: int
    url: str
    new: bool


class DrivenCrawl:
    """A crawl that chooses pages and learns from answers, while another program fetches.

    The fetching program is responsible for politeness, robots.txt, redirects and retries. Answers passed to `learn` and
    URLs passed to `admit` are on the disk within 50 ms of a `turn`. A page that was chosen but never learned from waits
    again when the directory is reopened.

    Parameters
    ----------
    partition, config, policy, clock
        The open directory, the settings of the run, the policy that values pages, and the time.
    offload
        Runs slow work in a thread.

    Attributes
    ----------
    before_commit
        Called in that thread before each commit, to write what must be on the disk before the journal.
    frontier
        The queues in which pages wait.
    """

    def __init__(
        self, partition: Partition, config: Config, policy: Policy, clock: SteadyClock, offload: Offload
    ) -> None:
        self._partition, self._config, self._policy, self._clock = partition, config, policy, clock
        self._state = partition.state
        scope = Scope(config, lambda _: 0)
        scheme = scheme_of(partition.scheme)
        self._choosing = choosing = Choosing(partition, config, policy, scheme, Barred(self._state, scope))
        self.frontier = choosing.frontier
        cashier = Cashier(self._state, scheme)
        self._learner = learner_of(
            partition,
            self.frontier,
            scope,
            cashier,
            choosing.changes,
            known=choosing.known,
            expecting=choosing.expecting,
            lessons=choosing.lessons,
            focus=config.focus,
            max_redirects=config.max_redirects,
            refresh_after_s=config.refresh_after_s,
        )
        self.before_commit: Callable[[], None] = lambda: None
        self._storing = Storing(
            partition,
            clock,
            offload,
            lambda: None,
            disk_wait_s=config.disk_wait_s,
            snapshot_every_s=config.snapshot_every_s,
            also=choosing.lessons.save if choosing.lessons is not None else None,
            before=lambda: self.before_commit(),
        )
        self._noting = PriceNotes(partition, policy)
        now = clock.now()
        resume(partition, self.frontier, scope, now, 0.0)
        self._learner.queued(fill(self._state, self.frontier, (), (), config.refresh_after_s))
        self._state.known.release()

    @property
    def full(self) -> bool:
        """Whether the disk is full; while it is, nothing should be fetched."""
        return self._storing.full

    @property
    def remembered(self) -> int:
        """Number of events in the journal, including those not yet on the disk."""
        return self._partition.journal.sequence

    @property
    def stored(self) -> int:
        """Number of events of the journal on the disk."""
        return self._storing.stored

    def now(self) -> float:
        """Return the crawl's time, in seconds since the epoch."""
        return self._clock.now()

    def known(self, url: str) -> bool:
        """Return whether a normalised URL is known."""
        return self._state.table.find_one(self._state.hasher.key(url)) is not None

    def visited(self, url: str) -> bool:
        """Return whether a page was ever visited."""
        slot = self._state.find_one(url)
        return slot != NO_SLOT and self._state.record_of(slot) is not None

    def forgotten(self, url: str) -> bool:
        """Return whether a URL was forgotten; a forgotten URL is never requested again."""
        return bool(self._state.forgotten) and self._state.forgotten.has_url(self._state.hasher, url, hostname(url))

    @property
    def forgets(self) -> bool:
        """Whether anything was forgotten."""
        return bool(self._state.forgotten)

    def admit(self, urls: Sequence[str], *, seeds: bool) -> None:
        """Make URLs known, and queue those that are new, as seeds or as links of pages."""
        now = self._clock.now()
        fresh = [url for url in dict.fromkeys(urls) if not self.forgotten(url)]
        if not fresh:
            return
        if seeds:
            self._learner.seed(fresh, now)
        else:
            self._learner.admit_links(fresh, _FOUND_DEPTH, now)
        self._storing.changed()

    def choose(self, most: int) -> list[Turn]:
        """Return up to `most` pages to fetch now, the most valuable first; pass each to `learn` or `put_back`."""
        now = self._clock.now()
        self._plan(now)
        turns = list[Turn]()
        for host, slot, new in self.frontier.choose(now, most):
            if not self._rests(host, slot, now):
                self.frontier.began(host, now)
                turns.append(Turn(host, slot, self._state.urls.get(slot), new))
        return turns

    def name(self, url: str) -> Turn | None:
        """Take a known page out of turn, to fetch it now; None if it is not waiting, for instance being fetched."""
        slot = self._state.find_one(url)
        if slot == NO_SLOT:
            return None
        host = self.frontier.hosts[int(self._state.known.row(slot)["host"])]
        waited, new = self.frontier.take_waiting(host, slot, self._state.known.count)
        if not waited:
            return None
        self.frontier.began(host, self._clock.now())
        return Turn(host, slot, url, new)

    def before(self, turn: Turn) -> Before:
        """Return what is known of a chosen page."""
        return recall(self._partition, turn.slot)

    @staticmethod
    def validators(before: Before) -> tuple[tuple[str, str], ...]:
        """Return the request headers with which a server answers 304 if the stored copy is still the page's content."""
        return validators(before)

    def answer(self, turn: Turn, before: Before, exchange: Exchange) -> Fetched:
        """Return the result of a turn; its body is parsed unless it equals the stored copy."""
        said = self.frontier.predicted_fresh.pop(turn.slot, math.nan)
        answer = fetched(exchange, turn.host, turn.slot, before, said)
        if answer.unread:
            answer.take(told(exchange, before, self._config, self._partition.hasher))
        return answer

    def ended(self, turn: Turn) -> None:
        """Record that a fetch has ended, whatever its result."""
        self.frontier.ended(turn.host, self._clock.now())

    def put_back(self, turn: Turn) -> None:
        """Queue a page again whose fetch brought no answer."""
        self.frontier.put_first(turn.host, turn.slot, new=turn.new)

    def learn(self, answers: Sequence[tuple[Fetched, Sequence[str]]]) -> None:
        """Learn from a batch of answers, each with the URLs that were followed from its page.

        Raises
        ------
        NoRoomError
            The disk is full: nothing was learned, and the same call can be repeated.
        """
        read = [
            (answer.content, answer.exchange.request.url, links)
            for answer, links in answers
            if answer.content is not None
        ]
        if read:
            lead_to(read, self._state)
        self._learner.learn([understand(answer) for answer, _ in answers])
        self._storing.changed()

    def turn(self) -> None:
        """Begin commits and snapshots that are due; call this often.

        Raises
        ------
        NoRoomError
            The disk was full for longer than `disk_wait_s`.
        """
        now = self._clock.now()
        if self._noting.turn(now):
            self._storing.changed()
        self._storing.turn(now)

    def idle(self) -> bool:
        """Return whether no unread page waits, and no page is due."""
        now = self._clock.now()
        if not self.frontier.idle(now):
            return False
        first = self.frontier.first_due()
        return first is None or first[1] > now

    async def close(self) -> None:
        """Store everything, and release the directory."""
        try:
            await self._storing.finish(hurry=True)
        finally:
            self._partition.close()

    def _rests(self, host: Host, slot: int, now: float) -> bool:
        """Return whether a page was visited too recently, after a failure and a retry; if so, queue it for later."""
        if self._state.record_of(slot) is None:
            return False
        again_at = self._state.visited_at(slot) + self._config.refresh_after_s
        if again_at <= now:
            return False
        self.frontier.give_up(host, slot)
        self.frontier.add_seen(host.number, slot, not_before=again_at, visited_at=self._state.visited_at(slot))
        return True

    def _plan(self, now: float) -> None:
        """Pass the lessons of the last visits to the policy, and let it rescan all pages if it wants to."""
        choosing = self._choosing
        if choosing.lessons is not None and (choosing.planning is not None or choosing.lessons.due(now)):
            choosing.lessons.flush()
        wants = isinstance(self._policy, Learns) and self._policy.wants_rescan(choosing.surroundings(now))
        if choosing.planning is not None and choosing.planning.turn(now, self.frontier.new_count):
            wants = True
        if choosing.aiming.turn(now) or wants:
            self.frontier.planned()
