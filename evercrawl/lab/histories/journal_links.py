"""Links of pages as a crawl saw them come and go."""

from array import array

import numpy as np

from evercrawl.lab.histories.history import LinkLog
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import PARTIAL, Visit
from evercrawl.types import NO_SLOT, Ints, Outcome, Slots


class JournalLinks:
    """Compares the links that each visit saw with those that the page had before."""

    def __init__(self) -> None:
        self._held: dict[int, bytes] = {}
        self._at, self._source, self._target, self._present = array("q"), array("q"), array("q"), array("b")

    def read(self, event: Visit) -> bool:
        """Take in the links of a page; return whether they are others than when it was read before.

        Of a page that was not read whole, or that only leads to another, the links are let be.
        """
        if event.flags & PARTIAL or event.outcome == Outcome.TRUNCATED or event.alias != NO_SLOT:
            return False
        before = self._held.get(event.slot)
        self._held[event.slot] = event.targets
        if before == event.targets:
            return False
        had, has = decode_slots(before or b""), decode_slots(event.targets)
        self._take_down(event.slot, event.at, np.setdiff1d(had, has, assume_unique=True), present=False)
        self._take_down(event.slot, event.at, np.setdiff1d(has, had, assume_unique=True), present=True)
        return before is not None

    def end(self, slot: int, at: float) -> None:
        """Let the links of a page end: it is gone."""
        self._take_down(slot, at, decode_slots(self._held.pop(slot, b"")), present=False)

    def _take_down(self, slot: int, at: float, targets: Slots, *, present: bool) -> None:
        self._target.extend(targets.tolist())
        for column, value in ((self._at, int(at)), (self._source, slot), (self._present, present)):
            column.extend([value] * len(targets))

    def log(self, slots: Ints) -> LinkLog:
        """Return the log of the links between some pages, which are numbered by their place in `slots`, ascending."""
        columns = (np.array(each, np.int64) for each in (self._at, self._source, self._target, self._present))
        at, source, target, present = columns
        known = np.isin(source, slots) & np.isin(target, slots)
        rows = np.flatnonzero(known)[np.argsort(at[known], kind="stable")]
        begins, ends = (np.searchsorted(slots, each[rows]) for each in (source, target))
        return LinkLog(at[rows], begins, ends, present[rows].astype(np.bool_))
