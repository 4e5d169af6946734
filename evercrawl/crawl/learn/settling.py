"""Importance comes to rest while the crawl waits: pages pass on what they have got without being visited.

A visit passes on all that a page has by then. What comes later lies with the page until its next visit, and a page that
was read early, when its site had shown little, has passed on more than is its due. So when there is nothing else to do
the records are gone through, round and round, and a page whose residual r is large beside what it has, x + r, passes it
on along the links of its last event. How large is large follows from how much there is to do: the bar falls by half
after a round in which few had so much, and doubles where pages pass on more often than they are visited.
"""

from typing import Any, Final

import numpy as np

from evercrawl.crawl.learn.cash import Cashier
from evercrawl.store.journal.events import Passed, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.records import MEMBER
from evercrawl.store.state import State
from evercrawl.types import Floats, Outcome, Slots

LOWEST: Final = 0.02
"""Part of what a page has, below which a residual is left alone."""
HIGHEST: Final = 2.0
TOGETHER: Final = 32  # pages that pass on in one turn: a millisecond or two
PIECE: Final = 4096  # records looked at in one turn
A_VISIT: Final = 1.0  # how often pages pass on for each visit, while there are visits
FEW: Final = 0.01  # of the records of a round


class Settling:
    """Passes cash on, a little at a time.

    Parameters
    ----------
    partition
        Whose cash.
    cashier
        Says what a page passes on.

    Attributes
    ----------
    bar
        Part of what a page has, from which on a residual is passed on.
    """

    def __init__(self, partition: Partition, cashier: Cashier) -> None:
        self._partition, self._state, self._cashier = partition, partition.state, cashier
        self.bar = HIGHEST
        self._at = 0  # the record that is looked at next
        self._passed = 0  # in this round
        self._allowed = 0.0
        self._seen = self._state.visits
        self._quiet = False  # a whole round at the lowest bar found nothing, and nothing has happened since

    @property
    def busy(self) -> bool:
        """Whether there may be something to pass on."""
        return not self._quiet or self._state.visits != self._seen

    def turn(self, now: float) -> int:
        """Look at some records; return how many pages have passed something on."""
        visits = self._state.visits - self._seen
        self._seen = self._state.visits
        if visits:
            self._quiet = False
        elif self._quiet:
            return 0
        self._allowed = min(self._allowed + A_VISIT * visits, TOGETHER) if visits else TOGETHER
        if self._allowed < 1.0:
            self.bar = min(2.0 * self.bar, HIGHEST)
            return 0
        found, whole = self._next(int(self._allowed))
        for slot in found.tolist():
            self._pass_on(slot, now)
        self._allowed -= len(found)
        self._passed += len(found)
        if whole:  # else the same piece again, for there is more
            self._at = min(self._at + PIECE, self._state.records.count)
            self._round()
        return len(found)

    def _next(self, most: int) -> tuple[Slots, bool]:
        """Return pages of the next records that have much to pass on, the most first, and whether these are all."""
        rows: Any = self._state.records.rows[self._at : min(self._at + PIECE, self._state.records.count)]
        residual, has = residuals(self._state, rows)
        much = np.flatnonzero(residual > self.bar * has)
        slots: Slots = rows["slot"][much[np.argsort(-residual[much], kind="stable")][:most]]
        return slots, len(much) <= most

    def _round(self) -> None:
        """Begin anew after the last record, with another bar where there was little to do."""
        count = self._state.records.count
        if self._at < count:
            return
        few = self._passed <= FEW * count
        self._quiet = few and self.bar <= LOWEST and not self._passed
        self.bar = max(self.bar / 2.0, LOWEST) if few else self.bar
        self._at = self._passed = 0

    def _pass_on(self, slot: int, now: float) -> None:
        row = self._state.records.rows[self._state.table.record.item(slot)]
        pass_on(self._partition, self._cashier, slot, int(row["event"]), now)


def residuals(state: State, rows: Any) -> tuple[Floats, Floats]:
    """Return the size of residuals, 0 where nothing is given, and what pages have with them; shape (n,) each.

    Parameters
    ----------
    state, rows
        A crawl, and records of it.
    """
    part = state.accounts.shares(state.site_of[rows["host"]]) * ((rows["flags"] & MEMBER) != 0)
    residual = state.table.cash[rows["slot"]] + part
    gives = (rows["event"] != 0) & (rows["outcome"] != Outcome.GONE) & (rows["outcome"] != 0)
    return np.abs(residual) * gives, np.abs(rows["importance"] + residual)


def pass_on(
    partition: Partition,
    cashier: Cashier,
    slot: int,
    pointer: int,
    now: float,
    held: Visit | None = None,
    *,
    gone: bool = False,
) -> None:
    """Let a page pass on what it has, if that is anything.

    Parameters
    ----------
    partition, cashier
        The crawl, and who says what a page passes on.
    slot, pointer, held
        The page; the event along whose links its cash goes, 0 for none; and that event, where it is at hand.
    now
        Seconds since the epoch.
    gone
        As for `Cashier.passed`.
    """
    if held is None and pointer:
        found = partition.journal.read(pointer)
        assert isinstance(found, Visit), "links are those of a visit"
        held = found
    passing = cashier.passed(slot, held, gone=gone)
    if passing.transfer:
        partition.remember(Passed(slot, now, pointer, *passing), held)
