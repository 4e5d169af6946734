"""Counts that some orders need, updated as pages and links become known: sites, unread pages, in-links."""

from typing import Any, Protocol

import numpy as np

from evercrawl.arrays.rows import grown
from evercrawl.model.stored.reader import events
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, Discovery, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.state import State
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Floats, Ints, Slots


class KnownColumn(Protocol):
    """A column of all known pages."""

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Take in a visit, and the visit that brought the page's former links."""
        ...

    def found(self, found: Discovery) -> None:
        """Take in newly known pages."""
        ...

    def of(self, slots: Slots) -> Any:
        """Return the column of `slots`, shape (n,)."""
        ...


class PageSites:
    """The site, or host, of each page; 4 bytes a page."""

    def __init__(self, partition: Partition, *, hosts: bool = False) -> None:
        self._state, self._hosts = partition.state, hosts
        self._known = 0
        self._site: Slots = np.zeros(0, np.uint32)  # by slot
        self._add(self._state.known.hosts())

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Do nothing: a page's site never changes."""

    def found(self, found: Discovery) -> None:
        """Take in newly known pages."""
        self._add(np.array(found.hosts, np.int64))

    def of(self, slots: Slots) -> Slots:
        """Return the number of each page's site, or host, shape (n,)."""
        return self._site[slots]

    def sites(self, hosts: Ints | Slots) -> Slots:
        """Return the numbers of the sites of some hosts, or of the hosts themselves."""
        return np.asarray(hosts, np.uint32) if self._hosts else self._state.site_of[hosts]

    def _add(self, hosts: Ints | Slots) -> None:
        first = self._known
        self._known += len(hosts)
        self._site = grown(self._site, self._known)
        self._site[first : self._known] = self.sites(hosts)


class Backlog:
    """The number of unread pages of each site, or host; 4 bytes a page."""

    def __init__(self, partition: Partition, *, hosts: bool = False) -> None:
        state = partition.state
        self._sites = PageSites(partition, hosts=hosts)
        known = state.known.hosts()
        self._of_site: Ints = np.zeros(0, np.int64)
        self._add(self._sites.sites(known))
        read = (state.table.record[: len(known)] & np.uint32(NO_RECORD)) == 0
        np.subtract.at(self._of_site, self._sites.sites(known[read]), 1)

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Count the page as read, if this is its first visit."""
        if event.visits == 1:
            self._of_site[self._sites.sites(np.array([event.host]))] -= 1

    def found(self, found: Discovery) -> None:
        """Count newly known pages as unread."""
        self._sites.found(found)
        self._add(self._sites.sites(np.array(found.hosts, np.int64)))

    def of(self, slots: Slots) -> Floats:
        """Return the number of unread pages of each page's site, or host, shape (n,)."""
        return self._of_site[self._sites.of(slots)].astype(np.float64)

    def _add(self, sites: Slots) -> None:
        self._of_site = grown(self._of_site, int(sites.max(initial=0)) + 1)
        np.add.at(self._of_site, sites, 1)


class InLinks:
    """The number of read pages that link to each page; 4 bytes a page."""

    def __init__(self, partition: Partition) -> None:
        state = partition.state
        self._count: Slots = np.zeros(state.known.count, np.uint32)
        for pointer, _, event in events(partition, partition.journal.sequence):
            if isinstance(event, Visit) and event.flags & HAS_LINKS and _last(state, event.slot) == pointer:
                self._add(event, 1)

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Replace the page's former links by its present ones in the counts."""
        if event.flags & HAS_LINKS and (held is None or held.targets != event.targets):
            if held is not None:
                self._add(held, -1)
            self._add(event, 1)

    def found(self, found: Discovery) -> None:
        """Do nothing: links are counted when their page is read."""

    def of(self, slots: Slots) -> Floats:
        """Return the number of pages that link to each, shape (n,)."""
        self._count = grown(self._count, int(slots.max(initial=0)) + 1)
        return self._count[slots].astype(np.float64)

    def _add(self, event: Visit, by: int) -> None:
        targets = decode_slots(event.targets)  # ascending and distinct
        self._count = grown(self._count, int(targets[-1]) + 1 if len(targets) else 0)
        self._count[targets] += np.uint32(by & 0xFFFFFFFF)


def _last(state: State, slot: int) -> int:
    """Return the pointer of the event with a page's links."""
    index = state.record_of(slot)
    index = state.lost.get(slot) if index is None else index
    return 0 if index is None else int(state.records.rows["event"][index])
