"""Defers hosts whose names cannot be looked up now, and calls them as soon as there is room."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Final

from evercrawl.fetch.names.base import literal

if TYPE_CHECKING:
    from evercrawl.fetch.names import LookUps
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host

PUT_OFF: Final = 512  # hosts deferred at one time, after which no more are chosen: some milliseconds
_PASSED: Final = 1 << 12  # hosts called before the queue is shortened
_COMES_BACK_S: Final = 60.0
_LINE_MOST_S: Final = 6 * 3600.0
_FADING: Final = 0.1  # weight of the last move of the queue in its average speed


class NameTurns:
    """Defers hosts whose names cannot be looked up now, and calls them when they can.

    When a host is deferred, the time of its turn is only a guess: look-ups before it may fail, or become faster than
    they were. So the hosts wait in a queue, and as many as there is room for are called from it; no room stays unused
    while hosts wait. A host that waits for others of its domain is not in the queue: it would be called again and
    again while there is room for every domain but its own. A host in the queue offers its pages by itself only after
    twice the time that the queue takes at its present speed. On a wide web this is more than an hour; to value and
    defer all hosts every minute would take most of the crawl's time.

    Parameters
    ----------
    frontier, names
        The hosts' rests; the look-ups.
    proxied
        Whether a proxy looks names up, so that no host waits.
    """

    def __init__(self, frontier: Frontier, names: LookUps, *, proxied: bool) -> None:
        self._frontier, self._names, self._proxied = frontier, names, proxied
        self._line, self._passed = array("I"), 0  # numbers of hosts; the first `_passed` were called or came back
        self._put_off_at, self._put_off_count = -math.inf, 0
        self._let = 0  # hosts of the present choice that are to be looked up
        self._moved_at, self._each_s = -math.inf, 0.0  # when the queue last moved; its time per host

    def choosing(self) -> None:
        """Restart the count of hosts let through: those of the previous choice are looked up, or were put back."""
        self._let = 0

    def crowded(self, now: float) -> bool:
        """Whether so many hosts were deferred at this time that choosing more is of no use."""
        return self._put_off_at == now and self._put_off_count >= PUT_OFF

    def waits(self, host: Host, now: float) -> bool:
        """Whether a host that may need a look-up is deferred; if not, it is let through."""
        if self._proxied or literal(host.name) or self._names.known(host.name, now) is not None:
            return False
        waits = self.put_off(host, now, self._let)
        self._let += not waits
        return waits

    def put_off(self, host: Host, now: float, others: int = 0) -> bool:
        """Defer a host if too many names are being looked up, or its domain does not answer; return whether it was."""
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
        """Count a host that is deferred, for its name or for another reason."""
        self._put_off_at, self._put_off_count = now, self._put_off_count + 1 if self._put_off_at == now else 1

    def call(self, now: float) -> None:
        """Let as many hosts offer their pages as there is room for look-ups, in the order of the queue.

        None of them was asked in this run, so they rest only for their names.
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
        """Update the speed of the queue from the present room."""
        if self._moved_at > now:  # the clock was set back
            self._moved_at = now
        if room and self._moved_at > -math.inf:
            each_s = min(now - self._moved_at, _COMES_BACK_S) / room
            self._each_s += (_FADING if self._each_s else 1.0) * (each_s - self._each_s)
        if room or self._moved_at == -math.inf:
            self._moved_at = now

    def _line_s(self) -> float:
        """Return the time within which a host at the end of the queue is surely called (s)."""
        return min(2.0 * self._each_s * (len(self._line) - self._passed), _LINE_MOST_S)
