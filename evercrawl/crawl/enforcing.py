"""The scope of a crawl, enforced on the pages that it knows: they leave the queues, and come back when a rule goes.

No page is requested that a rule keeps out: each is judged once more when its turn comes, so that a rule holds from the
moment it is set. Beside that all known pages are judged, a few milliseconds' worth in each turn of the loop, so that
those that are kept out take no turns: first every page is judged, then hosts let go of pages that are kept out, then
pages that are kept out no more wait again. Where the rules change meanwhile, it begins anew.
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

PIECE: Final = 1 << 14  # pages of the bags of hosts that are looked at in one turn: a millisecond or two
HOSTS: Final = 1 << 12  # hosts, likewise
LIFTED: Final = 1 << 12  # pages, likewise
AT_ONCE: Final = 64  # pages that may be given up between two turns of the loop
_JUDGING, _DROPPING, _LIFTING, _DONE = range(4)
NOTE: Final = "barred"
"""The state's note of how many known pages the rules keep out."""


class Enforcing:
    """Sees to it that the rules hold for the pages that wait.

    Parameters
    ----------
    partition, scope, barred, frontier
        What is known, the rules, what they keep out, and where pages wait.
    refresh_after_s
        Least time between two visits of a page.
    in_order
        Whether new pages are wanted in the order of discovery.
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
        self._version, self._phase = scope.version if scope.open else -1, _DONE
        self._at = 0  # next slot, or host
        self._left = 0  # pages in the bag of that host that are yet to be looked at, where it has too many for a turn
        self._given_up = 0  # pages since the last turn

    @property
    def busy(self) -> bool:
        """Whether pages are left to be judged, dropped or queued again by the rules of now."""
        return self._phase != _DONE or self._version != self._scope.version

    @property
    def crowded(self) -> bool:
        """Whether so many pages were given up since the last turn that others should have theirs first."""
        return self._given_up >= AT_ONCE

    def keeps_out(self, slot: int, url: str) -> bool:
        """Whether a page whose turn has come must not be requested; then it waits no more."""
        if self._state.forgotten.has(slot):
            return True
        if not self._barred.rule(slot, url):
            return False
        self._barred.drop(slot)
        self._given_up += 1
        return True

    def turn(self, now: float) -> bool:
        """Do a piece of the work; return whether the rules were noted, which is an event."""
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
        if self._at >= self._state.known.count:  # what comes to be known from now on is judged before
            self._next(_DROPPING if self._barred.count else _LIFTING)

    def _note(self, now: float) -> bool:
        """Journal since when the rules hold, where they keep a known page out or others were noted before."""
        noted, rules = self._state.steered.bounds, self._scope.rules()
        if noted.keys() == set(rules) or not (noted or self._barred.count):
            return False
        self._partition.remember(Bounded(now, {rule: noted.get(rule, now) for rule in rules}))
        return True

    def _drop(self) -> None:
        """Let some hosts, or a part of one that has many pages, let go of what is kept out."""
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
        """Let some pages wait again that a rule kept out."""
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
