"""What is known of sitemaps outlives the process."""

import contextlib

from evercrawl.crawl.sitemaps.cache import Listing, SitemapCache
from evercrawl.simulate.worlds.made_web import Answer
from tests.helpers.sitemap_world import BEGAN_AT, HOUR, MAP, A, World, ok, urlset


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
