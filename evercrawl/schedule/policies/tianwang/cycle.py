"""One cycle of Tianwang's after the other: when each began and ends, and how much of its work is left.

What one cycle of the Tianwang crawler visits: so many new URLs, so many that are due, and so many left over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple


class Assignment(NamedTuple):
    """How a cycle's capacity is spent.

    Attributes
    ----------
    new, due, remained
        Pages to visit that were never visited; whose time has come since the last cycle; and of RemainedURLs.
    left_over
        Pages that are due and find no room: they join RemainedURLs.
    idle
        Visits that nobody makes.
    """

    new: int
    due: int
    remained: int
    left_over: int
    idle: int


def assign(capacity: int, percent: float, new: int, due: int, remained: int) -> Assignment:
    """Return what a cycle visits, literally as published: the part of new URLs is not given to refresh.

    Parameters
    ----------
    capacity
        N_C, visits a cycle.
    percent
        I, of the capacity, for new URLs.
    new, due, remained
        How many there are of each: never visited; with NextCrawlTime come since the last cycle; left over before.

    Examples
    --------
    Of 100 visits 20 are for new URLs. Where 50 pages are due, 30 of those left over find room; where 120 are, none
    does, and 40 more are left over.

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
    """Return how many of a cycle's visits are for new URLs: I % of N_C, in whole visits.

    >>> share_of_new(100, 29.0), share_of_new(9, 20.0)
    (29, 1)
    """
    return int(capacity * percent // 100)


_NOTE: Final = "tianwang_"
_NOTED: Final = ("begun_at", "before_at", "ends_at", "round_s", "capacity", "percent", "owed")


@dataclass(slots=True)
class CycleState:
    """Where a cycle stands.

    Attributes
    ----------
    begun_at, before_at, ends_at
        When it began, when the one before did, and when it ends, in seconds since the epoch.
    round_s
        How long it takes to visit all pages, as was known when it began.
    capacity, percent
        N_C, visits that it has room for, and I, which part of them is for new URLs.
    owed
        New URLs that cycles before it visited too many.
    made_new, made_refresh, made_index
        Visits that it has made: to new URLs, to pages that were due or left over, and to index-like ones.
    left_new, left_due, left_remained, left_index
        What is left of its assignment: new URLs that were known, pages whose time came since the cycle before, pages
        of RemainedURLs, and index-like pages.
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
        """Return the cycle that comes next; nothing is assigned to it yet."""
        return CycleState(now, self.begun_at, now + lasts_s, round_s, owed=max(-self.room_new, 0.0))

    @property
    def room_new(self) -> float:
        """New URLs that it may still visit, those found meanwhile included; below 0 where it visited more."""
        if math.isinf(self.begun_at):
            return math.inf
        return share_of_new(int(self.capacity), self.percent) - self.owed - self.made_new

    def assign(self, unread: int, due: int, remained: int, index: int) -> None:
        """Take up what it has room for, of pages of each kind that it has not visited yet.

        Examples
        --------
        Of ten visits five are for new URLs, and four pages are due. A run is killed after five visits, two of them to
        new URLs; the next one leaves as much to do as the first would have:

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
        """Take visits off what is left."""
        self.made_new += new
        self.made_refresh += due + remained
        self.made_index += index
        self.left_new -= new
        self.left_due, self.left_remained = self.left_due - due, self.left_remained - remained
        self.left_index -= index

    @property
    def done(self) -> bool:
        """Whether nothing is left of what was assigned."""
        return self.left_new <= 0 and self._left_refresh <= 0

    @property
    def refresh_first(self) -> bool:
        """Whether new URLs have had their part of the cycle so far, and the others have not."""
        left, refresh = self._left_refresh, self._left_refresh + self.made_refresh + self.made_index
        return left * (self.left_new + self.made_new) >= self.left_new * refresh

    @property
    def _left_refresh(self) -> float:
        return self.left_due + self.left_remained + self.left_index

    def notes(self) -> dict[str, float]:
        """Return what it is, for a run to come, who can count its visits; nothing before the first cycle."""
        found = {_NOTE + name: float(getattr(self, name)) for name in _NOTED}
        begun = math.isfinite(self.begun_at)
        return {name: value for name, value in found.items() if begun and math.isfinite(value)}


def noted(notes: Mapping[str, float], percent: float) -> CycleState:
    """Return the cycle that an earlier run was in, none of it visited; one that has ended where there was none.

    >>> cycle = CycleState(begun_at=100.0, ends_at=160.0, percent=20.0)
    >>> noted(cycle.notes(), percent=20.0) == cycle
    True
    """
    cycle = CycleState(percent=percent)  # which older crawls did not note
    for name in _NOTED:
        if _NOTE + name in notes:
            setattr(cycle, name, float(notes[_NOTE + name]))
    return cycle
