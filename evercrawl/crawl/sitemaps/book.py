"""The known sitemaps and feeds, the hosts that vouch for them, and the order in which they are requested."""

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from evercrawl.crawl.sitemaps.cache import Listing, SitemapCache
from evercrawl.crawl.sitemaps.reading import authority
from evercrawl.model.rules.robots import RobotsKeeper
from evercrawl.parse.sites import site as site_of
from evercrawl.parse.urls import hostname, normalise, origin

MAX_SITEMAPS: Final = 1_000  # of one site over all its hosts
MAX_FEEDS: Final = 8  # of one host, named by its pages; blogs have one for each article
MAX_SITE_BYTES: Final = 2 << 20  # kept of one site's sitemaps
MAX_BYTES: Final = 192 << 20  # kept of all sitemaps; beyond it, the largest sites lose their last ones
_FULL_AGAIN: Final = 15 / 16  # of `MAX_BYTES`: the size after making room
MET: Final = 1 << 16
"""Origins whose robots.txt is remembered to name no unknown sitemaps; that of others is looked at with each page."""
MAX_OWNERS: Final = 16  # hosts that vouch for one sitemap; it is read again for each
MAX_OF_SITE: Final = 4  # of these, of one site that is not the sitemap's own
MAX_SITE_URLS: Final = 1_000_000  # listed by all sitemaps of a site together


class SitemapBook:
    """All known sitemaps and feeds.

    Parameters
    ----------
    robots
        The robots.txt files, which name sitemaps.
    cache
        Storage that outlives the process.
    stored_until
        The time of the newest event in the journal. What was read later was lost with the process, so it is read
        again.
    pages_of
        The number of known pages of an owner (a host with its port).

    Attributes
    ----------
    never
        Those that were not requested yet.
    """

    def __init__(
        self,
        robots: RobotsKeeper,
        cache: SitemapCache,
        stored_until: float,
        pages_of: Callable[[str], int] = lambda _: 0,
    ) -> None:
        self._robots, self._pages_of = robots, pages_of
        self._cache = cache
        self._met: dict[str, float] = {}  # origin -> expiry of the robots.txt whose sitemaps are known
        self._of: dict[str, Listing] = {}
        self._sites: dict[str, list[Listing]] = {}  # by the site of the first owner, in order of discovery
        self._bytes: Counter[str] = Counter()  # by site: bytes kept of its sitemaps
        self._total = 0  # the sum of these
        self._feeds: Counter[str] = Counter()  # by first owner: feeds that pages named
        self._joined: Counter[str] = Counter()  # by host: feeds of which it became a further owner, by its pages
        self._urls: Counter[str] = Counter()  # by site: URLs that they list
        self._due: list[tuple[float, int, Listing]] = []
        self._order = itertools.count()
        self.never: set[Listing] = set()
        for listing in cache.all():
            if listing.read_at and listing.read_at >= stored_until:
                listing.forget()
                listing.next_at = 0.0
            self._add(listing)

    # Known sitemaps

    def met(self, url: str, now: float) -> None:
        """Add the sitemaps that the robots.txt of a page's origin names; cheap if they are known."""
        site = origin(url)
        rules = self._robots.of(site, now)
        if rules is None or self._met.get(site) == rules.expires_at:
            return
        if len(self._met) >= MET:
            self._met.clear()
        self._met[site] = rules.expires_at
        for reference in rules.sitemaps[:MAX_SITEMAPS]:
            address = normalise(reference, f"{site}/")
            if address is not None:
                self._know(address, (authority(url),), 0, now)

    def feeds(self, page: str, urls: Sequence[str], now: float) -> None:
        """Add the feeds that a page names, at most `MAX_FEEDS` per host; it vouches for those that are known too."""
        site = authority(page)
        for url in urls:
            known = self._of.get(url)
            if known is None:
                if self._feeds[site] < MAX_FEEDS and self._has_room(url, site):
                    self._add(Listing(url, (site,), by_page=True, next_at=now))
            elif site not in known.owners and (self._joined[site] < MAX_FEEDS or self._is_own(known, site)):
                self._joined[site] += self._join(known, (site,), now)

    def child(self, url: str, index: Listing, now: float) -> None:
        """Add a sitemap that an index lists; the owners of the index vouch for it too."""
        self._know(url, index.owners, index.level + 1, now)

    def _know(self, url: str, owners: tuple[str, ...], level: int, now: float) -> None:
        """Add a sitemap; if it is known, it may get another owner, for whom it is read again."""
        known = self._of.get(url)
        if known is None:
            if self._has_room(url, owners[0]):
                self._add(Listing(url, owners, level, next_at=now))
            return
        if known.by_page and level == 0:
            known.by_page = False
            self._feeds[known.owners[0]] -= 1
        if self._join(known, owners, now):
            known.level = min(known.level, level)

    def _join(self, listing: Listing, owners: Sequence[str], now: float) -> bool:
        """Let further hosts vouch for a sitemap; if there are too many, those with the best claim to it; return if any.

        A host of its own origin comes before those of its site, and these before others, by the number of their pages:
        otherwise the hosts that name it first could keep its owner from vouching for it.
        """
        kept = list(listing.owners)
        for owner in owners:
            claim = self._claim(listing, owner)
            group = _site_of(owner)
            many = not claim[0] and sum(_site_of(other) == group for other in kept) >= MAX_OF_SITE
            if owner in kept or many:
                continue
            if len(kept) >= MAX_OWNERS:
                least = min(kept, key=lambda other: self._claim(listing, other))
                if self._claim(listing, least) >= claim:
                    continue
                kept.remove(least)
            kept.append(owner)
        if set(kept) <= set(listing.owners):
            return False
        first = max(kept, key=lambda other: self._claim(listing, other)[0])
        if listing.owners[0] not in kept or (self._is_own(listing, first) and not self._is_own(listing, kept[0])):
            kept.remove(first)
            self._bill(listing, first)
            kept.insert(0, first)
        listing.owners = tuple(kept)
        self._reread(listing, now)
        self._weigh(listing)
        return True

    def _claim(self, listing: Listing, owner: str) -> tuple[int, int]:
        if owner == authority(listing.url):
            return 2, 0
        return (1, 0) if self._is_own(listing, owner) else (0, self._pages_of(owner))

    @staticmethod
    def _is_own(listing: Listing, owner: str) -> bool:
        """Whether a host is of the site of a sitemap's URL."""
        return _site_of(owner) == site_of(hostname(listing.url))

    def _bill(self, listing: Listing, owner: str) -> None:
        """Count a sitemap for another first owner."""
        before, group = _site_of(listing.owners[0]), _site_of(owner)
        self._feeds[listing.owners[0]] -= listing.by_page
        self._feeds[owner] += listing.by_page
        if before == group:
            return
        self._sites[before].remove(listing)
        self._sites.setdefault(group, []).append(listing)
        self._bytes[before] -= listing.counted
        self._bytes[group] += listing.counted
        self._urls[before] -= listing.urls
        self._urls[group] += listing.urls
        if not self._sites[before]:
            for counts in (self._sites, self._bytes, self._urls):
                del counts[before]

    def _has_room(self, url: str, owner: str) -> bool:
        group = _site_of(owner)
        most = len(self._sites.get(group, ())) < MAX_SITEMAPS
        return most and self._bytes[group] + len(url) <= MAX_SITE_BYTES

    def _reread(self, listing: Listing, now: float) -> None:
        if listing.busy:
            listing.stale = True  # the answer under way may have been requested with validators
        else:
            listing.forget()
            self.push(listing, now)
            self._cache.keep(listing)

    def _add(self, listing: Listing) -> None:
        site = listing.owners[0]
        self._of[listing.url] = listing
        group = _site_of(site)
        self._sites.setdefault(group, []).append(listing)
        self._feeds[site] += listing.by_page
        self._urls[group] += listing.urls
        if not listing.asked_at:
            self.never.add(listing)
        self.push(listing, listing.next_at)
        self._weigh(listing)

    def _weigh(self, listing: Listing) -> None:
        """Update the size kept of a sitemap, and make room if the total is too large."""
        if self._of.get(listing.url) is not listing:  # it was dropped meanwhile
            return
        more = listing.nbytes - listing.counted
        listing.counted += more
        self._bytes[_site_of(listing.owners[0])] += more
        self._total += more
        if self._total > MAX_BYTES:
            self._make_room()

    def _make_room(self) -> None:
        """Drop the last sitemaps of the largest sites until the total is some way below the limit."""
        most = [(-size, group) for group, size in self._bytes.items()]
        heapq.heapify(most)
        while most and self._total > MAX_BYTES * _FULL_AGAIN:
            _, group = heapq.heappop(most)
            if self._drop_last(group):
                heapq.heappush(most, (-self._bytes[group], group))

    def _drop_last(self, group: str) -> bool:
        """Drop the last sitemap of a site that is not being requested; return whether more may be dropped."""
        listing = next((one for one in reversed(self._sites[group]) if not one.busy), None)
        if listing is None:
            return False
        self._sites[group].remove(listing)
        self._bytes[group] -= listing.counted
        self._total -= listing.counted
        listing.counted = 0
        self._feeds[listing.owners[0]] -= listing.by_page
        self._urls[group] -= listing.urls
        self.never.discard(listing)
        listing.next_at = float("nan")  # its entry in the queue becomes void
        del self._of[listing.url]
        self._cache.drop(listing.url)
        if not self._sites[group]:
            for counts in (self._sites, self._bytes, self._urls):
                del counts[group]
            return False
        return True

    # Pages listed per site

    def room(self, listing: Listing) -> int:
        """Return how many pages a sitemap may list, given the lists of its site's other sitemaps."""
        return max(MAX_SITE_URLS - self._urls[_site_of(listing.owners[0])] + listing.urls, 0)

    def count(self, listing: Listing, urls: int) -> None:
        """Set the number of pages that it lists now."""
        self._urls[_site_of(listing.owners[0])] += urls - listing.urls
        listing.urls = urls

    # Order of requests

    def next_at(self) -> float:
        """Return when the next one falls due; infinity if none does."""
        return self._due[0][0] if self._due else float("inf")

    def take(self, now: float) -> Listing | None:
        """Take the sitemap that has been due for longest; the caller requests it or pushes it back."""
        while self._due and self._due[0][0] <= now:
            at, _, listing = heapq.heappop(self._due)
            if at == listing.next_at and not listing.busy:  # otherwise it was moved
                return listing
        return None

    def push(self, listing: Listing, at: float) -> None:
        """Set the time at which a sitemap falls due."""
        listing.next_at = at
        heapq.heappush(self._due, (at, next(self._order), listing))

    def asked(self, listing: Listing, now: float, wait_s: float) -> None:
        """Let a requested sitemap fall due again after `wait_s`; at once if it is stale."""
        self.never.discard(listing)
        listing.asked_at, listing.wait_s, listing.busy = now, wait_s, False
        listing.moved, listing.hops = "", 0
        if listing.stale:
            listing.forget()
            wait_s, listing.stale = 0.0, False
        if self._of.get(listing.url) is listing:  # else it was dropped meanwhile
            self.push(listing, now + wait_s)
            self._cache.keep(listing)
            self._weigh(listing)


def _site_of(owner: str) -> str:
    """Return the site of a host with its port."""
    return site_of(hostname(f"http://{owner}/"))
