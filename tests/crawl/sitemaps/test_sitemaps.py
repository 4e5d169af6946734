"""When sitemaps and feeds are read, and what they may list: real parts, a made-up web."""

import gzip

import pytest

from evercrawl.crawl.sitemaps import book
from evercrawl.crawl.sitemaps.sitemaps import MOST_WAIT_S
from evercrawl.simulate.worlds.made_web import Answer
from tests.helpers.sitemap_world import BEGAN_AT, MAP, A, B, C, World, index, ok, urlset


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


def test_a_large_sitemap_is_handed_on_in_pieces(world):
    world.pages[MAP] = ok(gzip.compress(urlset(*[f"{A}/{i}" for i in range(20_000)])))
    heard = world.run(60)
    assert len(heard.urls) == len(set(heard.urls)) == 20_000
    assert max(len(urls) for urls, _, _ in heard.calls) < 3000


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
