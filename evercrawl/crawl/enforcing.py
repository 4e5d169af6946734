"""Enforcement of the scope on known pages: excluded pages leave the queues, and return when the rule is removed.

A page that a rule keeps out is never requested: each page is judged again when its turn comes, so a rule holds from
the moment it is set. In addition, all known pages are judged in the background, for a few milliseconds in each turn
of the loop, so that excluded pages take no turns. The work has three phases: every page is judged, then excluded
pages are dropped from the queues of their hosts, then pages that are no longer excluded are queued again. If the
rules change meanwhile, the work starts over.
"""

from typing import Final

import numpy as np

from evercrawl.model.rules.barred import Barred
from evercrawl.model.rules.scope import Scope
from evercrawl.model.rules.waits import again_at
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.store.journal.events import Bounded
from evercrawl.store.partition import Partition
from evercrawl.store.resuming import to_try_of

PIECE: Final = 1 << 14  # queued pages examined in one turn: one or two milliseconds
HOSTS: Final = 1 << 12  # hosts examined in one turn
LIFTED: Final = 1 << 12  # pages examined in one turn for being queued again
AT_ONCE: Final = 64  # pages that may be given up between two turns of the loop
_JUDGING, _DROPPING, _LIFTING, _DONE = range(4)
NOTE: Final = "barred"
"""Name of the state's note with the number of known pages that the rules keep out."""


class Enforcing:
    """Enforces the rules of the scope on waiting pages.

    Parameters
    ----------
    partition, scope, barred, frontier
        The crawl directory, the rules, the pages that they keep out, and the queues in which pages wait.
    refresh_after_s
        Minimum time between two visits of a page.
    in_order
        Whether new pages must be visited in the order of discovery.
    """

    def __init__(
        self,
        partition: Partition,
        scope: Scope,
        barred: Barred,
        frontier: Frontier,
        *,
        refresh_after_s: float,
        in_order: bool,
    ) -> None:
        self._partition, self._state = partition, partition.state
        self._scope, self._frontier = scope, frontier
        self._barred = barred
        self._refresh_after_s, self._in_order = refresh_after_s, in_order
        self._version, self._phase = scope.version if scope.open and not partition.state.steered.bounds else -1, _DONE
        self._at = 0  # next slot, or host
        self._left = 0  # pages in the queue of that host still to be examined, if it has too many for one turn
        self._given_up = 0  # pages given up since the last turn

    @property
    def busy(self) -> bool:
        """Whether pages are left to be judged, dropped or queued again by the current rules."""
        return self._phase != _DONE or self._version != self._scope.version

    @property
    def crowded(self) -> bool:
        """Whether enough pages were given up since the last turn that other work should run first."""
        return self._given_up >= AT_ONCE

    def keeps_out(self, slot: int, url: str) -> bool:
        """Return whether a page whose turn has come must not be requested; if so, it leaves the queue."""
        if self._state.forgotten.has(slot):
            return True
        if not self._barred.rule(slot, url):
            return False
        self._barred.drop(slot)
        self._given_up += 1
        return True

    def turn(self, now: float) -> bool:
        """Do a piece of the work; return whether it wrote the rules to the journal as an event."""
        self._given_up = 0
        if not self.busy:
            return False
        if self._version != self._scope.version:
            self._version, self._phase, self._at, self._left = self._scope.version, _JUDGING, 0, 0
        {_JUDGING: self._judge, _DROPPING: self._drop, _LIFTING: self._lift}[self._phase]()
        self._state.notes[NOTE] = float(self._barred.count)
        return self._note(now)

    def _next(self, phase: int) -> None:
        self._phase, self._at = phase, 0

    def _judge(self) -> None:
        if self._at < self._state.known.count:
            self._at = self._barred.judge(self._at)
        if self._at >= self._state.known.count:  # URLs that become known from now on are judged first
            self._next(_DROPPING if self._barred.count else _LIFTING)

    def _note(self, now: float) -> bool:
        """Write to the journal when the rules took effect, if they keep a known page out or replace noted rules."""
        noted, rules = self._state.steered.bounds, self._scope.rules()
        if noted.keys() == set(rules) or not (noted or self._barred.count):
            return False
        self._partition.remember(Bounded(now, {rule: noted.get(rule, now) for rule in rules}))
        return True

    def _drop(self) -> None:
        """Drop excluded pages from the queues of some hosts, or from a part of the queue of one large host."""
        first, hosts = self._at, len(self._state.hosts)
        last = min(first + HOSTS, hosts)
        new, seen = self._frontier.queued_on(first, last)
        together = int(np.searchsorted(np.cumsum(new + seen), PIECE, side="right"))
        most = PIECE
        if together:
            self._at = first + together
        elif first < hosts:
            self._left = self._left or int(new[0])
            most = self._left if self._in_order else min(self._left, PIECE)
            self._left -= most
            self._at = first if self._left else first + 1
        self._frontier.drop(first, max(self._at, min(first + 1, hosts)), self._barred.bits, self._barred.dropped, most)
        if self._at >= len(self._state.hosts):
            self._next(_LIFTING)

    def _lift(self) -> None:
        """Queue some pages again that a rule kept out before."""
        first = self._at
        slots, self._at = self._barred.lifted(first, LIFTED)
        last = self._at
        if self._at >= self._state.known.count:
            self._next(_DONE)
        if not len(slots):
            return
        new, seen = to_try_of(self._state, slots)
        hosts = self._state.known.rows(first, last)["host"]
        self._frontier.fill(hosts[new - first], new, new=True)
        records, rows = self._state.table.record[seen], self._state.records.rows
        not_before = again_at(self._state, rows["visited"][records], rows["misses"][records], self._refresh_after_s)
        self._frontier.fill(hosts[seen - first], np.ascontiguousarray(seen), new=False, not_before=not_before)
