"""The frontier: which page next, among the pages of hosts that have rested."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.schedule.base import Pages
from evercrawl.schedule.hosts import Address, Host
from evercrawl.schedule.queues import Queue
from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from evercrawl.schedule.base import Policy
    from evercrawl.types import Floats, Slots

POOL: Final = 64  # rested hosts whose pages are valued against each other at once


class Frontier:
    """Hosts, each with its waiting pages; offers only pages of hosts that have rested.

    Parameters
    ----------
    policy
        Values the candidates: the first page of each queue of the rested hosts.
    links
        One cell a slot, for the queues.
    columns
        Slots -> (visited_at with nan before the first visit, importance), for the policy.
    visited_at
        Slot -> the instant of its last visit.
    delay_s, connections_per_host, connections_per_ip, ip_delay_s
        Politeness.
    refresh_after_s
        Least time between two visits of a page.
    """

    def __init__(
        self,
        policy: Policy,
        links: Slots,
        columns: Callable[[Slots], tuple[Floats, Floats]],
        visited_at: Callable[[int], float],
        *,
        delay_s: float = 1.0,
        connections_per_host: int = 1,
        connections_per_ip: int = 4,
        ip_delay_s: float = 0.0,
        refresh_after_s: float = 3600.0,
    ) -> None:
        self._policy = policy
        self._links = links
        self._columns = columns
        self._visited_at = visited_at
        self._delay_s = delay_s
        self._per_host = connections_per_host
        self._per_ip = connections_per_ip
        self._ip_delay_s = ip_delay_s
        self._refresh_after_s = refresh_after_s
        self._resting: list[tuple[float, int, Host]] = []
        self._order = itertools.count()
        self.hosts: list[Host] = []
        self.addresses: dict[str, Address] = {}
        self.new_count = 0
        self.seen_count = 0

    def add_host(self, name: str) -> Host:
        """Add the host with the next number."""
        host = Host(len(self.hosts), name, Queue(self._links), Queue(self._links), delay_s=self._delay_s)
        self.hosts.append(host)
        return host

    def add_new(self, number: int, slots: Iterable[int]) -> None:
        """Queue pages that were never fetched (or are to be tried again) at the end of their host's."""
        host = self.hosts[number]
        before = len(host.new)
        host.new.extend(slots)
        self.new_count += len(host.new) - before
        self._rest(host)

    def add_seen(self, number: int, slot: int) -> None:
        """Queue a page that was just visited for its refresh."""
        host = self.hosts[number]
        host.seen.push(slot)
        self.seen_count += 1
        if len(host.seen) == 1:
            self._look_ahead(host)
        self._rest(host)

    def fill(self, numbers: NDArray[np.uint32], slots: Slots, *, new: bool) -> None:
        """Queue many pages at once, on hosts whose queues are empty: slot i on host `numbers[i]`, in this order."""
        if not len(slots):
            return
        order = np.argsort(numbers, kind="stable")
        numbers, slots = numbers[order], slots[order]
        last = np.append(numbers[1:] != numbers[:-1], True)
        self._links[slots] = np.where(last, 0, np.append(slots[1:], 0) + 1)
        ends = np.flatnonzero(last)
        starts = np.append(0, ends[:-1] + 1)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            host: Host = self.hosts[int(numbers[start])]
            first, final, count = int(slots[start]), int(slots[end]), int(end - start + 1)
            (host.new if new else host.seen).adopt(first, final, count)
            if not new:
                self._look_ahead(host)
            self._rest(host)
        self.new_count += len(slots) if new else 0
        self.seen_count += 0 if new else len(slots)

    def locate(self, host: Host, addresses: tuple[str, ...], now: float) -> None:
        """Take note of where the host's name leads."""
        if host.in_flight == 0 or host.address is None:
            name = addresses[0] if addresses else host.name
            host.address = self.addresses.setdefault(name, Address())
        host.addresses, host.resolved_at = addresses, now
        self._rest(host)

    def choose(self, now: float, most: int) -> list[tuple[Host, int, bool]]:
        """Return up to `most` pages to visit now, the most valuable first, at most one of a host.

        Each is (host, slot, whether it is from the queue of new ones), and off its queue: the caller begins a visit,
        puts it back with `put_first`, or gives it up and calls `release`.
        """
        rested = self._rested(now, most)
        if not rested:
            return []
        offers = [(host, queue) for host in rested for queue in self._due(host, now)]
        if len(offers) > len(rested) or len(rested) > most:
            offers = self._best(offers, now)
        chosen: list[tuple[Host, int, bool]] = []
        taken: set[int] = set()
        for host, queue in offers:
            if len(chosen) == most:
                break
            if host.number not in taken:
                taken.add(host.number)
                chosen.append((host, self._take(host, queue), queue is host.new))
        for host in rested:
            if host.number not in taken:
                self._rest(host)
        return chosen

    def put_first(self, host: Host, slot: int, *, new: bool) -> None:
        """Put a chosen page back at the front of its queue."""
        if new:
            host.new.push_first(slot)
            self.new_count += 1
        else:
            host.seen.push_first(slot)
            self.seen_count += 1
            self._look_ahead(host)
        self._rest(host)

    def take_first(self, host: Host) -> tuple[int, bool] | None:
        """Take the page that a host would offer next, rested or not; None when it has none."""
        queue = host.new if len(host.new) else host.seen
        return (self._take(host, queue), queue is host.new) if len(queue) else None

    def release(self, host: Host) -> None:
        """Let a host offer pages again, whose chosen page was not asked for or whose rest was changed."""
        self._rest(host)

    def began(self, host: Host, now: float) -> None:
        """Take note of a request to `host` that starts now."""
        host.began(now)
        if host.address is not None:
            host.address.ready_at = max(host.address.ready_at, now + self._ip_delay_s)
        self._rest(host)

    def ended(self, host: Host, now: float) -> None:
        """Take note of its end; with one connection a host the rest is counted from here: gaps hold at the server."""
        host.ended(now, rest_s=host.delay_s if self._per_host == 1 else 0.0)
        if host.address is not None and host.address.waiting:
            waiting, host.address.waiting = host.address.waiting, []
            for other in waiting:
                self._rest(other)
        self._rest(host)

    def next_at(self) -> float:
        """Return the instant at which a host is next to be looked at; infinity when none waits for time to pass."""
        return self._resting[0][0] if self._resting else float("inf")

    def idle(self, now: float) -> bool:
        """Whether nothing is left that was never fetched, except on hosts that are away."""
        return self.new_count == 0 or all(host.away(now) for host in self.hosts if len(host.new))

    def waiting(self, now: float) -> dict[str, int]:
        """Return how many hosts with new pages wait, by reason."""
        reasons: Counter[str] = Counter()
        for host in self.hosts:
            if len(host.new) and (host.held or host.in_flight == 0):
                if host.held:
                    reasons[host.held] += 1
                elif host.ready_at > now:
                    reasons[host.reason] += 1
        return dict(reasons)

    def _rest(self, host: Host) -> None:
        """Stand the host in the heap, or further in front; unless it is busy, held, or without pages."""
        if host.held or host.in_flight >= self._per_host:
            return
        when = self._wants_at(host)
        if when < host.queued_at:
            host.queued_at = when  # an entry further back is stale from now on
            heapq.heappush(self._resting, (when, next(self._order), host))

    def _wants_at(self, host: Host) -> float:
        if len(host.new):
            return host.ready_at
        if len(host.seen):
            return max(host.ready_at, host.due_at)
        return float("inf")

    def _look_ahead(self, host: Host) -> None:
        """Remember when the first page to be refreshed falls due."""
        host.due_at = self._visited_at(host.seen.first) + self._refresh_after_s if len(host.seen) else float("inf")

    def _rested(self, now: float, most: int) -> list[Host]:
        """Take hosts that may be asked now off the heap, at most a pool of them, and one of each address.

        What begins with the one decides when the next host of its address may be asked.
        """
        rested: list[Host] = []
        spoken_for: set[int] = set()
        later: list[Host] = []
        while self._resting and self._resting[0][0] <= now and len(rested) + len(later) < max(POOL, most):
            when, _, host = heapq.heappop(self._resting)
            if when != host.queued_at:
                continue
            host.queued_at = float("inf")
            if host.held or host.in_flight >= self._per_host:
                continue
            wants_at = self._wants_at(host)
            address = host.address
            if wants_at > now:
                self._rest(host)
            elif address is not None and address.in_flight >= self._per_ip:
                address.waiting.append(host)
            elif address is not None and address.ready_at > now:
                host.ready_at = address.ready_at
                self._rest(host)
            elif address is not None and id(address) in spoken_for:
                later.append(host)
            else:
                rested.append(host)
                spoken_for.add(id(address))
        for host in later:
            self._rest(host)
        return rested

    def _due(self, host: Host, now: float) -> list[Queue]:
        due = [host.new] if len(host.new) else []
        if len(host.seen) and (not due or host.due_at <= now):
            due.append(host.seen)
        return due

    def _best(self, offers: list[tuple[Host, Queue]], now: float) -> list[tuple[Host, Queue]]:
        slots = np.array([queue.first for _, queue in offers], np.uint32)
        visited_at, importance = self._columns(slots)
        value = self._policy.value(Pages(slots, visited_at, importance), now)
        return [offers[i] for i in np.argsort(-value, kind="stable")]

    def _take(self, host: Host, queue: Queue) -> int:
        slot = queue.pop()
        assert slot != NO_SLOT, "an empty queue was offered"
        if queue is host.new:
            self.new_count -= 1
        else:
            self.seen_count -= 1
            self._look_ahead(host)
        return slot
