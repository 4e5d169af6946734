"""Due sitemaps that wait for their host to rest, or for room: each host, and each reason, has one line."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from evercrawl.crawl.sitemaps.cache import Listing

_Key: TypeAlias = int | str  # a host's number, or what a host waits for
_Line: TypeAlias = "deque[tuple[Listing, float]]"  # each with when it fell due


class SitemapLines:
    """Lines of due sitemaps by host, and lines of hosts by what they wait for.

    Only the first of each line is considered again and again, so a site with a thousand sitemaps, or a network with a
    thousand hosts, costs no more than one while it waits. In a host's line, sitemaps that hosts of its own site name
    come before those that only others name.

    Examples
    --------
    >>> from evercrawl.crawl.sitemaps.cache import Listing
    >>> lines, first, second = SitemapLines(), Listing("http://a.example/1", ()), Listing("http://a.example/2", ())
    >>> lines.join(7, first, 0.0)
    >>> lines.join(7, second, 0.0)
    >>> lines.take(0.0), lines.first(7) is first
    (7, True)
    >>> lines.wait(7, 10.0)
    >>> lines.take(5.0), lines.next_at(), lines.take(10.0)
    (None, 10.0, 7)
    >>> lines.leave(7, 10.0)
    >>> lines.take(10.0), lines.first(7) is second
    (7, True)
    """

    def __init__(self) -> None:
        self._of: dict[int, tuple[_Line, _Line]] = {}  # by host: its own sitemaps, and those that only others name
        self._behind: dict[str, deque[int]] = {}  # by reason: the hosts
        self._at: dict[_Key, float] = {}  # when the first of a line is considered
        self._due: list[tuple[float, int, _Key]] = []  # entries are void if they differ from `_at`
        self._order = itertools.count()
        self._from: tuple[int, str] = -1, ""  # the host taken last, and the line that it was taken from

    def join(self, host: int, listing: Listing, now: float, *, own: bool = True) -> None:
        """Put a due sitemap at the end of its host's line; `own` ones, which its own site names, come before others."""
        lines = self._of.setdefault(host, (deque(), deque()))
        empty = not any(lines)
        lines[not own].append((listing, listing.next_at))
        if empty or (own and self._at.get(host, now) > now):
            self._push(host, now)

    def next_at(self) -> float:
        """Return when a line is considered next; infinity if there is none."""
        while self._due and self._at.get(self._due[0][2]) != self._due[0][0]:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else float("inf")

    def take(self, now: float) -> int | None:
        """Take the host whose turn it is; the caller says what becomes of it: `wait`, `block` or `leave`."""
        if self.next_at() > now:
            return None
        key = heapq.heappop(self._due)[2]
        del self._at[key]
        if isinstance(key, int):
            self._from = key, ""
            return key
        hosts = self._behind[key]
        host = hosts.popleft()
        if hosts:
            self._push(key, now)
        else:
            del self._behind[key]
        self._from = host, key
        return host

    def first(self, host: int) -> Listing | None:
        """Return the first sitemap in a host's line; None if the line is empty, and is given up.

        Those that were requested, moved or dropped since they joined are left out.
        """
        for line in self._of[host]:
            while line and (line[0][0].busy or line[0][0].next_at != line[0][1]):
                line.popleft()
            if line:
                return line[0][0]
        del self._of[host]
        return None

    def wait(self, host: int, at: float) -> None:
        """Have a host considered at an instant."""
        self._push(host, at)

    def block(self, host: int, reason: str, at: float) -> None:
        """Put a host into the line of what it waits for, which is considered at an instant; in front if it was."""
        hosts = self._behind.setdefault(reason, deque())
        if self._from == (host, reason):
            hosts.appendleft(host)
        else:
            hosts.append(host)
            at = min(at, self._at.get(reason, at))
        self._push(reason, at)

    def leave(self, host: int, now: float) -> None:
        """Remove the first sitemap from a host's line; the next is considered at once."""
        lines = self._of[host]
        (lines[0] or lines[1]).popleft()
        if any(lines):
            self._push(host, now)
        else:
            del self._of[host]

    def _push(self, key: _Key, at: float) -> None:
        self._at[key] = at
        heapq.heappush(self._due, (at, next(self._order), key))
