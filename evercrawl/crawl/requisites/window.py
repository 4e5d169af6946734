"""Owed requisites that may be requested next, by host, read from their table piece by piece."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evercrawl.store.requisites.book import KnownRequisite, RequisiteBook

PIECE: Final = 1_000
"""The number of owed requisites that are read at a time."""
MOST_OF_SITE: Final = 1_000
"""The highest number of one site's requisites in the window."""
MOST: Final = 32_000
"""The size of the window; beyond it, those that have been in it longest are dropped, and are read again later."""
AGAIN_S: Final = 10.0
"""The time after which a table that had nothing new is read again, if nothing was written to it meanwhile."""


class OwedWindow:
    """A part of the owed requisites that moves on through the table while nothing in it may be requested.

    So requisites of resting hosts, however many there are, do not hide those of other hosts.
    """

    def __init__(self) -> None:
        self._of: dict[str, dict[int, KnownRequisite]] = {}  # by host, that whose turn is next first
        self._host_of: dict[int, str] = {}  # by number, in order of arrival
        self._sites = Counter[str]()
        self._after: tuple[float, int] | None = None  # where the next piece begins
        self._added = 0  # in this pass through the table
        self._again_at = 0.0

    def __len__(self) -> int:
        return len(self._host_of)

    def heads(self) -> list[tuple[str, KnownRequisite]]:
        """Return the hosts in their order of turns, each with its requisite that has waited longest."""
        return [(host, next(iter(waiting.values()))) for host, waiting in self._of.items()]

    @property
    def hosts(self) -> int:
        """The number of hosts."""
        return len(self._of)

    def take(self, number: int) -> None:
        """Remove a requisite that is requested now; its host's next turn comes after those of all others."""
        host = self._host_of[number]
        self.drop(number)
        if host in self._of:
            self._of[host] = self._of.pop(host)

    def drop(self, number: int) -> None:
        """Remove a requisite, if it is in the window."""
        host = self._host_of.pop(number, None)
        if host is None:
            return
        del self._of[host][number]
        if not self._of[host]:
            del self._of[host]
        home = site(host)
        self._sites[home] -= 1
        if not self._sites[home]:
            del self._sites[home]

    def renew(self) -> None:
        """Note that the table was written to, so that it is read again soon."""
        self._again_at = 0.0

    def load(self, book: RequisiteBook, now: float, under_way: Iterable[int]) -> bool:
        """Read the next piece of the table; return whether it has requisites that were not in the window."""
        if not self._host_of:
            self._after = None
        elif now < self._again_at:
            return False
        piece = book.owed(now, PIECE, under_way, self._after)
        before = len(self._host_of)
        for one in piece:
            self._add(one)
        added = len(self._host_of) - before
        self._added += added
        self._after = (piece[-1].retry_at, piece[-1].number) if len(piece) == PIECE else None
        if self._after is None:  # the end of the table
            self._again_at = 0.0 if self._added else now + AGAIN_S
            self._added = 0
        while len(self._host_of) > MOST:
            self.drop(next(iter(self._host_of)))
        return added > 0

    def _add(self, one: KnownRequisite) -> None:
        host = hostname(one.url)
        home = site(host)
        if one.number not in self._host_of and self._sites[home] < MOST_OF_SITE:
            self._of.setdefault(host, {})[one.number] = one
            self._host_of[one.number] = host
            self._sites[home] += 1
