"""When sitemaps are asked for, what they may list, and what outlives the process: real parts, a made-up web."""

import contextlib
import gzip
from itertools import pairwise

import numpy as np
import pytest

from evercrawl.config import Config
from evercrawl.crawl.sitemaps import book
from evercrawl.crawl.sitemaps import sitemaps as module
from evercrawl.crawl.sitemaps.cache import Listing, SitemapCache
from evercrawl.crawl.sitemaps.sitemaps import FIRST_WAIT_S, LEAST_WAIT_S, MOST_WAIT_S, SHARE, Sitemaps
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


@pytest.fixture
def world():
    return World()


def test_what_robots_txt_names_is_read_once_and_handed_on_with_its_dates(world):
    world.pages[MAP] = ok(urlset(f"{A}/1", f"{A}/2", dated="2023-11-01"))
    heard = world.run(60)
    assert world.asked == [MAP]
    assert heard.urls == [f"{A}/1", f"{A}/2"]
    assert set(heard.dates.values()) == {1_698_796_800.0}
    assert world.sitemaps.idle(world.now)


def test_a_site_without_sitemaps_is_asked_for_none(world):
    world.named = {}
    assert world.run(60).urls == []
    assert world.asked == []


@pytest.mark.parametrize(("dated", "instant"), [
    ("9999-12-31", None), ("soon", None), ("", None), ("0001-01-01", None), ("1900", None),
    ("2023-11-15T00:00:00Z", BEGAN_AT), ("2023-10-01T00:00:00+02:00", 1_696_111_200.0),
])  # fmt: skip
def test_dates_that_cannot_be_are_none(world, dated, instant):
    world.pages[MAP] = ok(urlset(f"{A}/1", dated=dated))
    dates = world.run(60).dates
    if instant == BEGAN_AT:  # it is less than a zone ahead of us: now
        assert BEGAN_AT <= dates[f"{A}/1"] < BEGAN_AT + 60
    else:
        assert dates == {f"{A}/1": instant}


# What a sitemap may list


def test_only_its_own_hosts_are_listed(world):
    other = [f"{B}/x", "javascript:alert(1)", "http://127.0.0.1/", f"{A}:8080/x", "http://sub.a.example/"]
    world.pages[MAP] = ok(urlset(f"{A}/1", "https://a.example/2", *other))
    assert world.run(60).urls == [f"{A}/1", "https://a.example/2"]


def test_a_site_may_have_its_sitemap_elsewhere(world):
    world.named = {A: [f"{B}/maps/a.xml"]}
    world.pages[f"{B}/maps/a.xml"] = ok(urlset(f"{A}/1", f"{B}/maps/2", f"{B}/3"))
    assert world.run(60).urls == [f"{A}/1", f"{B}/maps/2"]


def test_a_sitemap_that_two_sites_name_speaks_for_both(world):
    world.named = {A: [f"{B}/all/s.xml"], B: [f"{B}/all/s.xml"]}
    world.pages[f"{B}/all/s.xml"] = ok(urlset(f"{A}/1", f"{B}/2"))
    assert set(world.run(120, met=(A, B)).urls) == {f"{A}/1", f"{B}/2"}


def answers_304(body):
    return lambda headers: Answer(304, {}, b"") if "if-none-match" in headers else ok(body, ETag='"1"')


def test_a_second_owner_has_it_read_again_though_it_is_unchanged(tmp_path):
    world = World(tmp_path / "sitemaps.sqlite", ("a.example", "b.example", "c.example"))
    world.named = {A: [f"{B}/all/s.xml"], C: [f"{B}/all/s.xml"]}
    world.pages[f"{B}/all/s.xml"] = answers_304(urlset(f"{A}/1", f"{C}/2"))
    assert world.run(60).urls == [f"{A}/1"]
    world.stored_until = world.now
    assert set(world.run(60, met=(C,)).urls) == {f"{A}/1", f"{C}/2"}
    assert len(world.asked) == 2


def test_a_second_owner_has_it_read_again_though_it_was_being_asked_for(world):
    world.hosts += ("c.example",)
    world.named = {A: [f"{B}/all/s.xml"], C: [f"{B}/all/s.xml"]}
    world.pages[f"{B}/all/s.xml"] = Answer(301, {"Location": f"{B}/all/t.xml"}, b"")
    world.pages[f"{B}/all/t.xml"] = answers_304(urlset(f"{A}/1", f"{C}/2"))
    world.latencies[f"{B}/all/t.xml"] = 20.0
    assert set(world.run(90, met={A: 0.0, C: 15.0}).urls) == {f"{A}/1", f"{C}/2"}
    assert len(world.asked) == 4


def test_a_page_disallowed_for_robots_is_none_for_its_own_sitemap(world):
    world.robots = "User-agent: *\nDisallow: /sitemap.xml"
    world.pages[MAP] = ok(urlset(f"{A}/1"))
    assert world.run(60).urls == [f"{A}/1"]


def test_to_be_named_is_leave_on_the_naming_origin_only(world):
    """Whoever writes a robots.txt could else have another host asked for what that host disallows."""
    world.robots = "User-agent: *\nDisallow: /*.xml"
    world.named = {A: [f"{B}/{at}.xml" for at in range(20)] + [MAP]}
    world.pages = {f"{B}/{at}.xml": ok(urlset(f"{A}/{at}")) for at in range(20)} | {MAP: ok(urlset(f"{A}/x"))}
    assert world.run(300).urls == [f"{A}/x"]
    assert world.asked == [MAP]
    assert world.sitemaps.trouble == {"robots": 20}


@pytest.mark.parametrize("target", [f"{B}/private.xml", f"{A}/private.xml"])
def test_where_a_sitemap_redirects_to_its_own_rules_hold(world, target):
    world.robots = "User-agent: *\nDisallow: /private"
    world.pages = {MAP: Answer(301, {"Location": target}, b""), target: ok(urlset(f"{A}/1"))}
    assert world.run(120).urls == []
    assert world.asked == [MAP]
    assert world.sitemaps.trouble == {"robots": 1}


def test_sitemaps_are_counted_by_site_and_by_bytes(monkeypatch):
    monkeypatch.setattr(book, "MAX_SITEMAPS", 5)
    names = (*(f"h{at}.a.example" for at in range(9)), "b.example")
    world = World(hosts=names)
    world.named = {f"http://{name}": [f"http://{name}/{at}.xml" for at in range(2)] for name in names}
    world.run(600, met=tuple(world.named))
    assert sum(url.startswith("http://h") for url in world.asked) == 5
    assert sum(url.startswith("http://b.") for url in world.asked) == 2


def listed(made, listing):
    made.child(listing.url, listing, 0.0)


@pytest.fixture
def small_book(monkeypatch, tmp_path):
    """A book that holds 60,000 bytes, and of a site 20,000."""
    monkeypatch.setattr(book, "MAX_SITE_BYTES", 20_000)
    monkeypatch.setattr(book, "MAX_BYTES", 60_000)
    cache = SitemapCache(str(tmp_path / "sitemaps.sqlite"))
    robots = RobotsKeeper(":memory:", "evercrawl", 30.0)
    yield book.SitemapBook(robots, cache, 0.0), cache
    cache.close()
    robots.close()


def due(made) -> list[Listing]:
    found = []
    while (listing := made.take(1e12)) is not None:
        found.append(listing)
    return found


def test_long_addresses_make_room_for_those_of_other_sites(small_book):
    made, _ = small_book
    listed(made, Listing("http://one.example/s.xml", ("one.example",)))
    for group in range(10):
        for at in range(20):
            listing = Listing(f"http://long{group}.example/{at}{'x' * 1_000}", (f"long{group}.example",))
            listed(made, listing)
    found = due(made)
    assert "http://one.example/s.xml" in [each.url for each in found]
    assert 40_000 < sum(each.nbytes for each in found) <= 60_000
    assert len(made.never) == len(found)
    assert len({each.url[:20] for each in found}) == 11  # each site keeps some


@pytest.mark.parametrize("what", ["etag", "last_modified", "owners", "nothing"])
def test_whatever_is_kept_of_a_sitemap_counts(small_book, what):
    """Hosts of different sites, so that none has more than a site may."""
    made, cache = small_book
    for at in range(400):
        listed(made, Listing(f"http://h{at}.example/s", (f"h{at}.example",)))
        for listing in due(made):
            if what == "owners":
                many = tuple(f"{'o' * 60}{owner}.example" for owner in range(15))
                made.child(listing.url, Listing("http://index.example/", many), 0.0)
                made.take(1e12)
            elif what != "nothing":
                setattr(listing, what, "v" * 500)
            listing.busy = True
            made.asked(listing, float(at), 1e9)
    kept = cache.all()
    assert 30_000 < sum(each.nbytes for each in kept) <= 60_000
    assert len(kept) > 10


def test_a_site_lists_so_many_pages_however_many_hosts_it_has(small_book, monkeypatch):
    monkeypatch.setattr(book, "MAX_SITE_URLS", 100)
    made, _ = small_book
    for at in range(30):
        listed(made, Listing(f"http://h{at}.a.example/s", (f"h{at}.a.example",)))
    listed(made, Listing("http://b.example/s", ("b.example",)))
    for listing in due(made):
        room = made.room(listing)
        assert room == (100 if ".a." not in listing.url or listing.url.startswith("http://h0.") else 20)
        if listing.url.startswith("http://h0."):
            made.count(listing, 80)


def test_room_is_made_for_some_time_at_once(small_book):
    """Of a million sitemaps each that comes when there is no room would otherwise look through all sites."""
    made, cache = small_book
    dropped = []
    cache.drop = dropped.append
    for at in range(1_000):
        was = len(dropped)
        listed(made, Listing(f"http://h{at}.example/s", (f"h{at}.example",)))
        if len(dropped) > was:
            assert len(dropped) - was >= 8  # a sixteenth of some 140
    assert dropped


def test_addresses_inside_are_not_asked(world):
    world.named = {
        A: ["http://127.0.0.1/s.xml", "http://169.254.169.254/s.xml", "file:///etc/passwd", "javascript:1", "/ok.xml"]
    }
    world.hosts += ("127.0.0.1",)
    world.pages[f"{A}/ok.xml"] = ok(urlset(f"{A}/1"))
    assert world.run(120).urls == [f"{A}/1"]
    assert world.asked == [f"{A}/ok.xml"]
    assert dict(world.sitemaps.trouble) == {"refused_address": 1, "unknown_host": 1}
    assert world.sitemaps.idle(world.now)


# Feeds


def test_feeds_that_pages_name_are_read_where_robots_lets_them(world):
    world.named, world.robots = {}, "User-agent: *\nDisallow: /private"
    world.feeds = [f"{A}/feed", f"{A}/private", f"{A}/feed"]
    feed = b"<rss><item><link>/1</link><pubDate>Wed, 01 Nov 2023 00:00:00 GMT</pubDate></item></rss>"
    world.pages = {f"{A}/feed": ok(feed), f"{A}/private": ok(feed)}
    assert world.run(60).dates == {f"{A}/1": 1_698_796_800.0}
    assert world.asked == [f"{A}/feed"]
    assert world.sitemaps.trouble == {"robots": 1}


def test_a_site_has_a_few_feeds_only(world):
    world.named = {}
    world.feeds = [f"{A}/{i}/feed" for i in range(100)]
    world.run(600)
    assert world.asked == world.feeds[: book.MAX_FEEDS]


def test_a_feed_that_robots_txt_names_too_needs_no_other_leave(world):
    world.robots = "User-agent: *\nDisallow: /sitemap"
    world.feeds, world.named, world.pages[MAP] = [MAP], {C: [MAP]}, ok(urlset(f"{C}/1"))
    world.hosts += ("c.example",)
    assert world.run(60).urls == []
    assert world.asked == []
    assert world.run(60, met={A: 0.0, C: 30.0}).urls == [f"{C}/1"]
    world = World()
    world.robots = "User-agent: *\nDisallow: /sitemap"
    world.feeds, world.pages[MAP] = [MAP], ok(urlset(f"{A}/1"))
    assert world.run(60).urls == [f"{A}/1"]


def test_so_many_hosts_vouch_for_one_sitemap_and_no_more(world, monkeypatch):
    monkeypatch.setattr(book, "MAX_OWNERS", 3)
    names = [f"http://h{i}.example" for i in range(6)]
    world.hosts += tuple(name[7:] for name in names)
    world.named = {name: [MAP] for name in names}
    world.pages[MAP] = ok(urlset(*[f"{name}/" for name in names]))
    heard = world.run(300, met={name: 30.0 * i for i, name in enumerate(names)})
    assert set(heard.urls) == {f"{name}/" for name in names[:3]}
    assert len(world.asked) == 3


# Indexes


def test_indexes_are_followed_twice_and_each_sitemap_is_read_once(world):
    world.pages[MAP] = ok(index(MAP, f"{A}/1.xml", f"{A}/1.xml", f"{B}/no.xml"))
    world.pages[f"{A}/1.xml"] = ok(index(f"{A}/2.xml", MAP))
    world.pages[f"{A}/2.xml"] = ok(index(f"{A}/3.xml") + urlset(f"{A}/no"))
    world.pages[f"{A}/3.xml"] = ok(urlset(f"{A}/no"))
    assert world.run(600).urls == []
    assert world.asked == [MAP, f"{A}/1.xml", f"{A}/2.xml"]


def test_children_inherit_who_vouches_for_them(world):
    world.named = {A: [f"{B}/maps/index.xml"]}
    world.pages[f"{B}/maps/index.xml"] = ok(index(f"{B}/maps/1.xml.gz", f"{B}/elsewhere/2.xml"))
    world.pages[f"{B}/maps/1.xml.gz"] = ok(gzip.compress(urlset(f"{A}/1", f"{B}/no")), content_type="application/gzip")
    assert world.run(60).urls == [f"{A}/1"]
    assert f"{B}/elsewhere/2.xml" not in world.asked


def test_a_site_has_so_many_sitemaps_and_urls_and_no_more(world, monkeypatch):
    monkeypatch.setattr(book, "MAX_SITEMAPS", 4)
    monkeypatch.setattr(book, "MAX_SITE_URLS", 5)
    world.pages[MAP] = ok(index(*[f"{A}/{i}.xml" for i in range(100)]))
    world.pages |= {f"{A}/{i}.xml": ok(urlset(*[f"{A}/{i}/{j}" for j in range(4)])) for i in range(100)}
    heard = world.run(1200)
    assert world.asked == [MAP, f"{A}/0.xml", f"{A}/1.xml", f"{A}/2.xml"]
    assert heard.urls == [f"{A}/0/{j}" for j in range(4)] + [f"{A}/1/0"]


# Manners


def test_requests_rest_and_leave_turns_for_pages(world):
    world.pages[MAP] = ok(index(*[f"{A}/{i}.xml" for i in range(5)]))
    world.pages |= {f"{A}/{i}.xml": ok(urlset(f"{A}/{i}")) for i in range(5)}
    world.run(120)
    times = [at for url, at in world.gaps if url.startswith(A)]
    assert times[1] - times[0] >= world.delay_s  # after robots.txt
    assert len(times) == 7
    assert all(later - earlier >= SHARE * world.delay_s for earlier, later in pairwise(times[1:]))


@pytest.mark.parametrize("headers", [{"ETag": '"1"'}, {"Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"}, {}])
def test_what_does_not_change_is_asked_for_less_and_less(world, headers):
    def answer(asked):  # noqa: ANN202
        held = asked.get("if-none-match") or asked.get("if-modified-since")
        return Answer(304, {}, b"") if held and held in headers.values() else ok(urlset(f"{A}/1"), **headers)

    world.pages[MAP] = answer
    heard = world.run(5 * DAY)
    waits = np.diff(world.times(MAP))
    assert heard.urls == [f"{A}/1"]
    assert waits == pytest.approx([FIRST_WAIT_S, 2 * FIRST_WAIT_S, 4 * FIRST_WAIT_S, DAY, DAY, DAY], abs=5)


def test_what_changes_is_asked_for_more_and_more_up_to_hourly(world):
    counted = iter(range(10_000))
    world.pages[MAP] = lambda _: ok(urlset(f"{A}/{next(counted)}"))
    heard = world.run(DAY)
    waits = np.diff(world.times(MAP))
    assert waits[:4] == pytest.approx([FIRST_WAIT_S, FIRST_WAIT_S / 2, LEAST_WAIT_S, LEAST_WAIT_S], abs=5)
    assert waits.min() > LEAST_WAIT_S - 1
    assert len(heard.urls) == len(world.times(MAP))


@pytest.mark.parametrize("said", [Answer(503, {}, b""), NoAnswerError("timeout"), Answer(403, {}, b"")])
def test_failures_are_waited_out_for_longer_and_longer(world, said):
    world.pages[MAP] = said
    assert world.run(4 * DAY).urls == []
    waits = np.diff(world.times(MAP))
    assert waits[0] == pytest.approx(LEAST_WAIT_S, abs=5)
    assert waits.max() == pytest.approx(MOST_WAIT_S, abs=5)
    assert world.sitemaps.idle(world.now)


def test_retry_after_holds_for_the_host(world):
    world.pages[MAP] = Answer(503, {"Retry-After": "7200"}, b"")
    world.run(3 * HOUR)
    assert np.diff(world.times(MAP)) == pytest.approx([7200], abs=5)


def test_a_sitemap_that_is_gone_is_asked_for_rarely_and_keeps_no_crawl_from_being_idle(world):
    world.run(20 * DAY)
    assert np.diff(world.times(MAP)) == pytest.approx([DAY, 2 * DAY, 4 * DAY, 8 * DAY], abs=5)
    assert world.sitemaps.trouble["gone"] == 5


def test_redirects_are_followed_in_turn_and_not_for_ever(world):
    world.pages[MAP] = Answer(301, {"Location": "/moved.xml"}, b"")
    world.pages[f"{A}/moved.xml"] = ok(urlset(f"{A}/1"))
    assert world.run(60).urls == [f"{A}/1"]
    world = World()
    world.pages[MAP] = Answer(302, {"Location": "/sitemap.xml"}, b"")
    world.run(600)
    assert len(world.asked) == module.MAX_HOPS + 1
    assert world.sitemaps.idle(world.now)


def test_a_large_sitemap_is_handed_on_in_pieces(world):
    world.pages[MAP] = ok(gzip.compress(urlset(*[f"{A}/{i}" for i in range(20_000)])))
    heard = world.run(60)
    assert len(heard.urls) == len(set(heard.urls)) == 20_000
    assert max(len(urls) for urls, _, _ in heard.calls) < 3000


# Restarts


def test_a_restart_goes_on_where_it_was(tmp_path):
    world = World(tmp_path / "sitemaps.sqlite")
    world.pages[MAP] = ok(urlset(f"{A}/1"), ETag='"1"')
    world.run(HOUR)
    world.stored_until = world.now
    world.run(2 * HOUR)
    assert len(world.asked) == 1
    world.run(2 * HOUR)
    assert len(world.asked) == 2
    assert world.log[-1].headers["if-none-match"] == '"1"'
    assert world.heard.urls == [f"{A}/1"]


def test_what_was_lost_with_the_process_is_read_again_at_once(tmp_path):
    world = World(tmp_path / "sitemaps.sqlite")
    world.pages[MAP] = lambda headers: (
        Answer(304, {}, b"") if "if-none-match" in headers else ok(urlset(f"{A}/1"), ETag='"1"')
    )
    world.run(HOUR)
    world.stored_until = BEGAN_AT  # nothing that came later was acknowledged
    world.run(60)
    assert world.heard.urls == [f"{A}/1", f"{A}/1"]


def test_a_lost_or_damaged_cache_costs_no_more_than_asking_again(tmp_path):
    file = tmp_path / "sitemaps.sqlite"
    world = World(file)
    world.pages[MAP] = ok(urlset(f"{A}/1"))
    world.run(60)
    for spoil in (file.unlink, lambda: file.write_bytes(b"no database"), lambda: file.write_bytes(b"")):
        with contextlib.suppress(FileNotFoundError):
            spoil()
        for more in ("-wal", "-shm"):
            (tmp_path / f"sitemaps.sqlite{more}").unlink(missing_ok=True)
        before = len(world.asked)
        world.run(60)
        assert len(world.asked) == before + 1


def test_what_is_kept_is_what_was_known(tmp_path):
    cache = SitemapCache(str(tmp_path / "s.sqlite"))
    kept = Listing(
        MAP, ("a.example", "b.example:8080"), 1, True, "urlset", '"e"', "date", (1 << 64) - 1, 7, 1.5, 2.5, 3.5, 4.5
    )
    cache.keep(kept)
    cache.keep(kept)
    cache.close()
    cache = SitemapCache(str(tmp_path / "s.sqlite"))
    (read,) = cache.all()
    fields = [name for name in Listing.__slots__ if name not in ("moved", "hops", "busy", "stale")]
    assert [getattr(read, name) for name in fields] == [getattr(kept, name) for name in fields]
    cache.close()


def test_a_sitemap_at_an_excluded_url_is_not_requested():
    world = World()
    world.pages[MAP] = ok(urlset(f"{A}/x"))
    world.exclude = (r"\.xml$",)
    world.run(60)
    assert world.asked == []
    assert world.sitemaps.trouble == {"excluded": 1}
    world.exclude = ()
    world.run(MOST_WAIT_S + 60)
    assert world.asked
