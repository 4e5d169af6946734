"""From readings to memory, one batch at a time: archive, new URLs, an event a visit, and whoever is told of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evercrawl.config import Config
from evercrawl.crawl.backoff import in_trouble
from evercrawl.crawl.learn.admission import Admission
from evercrawl.crawl.learn.archiving import archive
from evercrawl.crawl.learn.retirees import Retirees
from evercrawl.crawl.learn.visit_event import VisitEvents
from evercrawl.model.rules.budgets import Budgets
from evercrawl.model.rules.waits import wait_s
from evercrawl.model.web.near import NearDuplicates
from evercrawl.parse.digest import keys as keys_of
from evercrawl.parse.urls import hostname
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, KEEP, UNCHANGED, Found, Visit
from evercrawl.store.state import RETRIES
from evercrawl.types import NO_SLOT, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.config import Focus
    from evercrawl.crawl.learn.cash import Cashier
    from evercrawl.crawl.learn.changes import Changes
    from evercrawl.crawl.learn.indexing import Indexing
    from evercrawl.crawl.probes.probes import Probes
    from evercrawl.model.policy.lessons import Lessons
    from evercrawl.model.rules.scope import Scope
    from evercrawl.model.stored.reading import Reading
    from evercrawl.model.web.known_graph import KnownGraph
    from evercrawl.model.web.mirrors import Mirrors
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.store.partition import Partition
    from evercrawl.types import Slots

LISTED_DEPTH: Final = 1  # of a page that a sitemap lists: as if the front page linked to it


class Learner:
    """Takes in batches of readings.

    Parameters
    ----------
    partition, frontier, scope
        What is written to, queued in, and asked which links to follow.
    cashier, changes
        What a visit does to the cash, and what it teaches about change.
    indexing
        What is told of each visit, so that it can be searched for.
    budgets
        How many URLs of a host and of a site are taken in; the usual where none are given.
    known
        What is told of all links and pages, where the policy needs to know.
    mirrors
        What compares hosts by what is read on them; none are compared where it is not given.
    lessons
        Tells the policy of visits, where it learns from them.
    focus
        What the crawl is asked to focus on: words of it are looked for near links.
    max_redirects
        Redirects followed one after another.
    refresh_after_s
        Least time between two visits of a page; one that is gone waits for multiples of it.

    Attributes
    ----------
    visits, outcomes, errors
        Visits remembered in this run, refusals among them; by outcome; and by class of failure.
    changed, bytes_in
        Visits that brought new content to a known page, and bytes of bodies as on the wire.
    news
        Events that are no visits: lists of URLs that somebody made known.
    """

    def __init__(
        self,
        partition: Partition,
        frontier: Frontier,
        scope: Scope,
        cashier: Cashier,
        changes: Changes,
        indexing: Indexing | None = None,
        budgets: Budgets | None = None,
        known: KnownGraph | None = None,
        mirrors: Mirrors | None = None,
        lessons: Lessons | None = None,
        *,
        focus: Sequence[Focus] = (),
        max_redirects: int,
        refresh_after_s: float,
    ) -> None:
        self._partition = partition
        self._state = partition.state
        self._frontier = frontier
        self._scope = scope
        self._cashier = cashier
        self._changes = changes
        self._near = NearDuplicates(partition)
        self._budgets = budgets or Budgets(self._state, Config())
        self._known = known
        self._mirrors = mirrors
        self._lessons = lessons
        self._indexing = indexing
        self._probes: Probes | None = None
        self._refresh_after_s = refresh_after_s
        self._admission = Admission(
            self._state,
            frontier,
            scope,
            self._budgets,
            self._near,
            mirrors,
            focus=focus,
            max_redirects=max_redirects,
        )
        self._events = VisitEvents(self._state, cashier, changes, self._near, known)
        self._retirees = Retirees(self._state, frontier, refresh_after_s)
        self.visits = 0
        self.outcomes: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.changed = 0
        self.bytes_in = 0
        self.news = 0

    def watch(self, probes: Probes) -> None:
        """Tell `probes` of pages that bring their hosts under suspicion of soft 404s."""
        self._probes = probes

    def queued(self, slots: Slots) -> None:
        """Take note of pages that wait to be asked for, whatever they were found to be."""
        self._retirees.queued(slots)

    def seed(self, urls: Sequence[str], at: float) -> int:
        """Make seeds known and queue them; return how many are new."""
        fresh = list(dict.fromkeys(urls))
        for url in fresh:
            self._scope.add_root(hostname(url))
        keys = keys_of(fresh)
        unknown = self._state.table.find(keys) == NO_SLOT
        new = [url for url, is_new in zip(fresh, unknown.tolist(), strict=True) if is_new]
        if new:
            found = self._admission.admit(new, NO_SLOT, 0, 0, at)
            assert found is not None, "what the table does not know is new"
            self._named(Found(at, found))
        return len(new)

    def listed(self, urls: Sequence[str], dates: Sequence[float | None], at: float) -> bool:
        """Make known what a sitemap or feed lists, and remember which known pages it says have changed.

        Return whether there was budget for all of it.
        """
        slots = self._state.table.find(keys_of(list(urls)))
        unknown = [url for url, slot in zip(urls, slots.tolist(), strict=True) if slot == NO_SLOT]
        inside = self._admission.in_scope(unknown, LISTED_DEPTH, {})
        new = self._budgets.within(inside)
        found = self._admission.admit(new, NO_SLOT, LISTED_DEPTH, 0, at) if new else None
        if found is not None:
            self._named(Found(at, found))
            self.news += 1
        said = [(slot, date) for slot, date in zip(slots.tolist(), dates, strict=True) if slot != NO_SLOT and date]
        later = [(slot, date) for slot, date in said if date > self._seen_at(slot)]
        self._changes.notices.listed([slot for slot, _ in later], [date for _, date in later])
        for slot, date in said:
            self._retirees.announced(slot, date)
        return len(new) == len(inside)

    def _named(self, event: Found) -> None:
        """Remember and queue URLs that no page led to."""
        self._partition.remember(event)
        if self._known is not None:
            self._known.found(event.found)
        self._admission.queue(event.found)

    def _seen_at(self, slot: int) -> float:
        """Return when the content of a page was last seen, or the page found gone since.

        Infinity where the content never was, so that nothing is news.
        """
        index = self._state.record_of(slot)
        row = self._state.records.rows[index] if index is not None else None
        if row is None or not row["seen"]:
            return float("inf")
        return self._state.instant(int(row["visited" if row["outcome"] == Outcome.GONE else "seen"]))

    def learn(self, readings: Sequence[Reading]) -> None:
        """Archive, remember and queue a batch.

        Raises
        ------
        NoRoomError
            The archive has no room; nothing of the batch was taken in, and the same call can be made again.
        """
        pointers = archive(self._partition, readings)
        for reading in readings:
            self._budgets.linked(reading.host.number, reading.page.targets)
            if reading.content is not None and reading.content.forms:
                self._budgets.searched(reading.host.number, reading.content.forms)
        for reading, pointer, leads in zip(readings, pointers, self._admission.leads(readings), strict=True):
            event, slots, found = self._events.of(reading, pointer, leads), leads.slots, leads.found
            self._partition.remember(event, reading.before.held)
            self._near.learned(event)
            self._budgets.learned(event, reading.before)
            if self._mirrors is not None:
                self._mirrors.learned(event, reading.exchange.request.url)
            if self._known is not None:
                self._known.learned(event, reading.before.held)
            if self._lessons is not None:
                self._lessons.learned(event)
            self._suspect(reading, event)
            if self._indexing is not None:
                self._indexing.learned(reading, event, slots)
            if found is not None:
                self._admission.queue(found)
            if event.flags & HAS_LINKS and not event.flags & UNCHANGED:
                self._retirees.linked(slots, reading.before.held.targets if reading.before.held is not None else b"")
            self._requeue(reading, event)
            self._count(event)
        for number, freed in self._mirrors.released() if self._mirrors is not None else ():
            self._frontier.add_new(number, freed)
        self._cashier.audit(len(readings))

    def _suspect(self, reading: Reading, event: Visit) -> None:
        """Tell whoever wants to know of pages that look the same as others of their host, or lead elsewhere."""
        if self._probes is None:
            return
        if event.outcome == Outcome.REDIRECT and event.visits == 1:
            self._probes.leads(reading, event.at)
        elif event.flags & KEEP:
            return
        elif event.outcome == Outcome.DUPLICATE and event.alias != NO_SLOT:
            index = self._state.record_of(event.alias)
            if index is not None and self._state.records.rows["host"][index] == event.host:
                self._probes.looks_alike(reading, event.at)
        elif event.outcome == Outcome.OK and self._near.beside:
            self._probes.looks_alike(reading, event.at)

    def _requeue(self, reading: Reading, event: Visit) -> None:
        trouble = event.outcome == Outcome.ERROR and in_trouble(reading.exchange)
        if trouble and event.visits <= RETRIES:
            self._frontier.add_new(reading.host.number, (reading.slot,))
        elif event.outcome != Outcome.GONE or not self._retirees.visited(reading.slot):
            number, slot = reading.host.number, reading.slot
            until = event.at + float(wait_s(event.misses, self._refresh_after_s)) if event.misses else 0.0
            self._frontier.add_seen(number, slot, not_before=until, visited_at=event.at)

    def _count(self, event: Visit) -> None:
        self.visits += 1
        self.outcomes[Outcome(event.outcome).label] += 1
        if event.error:
            self.errors[event.error.partition(":")[0]] += 1
        self.changed += 1 if event.flags & CHANGED else 0
        self.bytes_in += event.wire_bytes
