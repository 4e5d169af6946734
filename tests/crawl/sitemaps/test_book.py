"""What is kept of sitemaps is bounded: by site, by bytes and in all."""

import pytest

from evercrawl.crawl.sitemaps import book
from evercrawl.crawl.sitemaps.cache import Listing, SitemapCache
from evercrawl.model.rules.robots import RobotsKeeper
from tests.helpers.sitemap_world import World


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
