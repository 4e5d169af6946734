"""One cycle of Tianwang's after the other: when each began and ends, and how much of its work is left."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evercrawl.schedule.tianwang_assignment import Assignment

_NOTE: Final = "tianwang_"


@dataclass(slots=True)
class Cycle:
    """Where a cycle stands.

    Attributes
    ----------
    begun_at, before_at, ends_at
        When it began, when the one before did, and when it ends, in seconds since the epoch.
    round_s
        How long it takes to visit all pages, as was known when it began.
    capacity
        N_C, visits that it has room for.
    room_new
        New URLs that it may still visit, those found meanwhile included; below 0 where it visited more.
    left_new, left_due, left_remained, left_index
        What is left of its assignment: new URLs that were known, pages whose time came since the cycle before, pages
        of RemainedURLs, and index-like pages.
    new, refresh
        What it was assigned in all.
    """

    begun_at: float = -math.inf
    before_at: float = -math.inf
    ends_at: float = -math.inf
    round_s: float = 1.0
    capacity: float = 0.0
    room_new: float = math.inf
    left_new: float = 0.0
    left_due: float = 0.0
    left_remained: float = 0.0
    left_index: float = 0.0
    new: float = 0.0
    refresh: float = 0.0

    def following(self, now: float, lasts_s: float, round_s: float) -> Cycle:
        """Return the cycle that comes next; nothing is assigned to it yet."""
        return Cycle(now, self.begun_at, now + lasts_s, round_s, room_new=min(self.room_new, 0.0))

    def assigned(self, work: Assignment, share: int, index: int) -> None:
        """Take a cycle's assignment, and its share of new URLs, less what the one before visited too many of."""
        self.room_new += share
        self.left_new, self.left_due, self.left_remained = min(work.new, max(self.room_new, 0)), work.due, work.remained
        self.left_index = index
        self.new, self.refresh = self.left_new, work.due + work.remained + index

    def visited(self, new: int, due: int, remained: int, index: int) -> None:
        """Take visits off what is left."""
        self.room_new -= new
        self.left_new -= new
        self.left_due, self.left_remained = self.left_due - due, self.left_remained - remained
        self.left_index -= index

    @property
    def done(self) -> bool:
        """Whether nothing is left of what was assigned."""
        return self.left_new <= 0 and self.left_due + self.left_remained + self.left_index <= 0

    @property
    def refresh_first(self) -> bool:
        """Whether new URLs have had their part of the cycle so far, and the others have not."""
        left = self.left_due + self.left_remained + self.left_index
        return left * self.new >= self.left_new * self.refresh

    def notes(self) -> dict[str, float]:
        """Return all of it, for a run to come; nothing before the first cycle."""
        found = {_NOTE + name: value for name, value in asdict(self).items() if math.isfinite(value)}
        return found if math.isfinite(self.begun_at) else {}


def noted(notes: Mapping[str, float]) -> Cycle:
    """Return the cycle that an earlier run was in; one that has ended where there was none.

    >>> cycle = Cycle(begun_at=100.0, ends_at=160.0, room_new=7.0)
    >>> noted(cycle.notes()) == cycle
    True
    """
    names = (each.name for each in fields(Cycle))
    return Cycle(**{name: float(notes[_NOTE + name]) for name in names if _NOTE + name in notes})
