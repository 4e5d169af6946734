"""Prepares a host for requests: looks up its addresses, fetches its robots.txt, and judges URLs by both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.config.site_rules import Sites
from evercrawl.crawl.background import Background
from evercrawl.crawl.backoff import await_calm, retry_after_s
from evercrawl.crawl.posting.landlord import WAIT_S
from evercrawl.crawl.visit.families import BothFamilies
from evercrawl.crawl.visit.host_addresses import HostAddresses
from evercrawl.crawl.visit.moved_robots import MovedRobots, crowded_words
from evercrawl.crawl.visit.open_origins import OpenOrigins
from evercrawl.crawl.visit.reachable import ReachableAddresses
from evercrawl.crawl.visit.side_requests import POLL_S, SideRequests, slows_down
from evercrawl.fetch.names import LookUps, ResolveError
from evercrawl.model.rules.robots import OriginRules, RobotsKeeper, RobotsTag
from evercrawl.parse.urls import hostname, origin, path_query
from evercrawl.types import SILENT, Exchange, Request

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.config import Config, SiteRules
    from evercrawl.crawl.ports import Network
    from evercrawl.crawl.posting.leases import IpLeases
    from evercrawl.crawl.visit.silences import Silences
    from evercrawl.fetch.guard import Guard
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.store.quarantine import Quarantine

LARGE_BYTES: Final = 64 << 10  # a larger robots.txt is parsed in its turn, one after another
REST_S_PER_BYTE: Final = 8e-6  # of rest before parsing it: ten times as long as parsing takes
CROWDED_S: Final = 1.0  # the wait of a host while too many silent hosts are waited for
GIVES_WAY: Final = 2  # failures of a robots.txt after which one page of its origin makes room after each
GO: Final = "go"
WAIT: Final = "wait"
LEASED: Final = "lease"
"""Why a host waits: another partition of the crawl may request its address now."""
CLOSED_HOURS: Final = "hours"
"""Why a host waits: the settings have it visited at other hours of the day."""
_UNCONNECTED: Final = frozenset({"connect", "timeout"})  # errors of an exchange whose connection was not made


class Access:
    """Opens hosts: looks up their names, requests their robots.txt, and judges URLs by both.

    Parameters
    ----------
    frontier, robots, guard
        The hosts' rests, the robots.txt rules, and the addresses that may be reached.
    network, names, clock
        The outside world.
    host_of
        Host name -> its Host, None if it is not known.
    unreachable
        Called with a host whose name has no usable address, and the reason.
    silences
        Tells whether so many hosts are silent that those which have not answered yet have to wait.
    quarantine
        The files on which our own code failed.
    proxied
        Whether a proxy makes the connections and look-ups.
    delay_s
        The rest of a host whose robots.txt asks for none.
    sites
        The sections of the settings, which limit the hours of single sites.
    both_families
        Whether two addresses of a host are tried at a time if they are of two families.

    Attributes
    ----------
    addresses
        The addresses of hosts: which one is connected to, and which is next.
    turns
        Defers hosts whose names cannot be looked up now.
    side_requests
        Lets requests that are no visits to pages wait for their turn at a host.
    failures, trouble
        How often in this run a robots.txt could not be fetched, which closes its site for a while; the last in words.
    paused
        Whether a person has paused the crawl.
    may_fetch
        Tells whether this process may request anything now; a partition may not once its permission has expired.
    leases
        The addresses that this partition of a crawl may request; None if there are no other partitions.
    """

    def __init__(
        self,
        frontier: Frontier,
        robots: RobotsKeeper,
        guard: Guard,
        network: Network,
        names: LookUps,
        clock: Clock,
        host_of: Callable[[str], Host | None],
        unreachable: Callable[[Host, str], None],
        *,
        silences: Silences,
        quarantine: Quarantine,
        proxied: bool,
        delay_s: float,
        sites: Sequence[SiteRules],
        both_families: bool = True,
    ) -> None:
        self._sections: tuple[SiteRules, ...] = tuple(sites)
        self._sites = Sites(sites)
        self._silences = silences
        self._quarantine = quarantine
        self._frontier = frontier
        self._robots = robots
        self._guard = guard
        self._network = network
        self._clock = clock
        self._host_of = host_of
        self._delay_s = delay_s
        self.failures = 0
        self.trouble = ""
        self.paused = False
        self.may_fetch: Callable[[], bool] = lambda: True
        self.leases: IpLeases | None = None
        self._open = OpenOrigins()
        self._given_way: set[str] = set()  # origins of which a page made room since the last request for robots.txt
        self._elsewhere = MovedRobots(delay_s)
        self._reading, self._reading_beside = asyncio.Lock(), asyncio.Lock()
        self._moved: dict[RobotsTag, tuple[Host, bool]] = {}  # by request: host asked, held for it
        self._background = Background(network.wake)
        self._reachable = ReachableAddresses(guard, proxied=proxied)
        self._families = BothFamilies(frontier, on=both_families)
        self.addresses = HostAddresses(
            frontier, names, clock, reachable=self._reachable, families=self._families, background=self._background,
            unreachable=unreachable, proxied=proxied,
        )  # fmt: skip
        self.turns = self.addresses.turns
        self.side_requests = SideRequests(
            frontier, robots, guard, clock, addresses=self.addresses, reachable=self._reachable, host_of=host_of,
            opens_at=lambda name, now: self._sites.opens_at(name, now), shut=lambda: self.shut, leased=self._leased,
        )  # fmt: skip

    @property
    def names_trouble(self) -> str:
        """What is wrong while no name server answers, in a sentence; else ""."""
        return self.addresses.trouble

    @property
    def elsewhere(self) -> MovedRobots:
        """The budget and the answers of robots.txt files that are on other hosts."""
        return self._elsewhere

    @property
    def busy(self) -> bool:
        """Whether names are being looked up."""
        return self._background.busy

    def adopt(self, config: Config) -> None:
        """Use the hours of other sections from now on."""
        if config.sites != self._sections:
            self._sections, self._sites = config.sites, Sites(config.sites)
            self._frontier.reopen(CLOSED_HOURS, self._clock.now())

    def judge(self, host: Host, url: str, now: float) -> str:
        """Return GO, WAIT (and ensure that the wait ends), or why the page may not be requested."""
        if self._sites and (opens_at := self._sites.opens_at(host.name, now)) > now:
            host.stay_away(opens_at, CLOSED_HOURS)
            return WAIT
        addresses, home = host.addresses, origin(url)
        if not addresses or now >= host.located_until:
            self.addresses.locate(host, now)
            return WAIT
        if inside := self._reachable.refused(host.name, home, addresses):
            return f"refused_address: {inside}"
        if self.leases is not None and not self.leases.may(key := self._frontier.address_key(host), now):
            host.ready_at, host.reason = max(host.ready_at, now + WAIT_S), LEASED
            self._frontier.shut(key, self.leases.shut_until(key, now))
            self.turns.count_put_off(now)
            return WAIT
        if self._families.on and (wait_s := self._frontier.wait_s(host, now)) > 0.0:
            host.ready_at = max(host.ready_at, now + wait_s)  # meanwhile, another host took its address as a second one
            return WAIT
        if not host.answers and self._silences.crowded(len(self._frontier.unproven), now):
            host.ready_at, host.reason = max(host.ready_at, now + CROWDED_S), SILENT
            self.turns.count_put_off(now)
            return WAIT
        rules = self._robots.of(home, now)
        if rules is None:
            if self._gives_way(host, home):
                return f"robots_unreachable: {_closed_why(home, self._robots.last(home))}"
            host.held = "robots.txt"
            self.start(self._robots.request(home), host, now)
            return WAIT
        if not rules.open:
            return self._closed(host, home, rules)
        self._open.note(host.number, home)
        if rules.rules is not None and not rules.rules.allowed(path_query(url)):
            return "robots: robots.txt disallows it"
        return WAIT if slows_down(host, rules, now) else GO

    @property
    def shut(self) -> bool:
        """Whether nothing may be requested now, not even redirect targets of requests under way."""
        return self.paused or not self.may_fetch()

    def start(self, request: Request, host: Host, now: float) -> None:
        """Begin an exchange with a host, at the addresses at which it is counted; `ended` must be called for it."""
        addresses = self.addresses.left(host)
        beside = self._families.begun(
            host, addresses, now, lambda key: self.leases is None or self.leases.may(key, now)
        )
        self._network.start(request, addresses, beside=beside)
        self._frontier.began(host, now)

    def ended(self, host: Host, exchange: Exchange, now: float) -> None:
        """Note the end of an exchange with a host."""
        self._frontier.ended(host, now)
        self._families.ended(host, exchange, now)

    def optouts(self, url: str) -> int:
        """Return what the robots.txt of a page's origin asks of those who train models, as bits of `OptOut`."""
        return self._robots.last(origin(url)).optouts

    def fell_silent(self, host: Host, exchange: Exchange, now: float) -> None:
        """Defer a host whose exchange was ended for its silence; if it never connected, use its next address.

        Its pages keep their turn, and the failure does not count against them.
        """
        self._silences.note(host.number, await_calm(host, now))
        if not exchange.sent and len(host.addresses) > 1 and host.in_flight == 0:
            self.addresses.move_on(host)
        else:
            self._frontier.release(host)

    def take_robots(self, exchange: Exchange, now: float, age_s: float = 0.0) -> None:
        """Process an answer to a request for robots.txt; it may be another request's answer, `age_s` seconds old."""
        tag = exchange.request.tag
        assert isinstance(tag, RobotsTag)
        host = self._host_of(_host_name(tag.origin))
        assert host is not None, "we asked, so we know it"
        asked, held = (host, False) if tag.hops == 0 else self._moved.pop(tag, (None, False))
        if asked is not None and held:
            asked.held = ""
        try:
            wish_s, moved = retry_after_s(exchange, now), self._robots.moved(exchange)
        except Exception as error:
            exchange, wish_s, moved = self._failed(exchange, error, now), 0.0, None
        if asked is not None and wish_s:
            asked.stay_away(now + wish_s, "back-off")
        if asked is not None:
            asked.answers = int(exchange.status > 0)
        if asked is host and exchange.error == SILENT:
            host.held = ""
            self.ended(host, exchange, now)
            self.fell_silent(host, exchange, now)
            return
        if asked is host and self.addresses.misses(host, exchange):
            host.held = ""
            self.ended(host, exchange, now)
            self.addresses.move_on(host)
            return
        large = moved is None and len(exchange.body) > LARGE_BYTES
        if large:
            self._background.start(self._learn_in_turn(host, exchange, age_s))
        elif moved is None:
            self._learn(host, exchange, now, age_s, rested=asked is not host)
        else:
            self._background.start(self._following(host, moved))
        if asked is not None:
            self.ended(asked, exchange, now)
        if moved is None and not large:
            self._frontier.release(host)
        if tag.hops and (others := self._elsewhere.answered(exchange, now)):
            self._background.start(self._pass_on(exchange, others))

    def _failed(self, exchange: Exchange, error: Exception, now: float) -> Exchange:
        """Return an exchange that records only that a request was made, after a failure of our own code."""
        why = self._quarantine.judging(exchange.request.url, error, now)
        return Exchange(exchange.request, exchange.at, exchange.elapsed_s, error="internal", detail=why)

    def check(self) -> None:
        """Raise a failure of a background task: a mistake of ours."""
        self._background.check()

    def close(self) -> None:
        """Abandon look-ups under way."""
        self._background.close()
        self.addresses.close()

    def _learn(self, host: Host, exchange: Exchange, now: float, age_s: float, *, rested: bool) -> None:
        """Apply its rules to a host; `rested` means that another host was asked last: its rest is not set yet."""
        host.held = ""
        tag = exchange.request.tag
        try:
            rules = self._robots.learn(exchange, now, age_s)
        except Exception as error:
            rules = self._robots.learn(self._failed(exchange, error, now), now)
        assert isinstance(tag, RobotsTag)
        if rules.delay_s is not None and rules.delay_s > host.delay_s:
            if rested:
                host.ready_at += rules.delay_s - host.delay_s
            host.delay_s = rules.delay_s
        if not rules.open:
            self.failures += 1
            self.trouble = _closed_why(tag.origin, rules)
            if not self._open.is_other(host.number, tag.origin):
                host.stay_away(rules.expires_at, "robots.txt")

    async def robots_of(self, exchange: Exchange) -> OriginRules:
        """Return the rules of an answer that no page waits for; a large file is parsed in its turn among such files."""
        rest_s = REST_S_PER_BYTE * len(exchange.body)
        if len(exchange.body) <= LARGE_BYTES:
            return self._robots.learn(exchange, self._clock.now())
        async with self._reading_beside:
            await self._clock.sleep(rest_s)
            return self._robots.learn(exchange, self._clock.now(), rest_s)

    async def _learn_in_turn(self, host: Host, exchange: Exchange, age_s: float) -> None:
        """Apply a large file's rules to a host when its turn to be parsed has come; the host stays held until then."""
        async with self._reading:
            rest_s = REST_S_PER_BYTE * len(exchange.body)
            await self._clock.sleep(rest_s)
            self._learn(host, exchange, self._clock.now(), age_s + rest_s, rested=True)
        self._frontier.release(host)

    def _closed(self, host: Host, origin: str, rules: OriginRules) -> str:
        """Decide about a page whose origin is closed: its host waits, unless another origin of the host is open.

        Otherwise a link to a port where nothing listens would close a whole host.
        """
        if self._open.is_other(host.number, origin):
            return f"robots_unreachable: {_closed_why(origin, rules)}"
        self._open.close(host.number)
        host.stay_away(rules.expires_at, "robots.txt")
        return WAIT

    def _gives_way(self, host: Host, origin: str) -> bool:
        """Whether a page makes room for the next of its host, because its origin's robots.txt could not be fetched.

        The next page may be of another port, which would never be asked while this page comes first. If it is of the
        same origin, the file is requested again in its turn.
        """
        if host.pages < 2 or self._robots.last(origin).failures < GIVES_WAY:
            return False
        self._given_way ^= {origin}
        return origin in self._given_way

    async def _following(self, host: Host, request: Request) -> None:
        try:
            await self._follow(host, request)
        except Exception as error:
            now = self._clock.now()
            self.take_robots(self._failed(Exchange(request, now), error, now), now)

    async def _follow(self, host: Host, request: Request) -> None:
        """Follow a redirect of robots.txt once its target has rested; the host stays held."""
        name = _host_name(origin(request.url))
        await self._clock.sleep(self._delay_s)
        now = self._clock.now()
        if name != host.name:
            if (known := self._elsewhere.known(request, now)) is not None:
                self.take_robots(known, now, max(now - known.at - known.elapsed_s, 0.0))
                return
            if self._elsewhere.joins(request):
                return
            if not self._elsewhere.allows(host.name, name, now):
                self.take_robots(Exchange(request, now, error="budget", detail=crowded_words(request.url)), now)
                return
            self._elsewhere.asking(request)
        error, detail = "refused_address", self._guard.judge_url(request.url)
        addresses: tuple[str, ...] = ()
        if not detail:
            try:
                addresses = host.addresses if name == host.name else await self.addresses.of(name)
                detail = self._reachable.inside(name, addresses)
            except ResolveError as fault:
                error, detail = "dns", fault.reason
        while self.shut and not detail:
            await self._clock.sleep(POLL_S)
        if not detail and self._sites.opens_at(name, now := self._clock.now()) > now:
            error, detail = "hours", f"{name} is not asked at this hour"
        if detail or not addresses:
            now = self._clock.now()
            self.take_robots(Exchange(request, now, error=error, detail=detail), now)
            return
        other = self.side_requests.host(name, addresses)
        if other is not host:
            self._frontier.locate(other, addresses, other.located_until)
        assert isinstance(request.tag, RobotsTag)
        self._moved[request.tag] = (other, await self.side_requests.rested(other))
        self.start(request, other, self._clock.now())

    async def _pass_on(self, exchange: Exchange, requests: Sequence[Request]) -> None:
        """Use one answer for all requests that were redirected to the same URL, one after another."""
        for request in requests:
            self.take_robots(msgspec.structs.replace(exchange, request=request), self._clock.now())
            await self._clock.sleep(0.0)  # each may take some milliseconds to parse

    def _leased(self, host: Host) -> bool:
        """Whether no other partition may request the address of a host now."""
        key = self._frontier.address_key(host)
        return self.leases is None or not key or self.leases.may(key, self._clock.now())


def _closed_why(origin: str, rules: OriginRules) -> str:
    return f"robots.txt of {origin} could not be fetched ({rules.reason})"


def _host_name(origin_url: str) -> str:
    return hostname(f"{origin_url}/")
