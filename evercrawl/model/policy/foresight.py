"""Prospects of unread pages, learned from the journal's events; live learning and replay give the same result."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.saved import SavedRows
from evercrawl.model.rules.named_by_others import is_named_by_others
from evercrawl.schedule.shared.prospects import Prospects
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import MEMBER, Visit
from evercrawl.store.state import State
from evercrawl.store.table.folders import mark, marks
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import NO_SLOT, Outcome

_PREFIX: Final = "foresight."  # prefix of its arrays among those of the policy's lessons
_MANY: Final = 4096  # pages whose URLs are looked up in one batch
_UNTOLD: Final = (Outcome.ERROR, Outcome.REFUSED)


class _FirstVisit(NamedTuple):
    """A page's first visit, in a folder that no visit has reached yet."""

    slot: int
    host: int
    visits: int
    own: bool
    found: int
    targets: bytes
    ours: tuple[str, ...]
    first_slot: int


class Foresight:
    """Feeds every visit to `Prospects`, in order.

    Parameters
    ----------
    state
        The state of the pages.
    rest_s
        Pause of a host after a visit, in seconds.

    Attributes
    ----------
    prospects
        The statistics learned.
    """

    def __init__(self, state: State, rest_s: float) -> None:
        self.prospects = Prospects()
        self._state, self._rest_s = state, rest_s
        self._firsts: list[_FirstVisit] = []

    def take(self, event: Visit, url: str = "") -> None:
        """Record a visit; a missing URL is looked up at the next `flush`, in a batch."""
        if event.outcome == Outcome.REFUSED:
            return
        times = self.prospects.times
        times.visited(event.host, event.slot, event.at, event.fetch_s, self._rest_s)
        if event.visits == 1 and event.outcome not in _UNTOLD:
            own = bool(event.flags & MEMBER)
            if not own and is_named_by_others(self._state, event.slot):
                return  # what others name and is not there says nothing of what the site's own pages link to
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
        """Learn from the visits whose URLs have yet to be looked up."""
        firsts, self._firsts = self._firsts, []
        for first, url in zip(firsts, self._state.urls.get_many([first.slot for first in firsts]), strict=True):
            self._learn(first, url)

    def saved_rows(self) -> dict[str, SavedRows]:
        """Return the arrays that are saved in blocks."""
        return {_PREFIX + name: rows for name, rows in self.prospects.saved_rows().items()}

    def rest(self) -> dict[str, NDArray[Any]]:
        """Return everything learned that is not saved in blocks."""
        return {_PREFIX + name: rows for name, rows in self.prospects.rest().items()}

    def resume(self, memory: dict[str, NDArray[Any]]) -> None:
        """Restore from `rest`, removing it from `memory`, once the rows saved in blocks are restored.

        Raises
        ------
        ValueError, KeyError
            It is missing, or of another type.
        """
        self.prospects.resume(_own(memory))

    def restore(self, memory: dict[str, NDArray[Any]]) -> None:
        """Restore everything learned, rows and rest, removing it from `memory`.

        Raises
        ------
        ValueError, KeyError
            It is missing, or of another type; nothing is restored then.
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
        """Return the number of links to known URLs of that kind at the same depth or deeper."""
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
    """Return this object's arrays by their local names, and remove them from `memory`."""
    names = [name for name in memory if name.startswith(_PREFIX)]
    return {name.removeprefix(_PREFIX): memory.pop(name) for name in names}
