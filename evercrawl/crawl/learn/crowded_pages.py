"""Pages with links to their own host that found no room, read again once there is: large sites are read completely.

What `max_backlog_per_host` keeps out is not remembered, so only these pages can make it known. At their usual turn they
would do so late, or never where pages are not refreshed: of a site of 20,000 pages some 44 stayed unknown.
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
"""Pages of a host that are kept for this; others are read again at their usual turn."""
LOOKED_THROUGH: Final = 64
"""Pages that were read before this run that are looked through at a time: a millisecond or so."""
MOST_LOOK_S: Final = 10.0
_HAVE_LINKS: Final = np.isin(np.arange(256), (Outcome.OK, Outcome.TRUNCATED, Outcome.REDIRECT))


class CrowdedPages:
    """Keeps the pages whose links found no room on their own host, and says when which is to be visited.

    Nothing of it is in the journal: after a restart it is looked for, a few pages at a time, on hosts whose backlog may
    have been full.

    Parameters
    ----------
    partition, budgets, frontier, barred, quarantine
        What is known; what has room; where pages wait; and which are not requested.
    """

    def __init__(
        self, partition: Partition, budgets: Budgets, frontier: Frontier, barred: Barred, quarantine: Quarantine
    ) -> None:
        self._partition, self._state, self._quarantine = partition, partition.state, quarantine
        self._budgets, self._frontier, self._barred = budgets, frontier, barred
        self._waiting: dict[int, dict[int, None]] = {}  # by host
        self._asked = set[int]()  # slots whose visit is under way, or not yet remembered
        self._next_at = 0.0
        self._unseen = self._read_before() if budgets.backlog else {}
        self._stopped = False

    def stop(self) -> None:
        """Have nothing read again in this run: certain pages are visited, and no others."""
        self._stopped = True
        self._waiting.clear()
        self._unseen.clear()

    def _read_before(self) -> dict[int, list[Slots]]:
        """Return the pages that were read before this run on hosts whose backlog may have been full, in pieces."""
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
        """Look through some pages that were read before this run; return whether there are more of hosts with room."""
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
        """Hear of a visit that begins, whatever for."""
        self._asked.add(slot)

    def put_back(self, slot: int) -> None:
        """Hear that a visit came to nothing, and that its page waits again."""
        self._asked.discard(slot)

    def learned(self, visit: Remembered) -> None:
        """Hear of a visit that is remembered."""
        event = visit.event
        self._asked.discard(event.slot)
        if visit.leads.crowded:
            self._add(event.host, event.slot)
            self._next_at = 0.0
        elif (waiting := self._waiting.get(event.host)) is not None:
            waiting.pop(event.slot, None)  # where it failed, it has its usual turn
            if not waiting:
                del self._waiting[event.host]

    def idle(self, now: float) -> bool:
        """Whether nothing waits for which there is room, except on hosts that are away."""
        hosts = [host for host in (*self._waiting, *self._unseen) if not self._frontier.away(host, now)]
        return not any(self._budgets.half_empty(host) for host in hosts)

    def next_at(self) -> float:
        """Return when there is next something to look for; infinity where nothing waits."""
        return self._next_at if self._waiting or self._unseen else math.inf

    def due(self, now: float) -> Iterator[tuple[Host, int, bool]]:
        """Yield host, slot and whether it is new of a page of each host that has room; they wait nowhere any more."""
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
            del waiting[slot]  # at the end of the line, should nothing come of it
            waiting[slot] = None
            url = self._state.urls.get(slot)
            if self._barred.rule(slot, url) or self._quarantine.holds(url) or self._state.forgotten.has(slot):
                del waiting[slot]  # it is visited no more
                if not waiting:
                    del self._waiting[number]
                continue
            _, new = self._frontier.take_waiting(host, slot, self._state.known.count)
            yield host, slot, new
