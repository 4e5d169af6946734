"""Cohorts: pages of a site that changed in the same hour, according to dates."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.numbering import Numbering
from evercrawl.arrays.rows import Rows
from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.clocks._layout import GROUP, NONE
from evercrawl.schedule.pages import Visits
from evercrawl.types import Keys, Slots

_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


class Cohorts:
    """The groups of pages that changed together the last time, and their changes since.

    A page is in at most one cohort, so there are no more non-empty cohorts than pages. An empty cohort is removed, and
    its number is reused.
    """

    def __init__(self) -> None:
        self.groups = SavedRows(GROUP)
        self._by_key = Numbering()
        self._pages = Rows("u4")  # number of pages in each cohort
        self._left = list[Slots]()  # cohorts that pages have left

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return self.groups.nbytes + self._by_key.nbytes + self._pages.nbytes

    def join(self, visits: Visits, rows: NDArray[Any], near_s: float) -> None:
        """Assign pages that changed, or are new, to the cohort of pages that changed in the same `near_s` of time."""
        before = rows["cohort"][visits.rows]
        left: Slots = before[before != NONE]
        if len(left):
            np.subtract.at(self._pages.all(), left, np.uint32(1))
            self._left.append(left)
        rows["cohort"][visits.rows] = NONE
        has_date = ~np.isnan(visits.age_s)
        if has_date.any():
            dated = visits.take(has_date)
            rows["cohort"][dated.rows] = numbers = self._by_key.of(_keys(dated, near_s))
            known = len(self.groups)
            self.groups.upto(len(self._by_key))
            self.groups.changed.note_rows(known, len(self.groups))
            np.add.at(self._pages.upto(len(self._by_key)), numbers, np.uint32(1))

    def forget_empty(self) -> None:
        """Remove cohorts that have lost their last page."""
        if not self._left:
            return
        left, self._left = np.unique(np.concatenate(self._left)), []
        empty = left[self._pages.all()[left] == 0]
        if len(empty):
            self._by_key.forget(empty)
            self.groups.all()[empty] = 0
            self.groups.note(empty)

    def restored(self, rows: NDArray[Any]) -> None:
        """Update derived state after the tables and pages were restored."""
        inside = rows["cohort"][rows["cohort"] != NONE]
        self._pages.restore(np.bincount(inside, minlength=len(self.groups)).astype(np.uint32))
        there: NDArray[np.bool_] = (self._pages.upto(0) == 0) & (self._by_key.keys() != 0)
        self._left = [np.flatnonzero(there).astype(np.uint32)]

    def tables(self) -> dict[str, SavedRows]:
        """Return the whole state except keys, by name."""
        return {"cohorts": self.groups}

    def numberings(self) -> dict[str, Numbering]:
        """Return the numbers of the keys, by name."""
        return {"by_cohort": self._by_key}


def _keys(visits: Visits, near_s: float) -> Keys:
    """Return a key of each page's site and of the time of its change, none of them 0."""
    hour = np.floor((visits.at - visits.age_s) / near_s).astype(np.int64).astype(np.uint64)
    site: Slots = visits.site
    keys = (hour + np.uint64(1)) * _ODD ^ (site.astype(np.uint64) << np.uint64(40))
    return np.maximum(keys, np.uint64(1))
