"""What a run remembers by host takes few bytes for each, or is forgotten."""

import tracemalloc
from types import SimpleNamespace

from evercrawl.crawl.sitemaps import book
from evercrawl.crawl.sitemaps.cache import SitemapCache
from evercrawl.crawl.sitemaps.host_turns import LEAST, HostTurns
from evercrawl.crawl.visit.open_origins import OpenOrigins


def test_an_open_origin_takes_four_bytes_for_each_host():
    origins = OpenOrigins()
    for host in range(100_000):
        origins.note(host, f"http://h{host}.example")
    assert origins.nbytes == 400_000
    assert not origins.is_other(7, "http://h7.example")
    assert origins.is_other(7, "http://h7.example:8080")
    origins.close(7)
    origins.close(200_000)
    assert not origins.is_other(7, "http://h7.example:8080")
    assert not origins.is_other(-1, "http://stranger.example")


def test_turns_that_have_come_are_forgotten():
    turns = HostTurns()
    for host in range(10 * LEAST):
        turns.put_off(host, until=host + 100.0, now=float(host))
        assert len(turns) <= LEAST
    assert turns.wait_s(10 * LEAST - 1, 10.0 * LEAST) == 99.0
    assert turns.wait_s(0, 1.0) == 0.0
    for host in range(3 * LEAST):
        turns.put_off(host, until=1e9, now=0.0)
    assert len(turns) >= 3 * LEAST, "none of these may be asked yet"


def test_origins_whose_sitemaps_are_known_are_remembered_for_a_while(monkeypatch):
    monkeypatch.setattr(book, "MET", 100)
    cache = SitemapCache(":memory:")
    robots = SimpleNamespace(of=lambda origin, now: SimpleNamespace(expires_at=now + 5.0, sitemaps=[]))
    made = book.SitemapBook(robots, cache, 0.0)
    tracemalloc.start()
    try:
        for host in range(3000):
            made.met(f"http://h{host}.example/", 1.0)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        cache.close()
    assert used < 100_000
