"""Connections that stay silent: so many may, of all and of each network and site; the others make room, for later."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from evercrawl.model.rules.waits import LEFT_ALONE
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname
from evercrawl.types import Silence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.crawl.ports import Network

SILENT_S: Final = 3.0  # for which next to nothing came
OF_ALL: Final = 4  # a quarter of all connections may be silent
OF_GROUP: Final = 10  # and a tenth be so of one network of addresses, or of one site
LOOK_EVERY_S: Final = 0.5
STRAINED_S: Final = 60.0
UNPROVEN_PART: Final = 0.75
NOTED: Final = 256  # hosts of which it is told that they are left alone


class Silences:
    """Hangs up on who is silent while too many are.

    A connection that is silent costs next to nothing to whoever keeps it so, and is one of few to us.

    Parameters
    ----------
    network
        Who asks.
    connections
        How many exchanges may be under way.

    Attributes
    ----------
    ended
        How many exchanges were ended by this in the run.
    """

    def __init__(self, network: Network, connections: int) -> None:
        self._network = network
        self._most, self._most_of_group = max(connections // OF_ALL, 1), max(connections // OF_GROUP, 1)
        self._most_unproven = max(int(connections * UNPROVEN_PART), 1)
        self._next_at = self._strained_until = 0.0
        self._left_alone: dict[int, float] = {}
        self.ended = 0

    def turn(self, now: float) -> None:
        """Look after the connections, now and then."""
        if now < self._next_at or self._network.in_flight <= self._most_of_group:
            return
        self._next_at = now + LOOK_EVERY_S
        silent = self._network.silent(SILENT_S)
        if surplus := self._surplus(silent):
            self._strained_until = now + STRAINED_S
            self.ended += len(surplus)
            self._network.hang_up(surplus)

    def crowded(self, unproven: int, now: float) -> bool:
        """Whether a host has to wait that has not answered, while so many such are asked: others keep the rest.

        Only for a while after connections had to be ended; else those that nobody has asked yet are the rule.
        """
        return now < self._strained_until and unproven >= self._most_unproven

    def note(self, host: int, until: float) -> None:
        """Take note that a host is left alone, for whoever asks why its pages wait; the last some hundred count."""
        self._left_alone.pop(host, None)
        self._left_alone[host] = until
        if len(self._left_alone) > NOTED:
            del self._left_alone[next(iter(self._left_alone))]

    def tell(self, notes: dict[str, float]) -> None:
        """Write into the notes of the crawl who is left alone, in place of what was written before."""
        if self._left_alone:
            for name in [name for name in notes if name.startswith(LEFT_ALONE)]:
                del notes[name]
            notes.update({f"{LEFT_ALONE}{host}": until for host, until in self._left_alone.items()})

    def _surplus(self, silent: Sequence[Silence]) -> list[Silence]:
        """Return those that are too many, the longest silent ones of each group and of all."""
        if len(silent) <= self._most_of_group:
            return []
        newest_first = sorted(silent, key=lambda one: -one.since)
        taken, surplus = Counter[str](), list[Silence]()
        kept = 0
        for one in newest_first:
            groups = groups_of(one)
            if kept < self._most and all(taken[group] < self._most_of_group for group in groups):
                kept += 1
                taken.update(groups)
            else:
                surplus.append(one)
        return surplus


def groups_of(silence: Silence) -> set[str]:
    """Return the network of an exchange's address, and the site of its host.

    >>> from evercrawl.types import Request, Silence
    >>> sorted(groups_of(Silence(Request("http://www.a.example/"), "192.0.2.7", 0.0)))
    ['192.0.2.0/24', 'a.example']
    """
    ip = silence.ip
    near = {found_site(f"[{ip}]" if ":" in ip else ip)} if ip else set[str]()
    return near | {found_site(hostname(silence.request.url))}
