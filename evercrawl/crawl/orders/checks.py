"""Pages that an order asks to check: each is requested once, as soon as politeness allows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from evercrawl.schedule.frontier.politeness import LOOK_S
from evercrawl.store.journal.events import CHANGED, UNCHANGED, Obeyed, Visit
from evercrawl.types import Outcome

if TYPE_CHECKING:
    from evercrawl.model.rules.barred import Barred
    from evercrawl.model.stored.remembered import Remembered
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.store.partition import Partition
    from evercrawl.store.quarantine import Quarantine

MOST: Final = 1000
"""The highest number of pages that may wait at a time."""
MOST_LOOK_S: Final = 10.0
_TICK_S: Final = 0.1  # records keep times to a sixteenth of a second


class Checks:
    """The checks that have begun. They are in the journal, so a restart continues them.

    Parameters
    ----------
    partition, frontier, barred, quarantine
        The crawl's state, its queues, the pages that the scope excludes, and the pages set aside after failures.
    """

    def __init__(self, partition: Partition, frontier: Frontier, barred: Barred, quarantine: Quarantine) -> None:
        self._partition, self._state, self._frontier = partition, partition.state, frontier
        self._barred, self._quarantine = barred, quarantine
        self._asked = set[int]()  # slots whose visit is under way or not yet remembered
        self._next_at = 0.0

    def began(self, slot: int) -> None:
        """Note that a visit of this page begins, for a check or otherwise."""
        self._asked.add(slot)

    def put_back(self, slot: int) -> None:
        """Note that a visit was abandoned and that its page waits again."""
        self._asked.discard(slot)

    def busy(self, slot: int) -> bool:
        """Whether a page is being visited."""
        return slot in self._asked

    def begun(self) -> None:
        """Note that there is a new check."""
        self._next_at = 0.0

    def next_at(self) -> float:
        """Return the time of the next request; infinity if there are no checks."""
        return self._next_at if self._state.steered.checks else math.inf

    def outlook(self, slot: int, now: float) -> str:
        """Describe how long a page has to wait for its host."""
        host = self._host(slot)
        if self._state.steered.paused_at:
            return "it is requested when the crawl is resumed"
        if slot in self._asked:
            return "it is being requested"
        wait_s = max(host.ready_at - now, self._frontier.wait_s(host, now))
        if host.held:
            return f"it is requested after the {host.held} of {host.name}"
        if wait_s <= 0.0:
            return "it is requested now"
        return f"it is requested in {wait_s:.1f} s: {host.name} has to rest ({host.reason})"

    def due(self, now: float) -> Iterator[tuple[Host, int, bool]]:
        """Yield host, slot and whether it is new, of each page that may be requested now; take it from its queue."""
        checks = self._state.steered.checks
        if not checks or now < self._next_at:
            return
        self._next_at = now + MOST_LOOK_S
        for slot in dict.fromkeys(check.slot for check in checks.values()):
            host = self._host(slot)
            if host.reason == "name look-up" and not host.held and not host.addresses and host.away_until <= now:
                host.ready_at = now  # only its turn for a single look-up is missing, and a check needs none
                self._frontier.release(host)
            wait_s = self._frontier.wait_s(host, now)
            self._next_at = min(self._next_at, now + (wait_s if wait_s > 0.0 else LOOK_S))
            if slot not in self._asked and wait_s <= 0.0:
                _, new = self._frontier.take_waiting(host, slot, self._state.known.count)
                yield host, slot, new

    def settle(self, now: float) -> bool:
        """End checks that were answered before a crash or can never be made; return whether there were any."""
        ended = False
        for name, check in list(self._state.steered.checks.items()):
            url, index = self._state.urls.get(check.slot), self._state.record_of(check.slot)
            rule = self._barred.rule(check.slot, url)
            if rule:
                self._end(name, now, "refused", f"{url} is kept out by {rule}")
            elif self._quarantine.holds(url):
                self._end(name, now, "refused", f"{url} is set aside: evercrawl failed on it twice; see errors.log")
            elif index is not None and self._state.visited_at(check.slot) > check.at + _TICK_S:
                outcome = Outcome(int(self._state.records.rows["outcome"][index])).label
                self._end(name, now, "done", f"it was visited since: {outcome}")
            else:
                continue
            ended = True
        return ended

    def learned(self, visit: Remembered) -> None:
        """End every check of a page whose visit is remembered."""
        event = visit.event
        self._asked.discard(event.slot)
        for name, check in list(self._state.steered.checks.items()):
            if check.slot == event.slot:
                self._end(name, event.at + event.fetch_s, "done", told(event))

    def _end(self, name: str, now: float, state: str, result: str) -> None:
        self._partition.remember(Obeyed(name, now, -1, "check", state, result))

    def _host(self, slot: int) -> Host:
        return self._frontier.hosts[int(self._state.known.row(slot)["host"])]


def told(event: Visit) -> str:
    """Describe what a visit found.

    Examples
    --------
    >>> told(Visit(0, 0, 0.0, Outcome.OK, 304, UNCHANGED, wire_bytes=0, fetch_s=0.41))
    'unchanged: status 304, 0 bytes, 0.4 s'
    """
    found = Outcome(event.outcome).label
    if event.flags & (UNCHANGED | CHANGED):
        found = "unchanged" if event.flags & UNCHANGED else "changed"
    status = f"status {event.status}" if event.status else event.error or "no answer"
    return f"{found}: {status}, {event.wire_bytes} bytes, {event.fetch_s:.1f} s"
