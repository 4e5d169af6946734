"""Prepares a host for requests: looks up its addresses, fetches its robots.txt, and judges URLs by both."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.config.site_rules import Sites
from evercrawl.crawl.backoff import await_calm, retry_after_s
from evercrawl.crawl.posting.landlord import WAIT_S
from evercrawl.crawl.visit.families import BothFamilies, stays
from evercrawl.crawl.visit.moved_robots import MovedRobots, crowded_words
from evercrawl.crawl.visit.name_turns import NameTurns
from evercrawl.crawl.visit.open_origins import OpenOrigins
from evercrawl.crawl.visit.pageless_hosts import PagelessHosts
from evercrawl.crawl.visit.port_limit import PortLimit
from evercrawl.crawl.visit.reachable import ReachableAddresses
from evercrawl.fetch.names import LookUps, ResolveError
from evercrawl.fetch.names.base import literal
from evercrawl.model.rules.named_by_others import OTHERS_PORTS
from evercrawl.model.rules.robots import OriginRules, RobotsKeeper, RobotsTag
from evercrawl.parse.urls import hostname, origin, path_query, port_of
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

POLL_S: Final = 0.05
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
    turns
        Defers hosts whose names cannot be looked up now.
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
        self._sections, self._sites = tuple(sites), Sites(sites)
        self._silences = silences
        self._quarantine = quarantine
        self._frontier = frontier
        self._robots = robots
        self._guard = guard
        self._network = network
        self._names = names
        self.turns = frontier.locator = NameTurns(frontier, names, proxied=proxied)
        self._clock = clock
        self._host_of = host_of
        self._unreachable = unreachable
        self._proxied = proxied
        self._delay_s = delay_s
        self._tasks: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None
        self.failures = 0
        self.trouble = ""
        self.paused = False
        self.may_fetch: Callable[[], bool] = lambda: True
        self.leases: IpLeases | None = None
        self._open = OpenOrigins()
        self._reachable = ReachableAddresses(guard, proxied=proxied)
        self._pageless = PagelessHosts(frontier, clock)
        self._ports = PortLimit()
        self._given_way: set[str] = set()  # origins of which a page made room since the last request for robots.txt
        self._families = BothFamilies(frontier, on=both_families)
        self._missed: dict[int, int] = {}  # host number -> how many of its addresses in a row took no connection
        self._elsewhere = MovedRobots(delay_s)
        self._reading, self._reading_beside = asyncio.Lock(), asyncio.Lock()
        self._guests: dict[RobotsTag, tuple[Host, bool]] = {}  # by request: host asked, held for it

    @property
    def names_trouble(self) -> str:
        """What is wrong while no name server answers, in a sentence; else ""."""
        return self._names.trouble

    @property
    def elsewhere(self) -> MovedRobots:
        """The budget and the answers of robots.txt files that are on other hosts."""
        return self._elsewhere

    @property
    def busy(self) -> bool:
        """Whether names are being looked up."""
        return bool(self._tasks)

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
            self._locate(host, now)
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
        return WAIT if self._slower(host, rules, now) else GO

    def knows_port(self, url: str) -> bool:
        """Return whether a URL has the usual port, or the robots.txt at its port is known and could be fetched.

        Other ports are limited, because others could otherwise name any port of a host in sitemaps and pictures.
        """
        rules = self._robots.of(origin(url), self._clock.now()) if port_of(url) else None
        return rules.open if rules is not None else not port_of(url)

    @property
    def shut(self) -> bool:
        """Whether nothing may be requested now, not even redirect targets of requests under way."""
        return self.paused or not self.may_fetch()

    def start(self, request: Request, host: Host, now: float) -> None:
        """Begin an exchange with a host, at the addresses at which it is counted; `ended` must be called for it."""
        addresses = self.addresses(host)
        beside = self._families.begun(
            host, addresses, now, lambda key: self.leases is None or self.leases.may(key, now)
        )
        self._network.start(request, addresses, beside=beside)
        self._frontier.began(host, now)

    def ended(self, host: Host, exchange: Exchange, now: float) -> None:
        """Note the end of an exchange with a host."""
        self._frontier.ended(host, now)
        self._families.ended(host, exchange, now)

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

    def addresses(self, host: Host) -> tuple[str, ...]:
        """Return the address to which a host is connected, followed by those that are still to be tried."""
        return host.addresses[: max(len(host.addresses) - self._missed.get(host.number, 0), 1)]

    def optouts(self, url: str) -> int:
        """Return what the robots.txt of a page's origin asks of those who train models, as bits of `OptOut`."""
        return self._robots.last(origin(url)).optouts

    def fell_silent(self, host: Host, exchange: Exchange, now: float) -> None:
        """Defer a host whose exchange was ended for its silence; if it never connected, use its next address.

        Its pages keep their turn, and the failure does not count against them.
        """
        self._silences.note(host.number, await_calm(host, now))
        if not exchange.sent and len(host.addresses) > 1 and host.in_flight == 0:
            self.move_on(host)
        else:
            self._frontier.release(host)

    @staticmethod
    def vacant(host: Host, exchange: Exchange) -> bool:
        """Whether nothing answered at a host's address, and the host has other addresses."""
        return not exchange.sent and exchange.error in _UNCONNECTED and len(host.addresses) > 1

    def move_on(self, host: Host) -> None:
        """Make the next address of a host its first one; the exchange has ended."""
        self._frontier.locate(host, (*host.addresses[1:], host.addresses[0]), host.located_until)

    def take_robots(self, exchange: Exchange, now: float, age_s: float = 0.0) -> None:
        """Process an answer to a request for robots.txt; it may be another request's answer, `age_s` seconds old."""
        tag = exchange.request.tag
        assert isinstance(tag, RobotsTag)
        host = self._host_of(_host_name(tag.origin))
        assert host is not None, "we asked, so we know it"
        asked, held = (host, False) if tag.hops == 0 else self._guests.pop(tag, (None, False))
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
        if asked is host and self.misses(host, exchange):
            host.held = ""
            self.ended(host, exchange, now)
            self.move_on(host)
            return
        large = moved is None and len(exchange.body) > LARGE_BYTES
        if large:
            self._spawn(self._learn_in_turn(host, exchange, age_s))
        elif moved is None:
            self._learn(host, exchange, now, age_s, rested=asked is not host)
        else:
            self._spawn(self._following(host, moved))
        if asked is not None:
            self.ended(asked, exchange, now)
        if moved is None and not large:
            self._frontier.release(host)
        if tag.hops and (others := self._elsewhere.answered(exchange, now)):
            self._spawn(self._pass_on(exchange, others))

    def _failed(self, exchange: Exchange, error: Exception, now: float) -> Exchange:
        """Return an exchange that records only that a request was made, after a failure of our own code."""
        why = self._quarantine.judging(exchange.request.url, error, now)
        return Exchange(exchange.request, exchange.at, exchange.elapsed_s, error="internal", detail=why)

    def check(self) -> None:
        """Raise a failure of a background task: a mistake of ours."""
        if self._fault is not None:
            raise self._fault

    def close(self) -> None:
        """Abandon look-ups under way."""
        for task in self._tasks:
            task.cancel()
        self._names.close()

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

    @staticmethod
    def _slower(host: Host, rules: OriginRules, now: float) -> bool:
        """Apply a known Crawl-delay to a host; return whether its rest is not over by that delay.

        Since the rest began, another origin of the host may have been asked, or the crawl may have been restarted.
        """
        if rules.delay_s is None or rules.delay_s <= host.delay_s:
            return False
        host.ready_at += rules.delay_s - host.delay_s
        host.delay_s = rules.delay_s
        return host.ready_at > now

    def _locate(self, host: Host, now: float) -> None:
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
            self._spawn(self._look_up(host))

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
                addresses = host.addresses if name == host.name else await self._addresses(name)
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
        other = self._host_of(name) or self._pageless.of(name, addresses)
        if other is not host:
            self._frontier.locate(other, addresses, other.located_until)
        assert isinstance(request.tag, RobotsTag)
        self._guests[request.tag] = (other, await self._rested(other))
        self.start(request, other, self._clock.now())

    async def turn(self, url: str) -> tuple[Host, bool]:
        """Wait until the host of a URL that belongs to a page may be asked; return it, and whether it is held for this.

        The caller starts its exchange at once, and calls `give_back` afterwards.

        Raises
        ------
        PermissionError
            It may not be asked; the message says why.
        """
        name = _host_name(origin(url))
        if why := self._guard.judge_url(url):
            raise PermissionError(f"refused_address: {why}")
        if not self.knows_port(url) and not self._ports.allows(name, port_of(url)):
            raise PermissionError(f"port: {OTHERS_PORTS} other ports of {name} were asked already")
        other = self._host_of(name) or self._pageless.get(name)
        addresses = other.addresses if other is not None and self._clock.now() < other.located_until else ()
        try:
            addresses = addresses or await self._addresses(name)
        except ResolveError as fault:
            raise PermissionError(f"dns: {fault.reason}") from fault
        if other is not None and set(other.addresses) == set(addresses):
            addresses = other.addresses  # starting with the one that is tried next
        if why := self._reachable.inside(name, addresses):
            raise PermissionError(f"refused_address: {why}")
        if self._sites.opens_at(name, self._clock.now()) > self._clock.now():
            raise PermissionError(f"hours: {name} is not asked at this hour")
        other = self._host_of(name) or self._pageless.of(name, addresses)
        if other.addresses != addresses:
            self._frontier.locate(other, addresses, other.located_until)
        if other.away_until > self._clock.now():
            raise PermissionError(f"{other.reason}: {name} is left alone")
        self._heed(other, url)
        return other, await self._rested(other)

    def rests_s(self, url: str) -> float:
        """Return how long the host of a URL, and its address, have still to rest, as far as is known (s)."""
        name, now = hostname(url), self._clock.now()
        host = self._host_of(name) or self._pageless.get(name)
        if host is None or host.away_until > now:
            return 0.0
        self._heed(host, url)
        return max(self._frontier.ready_at(host) - now, 0.0)

    def _heed(self, host: Host, url: str) -> None:
        """Apply the Crawl-delay of a URL's origin, if its robots.txt is known, to a host that may have no pages."""
        now = self._clock.now()
        if (rules := self._robots.of(origin(url), now)) is not None:
            self._slower(host, rules, now)

    def give_back(self, host: Host, held: bool) -> None:
        """Release a host that `turn` has held."""
        if held:
            host.held = ""
            self._frontier.release(host)

    async def _pass_on(self, exchange: Exchange, requests: Sequence[Request]) -> None:
        """Use one answer for all requests that were redirected to the same URL, one after another."""
        for request in requests:
            self.take_robots(msgspec.structs.replace(exchange, request=request), self._clock.now())
            await self._clock.sleep(0.0)  # each may take some milliseconds to parse

    async def _rested(self, other: Host) -> bool:
        """Wait until a host and its address have rested and may be requested; return whether the host is held for this.

        A held host's pages wait.
        """
        while not self._frontier.may_keep(other, self._clock.now()):
            await self._clock.sleep(POLL_S)
        held, address = False, self._frontier.keep_place(other)
        try:
            while self.shut or not (self._frontier.rested(other, self._clock.now()) and self._leased(other)):
                if not other.held:
                    other.held, held = "robots.txt", True
                rests_until = max(other.ready_at, address.ready_at if address is not None else 0.0)
                await self._clock.sleep(max(rests_until - self._clock.now(), POLL_S))
        finally:
            self._frontier.give_place(address)
        return held

    def _leased(self, host: Host) -> bool:
        """Whether no other partition may request the address of a host now."""
        key = self._frontier.address_key(host)
        return self.leases is None or not key or self.leases.may(key, self._clock.now())

    async def _addresses(self, name: str) -> tuple[str, ...]:
        """Return the addresses of a host to which a robots.txt has moved."""
        if self._proxied:
            return (name,)
        return literal(name) or self._reachable.among((await self._names.resolve(name)).addresses)

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._fault = task.exception()
        self._network.wake()  # for anyone who waits for its end, or for idleness


def _closed_why(origin: str, rules: OriginRules) -> str:
    return f"robots.txt of {origin} could not be fetched ({rules.reason})"


def _host_name(origin_url: str) -> str:
    return hostname(f"{origin_url}/")
