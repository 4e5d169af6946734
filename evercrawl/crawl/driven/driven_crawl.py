"""A crawl that is driven from outside: another program fetches the pages, when and how it likes."""

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
    """A page whose turn it is: its host, its slot, its URL, and whether it waited as a new one."""

    host: Host
    slot: int
    url: str
    new: bool


class DrivenCrawl:
    """Says which page comes next, and learns from what came; whoever fetches decides about the rest.

    Politeness, robots.txt, redirects and retries are the business of whoever fetches. What `learn` is told is on the
    disk within 50 ms of a `turn`, and so is what `admit` makes known; a page that was chosen and never learned of waits
    again when the directory is opened anew.

    Parameters
    ----------
    partition, config, policy, clock
        The open directory, the settings of the run, what values pages, and the time.
    offload
        Where slow work runs.

    Attributes
    ----------
    before_commit
        Called, where slow work runs, before each commit: what must be on the disk before the journal is.
    frontier
        Where pages wait.
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
        """Whether the disk is, so that nothing should be fetched."""
        return self._storing.full

    @property
    def remembered(self) -> int:
        """How many events the journal has, those not yet on the disk among them."""
        return self._partition.journal.sequence

    @property
    def stored(self) -> int:
        """How many of them are on the disk."""
        return self._storing.stored

    def now(self) -> float:
        """Return the crawl's time (s since the epoch)."""
        return self._clock.now()

    def known(self, url: str) -> bool:
        """Whether a normalised URL is known."""
        return self._state.table.find_one(self._state.hasher.key(url)) is not None

    def visited(self, url: str) -> bool:
        """Whether a page was visited at some time."""
        slot = self._state.find_one(url)
        return slot != NO_SLOT and self._state.record_of(slot) is not None

    def forgotten(self, url: str) -> bool:
        """Whether a URL was forgotten, so that it is never requested again."""
        return bool(self._state.forgotten) and self._state.forgotten.has_url(self._state.hasher, url, hostname(url))

    @property
    def forgets(self) -> bool:
        """Whether anything was forgotten."""
        return bool(self._state.forgotten)

    def admit(self, urls: Sequence[str], *, seeds: bool) -> None:
        """Make URLs known, and queue those that were not: as seeds, or as what pages led to."""
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
        """Return up to so many pages to fetch now, the most valuable first; each is learned of, or put back."""
        now = self._clock.now()
        self._plan(now)
        turns = list[Turn]()
        for host, slot, new in self.frontier.choose(now, most):
            if not self._rests(host, slot, now):
                self.frontier.began(host, now)
                turns.append(Turn(host, slot, self._state.urls.get(slot), new))
        return turns

    def name(self, url: str) -> Turn | None:
        """Take a known page out of turn, to be fetched now; None where it does not wait: it is being fetched, say."""
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
        """Return what is known of a page whose turn it is."""
        return recall(self._partition, turn.slot)

    @staticmethod
    def validators(before: Before) -> tuple[tuple[str, str], ...]:
        """Return the request headers that make the answer 304 where the content held is still the page's."""
        return validators(before)

    def answer(self, turn: Turn, before: Before, exchange: Exchange) -> Fetched:
        """Return what came of a turn, its body read as far as it is not the one that is held."""
        said = self.frontier.predicted_fresh.pop(turn.slot, math.nan)
        answer = fetched(exchange, turn.host, turn.slot, before, said)
        if answer.unread:
            answer.take(told(exchange, before, self._config, self._partition.hasher))
        return answer

    def ended(self, turn: Turn) -> None:
        """Hear that a fetch has ended, whatever came of it."""
        self.frontier.ended(turn.host, self._clock.now())

    def put_back(self, turn: Turn) -> None:
        """Let a page wait again whose fetch came to nothing."""
        self.frontier.put_first(turn.host, turn.slot, new=turn.new)

    def learn(self, answers: Sequence[tuple[Fetched, Sequence[str]]]) -> None:
        """Learn from a batch of answers, each with the URLs that its page led to.

        Raises
        ------
        NoRoomError
            The disk is full: nothing was learned, and the same call can be made again.
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
        """Begin what is due: commits and snapshots; call it often.

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
        """Whether no page waits that was never fetched, and none is due."""
        now = self._clock.now()
        if not self.frontier.idle(now):
            return False
        first = self.frontier.first_due()
        return first is None or first[1] > now

    async def close(self) -> None:
        """Store everything and let the directory go."""
        try:
            await self._storing.finish(hurry=True)
        finally:
            self._partition.close()

    def _rests(self, host: Host, slot: int, now: float) -> bool:
        """Whether a page was visited so lately that it waits again: a failure, which whoever fetches tried again."""
        if self._state.record_of(slot) is None:
            return False
        again_at = self._state.visited_at(slot) + self._config.refresh_after_s
        if again_at <= now:
            return False
        self.frontier.give_up(host, slot)
        self.frontier.add_seen(host.number, slot, not_before=again_at, visited_at=self._state.visited_at(slot))
        return True

    def _plan(self, now: float) -> None:
        """Let the policy look at all pages where it wants to, and tell it of the last visits."""
        choosing = self._choosing
        if choosing.lessons is not None and (choosing.planning is not None or choosing.lessons.due(now)):
            choosing.lessons.flush()
        wants = isinstance(self._policy, Learns) and self._policy.wants_rescan(choosing.surroundings(now))
        if choosing.planning is not None and choosing.planning.turn(now, self.frontier.new_count):
            wants = True
        if choosing.aiming.turn(now) or wants:
            self.frontier.planned()
