"""Retired pages: asked for no more, unless something new is said of them."""

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
    """Knows the retired pages, and has one asked for again that is announced as changed since, or newly linked to.

    It is queued as others are, to be visited when the policy wants it, and not before it has waited for as long as one
    that was found gone as often: each time that the news was false, twice as long.

    Parameters
    ----------
    state, frontier
        Knows of all pages, and queues them.
    refresh_after_s
        Least time between two visits of a page that is there.

    Attributes
    ----------
    moved_bytes
        How much of the marks lies in a file (`arrays/shelf.py`).
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
        """Bytes of memory in use: none before the first page retires."""
        return self._state.known.count * self._retired.itemsize - self.moved_bytes if self._some else 0

    def reserved(self) -> tuple[NDArray[Any], int]:
        """Return the marks of all slots, and how many of them are in use."""
        return self._retired, self._state.known.count if self._some else 0

    def visited(self, slot: int) -> bool:
        """Return whether a page is retired by what its last visit found."""
        index = self._state.record_of(slot)
        found = index is not None and bool(retired(self._state.records.rows[index : index + 1])[0])
        self._some = self._some or found
        if self._some:
            self._retired[slot] = found
        return found

    def queued(self, slots: Slots) -> None:
        """Take note of pages that wait to be asked for, whatever they were."""
        if self._some:
            self._retired[slots] = False

    def announced(self, slot: int, date: float) -> None:
        """Have a page asked for again that is said to have changed after its last visit."""
        if self._retired[slot] and date > self._state.visited_at(slot):
            self._ask(slot)

    def linked(self, slots: Slots, before: bytes) -> None:
        """Have those asked for again that a page links to, and did not `before`, by its links as its event has them."""
        if not self._some:
            return
        known = slots[slots != NO_SLOT]
        found = known[self._retired[known]]
        for slot in np.setdiff1d(found, decode_slots(before)).tolist() if len(found) else ():
            self._ask(slot)

    def _ask(self, slot: int) -> None:
        index = self._state.record_of(slot)
        assert index is not None, "who is retired was visited"
        self._retired[slot] = False
        row = self._state.records.rows[index : index + 1]
        until = float(again_at(self._state, row["visited"], row["misses"], self._refresh_after_s)[0])
        self._frontier.add_seen(int(row["host"][0]), slot, not_before=until)
