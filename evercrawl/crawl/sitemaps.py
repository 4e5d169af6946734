"""Sitemaps and feeds that robots.txt names: asked for in their host's turn, and again after a wait that adapts.

References
----------
The sitemaps protocol, https://www.sitemaps.org/protocol.html: a site's robots.txt names its sitemaps, and thereby
vouches for them, on whatever host they lie ("cross submits"); any other URL they may list only in their own folder.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evercrawl.crawl.access import GO, WAIT
from evercrawl.crawl.reading import REDIRECTS, TROUBLE, retry_after_s
from evercrawl.crawl.sitemap_cache import Listing
from evercrawl.crawl.sitemap_reading import SitemapIntakes, authority
from evercrawl.parse.digest import digest
from evercrawl.parse.pieces import MAX_BYTES
from evercrawl.parse.urls import hostname, normalise, origin
from evercrawl.types import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.crawl.access import Access
    from evercrawl.crawl.network import Network
    from evercrawl.crawl.robots import OriginRules, RobotsKeeper
    from evercrawl.crawl.sitemap_cache import SitemapCache
    from evercrawl.crawl.sitemap_reading import Intake, Listener
    from evercrawl.schedule.frontier import Frontier
    from evercrawl.schedule.hosts import Host
    from evercrawl.types import Exchange

MAX_WIRE_BYTES: Final = 16 << 20
MAX_SITEMAPS: Final = 1_000  # of one site
MAX_SITE_URLS: Final = 1_000_000  # listed by all sitemaps of a site together
MAX_HOPS: Final = 5  # redirects in a row
AT_ONCE: Final = 4  # under way or waiting to be read: each may hold 66 MB
SHARE: Final = 4  # of a host's requests at most every fourth is for a sitemap
FIRST_WAIT_S: Final = 4 * 3600.0
LEAST_WAIT_S: Final = 3600.0
MOST_WAIT_S: Final = 86_400.0
GONE_MOST_WAIT_S: Final = 30 * 86_400.0  # of a sitemap that is not there time after time
LOOK_S: Final = 0.1  # how soon, at the soonest, to look again whether a busy host can be asked


@dataclass(frozen=True, slots=True)
class SitemapTag:
    """Says that an exchange asks for a sitemap, after `hops` redirects."""

    listing: Listing
    host: Host
    hops: int


class Sitemaps:
    """The sitemaps of every site met.

    Parameters
    ----------
    listener
        Told of the URLs in them.
    frontier, robots, access, network
        The hosts' rest, what robots.txt names, who opens hosts, and the outside.
    host_of
        Host name -> its Host, None where the crawl does not know it.
    cache
        What outlives the process.
    deadline_s
        Bound on one request.
    connections_per_host, connections_per_ip
        As the frontier's.
    stored_until
        Instant of the newest event in the journal. What was read later was lost with the process, so it is read again.

    Attributes
    ----------
    trouble
        What went wrong with sitemaps in this run, by class: how often.
    """

    def __init__(
        self,
        listener: Listener,
        frontier: Frontier,
        robots: RobotsKeeper,
        access: Access,
        network: Network,
        host_of: Callable[[str], Host | None],
        cache: SitemapCache,
        *,
        deadline_s: float,
        connections_per_host: int,
        connections_per_ip: int,
        stored_until: float,
    ) -> None:
        self._frontier = frontier
        self._robots = robots
        self._access = access
        self._network = network
        self._host_of = host_of
        self._cache = cache
        self._deadline_s = deadline_s
        self._per_host, self._per_ip = connections_per_host, connections_per_ip
        self._met: dict[str, OriginRules] = {}  # origin -> the rules whose sitemaps are known
        self._of: dict[str, Listing] = {}
        self._never: set[Listing] = set()  # not asked for yet
        self._counts: Counter[str] = Counter()  # sitemaps, by first owner
        self._urls: Counter[str] = Counter()  # what they list, by first owner
        self._due: list[tuple[float, int, Listing]] = []
        self._order = itertools.count()
        self._asked_at: dict[int, float] = {}  # host number -> when it may be asked for a sitemap again
        self._under_way = 0
        self._intakes = SitemapIntakes(listener, self._named)
        self.trouble: Counter[str] = Counter()
        for listing in cache.all():
            if listing.read_at and listing.read_at >= stored_until:
                listing.forget()
                listing.next_at = 0.0
            self._add(listing)

    # What there is

    def met(self, url: str, now: float) -> None:
        """Take note of the sitemaps that the robots.txt of a page's origin names; cheap where they are known."""
        site = origin(url)
        rules = self._robots.of(site, now)
        if rules is None or self._met.get(site) is rules:
            return
        self._met[site] = rules
        for reference in rules.sitemaps[:MAX_SITEMAPS]:
            address = normalise(reference, f"{site}/")
            if address is not None:
                self._know(address, (authority(url),), 0, now)

    def _named(self, url: str, index: Listing, now: float) -> None:
        self._know(url, index.owners, index.level + 1, now)

    def _know(self, url: str, owners: tuple[str, ...], level: int, now: float) -> None:
        """Make a sitemap known; one that is known may get another owner, for whom it is read anew."""
        known = self._of.get(url)
        if known is not None:
            more = tuple(owner for owner in owners if owner not in known.owners)
            if more:
                known.owners += more
                known.level = min(known.level, level)
                known.stale = True
                if not known.busy:
                    self._again(known, now, 0.0)
        elif self._counts[owners[0]] < MAX_SITEMAPS:
            self._add(Listing(url, owners, level, next_at=now))
        else:
            self.trouble["many"] += 1

    def _add(self, listing: Listing) -> None:
        self._of[listing.url] = listing
        self._counts[listing.owners[0]] += 1
        self._urls[listing.owners[0]] += listing.urls
        if not listing.asked_at:
            self._never.add(listing)
        self._push(listing, listing.next_at)

    def _push(self, listing: Listing, at: float) -> None:
        listing.next_at = at
        heapq.heappush(self._due, (at, next(self._order), listing))

    # When to ask

    def next_at(self) -> float:
        """Return when there is next something to do; -infinity while a file waits to be read."""
        if self._intakes:
            return float("-inf")
        return self._due[0][0] if self._due and self._under_way < AT_ONCE else float("inf")

    def idle(self, now: float) -> bool:
        """Whether no file is asked for or waits to be read, and each was asked for once, except of hosts away."""
        return not self._intakes and not self._under_way and not any(self._may_come(one, now) for one in self._never)

    def _may_come(self, listing: Listing, now: float) -> bool:
        host = self._host_of(hostname(listing.moved or listing.url))
        return host is None or not host.away(now)

    def start(self, now: float, most: int) -> int:
        """Ask for sitemaps that are due, of hosts that have rested; return how many requests began, at most `most`."""
        before = self._network.in_flight
        while self._due and self._due[0][0] <= now and self._under_way + len(self._intakes) < AT_ONCE:
            if self._network.in_flight - before >= most:
                break
            at, _, listing = heapq.heappop(self._due)
            if at == listing.next_at and not listing.busy:  # otherwise it was moved
                self._consider(listing, now)
        return self._network.in_flight - before

    def _consider(self, listing: Listing, now: float) -> None:
        url = listing.moved or listing.url
        host = self._host_of(hostname(url))
        if host is None:
            self._fail(listing, "unknown_host", now, MOST_WAIT_S)
            return
        wait_s = self._wait_s(host, now)
        leave = self._access.judge(host, url, now) if wait_s <= 0 else WAIT
        if leave == WAIT:
            self._push(listing, now + max(wait_s, LOOK_S))
        elif leave == GO or leave.startswith("robots:"):  # that robots.txt names it is leave enough
            self.met(url, now)
            self._ask(listing, host, url, now)
        else:
            self._fail(listing, leave.partition(":")[0], now, MOST_WAIT_S)

    def _wait_s(self, host: Host, now: float) -> float:
        """Return how long to wait before looking whether a host may be asked for a sitemap; 0 where it may be now."""
        address = host.address
        ready_at = max(host.ready_at, self._asked_at.get(host.number, 0.0), address.ready_at if address else 0.0)
        if ready_at > now:
            return ready_at - now
        busy = host.held or host.in_flight >= self._per_host
        if busy or (address is not None and address.in_flight >= self._per_ip):
            return max(LOOK_S, host.delay_s / 2)  # its next rest is longer than that, so it is not missed
        return 0.0

    def _ask(self, listing: Listing, host: Host, url: str, now: float) -> None:
        pairs = (("If-None-Match", listing.etag), ("If-Modified-Since", listing.last_modified))
        headers = tuple(pair for pair in pairs if pair[1])
        listing.busy, listing.stale = True, False
        self._under_way += 1
        self._asked_at[host.number] = now + SHARE * host.delay_s
        tag = SitemapTag(listing, host, listing.hops)
        self._network.start(Request(url, tag, headers, MAX_WIRE_BYTES, MAX_BYTES, self._deadline_s), host.addresses)
        self._frontier.began(host, now)

    # What the answer says

    def take(self, exchange: Exchange, now: float) -> None:
        """Take in an answer; what it lists is read by `read`."""
        tag = exchange.request.tag
        assert isinstance(tag, SitemapTag)
        self._under_way -= 1
        _rest(tag.host, exchange, now)
        self._frontier.ended(tag.host, now)
        if not self._moved(tag, exchange, now):
            tag.listing.moved, tag.listing.hops = "", 0
            self._judge(tag.listing, exchange, now)

    def _moved(self, tag: SitemapTag, exchange: Exchange, now: float) -> bool:
        """Return whether the answer says where the sitemap is, and see to it that it is asked for there."""
        location = exchange.headers.get("location", "") if exchange.status in REDIRECTS else ""
        target = normalise(location, exchange.request.url) if location else None
        if target is None or tag.hops >= MAX_HOPS:
            return False
        tag.listing.busy, tag.listing.moved, tag.listing.hops = False, target, tag.hops + 1
        self._push(tag.listing, now)
        return True

    def _judge(self, listing: Listing, exchange: Exchange, now: float) -> None:
        status = exchange.status
        if status == 304:
            self._settle(listing, now, changed=False)
        elif status in (404, 410):
            self._fail(listing, "gone", now, min(max(2 * listing.wait_s, MOST_WAIT_S), GONE_MOST_WAIT_S))
        elif not 200 <= status < 300 or (exchange.error and not exchange.truncated):
            wait_s = min(max(2 * listing.wait_s, LEAST_WAIT_S), MOST_WAIT_S)
            self._fail(listing, exchange.error or f"status_{status}", now, wait_s)
        elif digest(exchange.body) == listing.digest:
            _remember(listing, exchange)
            self._settle(listing, now, changed=False)
        else:
            room = MAX_SITE_URLS - self._urls[listing.owners[0]] + listing.urls
            self._intakes.add(listing, exchange, room)

    def read(self, now: float) -> bool:
        """Read a piece of what was taken in, a few ms of work, and tell the listener; return whether there is more."""
        if self._intakes and (done := self._intakes.step(now)) is not None:
            self._end(done, now)
        return bool(self._intakes)

    def _end(self, intake: Intake, now: float) -> None:
        sitemap, listing = intake.reader.sitemap, intake.listing
        self._urls[listing.owners[0]] += len(sitemap.pages) - listing.urls
        listing.urls, listing.kind, listing.read_at = len(sitemap.pages), sitemap.kind, now
        if sitemap.trouble or not sitemap.kind:
            self.trouble[sitemap.trouble.partition(":")[0] or "other"] += 1
        _remember(listing, intake.exchange)
        self._settle(listing, now, changed=True)

    def _settle(self, listing: Listing, now: float, *, changed: bool) -> None:
        """See when to ask again: sooner each time that something was new, later each time that nothing was."""
        wait_s = listing.wait_s / 2 if changed else listing.wait_s * 2
        self._again(listing, now, min(max(wait_s, LEAST_WAIT_S), MOST_WAIT_S) if listing.wait_s else FIRST_WAIT_S)

    def _fail(self, listing: Listing, why: str, now: float, wait_s: float) -> None:
        self.trouble[why] += 1
        listing.moved, listing.hops = "", 0
        self._again(listing, now, wait_s)

    def _again(self, listing: Listing, now: float, wait_s: float) -> None:
        """Ask again after `wait_s`; at once where somebody else named the sitemap meanwhile."""
        if listing.busy or not listing.stale:
            self._never.discard(listing)
            listing.asked_at, listing.wait_s, listing.busy = now, wait_s, False
        if listing.stale:
            listing.forget()
            wait_s = 0.0
        self._push(listing, now + wait_s)
        self._cache.keep(listing)


def _rest(host: Host, exchange: Exchange, now: float) -> None:
    """Let the host rest for as long as the answer deserves, as after a page."""
    wish_s = retry_after_s(exchange, now)
    if wish_s:
        host.failures += 1
        host.stay_away(now + wish_s, "back-off")
    elif exchange.status in TROUBLE and exchange.error not in ("too_large", "refused_address"):
        host.failed(now)
    elif exchange.status:
        host.succeeded()


def _remember(listing: Listing, exchange: Exchange) -> None:
    """Remember how to ask whether the content is still the same; what the far end cut short is not worth it."""
    ours = len(exchange.wire) >= MAX_WIRE_BYTES or len(exchange.body) >= MAX_BYTES
    if exchange.truncated and not ours:
        listing.forget()
        return
    listing.etag = exchange.headers.get("etag", "")[:512]
    listing.last_modified = exchange.headers.get("last-modified", "")[:512]
    listing.digest = digest(exchange.body)
