"""What unread pages turn out to be, learned from the journal's events: the same live and when they are read again."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from numpy.typing import NDArray

from evercrawl.schedule.shared.prospects import Prospects
from evercrawl.store.journal.events import MEMBER, Visit
from evercrawl.store.state import State
from evercrawl.store.table.folders import mark
from evercrawl.types import Outcome

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
            found = event.found.hosts.count(event.host) if event.found is not None else 0
            own = bool(event.flags & MEMBER)
            first = _FirstVisit(event.slot, event.host, times.visits(event.host), own, found)
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

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned, to be kept on disk."""
        return {_PREFIX + name: rows for name, rows in self.prospects.state().items()}

    def restore(self, memory: dict[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` returned, and take it out of `memory`.

        Raises
        ------
        ValueError, KeyError
            It is not there, or of another kind; then nothing was restored.
        """
        own = {name: memory.pop(name) for name in list(memory) if name.startswith(_PREFIX)}
        self.prospects.restore({name.removeprefix(_PREFIX): rows for name, rows in own.items()})

    def _learn(self, first: _FirstVisit, url: str) -> None:
        state, slot = self._state, first.slot
        index = state.record_of(slot)
        index = state.lost.get(slot) if index is None else index
        depth = int(state.records.rows["depth"][index]) if index is not None else int(state.known.row(slot)["depth"])
        self.prospects.read(
            first.host, int(state.site_of[first.host]), mark(url), depth,
            visits=first.visits, own=first.own, found=first.found,
        )  # fmt: skip
