"""Limits on the URLs of a host that only pages of other sites name: few may wait, and fewer if many led to nothing.

Anyone can link to any number of URLs of another owner's host. Without limits, these would take the host's backlog and
turns from the links of its own pages, and the crawl would request thousands of pages that the host does not have.

* While other URLs of the host wait too, at most `FIRST` named by others may wait, and `PER_GOOD` more for each one that
  was read and has content of its own, up to a tenth of the backlog. Otherwise, a tenth of the backlog may wait.
* None is admitted while more of them led to nothing than `VAIN` plus an eighth of the host's pages, or than
  `VAIN_ALONE` plus the number of its pages while no other URLs wait. This count is halved each day.
* Once `DOUBT` of them led to nothing, and more than had content of their own, the host is doubted: those that wait
  then, and further ones, wait behind the host's other URLs (`crawl.learn.doubts`).
* A copy of a page of another host, as mirrors have, counts as content of its own; a copy of a page of the same host
  leads to nothing. So does a redirect, or a page that names another one as canonical, until a page that it made known
  is read and has content of its own.
* If the copied page is read only later, the earlier copy ceases to count as content of its own, and counts for doubt.
  So does a page with a query if the host itself names its URL with fewer parameters, until that is read.
* A partition limits only URLs of its own hosts; it names all others to the partitions that own them.

Ports are limited too, because each has a robots.txt of its own, and a crawl must not look for open ports on behalf of
others. Besides the usual ports, a host's own pages may name `MOST_PORTS`, and pages of other sites `OTHERS_PORTS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve
from evercrawl.model.rules.variants import Variants, look_alike
from evercrawl.parse.urls import hostname, port_of
from evercrawl.store.cash.spread import ELSEWHERE
from evercrawl.store.journal.events import MEMBER, Visit
from evercrawl.store.records.records import MEMBER as RECORDED_MEMBER
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import NO_SLOT, Flags, Outcome, Slots

if TYPE_CHECKING:
    from evercrawl.store.journal.events import Discovery
    from evercrawl.store.state import State

FIRST: Final = 200
"""Number that may wait on a host at first, while other URLs wait there too."""
PER_GOOD: Final = 10
"""Further number for each of them that has content of its own."""
PART: Final = 10
"""They get at most one in this many places of the backlog."""
VAIN: Final = 32
"""Number that may lead to nothing, while other URLs wait."""
VAIN_PART: Final = 8
"""Further one for this many pages of the host."""
VAIN_ALONE: Final = 100
"""Number that may lead to nothing, in addition to one for each page of the host, while no other URLs wait."""
DOUBT: Final = 6
"""Number that led to nothing after which a host may be doubted."""
MOST_PORTS: Final = 64
"""Number of ports of a host, besides the usual ones, that may become known."""
OTHERS_PORTS: Final = 2
"""The same if pages of other sites name them."""
DAY_S: Final = 86_400.0
_PIECE: Final = 1 << 16


def is_named_by_others(state: State, slot: int) -> bool:
    """Return whether a URL became known from a page of another site, in this partition or in another."""
    row: Any = state.known.row(slot)
    source = int(row["source"])
    if source == NO_SLOT:  # in a crawl of one partition, it is listed in a sitemap
        return state.post is not None and bool(_sent(row))
    hosts = state.site_of
    return bool(hosts[int(state.known.row(source)["host"])] != hosts[int(row["host"])])


def _sent(rows: Any) -> Any:
    """Return whether another partition made each of some URLs known that no page of this one did."""
    return (rows["depth"] != 0) & (rows["spread"] == ELSEWHERE)


class NamedByOthers:
    """Counts by host the URLs that only pages of other sites name, and what became of them.

    Parameters
    ----------
    state
        The state of the crawl; URLs that are already known are counted.
    backlog
        `max_backlog_per_host`; 0 for no limits.

    Attributes
    ----------
    unread
        Whether a URL is unread and only pages of other sites name it, as far as this run tells: one bit a slot, the
        lowest bit first; only if there are limits. What its own site named only later counts anew after a restart.
    """

    def __init__(self, state: State, backlog: int) -> None:
        self._state = state
        self._most = min(max(backlog // PART, FIRST), backlog)
        self.unread: NDArray[np.uint8] = reserve(np.uint8, 1 << 29)
        self._waiting: Slots = reserve(np.uint32, 1 << 27)  # by host
        self._good: Slots = reserve(np.uint32, 1 << 27)
        self._vain: Slots = reserve(np.uint32, 1 << 27)
        self._copied: Slots = reserve(np.uint32, 1 << 27)
        self._counted: NDArray[np.uint8] = reserve(np.uint8, 1 << 29)  # bits of the pages that `_good` counts
        self._variants = Variants()
        self._day = 0
        self._ports = dict[str, set[str]]()
        if self._most:
            self._count()

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        bits = self._state.known.count // 4 if self._most else 0
        by_host = 4 * len(self._state.hosts) * self._waiting.itemsize
        return by_host + 300 * len(self._ports) + bits + self._variants.nbytes

    def _count(self) -> None:
        """Count the known URLs in pieces, so that this needs little memory even in a large crawl."""
        state = self._state
        known, records = state.known.columns(), state.records.rows[: state.records.count]
        site_of, of_host = state.site_of, known.host
        named: Flags = np.zeros(len(of_host), bool)
        for start in range(0, len(of_host), _PIECE):
            hosts, sources = of_host[start : start + _PIECE], known.source[start : start + _PIECE]
            linked, others = sources != NO_SLOT, named[start : start + _PIECE]
            others[linked] = site_of[of_host[sources[linked]]] != site_of[hosts[linked]]
            if state.post is not None and not linked.all():
                others |= ~linked & _sent(state.known.rows(start, start + _PIECE))
            np.add.at(self._waiting, hosts[others], 1)
        good: Flags = np.zeros(len(of_host), bool)
        copied = good.copy()
        for start in range(0, len(records), _PIECE):
            rows = records[start : start + _PIECE]
            rows = rows[rows["outcome"] != 0]
            others = named[rows["slot"]]
            copies = rows[~others & (rows["outcome"] == Outcome.DUPLICATE) & (rows["alias"] != NO_SLOT)]
            copied[copies["alias"][of_host[copies["alias"]] == copies["host"]]] = True
            rows = rows[others]
            np.subtract.at(self._waiting, rows["host"], 1)
            named[rows["slot"]] = False
            good[rows["slot"][(rows["flags"] & RECORDED_MEMBER) != 0]] = True
        good &= ~copied
        np.add.at(self._good, of_host[good], 1)
        for bits, flags in ((self.unread, named), (self._counted, good)):
            packed = np.packbits(flags, bitorder="little")
            bits[: len(packed)] = packed

    # What may be admitted

    def room(self, host: int | None, own: int, waiting: int) -> int:
        """Return how many more URLs that only other sites name may wait on a host.

        Parameters
        ----------
        host
            Its number; None if it is unknown.
        own
            Number of its pages that have content of their own.
        waiting
            Number of its URLs that wait, whichever pages named them.
        """
        post = self._state.post
        if not self._most or (post is not None and host is not None and not post.owns(host)):
            return 1 << 31  # URLs of another partition's host never cease to wait here; that partition says how many do
        here = (0, 0, 0) if host is None else tuple(each.item(host) for each in (self._waiting, self._good, self._vain))
        others, good, vain = here
        alone = waiting <= others
        if vain >= (VAIN_ALONE + own if alone else VAIN + own // VAIN_PART):
            return 0
        most = self._most if alone else min(FIRST + PER_GOOD * good, self._most)
        return max(most - others, 0)

    def ports_of(self, name: str) -> set[str]:
        """Return the ports of a host, besides the usual ones, that became known in this run."""
        return self._ports.get(name, set())

    def named(self, slot: int) -> bool:
        """Return whether a URL is unread, and only pages of other sites name it."""
        return bool(self.unread.item(slot >> 3) >> (slot & 7) & 1)

    def doubted(self, host: int) -> bool:
        """Return whether most URLs of a host that only other sites name led to nothing lately."""
        vain = self._vain.item(host) + self._copied.item(host)
        return vain >= DOUBT and vain > self._good.item(host)

    # What was admitted

    def admitted(self, found: Discovery) -> None:
        """Count URLs that became known."""
        if not self._most:
            return
        for url in found.urls:
            if port := port_of(url):
                self._ports.setdefault(hostname(url), set()).add(port)
        site_of = self._state.site_of
        if found.source == NO_SLOT:
            if found.depth and found.thin == ELSEWHERE:
                self._named(found, None)
        else:
            self._named(found, site_of.item(int(self._state.known.row(found.source)["host"])))
        if self._variants.among(found.hosts):
            for slot, url in enumerate(found.urls, found.first_slot):
                pages = self._variants.known(url, slot)
                if pages and not self.named(slot):
                    self._doubt(pages)

    def _named(self, found: Discovery, own: int | None) -> None:
        """Count those of new URLs that are not of the site that names them."""
        site_of = self._state.site_of
        for slot, host in enumerate(found.hosts, found.first_slot):
            if site_of.item(host) != own:
                self._waiting[host] += 1
                self.unread[slot >> 3] |= 1 << (slot & 7)

    def claimed(self, slots: Slots, site: int | None = None) -> list[int]:
        """Take note of URLs that their own site names; return those that only others named so far.

        Parameters
        ----------
        slots
            URLs that a page links to, or a sitemap lists; `NO_SLOT` is skipped.
        site
            The site of the page, which claims URLs of its own hosts alone; None for a sitemap, which claims them all.
        """
        near = self.unread[slots >> 3]
        found = list[int]()
        if not np.count_nonzero(near):  # as on most pages
            return found
        named: list[int] = slots[(near >> (slots & 7).astype(np.uint8)) & 1 != 0].tolist()
        for slot in named:
            host = int(self._state.known.row(slot)["host"])
            if site is None or self._state.site_of.item(host) == site:
                self.unread[slot >> 3] &= ~(1 << (slot & 7)) & 0xFF
                self._waiting[host] -= min(self._waiting.item(host), 1)
                found.append(slot)
                self._doubt(self._variants.of(slot))
        return found

    def learned(self, event: Visit) -> None:
        """Count a visit."""
        if not self._most:
            return
        day = int(event.at // DAY_S)
        if day > self._day:
            for counts in (self._vain, self._copied):
                counts[: len(self._state.hosts)] >>= np.uint32(min(day - self._day, 31))
            self._day = day
        host, only_others = event.host, self.named(event.slot)
        self.unread[event.slot >> 3] &= ~(1 << (event.slot & 7)) & 0xFF
        copied = self._copies_earlier(event, only_others=only_others)
        if event.visits != 1:
            return
        if not only_others:
            if event.flags & MEMBER and self._follows_others(event.slot) and self._vain.item(host):
                self._vain[host] -= 1
                self._good[host] += 1
            return
        self._waiting[host] -= min(self._waiting.item(host), 1)
        if copied or self._copies_another_host(event):
            self._good[host] += 1
        elif event.flags & MEMBER:
            self._count_good(event.slot, host)
            self._compare(event)
        else:
            self._vain[host] += 1

    def _count_good(self, slot: int, host: int) -> None:
        self._good[host] += 1
        self._counted[slot >> 3] |= 1 << (slot & 7)

    def _doubt(self, slots: Iterable[int]) -> None:
        """Have pages count no longer as content of their own."""
        for slot in slots:
            bit = 1 << (slot & 7)
            if self._counted.item(slot >> 3) & bit:
                host = int(self._state.known.row(slot)["host"])
                self._counted[slot >> 3] &= ~bit & 0xFF
                self._good[host] -= min(self._good.item(host), 1)
                self._copied[host] += 1

    def _copies_earlier(self, event: Visit, *, only_others: bool) -> bool:
        """Have earlier copies of a page just read not count; return whether its URL with more parameters was one."""
        original = event.alias if event.outcome == Outcome.DUPLICATE else event.near
        answered = bool(event.status) or event.outcome == Outcome.REFUSED
        variants = self._variants.read(event.slot) if answered else []
        copied = False
        for slot in variants:
            if slot == original or self._look_alike(event, slot):
                self._doubt([slot])
                self._variants.drop(slot)
                copied = True
            elif not self._counted.item(slot >> 3) >> (slot & 7) & 1:
                self._copied[event.host] -= min(self._copied.item(event.host), 1)
                self._count_good(slot, event.host)
        if original != NO_SLOT and event.visits == 1 and not only_others and not self._copies_another_host(event):
            self._doubt([original])
        return copied

    def _compare(self, event: Visit) -> None:
        """Compare a page with those at its URL with fewer parameters, or remember it until these are read."""
        urls = self._variants.add(event.slot, event.host, self._state.urls.get(event.slot))
        for url, slot in zip(urls, self._state.find(urls).tolist() if urls else (), strict=True):
            if slot == NO_SLOT:
                continue
            self._variants.known(url, slot)
            if self._state.record_of(slot) is not None:
                self._variants.read(slot)
                if self._look_alike(event, slot):
                    self._doubt([event.slot])
                    self._variants.drop(event.slot)
                    return
            elif not self.named(slot):
                self._doubt([event.slot])

    def _look_alike(self, event: Visit, slot: int) -> bool:
        """Return whether a page that was read earlier differs in little from one just read."""
        index = self._state.record_of(slot)
        earlier = self._state.event(int(self._state.records.rows["event"][index])) if index is not None else None
        return isinstance(earlier, Visit) and look_alike(event, earlier)

    def _follows_others(self, slot: int) -> bool:
        """Return whether a URL that only pages of other sites name led to a page: by a redirect, or as canonical."""
        source = int(self._state.known.row(slot)["source"])
        if source == NO_SLOT or not is_named_by_others(self._state, source):
            return False
        record = int(self._state.table.record[source])
        if record >= NO_RECORD:
            return False
        row = self._state.records.rows[record]
        return int(row["outcome"]) == Outcome.REDIRECT or int(row["alias"]) == slot

    def _copies_another_host(self, event: Visit) -> bool:
        """Return whether a page is a copy of a page of another host, as pages of mirrors are."""
        original = event.alias if event.outcome == Outcome.DUPLICATE else event.near
        return original != NO_SLOT and int(self._state.known.row(original)["host"]) != event.host
