"""What is asked of all hosts at once, looked up a piece at a time: the more hosts, the more questions, none longer."""

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

PIECE: Final = 1 << 15  # hosts that are looked at in one go: under a millisecond
_FEW: Final = 128


class HostReasons:
    """How many hosts with new pages wait, by reason.

    Each question looks at the next `PIECE` hosts, so that with more hosts than that the others count as they were when
    they were last looked at.

    Parameters
    ----------
    rows, queues
        The hosts, and the pages that wait on them.
    """

    def __init__(self, rows: HostRows, queues: HostQueues) -> None:
        self._rows, self._queues = rows, queues
        self._pieces: list[Counter[str]] = []
        self._sum: Counter[str] = Counter()
        self._next = 0

    def count(self, now: float, added: Iterable[int]) -> dict[str, int]:
        """Return it; new pages were just `added` to hosts of these numbers, and stand in no queue yet."""
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

    Mostly one that is not is known from the question before. Else hosts are looked at from where the last look ended;
    once all were, it is known until when that holds, and which hosts got pages since is told.

    Parameters
    ----------
    rows, queues
        The hosts, and the pages that wait on them.
    """

    def __init__(self, rows: HostRows, queues: HostQueues) -> None:
        self._rows, self._queues = rows, queues
        self._known: int | None = None  # a host that was not away
        self._next = self._looked = 0
        self._until, self._holds_until = math.inf, -math.inf

    def added(self, numbers: Iterable[int], now: float) -> None:
        """Hear of hosts that got new pages."""
        for number in numbers if self._known is None else ():
            until = self._rows.away_until[number]
            if until - now <= AWAY_S:
                self._known = number
                return
            self._until, self._holds_until = min(self._until, until), min(self._holds_until, until - AWAY_S)

    def all(self, now: float) -> bool:
        """Whether they are; False as long as not all were looked at."""
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
        """Look at hosts, more and more at a time; return whether all were looked at, and none is to be waited for."""
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
        """Look at the next hosts; return whether one of them is not away."""
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
