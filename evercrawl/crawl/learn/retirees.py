"""Retired pages, which are requested again only when they are announced as changed or newly linked to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.reserved import reserve
from evercrawl.model.rules.waits import again_at
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.records.retired import retired
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Slots


class Retirees:
    """Keeps the marks of retired pages, and queues a page again that is announced as changed or newly linked to.

    A page that is queued again is visited when the policy chooses it, but not before the wait of a page that was found
    gone as often. This wait doubles each time that the news proves false.

    Parameters
    ----------
    state, frontier
        The state, and the queues in which pages wait.
    refresh_after_s
        Minimum time between two visits of a page that exists.

    Attributes
    ----------
    moved_bytes
        Bytes of the marks that lie in a file (`arrays/shelf.py`).
    """

    def __init__(self, state: State, frontier: Frontier, refresh_after_s: float) -> None:
        self._state, self._frontier, self._refresh_after_s = state, frontier, refresh_after_s
        self._retired: NDArray[np.bool_] = reserve(np.bool_, len(state.table.cash))  # by slot
        rows = state.records.rows[: state.records.count]
        slots = rows["slot"][retired(rows)]
        self._retired[slots] = True
        self._some, self.moved_bytes = len(slots) > 0, 0

    @property
    def nbytes(self) -> int:
        """Memory in use, in bytes; 0 before the first page retires."""
        return self._state.known.count * self._retired.itemsize - self.moved_bytes if self._some else 0

    def reserved(self) -> tuple[NDArray[Any], int]:
        """Return the marks of all slots, and the number of them in use."""
        return self._retired, self._state.known.count if self._some else 0

    def visited(self, slot: int) -> bool:
        """Return whether a page is retired after its last visit, and update its mark."""
        index = self._state.record_of(slot)
        found = index is not None and bool(retired(self._state.records.rows[index : index + 1])[0])
        self._some = self._some or found
        if self._some:
            self._retired[slot] = found
        return found

    def queued(self, slots: Slots) -> None:
        """Clear the marks of pages that are queued."""
        if self._some:
            self._retired[slots] = False

    def announced(self, slot: int, date: float) -> None:
        """Queue a retired page again if it was announced as changed after its last visit."""
        if self._retired[slot] and date > self._state.visited_at(slot):
            self._ask(slot)

    def linked(self, slots: Slots, before: bytes) -> None:
        """Queue retired pages again that a page links to but did not link to `before`, its encoded old links."""
        if not self._some:
            return
        known = slots[slots != NO_SLOT]
        found = known[self._retired[known]]
        for slot in np.setdiff1d(found, decode_slots(before)).tolist() if len(found) else ():
            self._ask(slot)

    def _ask(self, slot: int) -> None:
        index = self._state.record_of(slot)
        assert index is not None, "a retired page was visited"
        self._retired[slot] = False
        row = self._state.records.rows[index : index + 1]
        until = float(again_at(self._state, row["visited"], row["misses"], self._refresh_after_s)[0])
        self._frontier.add_seen(int(row["host"][0]), slot, not_before=until)
