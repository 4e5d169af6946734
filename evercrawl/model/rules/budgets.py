"""How many URLs of a host and of a site are taken in, so that endless ones cost neither memory nor queue.

Three budgets, judged after scope and before a URL becomes known:

* a **site that no seed is on** may have `max_pages_per_link` pages, and as many again for each other site that links to
  it: a name that nobody speaks of has little to say, and to make a site of its own speak for it costs a spammer a
  domain. It is counted by site, because names below a domain cost nothing. How many link is an estimate.
* on **every host** no more than `max_backlog_per_host` URLs wait to be read for the first time, or `PER_OWN` for each
  page that was read and has content of its own: a host earns a longer queue by what it has shown.
  Few of them may be URLs that only pages of other sites name, on few ports (`named_by_others`);
* of the results of a **site's own search form** no more than `max_search_results` are taken in (`search_results`).

What is refused is not remembered, but that something was: a page whose links did not all get in is read anew at its
next visit, though it may not have changed, and what it links to may come in then; results of a search are not worth it.
If its own host had no room, that visit comes as soon as there is some (`crawl.learn.crowded_pages`).

References
----------
Lee, Leonard, Wang, Loguinov (2008). IRLbot: Scaling to 6 Billion Pages and Beyond, section 6: budgets by the number of
domains that link to one (BEAST).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from evercrawl.arrays.reserved import reserve
from evercrawl.config import Config
from evercrawl.model.rules.linking_sites import LinkingSites
from evercrawl.model.rules.named_by_others import MOST_PORTS, OTHERS_PORTS, NamedByOthers
from evercrawl.model.rules.search_results import SearchResults
from evercrawl.model.stored.remembered import Remembered
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname, port_of
from evercrawl.store.journal.events import MEMBER, Discovery
from evercrawl.store.records.records import MEMBER as RECORDED_MEMBER
from evercrawl.store.state import State
from evercrawl.store.table.known import KnownColumns
from evercrawl.types import NO_SLOT, Slots

PER_OWN: Final = 100
"""URLs that may wait on a host for each page of its own."""
REFUSED: Final = "refused_"
"""Begins the names of the state's notes on how many links were refused, in all runs, for want of each budget."""
_PIECE: Final = 1 << 16  # rows that are looked at together at a start


class Budgets:
    """Counts what hosts and sites have, and says what more they may have.

    Parameters
    ----------
    state
        What is known already is counted.
    config
        `scope`, `max_pages_per_link`, `max_backlog_per_host` and `max_search_results`. Only with scope "any" are there
        sites without a seed.

    Attributes
    ----------
    backlog
        `max_backlog_per_host`; 0 where there is none.
    others
        Counts the URLs that only pages of other sites name.
    refused
        Links refused in this run, by the name of the setting.
    """

    def __init__(self, state: State, config: Config) -> None:
        self._state = state
        self._per_link = config.max_pages_per_link if config.scope == "any" else 0
        self.backlog = config.max_backlog_per_host
        self._unread: Slots = reserve(np.uint32, 1 << 27)  # by host
        self._own: Slots = reserve(np.uint32, 1 << 27)
        self._pages: Slots = reserve(np.uint32, 1 << 27)  # by site
        self._linking = LinkingSites()
        self._seeded: set[int] = set()
        self.refused: Counter[str] = Counter()
        self._results = SearchResults(state, config.max_search_results)
        self.others = NamedByOthers(state, self.backlog)
        self._count()

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        count = len(self._state.sites)
        sites = count * self._pages.itemsize + self._linking.nbytes(count) if self._per_link else 0
        return len(self._state.hosts) * (self._unread.itemsize + self._own.itemsize) + sites + self.others.nbytes

    def _count(self) -> None:
        """Count what is known. Of links to what was known already, those read in this run count alone."""
        state = self._state
        hosts, sites = len(state.hosts), len(state.sites)
        known = state.known.pages_of_hosts(hosts)
        self._unread[:hosts] = known
        if self._per_link:
            self._count_links(state.known.columns())
            pages = np.bincount(state.site_of[:hosts], weights=known, minlength=sites)
            self._pages[:sites] = pages.astype(np.uint32)
        rows = state.records.rows[: state.records.count]
        rows = rows[rows["outcome"] != 0]
        self._unread[:hosts] -= np.bincount(rows["host"], minlength=hosts).astype(np.uint32)
        own = rows["host"][(rows["flags"] & RECORDED_MEMBER) != 0]
        self._own[:hosts] += np.bincount(own, minlength=hosts).astype(np.uint32)

    def _count_links(self, known: KnownColumns) -> None:
        """Take in which site's page made each URL known, and which are seeds."""
        site_of, hosts = self._state.site_of, known.host
        self._seeded.update(np.unique(site_of[hosts[known.depth == 0]]).tolist())
        for start in range(0, len(hosts), _PIECE):
            sources, linked = known.source[start : start + _PIECE], hosts[start : start + _PIECE]
            other = np.append(True, (sources[1:] != sources[:-1]) | (linked[1:] != linked[:-1]))  # pages stand together
            other &= sources != NO_SLOT
            linking = site_of[hosts[sources[other]]].astype(np.int64)
            self._linking.note_many(linking, site_of[linked[other]].astype(np.int64))

    # What may come in

    def without_results(self, urls: Sequence[str]) -> list[str]:
        """Return those of `urls`, none of them known, that are not too many results of a site's search form."""
        taken = self._results.within(urls)
        for _ in range(len(urls) - len(taken)):
            self._refuse("max_search_results")
        return taken

    def within(self, urls: Sequence[str], source: int | None = None, *, elsewhere: bool = False) -> list[str]:
        """Return those of `urls`, none of them known, that there is budget for.

        Parameters
        ----------
        urls
            What a page links to, or a sitemap lists; in scope.
        source
            The host whose page links to them; its site counts as one that links. None where no page does.
        elsewhere
            Whether a page that another partition read links to them.
        """
        linking = int(self._state.site_of[source]) if source is not None else None
        most = len(urls) - 1
        names, ports = {hostname(url) for url in urls}, bool(self.backlog) and any(map(port_of, urls))
        others = {name for name in names if elsewhere or self._is_other(name, linking)}
        if not ports and not any(self.over(name, linking, most, most, others=name in others) for name in names):
            return list(urls)
        taken: list[str] = []
        hosts, sites = Counter[str](), Counter[str]()
        named = dict[str, set[str]]()
        for url in urls:
            name = hostname(url)
            whole = found_site(name) if self._per_link else ""
            setting = self.over(name, linking, hosts[name], sites[whole], others=name in others)
            if not setting and ports and (port := port_of(url)):
                of_host = named.setdefault(name, {*self.others.ports_of(name)})
                if port not in of_host and len(of_host) >= (OTHERS_PORTS if name in others else MOST_PORTS):
                    setting = "max_backlog_per_host"
                else:
                    of_host.add(port)
            if setting:
                self._refuse(setting)
            else:
                taken.append(url)
                hosts[name] += 1
                sites[whole] += 1
        return taken

    def _refuse(self, setting: str) -> None:
        """Count a link that is refused, in this run and in all."""
        self.refused[setting] += 1
        notes, name = self._state.notes, REFUSED + setting
        notes[name] = notes.get(name, 0.0) + 1

    def _is_other(self, name: str, linking: int | None) -> bool:
        """Whether a host is of another site than the page that links to it."""
        host = self._state.hosts.find(name)
        number = int(self._state.site_of[host]) if host is not None else self._state.site_number(name)
        return linking is not None and linking != number

    def over(
        self, name: str, linking: int | None = None, host_more: int = 0, site_more: int = 0, *, others: bool = False
    ) -> str:
        """Return the setting that keeps one more URL of a host out; "" where none does.

        Parameters
        ----------
        name
            Of the host, which need not be known.
        linking
            The site whose page links to it, if any does.
        host_more, site_more
            URLs of the host, and of its site, that are about to be known.
        others
            Whether a page of another site links to it.
        """
        host = self._state.hosts.find(name)
        waiting = host_more + (int(self._unread[host]) if host is not None else 0)
        if others and self.others.room(host, self._owned(host), waiting - host_more) <= host_more:
            return "max_backlog_per_host"
        if self.backlog and waiting >= self.backlog and waiting >= PER_OWN * self._owned(host):
            return "max_backlog_per_host"
        if not self._per_link:
            return ""
        number = int(self._state.site_of[host]) if host is not None else self._state.site_number(name)
        pages = self._pages.item(number) if number is not None else 0
        if pages + site_more < self._per_link or number in self._seeded:
            return ""
        links = self._linking.count(number) if number is not None else 0
        links += linking is not None and linking != number and not self._knows(linking, number)
        return "max_pages_per_link" if pages + site_more >= self._per_link * (1 + links) else ""

    def crowded(self, name: str, urls: Sequence[str], taken: Sequence[str]) -> bool:
        """Whether some of `urls` of the host with that name were not taken because too many wait there."""
        own, got = (sum(hostname(url) == name for url in some) for some in (urls, taken))
        return own > got and self.over(name, host_more=got) == "max_backlog_per_host"

    def half_empty(self, host: int) -> bool:
        """Whether at least half of the URLs that may wait on a host could still become known."""
        return 2 * int(self._unread[host]) < self.backlog

    # What came in

    def admitted(self, found: Discovery) -> None:
        """Count URLs that became known."""
        state = self._state
        self._results.admitted(found.urls)
        self.others.admitted(found)
        for host in found.hosts:
            self._unread[host] += 1
        if self._per_link:
            sites = state.site_of[found.hosts]
            np.add.at(self._pages, sites, 1)
            if found.depth == 0:
                self._seeded.update(sites.tolist())
            if found.source != NO_SLOT:
                source = int(state.site_of[int(state.known.row(found.source)["host"])])
                self._linking.note(source, set(sites.tolist()))

    def linked(self, host: int, urls: Iterable[str]) -> None:
        """Count the site of a host as one that links to the sites of URLs, where these are known."""
        if self._per_link:
            state, source = self._state, int(self._state.site_of[host])
            name = state.hosts[host]
            own = f"http://{name}/", f"https://{name}/"
            numbers = {state.hosts.find(name) for name in {hostname(url) for url in urls if not url.startswith(own)}}
            self._linking.note(source, {state.site_of.item(number) for number in numbers if number is not None})

    def searched(self, host: int, forms: Iterable[str]) -> None:
        """Hear which search forms a page of a host has."""
        self._results.learned(host, forms)

    def learned(self, visit: Remembered) -> None:
        """Count a visit that is remembered."""
        event, before = visit.event, visit.reading.before
        self.others.learned(event)
        if event.visits == 1:
            self._unread[event.host] -= 1
        own, was = bool(event.flags & MEMBER), before.member and before.visits > 0
        if own and not was:
            self._own[event.host] += 1
        elif was and not own:
            self._own[event.host] -= 1

    def _owned(self, host: int | None) -> int:
        return int(self._own[host]) if host is not None else 0

    def _knows(self, source: int, target: int | None) -> bool:
        return target is not None and self._linking.knows(source, target)
