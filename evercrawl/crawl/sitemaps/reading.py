"""Reads fetched sitemaps piece by piece, and passes on what they list and may list."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from evercrawl.change.dates import w3c_date
from evercrawl.crawl.sitemaps.cache import Listing
from evercrawl.parse.listings.feed import FeedEntry
from evercrawl.parse.listings.sitemap import MAX_URLS, SitemapReader, may_list
from evercrawl.parse.urls import origin
from evercrawl.types import Exchange

MAX_LEVEL: Final = 2  # a sitemap listed by an index that an index lists; the protocol has one level
_AHEAD_S: Final = 86_400.0  # a date further ahead than any time zone explains is ignored


class Listener(Protocol):
    """Interface that receives what sitemaps list."""

    def admit_listing(self, urls: Sequence[str], dates: Sequence[float | None], at: float) -> bool:
        """Take distinct URLs that a sitemap lists at the time `at`, and their dates of last change.

        The URLs are normalised, and the sitemap may list them; whether they belong to the crawl is not checked. The
        dates are no later than `at`; None if there is no date or no plausible one. Return whether all URLs that
        belong were taken; if not, the sitemap is read again.
        """
        ...


@dataclass(slots=True)
class Intake:
    """One fetched file, how far its lists were passed on, and whether all listed URLs were taken."""

    listing: Listing
    exchange: Exchange
    reader: SitemapReader
    pages: int = 0
    children: int = 0
    whole: bool = True


class SitemapIntakes:
    """The fetched files, read in order of arrival.

    Parameters
    ----------
    listener
        Receives the pages.
    named
        Called for each further sitemap that an index lists: URL, index, time.
    """

    def __init__(self, listener: Listener, named: Callable[[str, Listing, float], None]) -> None:
        self._listener = listener
        self._named = named
        self._waiting: deque[Intake] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> str:
        """The URL of the file that is read next; "" if there is none."""
        return self._waiting[0].exchange.request.url if self._waiting else ""

    def add(self, listing: Listing, exchange: Exchange, room: int) -> None:
        """Queue an answer, of which at most `room` URLs are read."""
        content_type = exchange.headers.get("content-type", "")
        most = max(min(MAX_URLS, room), 0)
        reader = SitemapReader(exchange.body, exchange.request.url, content_type, most)
        self._waiting.append(Intake(listing, exchange, reader))

    def step(self, now: float) -> Intake | None:
        """Read about 64 KiB (a few ms) and pass on the result; return the file if that was its end."""
        intake = self._waiting[0]
        more = intake.reader.step()
        self._hand_on(intake, now)
        return None if more else self._waiting.popleft()

    def _hand_on(self, intake: Intake, now: float) -> None:
        sitemap, listing, at = intake.reader.sitemap, intake.listing, intake.exchange.request.url
        pages, children = sitemap.pages[intake.pages :], sitemap.children[intake.children :]
        intake.pages, intake.children = len(sitemap.pages), len(sitemap.children)
        dated = {entry.url: instant(entry.dated, now) for entry in within(pages, at, listing.owners)}
        if dated:
            intake.whole &= self._listener.admit_listing(list(dated), list(dated.values()), now)
        if listing.level < MAX_LEVEL:
            for child in within(children, at, listing.owners):
                self._named(child.url, listing, now)


def within(entries: Iterable[FeedEntry], at: str, owners: tuple[str, ...]) -> list[FeedEntry]:
    """Return the entries that a sitemap at `at` may list: those on its owners' hosts, and those in its own folder.

    Examples
    --------
    >>> from evercrawl.parse.listings.feed import FeedEntry
    >>> entries = [FeedEntry("http://a.example/"), FeedEntry("http://maps.example/a/x"), FeedEntry("http://maps.example/b/x")]
    >>> [entry.url for entry in within(entries, "http://maps.example/a/sitemap.xml", ("a.example",))]
    ['http://a.example/', 'http://maps.example/a/x']
    """
    return [entry for entry in entries if authority(entry.url) in owners or may_list(at, entry.url)]


def authority(url: str) -> str:
    """Return host and port of a normalised URL; for sitemaps, http and https are one host.

    Examples
    --------
    >>> authority("https://example.org:8443/a"), authority("http://example.org/")
    ('example.org:8443', 'example.org')
    """
    return origin(url).partition("//")[2]


def instant(dated: str, now: float) -> float | None:
    """Return the time that a date names; None for an invalid date or one ahead of any clock.

    Examples
    --------
    >>> instant("1970-01-02", 1e9), instant("9999-12-31", 1e9), instant("soon", 1e9)
    (86400.0, None, None)
    """
    at = w3c_date(dated) if dated else None
    return min(at, now) if at is not None and 0.0 < at <= now + _AHEAD_S else None
