"""Settling of importance while the crawl waits: pages pass on their residuals without being visited.

A visit passes on all that a page has received by then. What the page receives later stays with it until its next visit;
and a page that was read early, when little of its site was known, has passed on too much. So when the crawl has nothing
else to do, it goes through the records again and again. A page whose residual r is large relative to its value with the
residual, x + r, passes r on along the links of its last event. The bar for "large" adapts to the amount of work: it
halves after a round in which few pages exceeded it, and doubles when pages pass on more often than they are visited.
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
"""Lowest bar: a residual that is a smaller part of its page's value is left alone."""
HIGHEST: Final = 2.0
TOGETHER: Final = 32  # pages that pass on in one turn: one or two milliseconds
PIECE: Final = 4096  # records examined in one turn
A_VISIT: Final = 1.0  # pages that pass on for each visit, while there are visits
FEW: Final = 0.01  # share of the records of a round that counts as few


class Settling:
    """Lets pages pass on their residuals, a few in each turn.

    Parameters
    ----------
    partition
        The crawl directory.
    cashier
        Computes what a page passes on.

    Attributes
    ----------
    bar
        A residual is passed on if it exceeds this part of its page's value.
    """

    def __init__(self, partition: Partition, cashier: Cashier) -> None:
        self._partition, self._state, self._cashier = partition, partition.state, cashier
        self.bar = HIGHEST
        self._at = 0  # the next record to examine
        self._passed = 0  # pages that passed on in this round
        self._allowed = 0.0
        self._seen = self._state.visits
        self._quiet = False  # a whole round at the lowest bar found nothing, and nothing has happened since

    @property
    def busy(self) -> bool:
        """Whether a page may have something to pass on."""
        return not self._quiet or self._state.visits != self._seen

    def turn(self, now: float) -> int:
        """Examine some records; return how many pages passed something on."""
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
        if whole:  # otherwise the same piece again, because more pages of it exceed the bar
            self._at = min(self._at + PIECE, self._state.records.count)
            self._round()
        return len(found)

    def _next(self, most: int) -> tuple[Slots, bool]:
        """Return pages of the next records that exceed the bar, the largest first, and whether these are all."""
        rows: Any = self._state.records.rows[self._at : min(self._at + PIECE, self._state.records.count)]
        residual, has = residuals(self._state, rows)
        much = np.flatnonzero(residual > self.bar * has)
        slots: Slots = rows["slot"][much[np.argsort(-residual[much], kind="stable")][:most]]
        return slots, len(much) <= most

    def _round(self) -> None:
        """Begin a new round after the last record, with a lower bar if few pages passed on."""
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
    """Return the sizes of residuals, 0 for pages that pass nothing on, and the values with them; shape (n,) each.

    Parameters
    ----------
    state, rows
        The state of a crawl, and some of its records.
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
    """Let a page pass on what it has, and remember that as an event; do nothing if it has nothing.

    Parameters
    ----------
    partition, cashier
        The crawl directory, and the cashier that computes what a page passes on.
    slot, pointer, held
        The page; the position of the event along whose links its cash goes, 0 for none; and that event, if it is
        already loaded.
    now
        The current time, in seconds since the epoch.
    gone
        The parameter of `Cashier.passed` with this name.
    """
    if held is None and pointer:
        found = partition.journal.read(pointer)
        assert isinstance(found, Visit), "only visits have links"
        held = found
    passing = cashier.passed(slot, held, gone=gone)
    if passing.transfer:
        partition.remember(Passed(slot, now, pointer, *passing), held)
