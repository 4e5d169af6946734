"""The addresses of hosts: which are known, which one is connected to, and which is tried next."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.visit.families import stays
from evercrawl.crawl.visit.name_turns import NameTurns
from evercrawl.fetch.names import LookUps, ResolveError
from evercrawl.fetch.names.base import literal

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.crawl.background import Background
    from evercrawl.crawl.visit.families import BothFamilies
    from evercrawl.crawl.visit.reachable import ReachableAddresses
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.types import Exchange

__all__ = ["HostAddresses"]

_UNCONNECTED: Final = frozenset({"connect", "timeout"})  # errors of an exchange whose connection was not made


class HostAddresses:
    """Looks up the names of hosts, and moves on to a host's next address where nothing answers at one.

    Parameters
    ----------
    frontier, names, clock
        The hosts' rests, the name servers, and the time.
    reachable
        The addresses that may be reached.
    families
        Tells how many addresses of a host are tried at a time.
    background
        Runs the look-ups.
    unreachable
        Called with a host whose name has no usable address, and the reason.
    proxied
        Whether a proxy makes the connections and look-ups.

    Attributes
    ----------
    turns
        Defers hosts whose names cannot be looked up now.
    """

    def __init__(
        self,
        frontier: Frontier,
        names: LookUps,
        clock: Clock,
        *,
        reachable: ReachableAddresses,
        families: BothFamilies,
        background: Background,
        unreachable: Callable[[Host, str], None],
        proxied: bool,
    ) -> None:
        self._frontier, self._names, self._clock = frontier, names, clock
        self._reachable, self._families = reachable, families
        self._background = background
        self._unreachable = unreachable
        self._proxied = proxied
        self.turns = frontier.locator = NameTurns(frontier, names, proxied=proxied)
        self._missed: dict[int, int] = {}  # host number -> how many of its addresses in a row took no connection

    @property
    def trouble(self) -> str:
        """What is wrong while no name server answers, in a sentence; else ""."""
        return self._names.trouble

    def close(self) -> None:
        """Abandon look-ups under way."""
        self._names.close()

    def left(self, host: Host) -> tuple[str, ...]:
        """Return the address to which a host is connected, followed by those that are still to be tried."""
        return host.addresses[: max(len(host.addresses) - self._missed.get(host.number, 0), 1)]

    def misses(self, host: Host, exchange: Exchange) -> bool:
        """Whether nothing answered at a host's address, and the host has addresses that were not tried since.

        A connection is made only to addresses at which the exchange is counted: one, or one of each family. See
        `move_on`.
        """
        missed = self._missed.pop(host.number, 0) + self._families.tried(host)
        if exchange.sent or exchange.error not in _UNCONNECTED or missed >= len(host.addresses) or host.in_flight > 1:
            return False
        self._missed[host.number] = missed
        return True

    @staticmethod
    def vacant(host: Host, exchange: Exchange) -> bool:
        """Whether nothing answered at a host's address, and the host has other addresses."""
        return not exchange.sent and exchange.error in _UNCONNECTED and len(host.addresses) > 1

    def move_on(self, host: Host) -> None:
        """Make the next address of a host its first one; the exchange has ended."""
        self._frontier.locate(host, (*host.addresses[1:], host.addresses[0]), host.located_until)

    async def of(self, name: str) -> tuple[str, ...]:
        """Return the addresses of a host that may have no pages.

        Raises
        ------
        ResolveError
            Its name has no usable address.
        """
        if self._proxied:
            return (name,)
        return literal(name) or self._reachable.among((await self._names.resolve(name)).addresses)

    def locate(self, host: Host, now: float) -> None:
        """Use the known addresses of a host, or have its name looked up."""
        own = (host.name,) if self._proxied else literal(host.name)
        if own:
            self._frontier.locate(host, own, math.inf)
            return
        known = self._names.known(host.name, now)
        if known is not None and known.addresses:
            self._frontier.locate(host, stays(host, self._reachable.among(known.addresses)), known.until)
        elif known is not None:  # the last answer was negative and is still valid
            host.stay_away(known.until, "name look-up")
        elif not self.turns.put_off(host, now):
            host.held = "name look-up"
            self._names.begin(host.name)
            self._background.start(self._look_up(host))

    async def _look_up(self, host: Host) -> None:
        try:
            known = await self._names.resolve(host.name)
        except ResolveError as error:
            now = self._clock.now()
            host.held = ""
            if not error.put_off:
                host.failed(now)
                self._unreachable(host, error.reason)
            host.stay_away(error.until, "name look-up")
            self._frontier.release(host)
            return
        host.held = ""
        self._frontier.locate(host, stays(host, self._reachable.among(known.addresses)), known.until)
