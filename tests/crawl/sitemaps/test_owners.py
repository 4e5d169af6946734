"""Whoever names a sitemap or feed of another first keeps its owner from nothing."""

from collections import Counter

import pytest

from evercrawl.crawl.sitemaps import book
from evercrawl.crawl.sitemaps.cache import Listing, SitemapCache
from evercrawl.model.rules.robots import RobotsKeeper

FEED = "https://victim.example/feeds/all.xml"
ELSEWHERE = "https://cdn.example/v/sitemap.xml"


@pytest.fixture
def made():
    """A book where `pages` are the known pages of hosts."""
    cache, robots, pages = SitemapCache(":memory:"), RobotsKeeper(":memory:", "evercrawl", 30.0), Counter()
    yield book.SitemapBook(robots, cache, 0.0, pages.__getitem__), pages
    cache.close()
    robots.close()


def listing(made: book.SitemapBook, url: str) -> Listing:
    found = None
    while (one := made.take(1e12)) is not None:
        found = one if one.url == url else found
        made.asked(one, 0.0, 2e12)
    assert found is not None, "it is due"
    return found


def named(made, url: str, *owners: str) -> None:
    """Have the robots.txt of each host name a sitemap."""
    for owner in owners:
        made.child(url, Listing(f"http://{owner}/", (owner,), level=-1), 0.0)


def test_who_names_a_feed_first_keeps_its_own_site_from_nothing(made):
    made, _ = made
    for i in range(20):
        made.feeds(f"http://a{i}.evil{i}.example/", [FEED], 0.0)
    made.feeds("https://victim.example/", [FEED], 0.0)
    one = listing(made, FEED)
    assert one.owners[0] == "victim.example"
    assert len(one.owners) == book.MAX_OWNERS
    made.feeds("https://victim.example/", [FEED], 1.0)
    assert made.take(1.0) is None  # once is enough


def test_who_names_a_sitemap_elsewhere_first_gives_way_to_a_host_of_more_pages(made):
    made, pages = made
    pages.update({f"evil{i}.example": 3 for i in range(16)} | {"victim.example": 100})
    named(made, ELSEWHERE, *(f"evil{i}.example" for i in range(16)), "victim.example", "evil0.example")
    owners = listing(made, ELSEWHERE).owners
    assert "victim.example" in owners
    assert len(owners) == book.MAX_OWNERS


def test_hosts_of_one_site_take_few_places_of_a_sitemap_elsewhere(made):
    made, _ = made
    named(made, ELSEWHERE, *(f"a{i}.evil.example" for i in range(16)), "victim.example")
    assert listing(made, ELSEWHERE).owners == (*(f"a{i}.evil.example" for i in range(4)), "victim.example")


def test_a_sitemap_counts_for_its_own_site_once_that_names_it(made, monkeypatch):
    """Otherwise it would go when the limits of a stranger's site are reached."""
    made, _ = made
    monkeypatch.setattr(book, "MAX_SITEMAPS", 2)
    made.feeds("http://evil.example/", [FEED], 0.0)
    named(made, FEED, "victim.example")
    named(made, "http://evil.example/1.xml", "evil.example")
    named(made, "http://evil.example/2.xml", "evil.example")
    named(made, "http://evil.example/3.xml", "evil.example")
    named(made, "https://victim.example/1.xml", "victim.example")
    named(made, "https://victim.example/2.xml", "victim.example")
    found = set()
    while (one := made.take(1.0)) is not None:
        found.add(one.url)
    assert found == {FEED, "http://evil.example/1.xml", "http://evil.example/2.xml", "https://victim.example/1.xml"}
