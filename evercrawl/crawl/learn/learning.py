"""The learner: archives batches of readings, admits new URLs, writes one event per visit, and calls the listeners."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from evercrawl.arrays.shelf import Shelvable
from evercrawl.config import Config, Focus
from evercrawl.crawl.learn.admission import Admission
from evercrawl.crawl.learn.archiving import archive
from evercrawl.crawl.learn.cash import Cashier
from evercrawl.crawl.learn.changes import Changes
from evercrawl.crawl.learn.doubts import Doubts
from evercrawl.crawl.learn.indexing import Indexing
from evercrawl.crawl.learn.queueing import Queueing
from evercrawl.crawl.learn.retirees import Retirees
from evercrawl.crawl.learn.virtual_turns import VirtualTurns
from evercrawl.crawl.learn.visit_event import VisitEvents
from evercrawl.crawl.probes.probes import Probes
from evercrawl.crawl.probes.random_probes import RandomProbes
from evercrawl.crawl.telling import ProgressTally
from evercrawl.errors import ConfigError
from evercrawl.model.expecting import Expecting
from evercrawl.model.policy.lessons import Lessons
from evercrawl.model.rules.budgets import Budgets
from evercrawl.model.rules.scope import Scope
from evercrawl.model.stored.reading import Reading
from evercrawl.model.stored.remembered import Remembered, VisitListener
from evercrawl.model.web.known_graph import KnownGraph
from evercrawl.model.web.mirrors import Mirrors
from evercrawl.model.web.near import NearDuplicates
from evercrawl.parse.urls import hostname
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.store.cash.spread import ELSEWHERE
from evercrawl.store.journal.events import Discovery, Found, Obeyed
from evercrawl.store.partition import Partition
from evercrawl.store.post.messages import NamedUrl
from evercrawl.types import NO_SLOT, Outcome, Slots

LISTED_DEPTH: Final = 1  # depth of a page listed in a sitemap: as if the front page linked to it


class Learner:
    """Turns batches of readings into visits, and passes each visit to its listeners.

    Parameters
    ----------
    partition, scope
        The crawl directory, and the rules that say which links to follow.
    admission, budgets, retirees
        The admission of new URLs, the budgets of hosts and sites, and the retired pages.
    events, changes
        Makes the event of a visit from a reading; and learns rates of change.
    listeners, found, listed, ended
        Called in order with each visit, with each discovery that no visit made, with the slots that a sitemap lists,
        and with the number of visits in each batch.
    tally
        The listener that counts visits.

    Attributes
    ----------
    tally
        The parameter of this name.
    news
        Number of events with URLs that a listing made known.
    """

    def __init__(
        self,
        partition: Partition,
        scope: Scope,
        admission: Admission,
        budgets: Budgets,
        retirees: Retirees,
        events: VisitEvents,
        changes: Changes,
        *,
        listeners: tuple[VisitListener, ...],
        found: tuple[Callable[[Discovery], None], ...],
        listed: Callable[[Slots], None],
        ended: tuple[Callable[[int], None], ...],
        tally: ProgressTally,
    ) -> None:
        self._partition, self._state, self._scope = partition, partition.state, scope
        self._admission, self._budgets, self._retirees = admission, budgets, retirees
        self._events, self._notices = events, changes.notices
        self._listeners, self._found, self._listed, self._ended = listeners, found, listed, ended
        self.tally, self.news = tally, 0

    def shelvables(self) -> list[Shelvable]:
        """Return the tables by page: similarity hashes of contents, and marks of retired pages."""
        return [self._retirees, *(each for each in self._listeners if isinstance(each, NearDuplicates))]

    def nbytes(self) -> dict[str, int]:
        """Return the memory in use, in bytes, of `budgets`, `retirees` and `near` (similarity hashes of contents)."""
        near = sum(each.nbytes for each in self._listeners if isinstance(each, NearDuplicates))
        return {"budgets": self._budgets.nbytes, "retirees": self._retirees.nbytes, "near": near}

    def queued(self, slots: Slots) -> None:
        """Record that pages are queued, even if they were retired."""
        self._retirees.queued(slots)

    def seed(self, urls: Sequence[str], at: float) -> int:
        """Make seeds known and queue them; return how many are new.

        Raises
        ------
        ConfigError
            A seed was forgotten, or has the key of another URL.
        """
        found = self.named_by_people(urls, at)
        if found is not None:
            self.named(Found(at, found))
        for i in np.flatnonzero(self._state.find(list(urls)) == NO_SLOT).tolist():
            raise ConfigError(f"{urls[i]} has the 64-bit key of another URL; crawl it in another directory")
        return len(found.urls) if found is not None else 0

    def named_by_people(self, urls: Sequence[str], at: float) -> Discovery | None:
        """Give slots to new URLs that a person named; the caller writes the result to the journal with `named`."""
        state = self._state
        fresh = list(dict.fromkeys(urls))
        for url in fresh:
            if state.forgotten.has_url(state.hasher, url, hostname(url)):
                raise ConfigError(f"{url} was forgotten and is never requested again; leave it out")
            self._scope.add_root(hostname(url))
        unknown = self._state.table.find(self._state.hasher.keys(fresh)) == NO_SLOT
        new = [url for url, is_new in zip(fresh, unknown.tolist(), strict=True) if is_new]
        return self._admission.admit(new, NO_SLOT, 0, 0, at) if new else None

    def admit_listing(self, urls: Sequence[str], dates: Sequence[float | None], at: float) -> bool:
        """Make known the URLs of a sitemap or feed, and note the changes of known pages that it announces.

        Return whether the budgets had room for all of its URLs.
        """
        slots = self._state.table.find(self._state.hasher.keys(urls))
        self._listed(slots)
        unknown = [url for url, slot in zip(urls, slots.tolist(), strict=True) if slot == NO_SLOT]
        inside = self._admission.in_scope(unknown, LISTED_DEPTH, {})
        new = self._budgets.within(inside)
        found = self._admission.admit(new, NO_SLOT, LISTED_DEPTH, 0, at) if new else None
        if found is not None:
            self.named(Found(at, found))
            self.news += 1
        said = [(slot, date) for slot, date in zip(slots.tolist(), dates, strict=True) if slot != NO_SLOT and date]
        later = [(slot, date) for slot, date in said if date > self._seen_at(slot)]
        self._notices.listed([slot for slot, _ in later], [date for _, date in later])
        for slot, date in said:
            self._retirees.announced(slot, date)
        return len(new) == len(inside)

    def admit_named(self, urls: Sequence[NamedUrl], at: float) -> None:
        """Make known URLs that another partition found, within the scope and the budgets."""
        together = dict[tuple[int, int], list[str]]()
        for one in urls:
            together.setdefault((one.depth, one.hops), []).append(one.url)
            if one.depth == 0:
                self._scope.add_root(hostname(one.url))
        for (depth, hops), found in together.items():
            slots = self._state.table.find(self._state.hasher.keys(found))
            new = [url for url, slot in zip(found, slots.tolist(), strict=True) if slot == NO_SLOT]
            if depth:
                inside = self._budgets.without_results(self._admission.in_scope(new, depth, {}))
                new = self._budgets.within(inside, elsewhere=True)
            discovery = self._admission.admit(new, NO_SLOT, depth, hops, at, ELSEWHERE if depth else 0) if new else None
            if discovery is not None:
                self.named(Found(at, discovery))

    def admit_links(self, urls: Sequence[str], depth: int, at: float) -> None:
        """Make known URLs that a fetching program followed, at `depth` links from a seed."""
        found = self._admission.admit(list(urls), NO_SLOT, depth, 0, at)
        if found is not None:
            self.named(Found(at, found))

    def named(self, event: Found | Obeyed) -> None:
        """Remember an event other than a visit, and queue the URLs that it made known."""
        self._partition.remember(event)
        if event.found is not None:
            for hear in self._found:
                hear(event.found)

    def _seen_at(self, slot: int) -> float:
        """Return when the content of a page was last seen, or the page was found gone since.

        Infinity if the content was never seen, so that no announcement counts as later.
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
            The archive has no room; nothing of the batch was learned, and the same call can be repeated.
        """
        pointers = archive(self._partition, readings)
        for reading in readings:
            self._budgets.linked(reading.host.number, reading.page.targets)
            if reading.content is not None and reading.content.forms:
                self._budgets.searched(reading.host.number, reading.content.forms)
        for reading, pointer, leads in zip(readings, pointers, self._admission.leads(readings), strict=True):
            self._remember(self._events.of(reading, pointer, leads))
        for ended in self._ended:
            ended(len(readings))

    def remember(self, visit: Remembered) -> None:
        """Remember and queue one visit whose event exists already: an imported visit without its answer."""
        self._remember(visit)
        for ended in self._ended:
            ended(1)

    def _remember(self, visit: Remembered) -> None:
        self._partition.remember(visit.event, visit.reading.before.held)
        for listener in self._listeners:
            listener.learned(visit)


def learner_of(
    partition: Partition,
    frontier: Frontier,
    scope: Scope,
    cashier: Cashier,
    changes: Changes,
    *,
    budgets: Budgets | None = None,
    known: KnownGraph | None = None,
    expecting: Expecting | None = None,
    mirrors: Mirrors | None = None,
    lessons: Lessons | None = None,
    probes: Probes | None = None,
    indexing: Indexing | None = None,
    random_probes: RandomProbes | None = None,
    heard: VisitListener | None = None,
    checks: VisitListener | None = None,
    crowded_pages: VisitListener | None = None,
    weighing: VisitListener | None = None,
    requisites: VisitListener | None = None,
    costs: VisitListener | None = None,
    virtual_turns: VirtualTurns | None = None,
    focus: Sequence[Focus] = (),
    max_redirects: int,
    refresh_after_s: float,
) -> Learner:
    """Assemble a learner with its listeners, in the order in which they are called.

    The first listeners are those that affect later visits of the same batch: the index of near-duplicates, budgets and
    mirrors. Then come those that policies query: links and lessons. Probes and the search index only record the visit.
    Queues come when everything that determines the value of a page is up to date. Counters of visits come last.

    Parameters
    ----------
    partition, frontier, scope
        The crawl directory, the queues in which pages wait, and the rules that say which links to follow.
    cashier, changes
        Compute the cash that a visit moves, and what the visit teaches about change.
    budgets
        The maximum number of URLs of a host and of a site; the defaults if None.
    known, expecting, mirrors, lessons, probes, indexing, random_probes, checks, crowded_pages
        Optional listeners: the graph of links for policies; expectations about unread pages; the comparison of hosts;
        lessons for policies; the probes for soft 404s; the search index; the random probes; the checks that orders
        requested; and the pages with links that found no room.
    weighing
        The weight of the crawl, if it is learned from visits.
    requisites
        Records the requisites of pages; its own events follow the event of the visit.
    costs
        Counts what the visit cost.
    heard
        A further listener.
    virtual_turns
        Spends the cash of the virtual page, if that page has turns of its own.
    focus
        The settings of the crawl's focus; their words are searched for near links.
    max_redirects
        Maximum number of redirects followed in a row.
    refresh_after_s
        Minimum time between two visits of a page; a page that is gone waits for multiples of it.
    """
    state = partition.state
    near, budgets, tally = NearDuplicates(partition), budgets or Budgets(state, Config()), ProgressTally()
    retirees = Retirees(state, frontier, refresh_after_s)
    doubts = Doubts(state, frontier, budgets.others)
    queueing = Queueing(frontier, retirees, refresh_after_s, state.post, doubts=doubts)
    listeners = (
        near, budgets, mirrors, known, weighing, lessons, expecting, probes, indexing, queueing, doubts, random_probes,
        checks, crowded_pages, tally, heard, requisites, costs,
    )  # fmt: skip

    def release(_: int) -> None:
        for number, freed in mirrors.released() if mirrors is not None else ():
            if state.post is None or state.post.owns(number):
                frontier.add_new(number, freed)

    admitted = tuple(each.admitted for each in (budgets, mirrors, expecting) if each is not None)
    admission = Admission(state, frontier, scope, budgets, near, admitted, focus=focus, max_redirects=max_redirects)
    words = known is not None and known.words
    return Learner(
        partition,
        scope,
        admission,
        budgets,
        retirees,
        VisitEvents(state, cashier, changes, near, words=words),
        changes,
        listeners=tuple(each for each in listeners if each is not None),
        found=tuple(each.found for each in (known, virtual_turns, queueing) if each is not None),
        listed=doubts.listed,
        ended=(release, *((virtual_turns.turn,) if virtual_turns is not None else ()), cashier.audit),
        tally=tally,
    )
