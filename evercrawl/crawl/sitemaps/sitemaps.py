"""Sitemaps and feeds, requested in their host's turn, and again after an adaptive wait.

References
----------
The sitemaps protocol, https://www.sitemaps.org/protocol.html: a site's robots.txt names its sitemaps and thereby
vouches for them, on whatever host they are ("cross submits"). Other sitemaps may list only URLs in their own folder.
A sitemap named in robots.txt may be requested from the origin that names it, whatever its rules say; no file gives
permission for another origin.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from evercrawl.crawl.backoff import apply_backoff
from evercrawl.crawl.ports import Network
from evercrawl.crawl.sitemaps.book import SitemapBook
from evercrawl.crawl.sitemaps.cache import Listing, SitemapCache
from evercrawl.crawl.sitemaps.host_turns import HostTurns
from evercrawl.crawl.sitemaps.lines import SitemapLines
from evercrawl.crawl.sitemaps.reading import Intake, Listener, SitemapIntakes
from evercrawl.crawl.visit.access import GO, WAIT, Access
from evercrawl.crawl.visit.lanes import QUICK_LANE, SLOW_S, Lanes
from evercrawl.fetch.asking import validator
from evercrawl.model.rules.robots import RobotsKeeper
from evercrawl.model.rules.scope import Scope
from evercrawl.model.stored.reading import REDIRECTS
from evercrawl.parse.digest import checksum
from evercrawl.parse.pieces import MAX_BYTES
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname, normalise
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.schedule.frontier.politeness import LOOK_S
from evercrawl.store.quarantine import Quarantine
from evercrawl.types import SILENT, Exchange, Request

MAX_WIRE_BYTES: Final = 16 << 20
MAX_HOPS: Final = 5  # redirects in a row
AT_ONCE: Final = 4  # being requested or waiting to be read: each may hold 66 MB
SLOW_AT_ONCE: Final = 2  # besides, from sites that were slow within an hour
CROWDED_S: Final = 0.5  # before the first of a line for which there is no room is considered again
HUNG_UP_S: Final = 60.0  # before one whose request was ended to make room is requested again
CONSIDERED: Final = 256  # hosts in one turn
SHARE: Final = 4  # at most one in this many requests to a host is for a sitemap
OTHERS_SHARE: Final = 20  # and, while its pages wait, in this many for one that only hosts of other sites name
FIRST_WAIT_S: Final = 4 * 3600.0
LEAST_WAIT_S: Final = 3600.0
MOST_WAIT_S: Final = 86_400.0
GONE_MOST_WAIT_S: Final = 30 * 86_400.0  # for a sitemap found absent time after time


@dataclass(frozen=True, slots=True)
class SitemapTag:
    """Marks an exchange that asks for a sitemap, after `hops` redirects."""

    listing: Listing
    host: Host
    hops: int


class Sitemaps:
    """The sitemaps and feeds of every known site.

    Parameters
    ----------
    listener
        Receives the URLs that they list.
    frontier, robots, access, network
        The hosts' rests; the sitemaps that robots.txt names; opens hosts; answers requests.
    host_of
        Host name -> its Host, None if the crawl does not know it.
    cache
        Storage that outlives the process.
    quarantine
        The files on which our own code failed.
    deadline_s
        The time limit of one request.
    stored_until
        The time of the newest event in the journal. What was read later was lost with the process, so it is read
        again.
    scope
        The hosts and URLs of which nothing is requested.

    Attributes
    ----------
    trouble
        The number of problems with sitemaps in this run, by class.
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
        quarantine: Quarantine,
        deadline_s: float,
        stored_until: float,
        scope: Scope,
    ) -> None:
        self._scope = scope
        self._quarantine = quarantine
        self._frontier = frontier
        self._access = access
        self._network = network
        self._host_of = host_of
        self._deadline_s = deadline_s
        self._book = SitemapBook(robots, cache, stored_until, self._pages_of)
        self._lines = SitemapLines()
        self._intakes = SitemapIntakes(listener, self._book.child)
        self._turns = HostTurns()
        self._others = HostTurns()  # for what hosts of other sites name
        self._lanes = Lanes[Listing](AT_ONCE, SLOW_AT_ONCE, 1)
        self._under_way: dict[Listing, float] = {}  # and since when
        self._hung_up: set[Listing] = set()
        self._room = True  # whether the last start ended because nothing else was due
        self._looks_at = float("inf")  # when to look for slow requests, if there is no room
        self.trouble: Counter[str] = Counter()

    def _pages_of(self, owner: str) -> int:
        host = self._host_of(hostname(f"http://{owner}/"))
        return host.pages if host is not None else 0

    def met(self, url: str, now: float) -> None:
        """Add the sitemaps that the robots.txt of a page's origin names; cheap if they are known."""
        self._book.met(url, now)

    def feeds(self, page: str, urls: Sequence[str], now: float) -> None:
        """Add the feeds that a page names, at most `MAX_FEEDS` per host."""
        self._book.feeds(page, urls, now)

    # When to ask

    def next_at(self) -> float:
        """Return the time of the next thing to do, apart from answers; -infinity while a file waits to be read.

        Requests that `start` had no room for wait for room, or for requests under way to turn out slow.
        """
        if self._intakes:
            return float("-inf")
        return min(self._book.next_at(), self._lines.next_at()) if self._room else self._looks_at

    def idle(self, now: float) -> bool:
        """Whether no file is under way and each known one was requested once, except those of hosts that are away."""
        return not (
            self._intakes or self._under_way or any(self._may_come(listing, now) for listing in self._book.never)
        )

    def _may_come(self, listing: Listing, now: float) -> bool:
        host = self._host_of(hostname(listing.moved or listing.url))
        return host is None or not host.away(now)

    def start(self, now: float, most: int) -> int:
        """Request due sitemaps from hosts that have rested; return how many requests began, at most `most`."""
        before, begun = self._network.in_flight, 0
        late = self._lanes.look(self._under_way.__getitem__, now)
        self._line_up(now)
        for _ in range(CONSIDERED):
            self._room = begun < most and len(self._intakes) < AT_ONCE and (not self._lanes.full or bool(late))
            number = self._lines.take(now) if self._room else None
            if number is None:
                break
            listing = self._lines.first(number)
            if listing is not None:
                self._consider(number, listing, now, late)
            begun = self._network.in_flight - before
        self._looks_at = now + SLOW_S / 4 if self._lanes.full else float("inf")
        return begun

    def _line_up(self, now: float) -> None:
        """Put due sitemaps into the lines of their hosts."""
        for _ in range(CONSIDERED):
            listing = self._book.take(now)
            if listing is None:
                return
            host = self._host_of(hostname(listing.moved or listing.url))
            if host is None:
                self._fail(listing, "unknown_host", now, MOST_WAIT_S)
            else:
                self._lines.join(host.number, listing, now, own=_is_own(listing, host))

    def _consider(self, number: int, listing: Listing, now: float, late: list[Listing]) -> None:
        """Request the first sitemap in a host's line, or have the host wait."""
        url = listing.moved or listing.url
        host = self._host_of(hostname(url))
        assert host is not None, "only a sitemap of a known host waits"
        excluded = self._scope.excludes(url) or not self._scope.holds(host.name)
        if excluded or not (host.name in _names_of(listing) or self._access.side_requests.knows_port(url)):
            self._lines.leave(number, now)
            self._fail(listing, "excluded" if excluded else "port", now, MOST_WAIT_S)
            return
        own = _is_own(listing, host)
        wait_s = self._wait_s(host, now) if own else max(self._wait_s(host, now), self._others.wait_s(number, now))
        obstacle = self._obstacle(host, now) if wait_s <= 0 else ""
        if obstacle and not (late and obstacle == QUICK_LANE and self._lanes.crowded):
            self._lines.block(number, obstacle, now + CROWDED_S)
            return
        leave = self._access.judge(host, url, now) if wait_s <= 0 else WAIT
        allowed = leave == GO or (leave.startswith("robots:") and listing.invited)
        if leave == WAIT:
            self._lines.wait(number, now + max(wait_s, LOOK_S))
        elif allowed and obstacle:
            self._hang_up(late)
            self._lines.block(number, obstacle, now + CROWDED_S)
        else:
            self._lines.leave(number, now)
            if allowed:
                self._book.met(url, now)
                self._ask(listing, host, url, now)
            else:
                self._fail(listing, leave.partition(":")[0], now, MOST_WAIT_S)

    def _obstacle(self, host: Host, now: float) -> str:
        """Return why a host that has rested may not be asked now; "" if it may.

        One site, and one network of addresses, has one request under way; slow sites have a lane of their own.
        """
        groups = _groups(host)
        obstacle = self._lanes.obstacle(groups, now)
        if obstacle or self._lanes.slow_site(groups[0], now):
            return obstacle
        return QUICK_LANE if self._lanes.quick + len(self._intakes) >= AT_ONCE else ""

    def _hang_up(self, late: list[Listing]) -> None:
        """End the slow request that has been silent longest."""
        for silence in self._network.silent(SLOW_S):
            tag = silence.request.tag
            if isinstance(tag, SitemapTag) and tag.listing in late:
                late.remove(tag.listing)
                self._hung_up.add(tag.listing)
                self._network.hang_up([silence])
                return
        late.clear()  # the others deliver data

    def _wait_s(self, host: Host, now: float) -> float:
        """Return the wait before checking whether a host may be asked for a sitemap; 0 if it may be asked now."""
        return max(self._turns.wait_s(host.number, now), self._frontier.wait_s(host, now))

    def _ask(self, listing: Listing, host: Host, url: str, now: float) -> None:
        pairs = (("If-None-Match", listing.etag), ("If-Modified-Since", listing.last_modified))
        headers = tuple(pair for pair in pairs if pair[1])
        listing.busy = True
        self._under_way[listing] = now
        self._lanes.began(listing, _groups(host), now)
        self._turns.put_off(host.number, now + SHARE * host.delay_s, now)
        pages_wait = any(count.item(0) for count in self._frontier.queued_on(host.number, host.number + 1))
        if pages_wait and not _is_own(listing, host):
            self._others.put_off(host.number, now + OTHERS_SHARE * host.delay_s, now)
        tag = SitemapTag(listing, host, listing.hops)
        self._network.start(Request(url, tag, headers, MAX_WIRE_BYTES, MAX_BYTES, self._deadline_s), host.addresses)
        self._frontier.began(host, now)

    # Answers

    def take(self, exchange: Exchange, now: float) -> None:
        """Process an answer; `read` reads what it lists."""
        tag = exchange.request.tag
        assert isinstance(tag, SitemapTag)
        url, judged = exchange.request.url, False
        del self._under_way[tag.listing]
        self._lanes.ended(tag.listing)
        hung_up = tag.listing in self._hung_up
        self._hung_up.discard(tag.listing)
        if hung_up and exchange.error == SILENT:
            self._frontier.ended(tag.host, now)
            tag.listing.busy = False
            self._book.push(tag.listing, now + HUNG_UP_S)
            return
        try:
            apply_backoff(tag.host, exchange, now)
            judged = not self._quarantine.holds(url) and self._judged(tag, exchange, now)
        except Exception as error:
            self._quarantine.judging(url, error, now)
        self._frontier.ended(tag.host, now)
        if not judged:
            self._fail(tag.listing, "internal", now, MOST_WAIT_S)

    def _judged(self, tag: SitemapTag, exchange: Exchange, now: float) -> bool:
        """Follow a redirect, or judge the answer; return True."""
        if not self._moved(tag, exchange, now):
            self._judge(tag.listing, exchange, now)
        return True

    def _moved(self, tag: SitemapTag, exchange: Exchange, now: float) -> bool:
        """Return whether the answer is a redirect to follow, and if so have its target requested."""
        location = exchange.headers.get("location", "") if exchange.status in REDIRECTS else ""
        target = normalise(location, exchange.request.url) if location else None
        if target is None or tag.hops >= MAX_HOPS:
            return False
        tag.listing.busy, tag.listing.moved, tag.listing.hops = False, target, tag.hops + 1
        self._book.push(tag.listing, now)
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
        elif checksum(exchange.body) == listing.digest:
            _remember(listing, exchange)
            self._settle(listing, now, changed=False)
        else:
            self._intakes.add(listing, exchange, self._book.room(listing))

    @property
    def being_read(self) -> str:
        """The URL of the file of which `read` reads a piece next; "" if none waits."""
        return self._intakes.first

    def read(self, now: float) -> bool:
        """Read a piece of a fetched file (a few ms) and notify the listener; return whether there is more."""
        if self._intakes and (done := self._intakes.step(now)) is not None:
            self._end(done, now)
        return bool(self._intakes)

    def _end(self, intake: Intake, now: float) -> None:
        sitemap, listing = intake.reader.sitemap, intake.listing
        self._book.count(listing, len(sitemap.pages))
        listing.kind, listing.read_at = sitemap.kind, now
        if sitemap.trouble or not sitemap.kind:
            self.trouble[sitemap.trouble.partition(":")[0] or "other"] += 1
        _remember(listing, intake.exchange)
        if not intake.whole:
            listing.forget()
        self._settle(listing, now, changed=True)

    def _settle(self, listing: Listing, now: float, *, changed: bool) -> None:
        """Set the next request: sooner each time that there was something new, later each time that there was not."""
        wait_s = listing.wait_s / 2 if changed else listing.wait_s * 2
        self._book.asked(listing, now, min(max(wait_s, LEAST_WAIT_S), MOST_WAIT_S) if listing.wait_s else FIRST_WAIT_S)

    def _fail(self, listing: Listing, why: str, now: float, wait_s: float) -> None:
        self.trouble[why] += 1
        self._book.asked(listing, now, wait_s)


def _is_own(listing: Listing, host: Host) -> bool:
    """Return whether a host of the same site names a sitemap that is now on `host`."""
    site = found_site(host.name)
    return any(found_site(name) == site for name in _names_of(listing))


def _names_of(listing: Listing) -> set[str]:
    """Return the hosts that vouch for a sitemap."""
    return {hostname(f"http://{owner}/") for owner in listing.owners}


def _groups(host: Host) -> tuple[str, ...]:
    """Return the site of a host, and the network of its address."""
    address = host.addresses[0] if host.addresses else ""
    near = (found_site(f"[{address}]" if ":" in address else address),) if address else ()
    return found_site(host.name), *near


def _remember(listing: Listing, exchange: Exchange) -> None:
    """Remember validators and digest of the content; not if the server cut it short."""
    ours = len(exchange.wire) >= MAX_WIRE_BYTES or len(exchange.body) >= MAX_BYTES
    if exchange.truncated and not ours:
        listing.forget()
        return
    listing.etag = validator(exchange.headers.get("etag", ""))
    listing.last_modified = validator(exchange.headers.get("last-modified", ""))
    listing.digest = checksum(exchange.body)
