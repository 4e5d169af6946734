"""The line of hosts that wait for one address, and whose turn is next."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Final

AT_ONCE: Final = 16  # number of hosts of the greatest worth that are offered together; the best of them is chosen
KNOWN, NEW, OLDEST = range(3)
TURNS: Final = (KNOWN, NEW, KNOWN, OLDEST)
"""The kinds of hosts whose turns these are, in a cycle."""
PAGES_BETWEEN: Final = 3
"""Number of pages between two requests for robots.txt of other hosts, sitemaps and other files, while hosts wait."""
_RESTING: Final = 8  # number of known hosts whose rests are looked at
_ROOM: Final = 64  # a line is rebuilt if more entries than this are of hosts that no longer wait


class AddressLine:
    """The hosts that wait for an address.

    Names cost nothing, so the share of a host must not depend on how many other names lead to its address. Every
    second turn is for known hosts; every fourth is for newcomers; both by the worth of their best pages. A host is
    known once `ESTABLISHED` of its pages were read, or one if a seed names it, and when a page of it is due again:
    endless pages are expected to be worth as much as others until a dozen of them were read. Every fourth turn is for
    the host that has waited longest. So newcomers get at most half of the turns while known hosts wait, and nobody
    waits forever. If no known host waits at its turn, the others are offered the address, and the turn stays due. A
    turn takes logarithmic time.

    Attributes
    ----------
    due
        Whether newcomers were offered only because no known host waited: one that comes now goes first.
    served
        Known hosts that had the last turns.
    kept_until
        Until when the address is kept for a known host, whose rest is nearly over.
    began_at, pages_since
        When a request to the address began last; number of chosen pages requested since the last request for anything
        else.

    Examples
    --------
    >>> line = AddressLine()
    >>> for host in range(100, 150):
    ...     line.add(host, worth=9.0, known=False)
    >>> line.add(7, worth=2.0, known=True)
    >>> line.add(8, worth=1.0, known=True)
    >>> line.offer()
    [7, 8]

    Host 7 is chosen, and host 8 waits again; the next turn is for newcomers, the fourth for who waits longest.

    >>> line.serve(7, known=True)
    >>> line.add(8, worth=1.0, known=True)
    >>> len(line.offer()), line.offer(), line.offer()
    (16, [8], [116])
    """

    def __init__(self) -> None:
        self._lines: tuple[list[tuple[float, int, int, int]], ...] = ([], [], [])  # heaps of (key, tie, stamp, host)
        self._counts = [0, 0]  # number of known hosts that wait, and of new ones
        self._waiting: dict[int, tuple[int, int]] = {}  # by host: stamp of its last arrival; kind
        self._since: dict[int, int] = {}  # by host: stamp of its first arrival since its last turn
        self._stamp, self._turn, self._spare = 0, 0, 0
        self._offered: list[int] = []
        self.due = False
        self.served: deque[int] = deque(maxlen=_RESTING)
        self.kept_until = 0.0
        self.began_at, self.pages_since = 0.0, PAGES_BETWEEN

    def __len__(self) -> int:
        """Return the number of waiting hosts."""
        return len(self._waiting)

    def add(self, host: int, worth: float, *, known: bool) -> None:
        """Let a host wait; it keeps its place by age if it was offered without being chosen.

        Of newcomers with the same worth, the one that was found first comes first.
        """
        if (before := self._waiting.get(host)) is not None:
            self._counts[before[1]] -= 1
        self._stamp += 1
        stamp, kind = self._stamp, KNOWN if known else NEW
        self._waiting[host] = stamp, kind
        self._counts[kind] += 1
        since = self._since.setdefault(host, stamp)
        heapq.heappush(self._lines[kind], (-worth, stamp if known else host, stamp, host))
        heapq.heappush(self._lines[OLDEST], (float(since), 0, stamp, host))
        if max(map(len, self._lines)) > 2 * len(self._waiting) + _ROOM:
            self._clear()

    def size(self) -> int:
        """Return the number of entries, of hosts that wait and of those that no longer wait."""
        return sum(map(len, self._lines)) + len(self._since)

    def began(self, now: float, *, aside: bool) -> None:
        """Note a request to the address, `aside` if it is for no page that was chosen."""
        self.began_at = now
        self.pages_since = 0 if aside else self.pages_since + 1

    def serve(self, host: int, *, known: bool) -> None:
        """Note that a host has its turn, whether it was offered or not."""
        self._since.pop(host, None)
        self.kept_until = 0.0
        if known:
            self.served.append(host)
        if self.due and known:
            self._turn += 1
        self.due = False

    @property
    def lacks_known(self) -> bool:
        """Whether the next turn is for a known host, none of them waits, and the address was not kept for one yet."""
        return TURNS[self._turn % len(TURNS)] == KNOWN and not self._counts[KNOWN] and not self.kept_until

    def offer(self) -> list[int]:
        """Remove and return the hosts whose turn is next, the best or the oldest first."""
        kind = TURNS[self._turn % len(TURNS)]
        self.due = kind == KNOWN and not self._counts[KNOWN]
        if self.due:
            self._spare += 1
            kind = NEW if self._spare % len(TURNS) else OLDEST
        else:
            self._turn += 1
            if kind == NEW and not self._counts[NEW]:
                return self.offer()
        line, offered = self._lines[kind], list[int]()
        while line and len(offered) < (1 if kind == OLDEST else AT_ONCE):
            _, _, stamp, host = heapq.heappop(line)
            at, of = self._waiting.get(host, (0, 0))
            if at == stamp:
                del self._waiting[host]
                self._counts[of] -= 1
                offered.append(host)
        self._offered = offered
        return offered

    def _clear(self) -> None:
        """Remove the entries of hosts that no longer wait."""
        for line in self._lines:
            line[:] = [entry for entry in line if self._waiting.get(entry[3], (0, 0))[0] == entry[2]]
            heapq.heapify(line)
        kept = self._waiting.keys() | set(self._offered)
        self._since = {host: since for host, since in self._since.items() if host in kept}
