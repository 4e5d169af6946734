"""Crowded pages: pages with links that a full backlog refused, read again once there is room on their host.

URLs that `max_backlog_per_host` refuses are not remembered, so only a new visit to these pages can make them known. At
its usual turn the visit would come late, or never if pages are not refreshed: of a site of 20,000 pages some 44 stayed
unknown. With these visits large sites are read completely.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.crawl.visit.recall import recall
from evercrawl.schedule.frontier.politeness import LOOK_S
from evercrawl.store.journal.events import CROWDED
from evercrawl.types import Outcome, Slots

if TYPE_CHECKING:
    from evercrawl.model.rules.barred import Barred
    from evercrawl.model.rules.budgets import Budgets
    from evercrawl.model.stored.remembered import Remembered
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.store.partition import Partition
    from evercrawl.store.quarantine import Quarantine

MOST: Final = 1 << 16
"""Maximum number of crowded pages kept per host; others are read again at their usual turn."""
LOOKED_THROUGH: Final = 64
"""Pages of earlier runs that are examined at a time: about a millisecond."""
MOST_LOOK_S: Final = 10.0
_HAVE_LINKS: Final = np.isin(np.arange(256), (Outcome.OK, Outcome.TRUNCATED, Outcome.REDIRECT))


class CrowdedPages:
    """Keeps the crowded pages by host, and chooses which of them to visit.

    The journal has no list of them. After a restart they are searched for, a few pages at a time, on hosts whose
    backlog may have been full.

    Parameters
    ----------
    partition, budgets, frontier
        The crawl directory, the budgets of hosts, and the queues in which pages wait.
    barred, quarantine
        The pages that must not be requested.
    """

    def __init__(
        self, partition: Partition, budgets: Budgets, frontier: Frontier, barred: Barred, quarantine: Quarantine
    ) -> None:
        self._partition, self._state, self._quarantine = partition, partition.state, quarantine
        self._budgets, self._frontier, self._barred = budgets, frontier, barred
        self._waiting: dict[int, dict[int, None]] = {}  # slots by host
        self._asked = set[int]()  # slots whose visit is under way or not yet remembered
        self._next_at = 0.0
        self._unseen = self._read_before() if budgets.backlog else {}
        self._stopped = False

    def stop(self) -> None:
        """Stop these visits for this run, because it visits only certain pages."""
        self._stopped = True
        self._waiting.clear()
        self._unseen.clear()

    def _read_before(self) -> dict[int, list[Slots]]:
        """Return in pieces, by host, pages read in earlier runs on hosts whose backlog may have been full."""
        state, count = self._state, self._state.records.count
        large = state.known.pages_of_hosts(len(state.hosts)) >= self._budgets.backlog
        if not large.any() or not count:
            return {}
        rows = state.records.rows[:count]
        found = np.flatnonzero(large[rows["host"]] & _HAVE_LINKS[rows["outcome"]])
        hosts, slots = rows["host"][found], rows["slot"][found]
        order = np.argsort(hosts, kind="stable")
        hosts, slots = hosts[order], slots[order]
        first = np.flatnonzero(np.append(True, hosts[1:] != hosts[:-1])) if len(hosts) else hosts
        pieces = (
            np.split(part, range(LOOKED_THROUGH, len(part), LOOKED_THROUGH)) for part in np.split(slots, first[1:])
        )
        return dict(zip(hosts[first].tolist(), pieces, strict=False))

    def _look_through(self) -> bool:
        """Examine some pages of earlier runs on a host with room; return whether there was such a host."""
        host = next((host for host in self._unseen if self._budgets.half_empty(host)), None)
        if host is None:
            return False
        for slot in self._unseen[host].pop().tolist():
            held = recall(self._partition, slot).held
            if held is not None and held.flags & CROWDED:
                self._add(host, slot)
        if not self._unseen[host]:
            del self._unseen[host]
        return True

    def _add(self, host: int, slot: int) -> None:
        if self._stopped:
            return
        waiting = self._waiting.setdefault(host, {})
        if len(waiting) < MOST:
            waiting[slot] = None

    def began(self, slot: int) -> None:
        """Record that a visit begins, for whatever reason."""
        self._asked.add(slot)

    def put_back(self, slot: int) -> None:
        """Record that a visit brought no answer, and that its page waits again."""
        self._asked.discard(slot)

    def learned(self, visit: Remembered) -> None:
        """Take in a remembered visit."""
        event = visit.event
        self._asked.discard(event.slot)
        if visit.leads.crowded:
            self._add(event.host, event.slot)
            self._next_at = 0.0
        elif (waiting := self._waiting.get(event.host)) is not None:
            waiting.pop(event.slot, None)  # after a failure the page keeps its usual turn
            if not waiting:
                del self._waiting[event.host]

    def idle(self, now: float) -> bool:
        """Return whether no crowded page waits on a host that has room and is not away."""
        hosts = [host for host in (*self._waiting, *self._unseen) if not self._frontier.away(host, now)]
        return not any(self._budgets.half_empty(host) for host in hosts)

    def next_at(self) -> float:
        """Return the instant of the next look for due pages; infinity if no page waits."""
        return self._next_at if self._waiting or self._unseen else math.inf

    def due(self, now: float) -> Iterator[tuple[Host, int, bool]]:
        """Yield one page of each host with room, as host, slot and whether it is unread; the page leaves its queue."""
        if not (self._waiting or self._unseen) or now < self._next_at:
            return
        self._next_at = now + MOST_LOOK_S
        if self._look_through():
            self._next_at = now
        for number in list(self._waiting):
            if not self._budgets.half_empty(number):
                continue
            host, waiting = self._frontier.hosts[number], self._waiting[number]
            wait_s = self._frontier.wait_s(host, now)
            self._next_at = min(self._next_at, now + (wait_s if wait_s > 0.0 else LOOK_S))
            if wait_s > 0.0:
                continue
            slot = next((slot for slot in waiting if slot not in self._asked), None)
            if slot is None:
                continue
            del waiting[slot]  # moved to the end, in case the visit brings no answer
            waiting[slot] = None
            url = self._state.urls.get(slot)
            if self._barred.rule(slot, url) or self._quarantine.holds(url) or self._state.forgotten.has(slot):
                del waiting[slot]  # the page must not be visited any more
                if not waiting:
                    del self._waiting[number]
                continue
            _, new = self._frontier.take_waiting(host, slot, self._state.known.count)
            yield host, slot, new
