"""Limits silent connections, in total and for each network and site; surplus ones are closed, and asked later."""

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

SILENT_S: Final = 3.0  # with next to no data, after which a connection counts as silent
OF_ALL: Final = 4  # a quarter of all connections may be silent
OF_GROUP: Final = 10  # and a tenth, within one network of addresses or one site
LOOK_EVERY_S: Final = 0.5
STRAINED_S: Final = 60.0
UNPROVEN_PART: Final = 0.75
NOTED: Final = 256  # deferred hosts that are reported


class Silences:
    """Closes connections to silent servers while there are too many.

    A silent connection costs the server next to nothing, but takes one of the few that the crawl has.

    Parameters
    ----------
    network
        The network that makes the exchanges.
    connections
        How many exchanges may be under way.

    Attributes
    ----------
    ended
        How many exchanges were ended for silence in this run.
    """

    def __init__(self, network: Network, connections: int) -> None:
        self._network = network
        self._most, self._most_of_group = max(connections // OF_ALL, 1), max(connections // OF_GROUP, 1)
        self._most_unproven = max(int(connections * UNPROVEN_PART), 1)
        self._next_at = self._strained_until = 0.0
        self._left_alone: dict[int, float] = {}
        self.ended = 0

    def turn(self, now: float) -> None:
        """Check the connections, now and then."""
        if now < self._next_at or self._network.in_flight <= self._most_of_group:
            return
        self._next_at = now + LOOK_EVERY_S
        silent = self._network.silent(SILENT_S)
        if surplus := self._surplus(silent):
            self._strained_until = now + STRAINED_S
            self.ended += len(surplus)
            self._network.hang_up(surplus)

    def crowded(self, unproven: int, now: float) -> bool:
        """Whether a host that has not answered yet has to wait while many such hosts are asked: others use the rest.

        This applies only for a while after silent connections had to be closed; otherwise most hosts are new ones.
        """
        return now < self._strained_until and unproven >= self._most_unproven

    def note(self, host: int, until: float) -> None:
        """Record that a host is deferred, to explain why its pages wait; only the last `NOTED` are kept."""
        self._left_alone.pop(host, None)
        self._left_alone[host] = until
        if len(self._left_alone) > NOTED:
            del self._left_alone[next(iter(self._left_alone))]

    def tell(self, notes: dict[str, float]) -> None:
        """Write the deferred hosts into the notes of the crawl, in place of earlier ones."""
        if self._left_alone:
            for name in [name for name in notes if name.startswith(LEFT_ALONE)]:
                del notes[name]
            notes.update({f"{LEFT_ALONE}{host}": until for host, until in self._left_alone.items()})

    def _surplus(self, silent: Sequence[Silence]) -> list[Silence]:
        """Return the connections beyond the limits, those of each group and in total that were silent longest."""
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
