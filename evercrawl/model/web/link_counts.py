"""Counts that some orders ask for, kept up as pages and links become known: sites, pages that wait, links to a page."""

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
    """One of them, of all known pages."""

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Take note of a visit, and of the visit that brought the links the page had before."""
        ...

    def found(self, found: Discovery) -> None:
        """Take note of pages that became known."""
        ...

    def of(self, slots: Slots) -> Any:
        """Return the column of `slots`, shape (n,)."""
        ...


class PageSites:
    """Which site each page is on, or which host; 4 bytes a page."""

    def __init__(self, partition: Partition, *, hosts: bool = False) -> None:
        self._state, self._hosts = partition.state, hosts
        self._known = 0
        self._site: Slots = np.zeros(0, np.uint32)  # by slot
        self._add(self._state.known.rows()["host"])

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Take note of nothing: a page stays where it is."""

    def found(self, found: Discovery) -> None:
        """Take note of pages that became known."""
        self._add(np.array(found.hosts, np.int64))

    def of(self, slots: Slots) -> Slots:
        """Return the number of the site, or host, of each, shape (n,)."""
        return self._site[slots]

    def sites(self, hosts: Ints | Slots) -> Slots:
        """Return the numbers of the sites of some hosts, or those of the hosts."""
        return np.asarray(hosts, np.uint32) if self._hosts else self._state.site_of[hosts]

    def _add(self, hosts: Ints | Slots) -> None:
        first = self._known
        self._known += len(hosts)
        self._site = grown(self._site, self._known)
        self._site[first : self._known] = self.sites(hosts)


class Backlog:
    """How many pages of each site, or host, were never read; 4 bytes a page."""

    def __init__(self, partition: Partition, *, hosts: bool = False) -> None:
        state = partition.state
        self._sites = PageSites(partition, hosts=hosts)
        known = state.known.rows()["host"]
        self._of_site: Ints = np.zeros(0, np.int64)
        self._add(self._sites.sites(known))
        read = (state.table.record[: len(known)] & np.uint32(NO_RECORD)) == 0
        np.subtract.at(self._of_site, self._sites.sites(known[read]), 1)

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Count the page as read, if this is its first visit."""
        if event.visits == 1:
            self._of_site[self._sites.sites(np.array([event.host]))] -= 1

    def found(self, found: Discovery) -> None:
        """Count pages that wait to be read."""
        self._sites.found(found)
        self._add(self._sites.sites(np.array(found.hosts, np.int64)))

    def of(self, slots: Slots) -> Floats:
        """Return how many pages wait on the site, or host, of each, shape (n,)."""
        return self._of_site[self._sites.of(slots)].astype(np.float64)

    def _add(self, sites: Slots) -> None:
        self._of_site = grown(self._of_site, int(sites.max(initial=0)) + 1)
        np.add.at(self._of_site, sites, 1)


class InLinks:
    """How many pages that were read link to each page; 4 bytes a page."""

    def __init__(self, partition: Partition) -> None:
        state = partition.state
        self._count: Slots = np.zeros(state.known.count, np.uint32)
        for pointer, _, event in events(partition, partition.journal.sequence):
            if isinstance(event, Visit) and event.flags & HAS_LINKS and _last(state, event.slot) == pointer:
                self._add(event, 1)

    def learned(self, event: Visit, held: Visit | None) -> None:
        """Count the links of a page instead of those it had."""
        if event.flags & HAS_LINKS and (held is None or held.targets != event.targets):
            if held is not None:
                self._add(held, -1)
            self._add(event, 1)

    def found(self, found: Discovery) -> None:
        """Count nothing: links will tell."""

    def of(self, slots: Slots) -> Floats:
        """Return how many pages link to each, shape (n,)."""
        self._count = grown(self._count, int(slots.max(initial=0)) + 1)
        return self._count[slots].astype(np.float64)

    def _add(self, event: Visit, by: int) -> None:
        targets = decode_slots(event.targets)  # ascending, and each once
        self._count = grown(self._count, int(targets[-1]) + 1 if len(targets) else 0)
        self._count[targets] += np.uint32(by & 0xFFFFFFFF)


def _last(state: State, slot: int) -> int:
    """Return the pointer of the event that has the links of a page."""
    index = state.record_of(slot)
    index = state.lost.get(slot) if index is None else index
    return 0 if index is None else int(state.records.rows["event"][index])
