"""Admission of new URLs: those in the scope and within budgets become known and receive slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.crawl.learn.moved_seeds import MovedSeeds
from evercrawl.model.link_words import LinkWords
from evercrawl.model.stored.remembered import Leads
from evercrawl.parse.urls import hostname
from evercrawl.store.cash.spread import COPIED
from evercrawl.store.journal.events import Discovery
from evercrawl.types import NO_SLOT, Slots

if TYPE_CHECKING:
    from evercrawl.config import Focus
    from evercrawl.model.rules.budgets import Budgets
    from evercrawl.model.rules.scope import Scope
    from evercrawl.model.stored.contents import Content
    from evercrawl.model.stored.reading import Reading
    from evercrawl.model.web.near import NearDuplicates
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.store.state import State

_NONE: Final = np.zeros(0, np.uint32)


class Admission:
    """Decides which URLs become known, and gives slots to them.

    Parameters
    ----------
    state, frontier, scope
        The state, the frontier that counts the pages of hosts, and the rules of the scope.
    budgets
        The maximum number of URLs of a host and of a site.
    near
        Recognises near-duplicates, whose new links count for little.
    admitted
        Called in order with each discovery.
    focus
        The settings of the crawl's focus; their words are searched for near links.
    max_redirects
        Maximum number of redirects followed in a row.
    """

    def __init__(
        self,
        state: State,
        frontier: Frontier,
        scope: Scope,
        budgets: Budgets,
        near: NearDuplicates,
        admitted: Sequence[Callable[[Discovery], None]],
        *,
        focus: Sequence[Focus],
        max_redirects: int,
    ) -> None:
        self._state = state
        self._frontier = frontier
        self._scope = scope
        self._budgets = budgets
        self._near = near
        self._admitted = admitted
        self._words = LinkWords(focus)
        self._max_redirects = max_redirects
        self._moved = MovedSeeds(state.known.columns())

    def leads(self, readings: Sequence[Reading]) -> list[Leads]:
        """Return where each reading leads, and make those of the URLs known that belong to the crawl."""
        urls: list[str] = []
        spans: list[tuple[int, int]] = []
        keys_of_all: list[bytes] = []
        keys_of = self._state.hasher.keys
        for reading in readings:
            start = len(urls)
            page = reading.page
            urls += [reading.redirect] if reading.redirect else page.targets
            keys_of_all.append(keys_of([reading.redirect]).tobytes() if reading.redirect else page.keys)
            if page.canonical:
                urls.append(page.canonical)
                keys_of_all.append(keys_of([page.canonical]).tobytes())
            spans.append((start, len(urls)))
        if not urls:
            return [Leads(_NONE)] * len(readings)
        keys = np.frombuffer(b"".join(keys_of_all), np.uint64)
        slots = self._state.table.find(keys)
        unknown = np.flatnonzero(slots == NO_SLOT)
        result: list[Leads] = []
        refused: dict[int, set[str]] = {}  # URLs out of scope, by depth
        ends: list[int] = np.searchsorted(unknown, [stop for _, stop in spans]).tolist()
        at = 0
        for reading, (start, stop), upto in zip(readings, spans, ends, strict=True):
            own = slots[start:stop]
            if upto == at:
                result.append(Leads(own))
                continue
            mine = unknown[at:upto]
            result.append(self._discover(reading, own, [urls[i] for i in mine.tolist()], refused))
            slots[mine] = self._state.table.find(keys[mine])
            at = upto
        return result

    def _discover(self, reading: Reading, slots: Slots, urls: list[str], refused: dict[int, set[str]]) -> Leads:
        """Return where a reading leads, and admit its unknown `urls`; the caller fills their `slots` in afterwards."""
        before = reading.before
        if reading.redirect:
            hops = int(self._state.known.row(reading.slot)["hops"]) if before.visits else before.hops
            depth, hops = before.depth, hops + 1
            if hops > self._max_redirects:
                return Leads(slots, most_hops=self._max_redirects)
            if depth == 0 and not self._moved.room(reading.slot):
                depth = 1
            if depth == 0:
                self._scope.add_root(hostname(reading.redirect))  # if a seed moved, its new host joins the scope
        else:
            depth, hops = before.depth + 1, 0
        inside = self._budgets.without_results(self.in_scope(urls, depth, refused))
        allowed = self._budgets.within(inside, reading.host.number) if depth else inside
        partial = len(allowed) < len(inside)
        crowded = partial and self._budgets.crowded(reading.host.name, inside, allowed)
        if not allowed:
            return Leads(slots, partial=partial, crowded=crowded)
        thin = COPIED if not reading.redirect and self._near.copied(reading) else 0
        found = self.admit(allowed, reading.slot, depth, hops, reading.exchange.at, thin, reading.content)
        if depth == 0 and found is not None:
            self._moved.add(found.first_slot, reading.slot)
        return Leads(slots, found, partial, crowded=crowded)

    def in_scope(self, urls: list[str], depth: int, refused: dict[int, set[str]]) -> list[str]:
        """Return the URLs in the scope; `refused` collects, by depth, URLs outside it, to judge each only once."""
        allowed: list[str] = []
        added: dict[str, int] = {}
        outside, bars = refused.setdefault(depth, set()), self._scope.bars
        for url in urls:
            if bars(url) or url in outside:
                continue
            host = hostname(url)
            more = added.get(host, 0)
            if self._scope.allows(url, depth, more):
                allowed.append(url)
                added[host] = more + 1
            else:
                outside.add(url)
        return allowed

    def admit(
        self, urls: list[str], source: int, depth: int, hops: int, at: float, thin: int = 0,
        content: Content | None = None,
    ) -> Discovery | None:  # fmt: skip
        """Give slots to those of `urls` that are not yet known and were not forgotten; return them, None for none."""
        if self._state.forgotten:
            forgotten, hasher = self._state.forgotten, self._state.hasher
            urls = [url for url in urls if not forgotten.has_url(hasher, url, hostname(url))]
            if not urls:
                return None
        keys = self._state.hasher.keys(urls)
        first_slot = self._state.table.known
        _, new = self._state.table.intern(keys)
        if not new.all():
            urls = [url for url, is_new in zip(urls, new.tolist(), strict=True) if is_new]
            keys = keys[new]
            if not urls:
                return None
        first_host, new_hosts = len(self._state.hosts), list[str]()
        hosts = [self._state.host_number(hostname(url), new_hosts) for url in urls]
        self._frontier.add_hosts(new_hosts)
        self._frontier.count_pages(hosts)
        if depth == 0:
            self._frontier.note_seeds(hosts)
        said = self._words.marks(content, urls)
        found = Discovery(first_slot, urls, hosts, first_host, new_hosts, source, depth, hops, thin, said)
        self._state.admit(found, at, keys)
        for hear in self._admitted:
            hear(found)
        return found
