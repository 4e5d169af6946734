"""From readings to memory: archive, slots for new URLs, journal events, and the queues. One batch at a time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.config import Config
from evercrawl.crawl.archiving import archive
from evercrawl.crawl.budgets import Budgets
from evercrawl.crawl.link_bytes import link_bytes
from evercrawl.crawl.link_words import LinkWords
from evercrawl.crawl.near import NearDuplicates
from evercrawl.crawl.outlinks import Outlinks, outlinks
from evercrawl.crawl.reading import PERMANENT, Reading
from evercrawl.crawl.retirees import Retirees
from evercrawl.crawl.waits import wait_s
from evercrawl.parse.digest import keys as keys_of
from evercrawl.parse.urls import hostname
from evercrawl.store.events import CHANGED, HAS_LINKS, KEEP, NEAR, PARTIAL, UNCHANGED, Discovery, Found, Visit
from evercrawl.store.said import pack as pack_said
from evercrawl.store.spread import COPIED
from evercrawl.store.state import RETRIES
from evercrawl.types import NO_SLOT, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.config import Focus
    from evercrawl.crawl.cash import Cashier
    from evercrawl.crawl.changes import Changes
    from evercrawl.crawl.contents import Content
    from evercrawl.crawl.indexing import Indexing
    from evercrawl.crawl.known_graph import KnownGraph
    from evercrawl.crawl.lessons import Lessons
    from evercrawl.crawl.mirrors import Mirrors
    from evercrawl.crawl.probes import Probes
    from evercrawl.crawl.scope import Scope
    from evercrawl.schedule.frontier import Frontier
    from evercrawl.store.archive import Pointer
    from evercrawl.store.partition import Partition
    from evercrawl.types import Slots


LISTED_DEPTH: Final = 1  # of a page that a sitemap lists: as if the front page linked to it
MOST_ALIASES: Final = 50  # in a row; a longer chain counts as a ring


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
        self._words = LinkWords(focus)
        self._budgets = budgets or Budgets(self._state, Config())
        self._known = known
        self._mirrors = mirrors
        self._lessons = lessons
        self._indexing = indexing
        self._probes: Probes | None = None
        self._max_redirects = max_redirects
        self._refresh_after_s = refresh_after_s
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
            found = self._admit(new, NO_SLOT, 0, 0, at)
            assert found is not None, "what the table does not know is new"
            self._named(Found(at, found))
        return len(new)

    def listed(self, urls: Sequence[str], dates: Sequence[float | None], at: float) -> bool:
        """Make known what a sitemap or feed lists, and remember which known pages it says have changed.

        Return whether there was budget for all of it.
        """
        slots = self._state.table.find(keys_of(list(urls)))
        unknown = [url for url, slot in zip(urls, slots.tolist(), strict=True) if slot == NO_SLOT]
        inside = self._in_scope(unknown, LISTED_DEPTH, {})
        new = self._budgets.within(inside)
        found = self._admit(new, NO_SLOT, LISTED_DEPTH, 0, at) if new else None
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
        self._queue(event.found)

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
            self._budgets.linked(reading.host.number, reading.targets)
            if reading.content is not None and reading.content.forms:
                self._budgets.searched(reading.host.number, reading.content.forms)
        targets = self._targets(readings)
        for reading, pointer, (slots, found) in zip(readings, pointers, targets, strict=True):
            event = self._event(reading, pointer, slots, found)
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
                self._queue(found)
            if event.flags & HAS_LINKS and not event.flags & UNCHANGED:
                self._retirees.linked(slots, reading.before.held.targets if reading.before.held is not None else b"")
            self._requeue(reading, event)
            self._count(reading, event)
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

    def _targets(self, readings: Sequence[Reading]) -> list[tuple[Slots, Discovery | None]]:
        """Return, for each reading, the slots of where it leads, NO_SLOT for what is out of scope, and what is new.

        Where it leads is its redirect, or its followed links and then its canonical URL, if that is another.
        """
        urls: list[str] = []
        spans: list[tuple[int, int]] = []
        keys_of_all: list[bytes] = []
        for reading in readings:
            start = len(urls)
            leads = [reading.redirect] if reading.redirect else reading.targets
            keys_of_all.append(reading.keys if leads is reading.targets and reading.keys else keys_of(leads).tobytes())
            urls += leads
            if reading.canonical:
                urls.append(reading.canonical)
                keys_of_all.append(keys_of([reading.canonical]).tobytes())
            spans.append((start, len(urls)))
        if not urls:
            return [(_NONE, None)] * len(readings)
        keys = np.frombuffer(b"".join(keys_of_all), np.uint64)
        slots = self._state.table.find(keys)
        unknown = np.flatnonzero(slots == NO_SLOT)
        result: list[tuple[Slots, Discovery | None]] = []
        refused: dict[int, set[str]] = {}  # by depth
        ends: list[int] = np.searchsorted(unknown, [stop for _, stop in spans]).tolist()
        at = 0
        for reading, (start, stop), upto in zip(readings, spans, ends, strict=True):
            found = None
            if upto > at:
                mine = unknown[at:upto]
                found = self._discover(reading, [urls[i] for i in mine.tolist()], refused)
                slots[mine] = self._state.table.find(keys[mine])
                at = upto
            result.append((slots[start:stop], found))
        return result

    def _discover(self, reading: Reading, urls: list[str], refused: dict[int, set[str]]) -> Discovery | None:
        before = reading.before
        if reading.redirect:
            hops = int(self._state.known.row(reading.slot)["hops"]) if before.visits else before.hops
            depth, hops = before.depth, hops + 1
            if hops > self._max_redirects:
                reading.outcome, reading.error = Outcome.ERROR, f"redirect: more than {self._max_redirects} in a row"
                reading.flags &= ~HAS_LINKS
                return None
            if depth == 0:
                self._scope.add_root(hostname(reading.redirect))  # a seed that moved takes its scope along
        else:
            depth, hops = before.depth + 1, 0
        inside = self._budgets.without_results(self._in_scope(urls, depth, refused))
        allowed = self._budgets.within(inside, reading.host.number) if depth else inside
        reading.flags |= PARTIAL if len(allowed) < len(inside) else 0
        if not allowed:
            return None
        thin = COPIED if not reading.redirect and self._near.original(reading, NO_SLOT) != NO_SLOT else 0
        return self._admit(allowed, reading.slot, depth, hops, reading.exchange.at, thin, reading.content)

    def _in_scope(self, urls: list[str], depth: int, refused: dict[int, set[str]]) -> list[str]:
        """Return those that belong to the crawl; `refused` are others of its hosts, which are not asked about again."""
        allowed: list[str] = []
        added: dict[str, int] = {}
        outside, holds = refused.setdefault(depth, set()), self._scope.holds
        for url in urls:
            host = hostname(url)
            if not holds(host) or url in outside:
                continue
            more = added.get(host, 0)
            if self._scope.allows(url, depth, more):
                allowed.append(url)
                added[host] = more + 1
            else:
                outside.add(url)
        return allowed

    def _admit(
        self, urls: list[str], source: int, depth: int, hops: int, at: float, thin: int = 0,
        content: Content | None = None,
    ) -> Discovery | None:  # fmt: skip
        """Give slots to those of `urls` that are not known yet."""
        keys = keys_of(urls)
        first_slot = self._state.table.known
        _, new = self._state.table.intern(keys)
        if not new.all():
            urls = [url for url, is_new in zip(urls, new.tolist(), strict=True) if is_new]
            keys = keys[new]
            if not urls:
                return None
        first_host, new_hosts = len(self._state.hosts), list[str]()
        hosts = [self._state.host_number(hostname(url), new_hosts) for url in urls]
        for name in new_hosts:
            self._frontier.add_host(name)
        for number in hosts:
            self._frontier.hosts[number].pages += 1
        said = self._words.marks(content, urls)
        found = Discovery(first_slot, urls, hosts, first_host, new_hosts, source, depth, hops, thin, said)
        self._state.admit(found, at, keys)
        self._budgets.admitted(found)
        if self._mirrors is not None:
            self._mirrors.admitted(found)
        return found

    def _event(self, reading: Reading, pointer: Pointer | None, slots: Slots, found: Discovery | None) -> Visit:
        exchange, before, old = reading.exchange, reading.before, reading.before.held
        self._find_original(reading)
        flags, title, mime, language = reading.flags, reading.title, reading.mime, reading.language
        etag, last_modified = reading.etag, reading.last_modified
        alias, links, content = self._alias(reading, slots), self._links(reading, slots), 0
        near = self._near.original(reading, alias)
        if flags & KEEP and old is not None:
            if exchange.status == 304:
                etag, last_modified = old.etag, old.last_modified
            if (old.etag, old.last_modified, old.alias, old.near) != (etag, last_modified, alias, near):
                flags = flags & ~KEEP | HAS_LINKS  # the same content under new validators: they are what to ask with
                links, title, mime = Outlinks(old.targets, old.external, old.out), old.title, old.mime
                language, content = old.language, old.content or before.event
        elif flags & UNCHANGED and old is not None:  # read anew for the sake of its links
            content = old.content or before.event
        own = flags & HAS_LINKS
        flags |= NEAR if near != NO_SLOT else 0
        settled = self._cashier.settle(reading, flags, alias, links)
        change = self._changes.learn(reading, flags)
        return Visit(
            slot=reading.slot,
            host=reading.host.number,
            at=exchange.at,
            outcome=reading.outcome,
            status=exchange.status,
            flags=flags | settled.flags | change.flags,
            visits=before.visits + 1,
            changes=before.changes + (1 if flags & CHANGED else 0),
            interval_s=exchange.at - before.visited_at if before.visited_at is not None else 0.0,
            fetch_s=round(exchange.elapsed_s, 6),
            size_bytes=reading.size_bytes,
            wire_bytes=len(exchange.wire),
            digest=reading.digest if own else reading.digest or before.digest,
            simhash=reading.simhash,
            alias=alias if own else NO_SLOT,
            archive=pointer,
            retry_at=reading.host.away_until if reading.host.away_until > exchange.at else 0.0,
            changed_at=change.changed_at,
            targets=links.targets if own else b"",
            etag=etag if own else "",
            last_modified=last_modified if own else "",
            mime=mime,
            title=title,
            language=language,
            error=reading.error,
            found=found,
            content=content,
            links=settled.links,
            out=links.out if own else 0,
            external=links.external if own else b"",
            transfer=settled.transfer,
            evidence=change.evidence,
            misses=_misses(reading),
            words=reading.words,
            near=near,
            kept=settled.kept,
            joined=settled.joined,
            said=pack_said(reading.said, change.fresh),
            heard=change.heard,
            anchors=self._anchors(reading, slots, links) if own else b"",
            text=_text(reading) if own else None,
        )

    def _anchors(self, reading: Reading, slots: Slots, links: Outlinks) -> bytes:
        """Return how many bytes of words there are in the links to each target, where somebody asks."""
        if self._known is None or not self._known.words:
            return b""
        old = reading.before.held
        if reading.flags & KEEP and old is not None:
            return old.anchors
        return b"" if reading.content is None else link_bytes(reading.content, slots, links.targets)

    def _alias(self, reading: Reading, slots: Slots) -> int:
        """Return the slot of the page that this one only leads to: a redirect's target, its original, its canonical."""
        alias = NO_SLOT
        if reading.outcome == Outcome.DUPLICATE:
            alias = self._state.original(reading.digest)
        elif reading.outcome == Outcome.REDIRECT and reading.exchange.status in PERMANENT:
            alias = int(slots[0])
        elif reading.flags & KEEP and reading.before.held is not None:
            held = reading.before.held
            alias = held.alias if held.outcome != Outcome.DUPLICATE else NO_SLOT
        elif reading.canonical:
            alias = int(slots[-1])
        return alias if alias != NO_SLOT and not self._leads_back(alias, reading.slot) else NO_SLOT

    def _leads_back(self, alias: int, slot: int) -> bool:
        """Whether an alias would close a ring, in which cash would go round for ever untaxed."""
        for _ in range(MOST_ALIASES):
            if alias in (slot, NO_SLOT):
                return alias == slot
            index = self._state.record_of(alias)
            index = self._state.lost.get(alias) if index is None else index
            if index is None:
                return False
            alias = int(self._state.records.rows["alias"][index])
        return True

    def _links(self, reading: Reading, slots: Slots) -> Outlinks:
        """Return the links of what was read; a canonical URL is none."""
        targets, away = reading.targets, reading.away
        if reading.redirect:
            targets, away = [reading.redirect], None
        slots, withheld = slots[: len(targets)], reading.withheld
        if reading.unpaid:  # they are followed, and get nothing
            paid = [i for i, target in enumerate(targets) if target not in reading.unpaid]
            withheld += len(targets) - len(paid)
            targets, slots, away = [targets[i] for i in paid], slots[paid], None
        links = outlinks(reading.exchange.request.url, reading.slot, targets, slots, withheld, away)
        return links._replace(external=_ONE) if reading.redirect and links.targets else links  # no menu of its site

    def _find_original(self, reading: Reading) -> None:
        """Tell originals from copies anew, unless the page was an original and has not changed."""
        if reading.outcome not in (Outcome.OK, Outcome.DUPLICATE) or not reading.digest:
            return
        if not (reading.flags & UNCHANGED and reading.before.outcome == Outcome.OK):
            original = self._state.original(reading.digest)
            chance = original in (NO_SLOT, reading.slot)
            chance = chance or self._near.by_chance(original, reading.host.number, reading.size_bytes)
            reading.outcome = Outcome.OK if chance else Outcome.DUPLICATE

    def _queue(self, found: Discovery) -> None:
        self._frontier.add_found(found.hosts, found.first_slot)

    def _requeue(self, reading: Reading, event: Visit) -> None:
        if reading.trouble and event.visits <= RETRIES:
            self._frontier.add_new(reading.host.number, (reading.slot,))
        elif event.outcome != Outcome.GONE or not self._retirees.visited(reading.slot):
            number, slot = reading.host.number, reading.slot
            until = event.at + float(wait_s(event.misses, self._refresh_after_s)) if event.misses else 0.0
            self._frontier.add_seen(number, slot, not_before=until, visited_at=event.at)

    def _count(self, reading: Reading, event: Visit) -> None:
        self.visits += 1
        self.outcomes[reading.outcome.label] += 1
        if reading.error:
            self.errors[reading.error.partition(":")[0]] += 1
        self.changed += 1 if event.flags & CHANGED else 0
        self.bytes_in += event.wire_bytes


def _text(reading: Reading) -> tuple[int, int] | None:
    """Return how many bytes of text the content has, and of them in the index: none where a page only leads on."""
    old, content = reading.before.held, reading.content
    if reading.flags & KEEP and old is not None:
        return old.text
    return (0, 0) if content is None else (content.text_bytes, content.index_bytes)


def _misses(reading: Reading) -> int:
    """Return how many visits in a row found the page gone or in trouble."""
    if reading.outcome == Outcome.REFUSED:
        return reading.before.misses
    return reading.before.misses + 1 if reading.outcome in (Outcome.GONE, Outcome.ERROR) else 0


_NONE = np.zeros(0, np.uint32)
_ONE = b"\1"  # a bit for the only link
