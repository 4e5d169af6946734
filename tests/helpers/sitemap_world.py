"""Sites with sitemaps and feeds, on a virtual clock, whose sitemaps the real parts of a crawl read."""

import numpy as np
import pytest

from evercrawl.config import Config
from evercrawl.crawl.sitemaps.cache import SitemapCache
from evercrawl.crawl.sitemaps.sitemaps import Sitemaps
from evercrawl.crawl.visit.access import GO, Access
from evercrawl.crawl.visit.silences import Silences
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import LookUps, NameCache, StaticResolver
from evercrawl.model.rules.robots import RobotsKeeper, RobotsTag
from evercrawl.model.rules.scope import Scope
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import MadeNetwork, NoAnswerError
from evercrawl.simulate.worlds.made_web import Answer
from evercrawl.store.quarantine import Quarantine

BEGAN_AT = 1_700_000_000.0
HOUR, DAY = 3600.0, 86_400.0
A, B, C = "http://a.example", "http://b.example", "http://c.example"
MAP = f"{A}/sitemap.xml"


def urlset(*locations: str, kind="url", dated=""):
    date = f"<lastmod>{dated}</lastmod>" if dated else ""
    inside = "".join(f"<{kind}><loc>{location}</loc>{date}</{kind}>" for location in locations)
    root = "urlset" if kind == "url" else "sitemapindex"
    return f"<{root}>{inside}</{root}>".encode()


def index(*locations: str):
    return urlset(*locations, kind="sitemap")


def ok(body, **headers: str):
    return Answer(200, {name.replace("_", "-"): value for name, value in headers.items()}, body)


class Heard:
    """Keeps what sitemaps list."""

    def __init__(self) -> None:
        self.calls = []
        self.whole = True

    def admit_listing(self, urls, dates, at):
        assert len(urls) == len(set(urls)) == len(dates)
        self.calls.append((list(urls), list(dates), at))
        return self.whole

    @property
    def urls(self):
        return [url for urls, _, _ in self.calls for url in urls]

    @property
    def dates(self):
        return {url: date for urls, dates, _ in self.calls for url, date in zip(urls, dates, strict=True)}


class World:
    """Sites whose robots.txt names `sitemaps`, by origin; `pages` maps a URL to an Answer, or a function of headers."""

    def __init__(self, cache=":memory:", hosts=("a.example", "b.example"), *, delay_s=1.0) -> None:
        self.named = {A: [MAP]}
        self.pages = {}
        self.robots = ""
        self.heard = Heard()
        self.cache, self.hosts, self.delay_s = str(cache), hosts, delay_s
        self.now, self.stored_until = BEGAN_AT, BEGAN_AT + 1e9
        self.sitemaps = None
        self.latencies, self.feeds, self.exclude = {}, [], ()
        self.log, self.gaps = [], []

    def answer(self, origin, path, headers, at):
        if path == "/robots.txt":
            lines = "".join(f"Sitemap: {url}\n" for url in self.named.get(origin, ()))
            return ok(f"{self.robots}\n{lines}".encode(), content_type="text/plain")
        said = self.pages.get(origin + path, Answer(404, {}, b"no"))
        said = said(headers) if callable(said) else said
        if isinstance(said, NoAnswerError):
            raise said
        return said

    def run(self, seconds, *, met=(A,)):
        """Let time pass; of each origin of `met` pages are visited, from so many seconds on."""
        run_virtual(
            self._run(seconds, dict.fromkeys(met, 0.0) | (met if isinstance(met, dict) else {})), start=self.now
        )
        return self.heard

    async def _run(self, seconds, met) -> None:
        clock, guard = VirtualClock(), Guard()
        names = LookUps([], NameCache(), clock, str, listed=StaticResolver({"*": ["8.8.4.4"]}))
        began_at = clock.now()
        frontier = Frontier(BreadthFirst(), lambda _: pytest.fail("no page waits"), lambda _: 0.0, delay_s=self.delay_s)
        hosts = {name: frontier.add_host(name) for name in self.hosts}
        network = MadeNetwork(
            self, clock, lambda request: self.latencies.get(request.url, 0.25), self._watch, guard.judge
        )
        robots = RobotsKeeper(":memory:", "evercrawl", 30.0)
        access = Access(
            frontier, robots, guard, network, names, clock, hosts.get, lambda *_: None,
            silences=Silences(network, 256), quarantine=Quarantine(), proxied=False, delay_s=self.delay_s,
            sites=(),
        )  # fmt: skip
        cache = SitemapCache(self.cache)
        self.sitemaps = one = Sitemaps(
            self.heard, frontier, robots, access, network, hosts.get, cache, quarantine=Quarantine(),
            deadline_s=30.0, stored_until=self.stored_until,
            scope=Scope(Config(scope="any", exclude=self.exclude), lambda _: 0),
        )  # fmt: skip
        unmet = set(met)
        try:
            while (now := clock.now()) < began_at + seconds:
                for origin in sorted(unmet):
                    host = hosts[origin.partition("//")[2]]
                    if now < began_at + met[origin] or host.held or host.in_flight or host.ready_at > now:
                        continue
                    if access.judge(host, f"{origin}/", now) == GO:
                        one.met(f"{origin}/", now)
                        one.feeds(f"{origin}/", self.feeds, now)
                        unmet.discard(origin)
                one.start(now, 8)
                until = min(one.next_at(), began_at + seconds, now + 0.5 if unmet else np.inf)
                for exchange in await network.finished(max(until - now, 0.0)):
                    if isinstance(exchange.request.tag, RobotsTag):
                        access.take_robots(exchange, clock.now())
                    else:
                        one.take(exchange, clock.now())
                access.check()
                one.read(clock.now())
        finally:
            access.close()
            await network.close()
            robots.close()
            cache.close()
            self.now = clock.now()
            self.log += [asked for asked in network.log if not asked.url.endswith("/robots.txt")]

    def _watch(self, asked) -> None:
        self.gaps.append((asked.url, asked.at))

    @property
    def asked(self):
        return [asked.url for asked in self.log]

    def times(self, url):
        return [asked.at for asked in self.log if asked.url == url]
