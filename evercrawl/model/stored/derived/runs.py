"""All runs of a crawl as one: visits by number, by page and by target."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.model.stored.derived.column_file import grouped
from evercrawl.model.stored.derived.kinds import NONE, PageStates, brings_version
from evercrawl.model.stored.derived.run import DerivedRun
from evercrawl.model.stored.derived.visit_columns import EXTERNAL, ROW, THROUGH
from evercrawl.types import Flags, Ints, Slots


class SeenLinks(NamedTuple):
    """Links to a page, shape (n,) each: the visits that saw them; whether they cross sites, or only redirect."""

    visit: Ints
    external: Flags
    through: Flags


class Runs:
    """Consecutive runs, in order.

    Attributes
    ----------
    visits
        Number of visits; those with larger numbers, which another process may have derived, are ignored.
    """

    def __init__(self, runs: Sequence[DerivedRun], upto_event: int | None = None) -> None:
        self.runs = list[DerivedRun]()
        self._firsts = np.zeros(0, np.int64)
        self.visits = 0
        for run in runs:
            self.add(run)
            if upto_event is not None and run.header.upto_event > upto_event:
                start, _ = run.spans("number", np.array([upto_event], np.uint64))
                self.visits = run.header.first_visit + int(start[0])
                break

    def add(self, run: DerivedRun) -> None:
        """Add a run that begins where the last one ends."""
        self.runs.append(run)
        self._firsts = np.append(self._firsts, run.header.first_visit)
        self.visits = run.header.first_visit + run.header.visits

    def slice(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Return the values of a column of visits [start, stop)."""
        parts = list[NDArray[Any]]()
        for run in self.runs:
            first = run.header.first_visit
            if first < stop and start < first + run.header.visits:
                parts.append(run.slice(name, max(start - first, 0), min(stop - first, run.header.visits)))
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def take(self, name: str, visits: Ints) -> NDArray[Any]:
        """Return the values of a column of some visits, shape (n,)."""
        if not len(visits):
            return self.runs[0].slice(name, 0, 0) if self.runs else np.zeros(0, np.int64)
        which = np.searchsorted(self._firsts, visits, "right") - 1
        found: NDArray[Any] | None = None
        for number, here in grouped(which):
            values = self.runs[number].take(name, visits[here].astype(np.int64) - self._firsts[number])
            if found is None:
                found = np.empty(len(visits), values.dtype)
            found[here] = values
        assert found is not None
        return found

    def after(self, event: int) -> int:
        """Return the number of the first visit whose event has this number or a later one."""
        for run in self.runs:
            if run.header.upto_event > event:
                start, _ = run.spans("number", np.array([event], np.uint64))
                return min(run.header.first_visit + int(start[0]), self.visits)
        return self.visits

    def of_page(self, slot: int) -> Ints:
        """Return the visits of a page in order."""
        parts = list[Ints]()
        for run in self.runs:
            (start,), (stop,) = run.spans("page_slot", np.array([slot], np.uint32))
            if start < stop:
                parts.append(run.slice("page_row", int(start), int(stop)).astype(np.int64) + run.header.first_visit)
        visits = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return visits[visits < self.visits]

    def to_page(self, slot: int) -> SeenLinks:
        """Return all links to a page ever seen, including those in older contents of their pages."""
        visits, bits = list[Ints](), list[NDArray[np.uint32]]()
        for run in self.runs:
            (start,), (stop,) = run.spans("link_target", np.array([slot], np.uint32))
            if start < stop:
                row: NDArray[np.uint32] = run.slice("link_row", int(start), int(stop))
                visits.append((row & ROW).astype(np.int64) + run.header.first_visit)
                bits.append(row)
        if not visits:
            return SeenLinks(np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros(0, np.bool_))
        visit, row = np.concatenate(visits), np.concatenate(bits)
        seen = visit < self.visits
        return SeenLinks(visit[seen], (row[seen] & EXTERNAL) != 0, (row[seen] & THROUGH) != 0)

    def states(self, slots: Slots) -> PageStates:
        """Return the state of pages, by ascending distinct slots, shape (n,), after all visits."""
        found = PageStates(np.zeros(len(slots), np.uint8), np.full(len(slots), NONE, np.uint32))
        left = np.arange(len(slots))
        for run in reversed(self.runs):
            if not len(left):
                break
            starts, stops = run.spans("page_slot", slots[left])
            here = starts < stops
            rows = run.take("page_row", stops[here] - 1).astype(np.int64)
            own = brings_version(run.take("outcome", rows), run.take("flags", rows))
            places = left[here]
            found.outcome[places] = run.take("state", rows)
            found.version[places] = np.where(own, rows + run.header.first_visit, run.take("before", rows))
            left = left[~here]
        return found

    def gathered(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns other than those of visits, over all runs, by name."""
        return {name: np.concatenate([run.slice(name) for run in self.runs] or [np.zeros(0)]) for name in names}
