"""Questions about all hosts, answered incrementally: with more hosts there are more steps, but no longer ones."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.schedule.frontier.hosts import AWAY_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.schedule.frontier.host_queues import HostQueues
    from evercrawl.schedule.frontier.host_rows import HostRows
    from evercrawl.types import Ints

PIECE: Final = 1 << 15  # number of hosts examined in one step: under a millisecond
_FEW: Final = 128


class HostReasons:
    """The number of waiting hosts with new pages, by reason.

    Each call examines the next `PIECE` hosts; if there are more, the others count as they were when last examined.

    Parameters
    ----------
    rows, queues
        The hosts, and their waiting pages.
    """

    def __init__(self, rows: HostRows, queues: HostQueues) -> None:
        self._rows, self._queues = rows, queues
        self._pieces: list[Counter[str]] = []
        self._sum: Counter[str] = Counter()
        self._next = 0

    def count(self, now: float, added: Iterable[int]) -> dict[str, int]:
        """Return the counts; new pages were just `added` to hosts with these numbers, and are in no queue yet."""
        pieces = max(-(-self._rows.count // PIECE), 1)
        while len(self._pieces) < pieces:
            self._pieces.append(Counter())
        piece = self._next % pieces
        found = self._of(piece * PIECE, min((piece + 1) * PIECE, self._rows.count), now, added)
        self._sum.subtract(self._pieces[piece])
        self._sum.update(found)
        self._pieces[piece] = found
        self._next = piece + 1
        return {reason: count for reason, count in self._sum.items() if count}

    def _of(self, first: int, last: int, now: float, added: Iterable[int]) -> Counter[str]:
        new = self._queues.waiting(first, last)[0] > 0
        new[[number - first for number in added if first <= number < last]] = True
        rows = self._rows.rows[first:last]
        rests = (rows["held"] == 0) & (rows["in_flight"] == 0) & (rows["ready_at"] > now)
        held, resting = (np.bincount(codes[new & which]) for codes, which in
                         ((rows["held"], rows["held"] > 0), (rows["reason"], rests)))  # fmt: skip
        found: Counter[str] = Counter()
        for code in np.flatnonzero(held).tolist():
            found[self._rows.words[code]] += int(held[code])
        for code in np.flatnonzero(resting).tolist():
            found[self._rows.words[code] or "resting"] += int(resting[code])
        return found


class NewcomersAway:
    """Whether all hosts with new pages are away.

    Usually a host that is not away is known from the previous call. Otherwise hosts are examined from where the last
    call stopped; once all were examined, the result holds until a known instant, and `added` reports new pages.

    Parameters
    ----------
    rows, queues
        The hosts, and their waiting pages.
    """

    def __init__(self, rows: HostRows, queues: HostQueues) -> None:
        self._rows, self._queues = rows, queues
        self._known: int | None = None  # a host that was not away
        self._next = self._looked = 0
        self._until, self._holds_until = math.inf, -math.inf

    def added(self, numbers: Iterable[int], now: float) -> None:
        """Record hosts that received new pages."""
        for number in numbers if self._known is None else ():
            until = self._rows.away_until[number]
            if until - now <= AWAY_S:
                self._known = number
                return
            self._until, self._holds_until = min(self._until, until), min(self._holds_until, until - AWAY_S)

    def all(self, now: float) -> bool:
        """Return whether all hosts are away; False as long as not all were examined."""
        known = self._known
        if known is not None:
            if self._queues.waiting(known, known + 1)[0][0] and not self._away(known, now):
                return False
            self._known, self._looked, self._until, self._holds_until = None, 0, math.inf, -math.inf
        if now < self._holds_until:
            return True
        return self._look(now)

    def _away(self, number: int, now: float) -> bool:
        return self._rows.away_until[number] - now > AWAY_S

    def _look(self, now: float) -> bool:
        """Examine hosts, more at each call; return whether all were examined, and none is worth waiting for."""
        room, size = PIECE, _FEW
        while room > 0 and self._looked < self._rows.count:
            if self._look_at(min(size, room), now):
                return False
            room, size = room - size, 4 * size
        if self._looked < self._rows.count:
            return False
        self._holds_until, self._looked, self._until = self._until - AWAY_S, 0, math.inf
        return now < self._holds_until

    def _look_at(self, most: int, now: float) -> bool:
        """Examine the next hosts; return whether one of them is not away."""
        first = self._next if self._next < self._rows.count else 0
        last = min(first + most, self._rows.count)
        numbers: Ints = first + np.flatnonzero(self._queues.waiting(first, last)[0])
        until = self._rows.rows["away_until"][numbers]
        soon = np.flatnonzero(until - now <= AWAY_S)
        if len(soon):
            self._known = self._next = int(numbers[soon[0]])
            return True
        self._next, self._looked = last, self._looked + last - first
        self._until = min(self._until, float(until.min(initial=math.inf)))
        return False
