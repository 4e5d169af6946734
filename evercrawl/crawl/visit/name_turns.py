"""Which hosts have to come back for their names, and who is called as soon as there is room to look one up."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Final

from evercrawl.fetch.names.base import literal

if TYPE_CHECKING:
    from evercrawl.fetch.names import LookUps
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host

PUT_OFF: Final = 512  # hosts that are told to come back at one instant, before no more are chosen: some milliseconds
_PASSED: Final = 1 << 12  # hosts that were called before the line is made shorter
_COMES_BACK_S: Final = 60.0
_LINE_MOST_S: Final = 6 * 3600.0
_FADING: Final = 0.1  # weight of the last move of the line in how long it takes


class NameTurns:
    """Puts hosts off whose names cannot be looked up now, and calls them when they can.

    When it will be the turn of a host is but guessed as it is put off: those before it may have come to nothing, or
    been quicker than look-ups were when the crawl was busy. So the hosts stand in a line, and as many as there is room
    for are called from it; none of them waits while nobody is looked up. Who waits for others of its domain does not
    stand there: it would be called again and again, as there is room for all but for that domain. Who stands there
    offers its pages by itself only after twice the time that the line takes, as it moves: on a wide web it is longer
    than an hour, and to have all of it valued and put off every minute would take most of the crawl's time.

    Parameters
    ----------
    frontier, names
        Where the hosts rest; who looks names up.
    proxied
        Whether a proxy looks names up, so that nobody waits.
    """

    def __init__(self, frontier: Frontier, names: LookUps, *, proxied: bool) -> None:
        self._frontier, self._names, self._proxied = frontier, names, proxied
        self._line, self._passed = array("I"), 0  # numbers of hosts, of which the first were called or came back
        self._put_off_at, self._put_off_count = -math.inf, 0
        self._let = 0  # by the choice that is made, to be looked up
        self._moved_at, self._each_s = -math.inf, 0.0  # when the line moved last; how long it takes to move by one

    def choosing(self) -> None:
        """Begin anew to count who is let through: those of the choice before are looked up, or were put back."""
        self._let = 0

    def crowded(self, now: float) -> bool:
        """Whether so many hosts were put off at this instant that choosing more of them is of no use."""
        return self._put_off_at == now and self._put_off_count >= PUT_OFF

    def waits(self, host: Host, now: float) -> bool:
        """Whether a host that may have to be looked up has to come back for that; else it is let through."""
        if self._proxied or literal(host.name) or self._names.known(host.name, now) is not None:
            return False
        waits = self.put_off(host, now, self._let)
        self._let += not waits
        return waits

    def put_off(self, host: Host, now: float, others: int = 0) -> bool:
        """Whether a host has to come back for its name: too many are looked up, or its domain stays unanswered."""
        until, silent = self._names.put_off(host.name, now, others)
        if until <= now:
            return False
        if silent:
            host.stay_away(until, "name look-up")
        else:
            if not host.rows.address[host.row] and not self._names.full(host.name):
                self._line.append(host.number)
                until = max(until, now + self._line_s())
            host.ready_at, host.reason = max(host.ready_at, until), "name look-up"
        self.count_put_off(now)
        return True

    def count_put_off(self, now: float) -> None:
        """Take note of a host that has to come back, for its name or for another reason."""
        self._put_off_at, self._put_off_count = now, self._put_off_count + 1 if self._put_off_at == now else 1

    def call(self, now: float) -> None:
        """Let as many hosts offer their pages now as there is room to look up, those first that have waited longest.

        None of them was asked in this run, so that they rest for their names alone.
        """
        room = self._names.room
        self._move(room, now)
        while room and self._passed < len(self._line):
            host = self._frontier.hosts[self._line[self._passed]]
            self._passed += 1
            if host.ready_at > now >= host.away_until and not host.held and not host.rows.address[host.row]:
                host.ready_at = now
                self._frontier.release(host)
                room -= 1
            elif host.held and host.reason == "name look-up":  # it is not called again
                host.ready_at = min(host.ready_at, now + _COMES_BACK_S)
        if self._passed > max(_PASSED, len(self._line) // 2):
            del self._line[: self._passed]
            self._passed = 0

    def _move(self, room: int, now: float) -> None:
        """Take note for how many there is room now."""
        if self._moved_at > now:  # a clock that went back
            self._moved_at = now
        if room and self._moved_at > -math.inf:
            each_s = min(now - self._moved_at, _COMES_BACK_S) / room
            self._each_s += (_FADING if self._each_s else 1.0) * (each_s - self._each_s)
        if room or self._moved_at == -math.inf:
            self._moved_at = now

    def _line_s(self) -> float:
        """Return after how long somebody who stands at the end of the line now is surely called."""
        return min(2.0 * self._each_s * (len(self._line) - self._passed), _LINE_MOST_S)
