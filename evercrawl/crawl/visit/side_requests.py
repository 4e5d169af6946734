"""Requests that are no visit to a host's own pages: requisites, requests of browsers, robots.txt that moved there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.visit.pageless_hosts import PagelessHosts
from evercrawl.crawl.visit.port_limit import PortLimit
from evercrawl.fetch.names import ResolveError
from evercrawl.model.rules.named_by_others import OTHERS_PORTS
from evercrawl.parse.urls import hostname, origin, port_of

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.crawl.visit.host_addresses import HostAddresses
    from evercrawl.crawl.visit.reachable import ReachableAddresses
    from evercrawl.fetch.guard import Guard
    from evercrawl.model.rules.robots import OriginRules, RobotsKeeper
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host

__all__ = ["POLL_S", "SideRequests", "slows_down"]

POLL_S: Final = 0.05


class SideRequests:
    """Lets requests wait for their turn at a host that may have no pages of the crawl, and rest as its visits do.

    Parameters
    ----------
    frontier, robots, guard, clock
        The hosts' rests, the robots.txt rules, the URLs that may be requested, and the time.
    addresses, reachable
        The addresses of hosts, and those that may be reached.
    host_of
        Host name -> its Host, None if it is not known.
    opens_at
        Tells from which time on a host may be asked by the settings (host name, now).
    shut
        Tells whether nothing may be requested now.
    leased
        Tells whether no other partition may request the address of a host now.
    """

    def __init__(
        self,
        frontier: Frontier,
        robots: RobotsKeeper,
        guard: Guard,
        clock: Clock,
        *,
        addresses: HostAddresses,
        reachable: ReachableAddresses,
        host_of: Callable[[str], Host | None],
        opens_at: Callable[[str, float], float],
        shut: Callable[[], bool],
        leased: Callable[[Host], bool],
    ) -> None:
        self._frontier, self._robots, self._guard, self._clock = frontier, robots, guard, clock
        self._addresses, self._reachable = addresses, reachable
        self._host_of = host_of
        self._opens_at = opens_at
        self._shut, self._leased = shut, leased
        self._pageless = PagelessHosts(frontier, clock)
        self._ports = PortLimit()

    def knows_port(self, url: str) -> bool:
        """Return whether a URL has the usual port, or the robots.txt at its port is known and could be fetched.

        Other ports are limited, because others could otherwise name any port of a host in sitemaps and pictures.
        """
        rules = self._robots.of(origin(url), self._clock.now()) if port_of(url) else None
        return rules.open if rules is not None else not port_of(url)

    async def turn(self, url: str) -> tuple[Host, bool]:
        """Wait until the host of a URL that belongs to a page may be asked; return it, and whether it is held for this.

        The caller starts its exchange at once, and calls `give_back` afterwards.

        Raises
        ------
        PermissionError
            It may not be asked; the message says why.
        """
        name = hostname(url)
        if why := self._guard.judge_url(url):
            raise PermissionError(f"refused_address: {why}")
        if not self.knows_port(url) and not self._ports.allows(name, port_of(url)):
            raise PermissionError(f"port: {OTHERS_PORTS} other ports of {name} were asked already")
        other = self._host_of(name) or self._pageless.get(name)
        addresses = other.addresses if other is not None and self._clock.now() < other.located_until else ()
        try:
            addresses = addresses or await self._addresses.of(name)
        except ResolveError as fault:
            raise PermissionError(f"dns: {fault.reason}") from fault
        if other is not None and set(other.addresses) == set(addresses):
            addresses = other.addresses  # starting with the one that is tried next
        if why := self._reachable.inside(name, addresses):
            raise PermissionError(f"refused_address: {why}")
        if self._opens_at(name, self._clock.now()) > self._clock.now():
            raise PermissionError(f"hours: {name} is not asked at this hour")
        other = self.host(name, addresses)
        if other.addresses != addresses:
            self._frontier.locate(other, addresses, other.located_until)
        if other.away_until > self._clock.now():
            raise PermissionError(f"{other.reason}: {name} is left alone")
        self._heed(other, url)
        return other, await self.rested(other)

    def give_back(self, host: Host, held: bool) -> None:
        """Release a host that `turn` has held."""
        if held:
            host.held = ""
            self._frontier.release(host)

    def host(self, name: str, addresses: tuple[str, ...]) -> Host:
        """Return the host of that name; a new one without pages, at these addresses, if needed."""
        return self._host_of(name) or self._pageless.of(name, addresses)

    def rests_s(self, url: str) -> float:
        """Return how long the host of a URL, and its address, have still to rest, as far as is known (s)."""
        name, now = hostname(url), self._clock.now()
        host = self._host_of(name) or self._pageless.get(name)
        if host is None or host.away_until > now:
            return 0.0
        self._heed(host, url)
        return max(self._frontier.ready_at(host) - now, 0.0)

    async def rested(self, other: Host) -> bool:
        """Wait until a host and its address have rested and may be requested; return whether the host is held for this.

        A held host's pages wait.
        """
        while not self._frontier.may_keep(other, self._clock.now()):
            await self._clock.sleep(POLL_S)
        held, address = False, self._frontier.keep_place(other)
        try:
            while self._shut() or not (self._frontier.rested(other, self._clock.now()) and self._leased(other)):
                if not other.held:
                    other.held, held = "robots.txt", True
                rests_until = max(other.ready_at, address.ready_at if address is not None else 0.0)
                await self._clock.sleep(max(rests_until - self._clock.now(), POLL_S))
        finally:
            self._frontier.give_place(address)
        return held

    def _heed(self, host: Host, url: str) -> None:
        """Apply the Crawl-delay of a URL's origin, if its robots.txt is known, to a host that may have no pages."""
        now = self._clock.now()
        if (rules := self._robots.of(origin(url), now)) is not None:
            slows_down(host, rules, now)


def slows_down(host: Host, rules: OriginRules, now: float) -> bool:
    """Apply a known Crawl-delay to a host; return whether its rest is not over by that delay.

    Since the rest began, another origin of the host may have been asked, or the crawl may have been restarted.
    """
    if rules.delay_s is None or rules.delay_s <= host.delay_s:
        return False
    host.ready_at += rules.delay_s - host.delay_s
    host.delay_s = rules.delay_s
    return host.ready_at > now
