"""Cohorts: pages of a site that changed in the same hour, as far as dates tell."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.numbering import Numbering
from evercrawl.arrays.saved import SavedRows
from evercrawl.schedule.clocks._layout import GROUP, NONE
from evercrawl.schedule.pages import Visits
from evercrawl.types import Keys, Slots

_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_FEW: Final = 1024  # cohorts that may be kept though nobody is in them


class Cohorts:
    """Which pages changed together the last time, and what became of them since.

    A page is in one cohort at most, so that those which have pages are no more than pages; the others are forgotten
    when there are as many again.
    """

    def __init__(self) -> None:
        self.groups = SavedRows(GROUP)
        self._by_key = Numbering()
        self._most = SavedRows("i8")
        self._most.upto(1)[0] = _FEW
        self._most.changed.note(0)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.groups.nbytes + self._by_key.nbytes

    def join(self, visits: Visits, rows: NDArray[Any], near_s: float) -> None:
        """Let pages that changed, or are new, belong to those that changed in the same `near_s` of time."""
        rows["cohort"][visits.rows] = NONE
        has_date = ~np.isnan(visits.age_s)
        if has_date.any():
            dated = visits.take(has_date)
            rows["cohort"][dated.rows] = self._by_key.of(_keys(dated, near_s))
            known = len(self.groups)
            self.groups.upto(len(self._by_key))
            self.groups.changed.note_rows(known, len(self.groups))

    def forget_empty(self, rows: NDArray[Any]) -> None:
        """Forget cohorts that no page is in any more, if there may be many; pages get the others' new numbers."""
        if len(self.groups) <= self._most.all()[0]:
            return
        inside = rows["cohort"] != NONE
        used, numbers = np.unique(rows["cohort"][inside], return_inverse=True)
        rows["cohort"][inside] = numbers
        keys, groups = self._by_key.keys()[used], self.groups.all()[used]
        self._by_key.restore(keys)
        self.groups.restore(groups)
        self._most.all()[0] = 2 * len(used) + _FEW
        self._most.changed.note(0)

    def tables(self) -> dict[str, SavedRows]:
        """Return all there is to them but keys, by name."""
        return {"cohorts": self.groups, "cohorts_most": self._most}

    def numberings(self) -> dict[str, Numbering]:
        """Return the keys' numbers, by name."""
        return {"by_cohort": self._by_key}


def _keys(visits: Visits, near_s: float) -> Keys:
    """Return a key of each page's site and of the time in which it changed, none of them 0."""
    hour = np.floor((visits.at - visits.age_s) / near_s).astype(np.int64).astype(np.uint64)
    site: Slots = visits.site
    keys = (hour + np.uint64(1)) * _ODD ^ (site.astype(np.uint64) << np.uint64(40))
    return np.maximum(keys, np.uint64(1))
