"""The cycles of Tianwang: when each began and ends, its assignment of visits, and what is left of it.

A cycle of the Tianwang crawler visits a number of new URLs, of due pages, and of pages left over from before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple


class Assignment(NamedTuple):
    """The division of a cycle's capacity.

    Attributes
    ----------
    new, due, remained
        Number of visits to unvisited pages; to pages that became due since the last cycle; and to RemainedURLs.
    left_over
        Number of due pages that exceed the capacity and join RemainedURLs.
    idle
        Number of visits not made.
    """

    new: int
    due: int
    remained: int
    left_over: int
    idle: int


def assign(capacity: int, percent: float, new: int, due: int, remained: int) -> Assignment:
    """Return the visits of a cycle, literally as published: the part of new URLs is not given to refresh.

    Parameters
    ----------
    capacity
        N_C, visits per cycle.
    percent
        I, the percentage of the capacity for new URLs.
    new, due, remained
        Number of candidates: unvisited; with a NextCrawlTime since the last cycle; left over from before.

    Examples
    --------
    Of 100 visits 20 are for new URLs. If 50 pages are due, there is room for 30 of those left over; if 120 are due,
    there is room for none, and 40 more are left over.

    >>> assign(100, 20, new=500, due=50, remained=200)
    Assignment(new=20, due=50, remained=30, left_over=0, idle=0)
    >>> assign(100, 20, new=500, due=120, remained=40)
    Assignment(new=20, due=80, remained=0, left_over=40, idle=0)
    >>> assign(100, 20, new=5, due=30, remained=10)
    Assignment(new=5, due=30, remained=10, left_over=0, idle=55)

    References
    ----------
    Meng, Wang, Yan (2006), on the incremental crawler of Tianwang.
    """
    share = share_of_new(capacity, percent)
    room = capacity - share
    taken, taken_new = min(due, room), min(new, share)
    again = min(remained, room - taken)
    return Assignment(taken_new, taken, again, due - taken, capacity - taken_new - taken - again)


def share_of_new(capacity: int, percent: float) -> int:
    """Return the number of a cycle's visits for new URLs: I % of N_C, in whole visits.

    >>> share_of_new(100, 29.0), share_of_new(9, 20.0)
    (29, 1)
    """
    return int(capacity * percent // 100)


_NOTE: Final = "tianwang_"
_NOTED: Final = ("begun_at", "before_at", "ends_at", "round_s", "capacity", "percent", "owed")


@dataclass(slots=True)
class CycleState:
    """The state of a cycle.

    Attributes
    ----------
    begun_at, before_at, ends_at
        Start of the cycle, start of the previous one, and end of the cycle, in seconds since the epoch.
    round_s
        Time needed to visit all pages, as known at the start.
    capacity, percent
        N_C, the capacity in visits, and I, the percentage of it for new URLs.
    owed
        Number of new URLs that earlier cycles visited in excess of their part.
    made_new, made_refresh, made_index
        Visits made so far: to new URLs, to pages that were due or left over, and to index-like pages.
    left_new, left_due, left_remained, left_index
        Rest of the assignment: known new URLs, pages that became due since the previous cycle, RemainedURLs, and
        index-like pages.
    """

    begun_at: float = -math.inf
    before_at: float = -math.inf
    ends_at: float = -math.inf
    round_s: float = 1.0
    capacity: float = 0.0
    percent: float = 0.0
    owed: float = 0.0
    made_new: int = 0
    made_refresh: int = 0
    made_index: int = 0
    left_new: float = 0.0
    left_due: float = 0.0
    left_remained: float = 0.0
    left_index: float = 0.0

    def following(self, now: float, lasts_s: float, round_s: float) -> CycleState:
        """Return the next cycle; it has no assignment yet."""
        return CycleState(now, self.begun_at, now + lasts_s, round_s, owed=max(-self.room_new, 0.0))

    @property
    def room_new(self) -> float:
        """The number of new URLs that may still be visited, including newly found ones; negative if exceeded."""
        if math.isinf(self.begun_at):
            return math.inf
        return share_of_new(int(self.capacity), self.percent) - self.owed - self.made_new

    def assign(self, unread: int, due: int, remained: int, index: int) -> None:
        """Assign visits to the unvisited pages of each kind, within the capacity.

        Examples
        --------
        Five of ten visits are for new URLs, and four pages are due. A run is killed after five visits, two of them to
        new URLs; the next run assigns the work that the first would have done:

        >>> cycle = CycleState(begun_at=0.0, capacity=10, percent=50)
        >>> cycle.assign(unread=9, due=4, remained=9, index=0)
        >>> cycle.left_new, cycle.left_due, cycle.left_remained
        (5.0, 4, 1)
        >>> again = noted(cycle.notes(), 50)
        >>> again.visited(2, 3, 0, 0)
        >>> again.assign(unread=7, due=1, remained=9, index=0)
        >>> again.left_new, again.left_due, again.left_remained
        (3.0, 1, 1)
        """
        capacity = int(self.capacity)
        work = assign(capacity, self.percent, unread + self.made_new, due + self.made_refresh, remained)
        spare = share_of_new(capacity, self.percent) - unread - self.made_new - self.made_index
        self.left_new = min(unread, max(self.room_new, 0))
        self.left_due, self.left_remained = max(work.due - self.made_refresh, 0), work.remained
        self.left_index = min(index, max(spare, 0))

    def visited(self, new: int, due: int, remained: int, index: int) -> None:
        """Subtract visits from the rest of the assignment."""
        self.made_new += new
        self.made_refresh += due + remained
        self.made_index += index
        self.left_new -= new
        self.left_due, self.left_remained = self.left_due - due, self.left_remained - remained
        self.left_index -= index

    @property
    def done(self) -> bool:
        """Whether the assignment is finished."""
        return self.left_new <= 0 and self._left_refresh <= 0

    @property
    def refresh_first(self) -> bool:
        """Whether new URLs have had their part of the cycle so far, and refreshes have not."""
        left, refresh = self._left_refresh, self._left_refresh + self.made_refresh + self.made_index
        return left * (self.left_new + self.made_new) >= self.left_new * refresh

    @property
    def _left_refresh(self) -> float:
        return self.left_due + self.left_remained + self.left_index

    def notes(self) -> dict[str, float]:
        """Return the cycle for a later run, which can count its visits; nothing before the first cycle."""
        found = {_NOTE + name: float(getattr(self, name)) for name in _NOTED}
        begun = math.isfinite(self.begun_at)
        return {name: value for name, value in found.items() if begun and math.isfinite(value)}


def noted(notes: Mapping[str, float], percent: float) -> CycleState:
    """Return the cycle noted by an earlier run, with no visits counted; an ended cycle if none was noted.

    >>> cycle = CycleState(begun_at=100.0, ends_at=160.0, percent=20.0)
    >>> noted(cycle.notes(), percent=20.0) == cycle
    True
    """
    cycle = CycleState(percent=percent)  # crawls of older versions did not note the percentage
    for name in _NOTED:
        if _NOTE + name in notes:
            setattr(cycle, name, float(notes[_NOTE + name]))
    return cycle
