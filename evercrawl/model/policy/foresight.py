"""What unread pages turn out to be, learned from the journal's events: the same live and when they are read again."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.shared.prospects import Prospects
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import MEMBER, Visit
from evercrawl.store.state import State
from evercrawl.store.table.folders import mark, marks
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import NO_SLOT, Outcome

_PREFIX: Final = "foresight."  # of its arrays, among those of what a policy learned
_MANY: Final = 4096  # pages whose URLs are looked up at once
_UNTOLD: Final = (Outcome.ERROR, Outcome.REFUSED)


class _FirstVisit(NamedTuple):
    """A page that was asked for the first time, in whose folder nobody has looked yet."""

    slot: int
    host: int
    visits: int
    own: bool
    found: int
    targets: bytes
    ours: tuple[str, ...]
    first_slot: int


class Foresight:
    """Tells `Prospects` of every visit, in order.

    Parameters
    ----------
    state
        Where pages are.
    rest_s
        How long hosts rest after a visit.

    Attributes
    ----------
    prospects
        What was learned.
    """

    def __init__(self, state: State, rest_s: float) -> None:
        self.prospects = Prospects()
        self._state, self._rest_s = state, rest_s
        self._firsts: list[_FirstVisit] = []

    def take(self, event: Visit, url: str = "") -> None:
        """Take note of a visit; without its URL, that is looked up at the next `flush`, with those of others."""
        if event.outcome == Outcome.REFUSED:
            return
        times = self.prospects.times
        times.visited(event.host, event.slot, event.at, event.fetch_s, self._rest_s)
        if event.visits == 1 and event.outcome not in _UNTOLD:
            own = bool(event.flags & MEMBER)
            ours, upto = tuple[str, ...](), NO_SLOT
            if (found := event.found) is not None:
                ours, upto = (
                    tuple(u for u, h in zip(found.urls, found.hosts, strict=True) if h == event.host),
                    found.first_slot,
                )
            first = _FirstVisit(
                event.slot, event.host, times.visits(event.host), own, len(ours), event.targets, ours, upto
            )
            if url:
                self._learn(first, url)
            else:
                self._firsts.append(first)
                if len(self._firsts) >= _MANY:
                    self.flush()

    def flush(self) -> None:
        """Learn from the visits whose URLs were not looked up yet."""
        firsts, self._firsts = self._firsts, []
        for first, url in zip(firsts, self._state.urls.get_many([first.slot for first in firsts]), strict=True):
            self._learn(first, url)

    def saved_rows(self) -> dict[str, SavedRows]:
        """Return what is saved block by block of all that was learned."""
        return {_PREFIX + name: rows for name, rows in self.prospects.saved_rows().items()}

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return the rest of what was learned."""
        return {_PREFIX + name: rows for name, rows in self.prospects.rest().items()}

    def resume(self, memory: dict[str, NDArray[Any]]) -> None:
        """Go on from `rest`, and take it out of `memory`, once the saved rows are what they were.

        Raises
        ------
        ValueError, KeyError
            It is not there, or of another kind.
        """
        self.prospects.resume(_own(memory))

    def restore(self, memory: dict[str, NDArray[Any]]) -> None:
        """Go on from all that was learned, rows and rest, and take it out of `memory`.

        Raises
        ------
        ValueError, KeyError
            It is not there, or of another kind; then nothing was restored.
        """
        self.prospects.restore(_own(memory))

    def _learn(self, first: _FirstVisit, url: str) -> None:
        state, slot = self._state, first.slot
        index = state.record_of(slot)
        index = state.lost.get(slot) if index is None else index
        depth = int(state.records.rows["depth"][index]) if index is not None else int(state.known.row(slot)["depth"])
        kind = mark(url)
        met = self._met(first, kind, depth)
        self.prospects.read(
            first.host, int(state.site_of[first.host]), kind, depth, visits=first.visits, own=first.own,
            found=first.found, links=met + sum(mark(one) == kind for one in first.ours), met=met,
        )  # fmt: skip

    def _met(self, first: _FirstVisit, kind: int, depth: int) -> int:
        """Return how many links there are to URLs that were known before, are of that kind, and no less deep."""
        state, slots = self._state, decode_slots(first.targets)
        slots = slots[slots < first.first_slot]
        if not len(slots):
            return 0
        cells = state.table.record.take(slots)
        unread = (cells & np.uint32(NO_RECORD)) != 0
        waiting, read = cells[unread], state.records.rows[cells[~unread]]
        met = np.count_nonzero((marks(waiting) == kind) & (waiting & np.uint32(0xFF) >= depth))
        return int(met + np.count_nonzero((read["host"] == first.host) & (read["depth"] >= depth)))


def _own(memory: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return what is of this, by the names that it has there, and take it out of `memory`."""
    names = [name for name in memory if name.startswith(_PREFIX)]
    return {name.removeprefix(_PREFIX): memory.pop(name) for name in names}
