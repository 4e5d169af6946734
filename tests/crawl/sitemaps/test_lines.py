"""Sitemaps that wait for their host or for room cost the crawl no work, however many there are."""

import random

import pytest

from evercrawl.crawl.sitemaps.cache import Listing
from evercrawl.crawl.sitemaps.lines import SitemapLines
from evercrawl.schedule.frontier.frontier import Frontier
from tests.helpers.sitemap_world import A, World

SECONDS = 120.0


@pytest.fixture
def looks(monkeypatch):
    """Count how often the rest of a host is asked for: once for each sitemap that is considered."""
    looked, wait_s = [], Frontier.wait_s
    monkeypatch.setattr(Frontier, "wait_s", lambda *given: looked.append(given) or wait_s(*given))
    return looked


@pytest.mark.parametrize(
    ("name", "hosts", "most", "lasts_s"),
    [
        ("h{}.evil.example", 10, 1_000, 29.5),  # one site has one request under way
        ("evil{}.example", 40, 2_000, 29.5),  # slow sites have two together
        ("h{}.evil.example", 1, 200, 0.25),  # a host rests after each
    ],
)
def test_a_thousand_sitemaps_that_wait_are_not_looked_at_again_and_again(looks, name, hosts, most, lasts_s):
    world = World(hosts=[name.format(i) for i in range(hosts)])
    homes = [f"http://{host}" for host in world.hosts]
    world.named = {home: [f"{home}/{i}.xml" for i in range(1_000 // hosts)] for home in homes}
    world.latencies = {url: lasts_s for urls in world.named.values() for url in urls}
    world.run(SECONDS, met=homes)
    assert len(world.log) >= 4
    assert len(looks) < most  # 231,000, 228,000 and 30,000 when each sitemap was considered


def test_hosts_that_wait_for_the_same_take_turns():
    """When one of twenty hosts of a site has been asked, the next is asked, and one that rests keeps none waiting."""
    world = World(hosts=[f"h{i}.evil.example" for i in range(20)], delay_s=0.5)
    homes = [f"http://{host}" for host in world.hosts]
    world.named = {home: [f"{home}/{i}.xml" for i in range(3)] for home in homes}
    world.run(SECONDS, met=homes)
    assert sorted(world.asked) == sorted(url for urls in world.named.values() for url in urls)
    firsts = [world.times(f"{home}/0.xml")[0] for home in homes]
    assert max(firsts) - min(firsts) < 30.0


def test_what_was_requested_moved_or_dropped_meanwhile_is_not_first():
    lines, listings = SitemapLines(), [Listing(f"{A}/{i}", (), next_at=5.0) for i in range(4)]
    for listing in listings:
        lines.join(1, listing, 5.0)
    listings[0].busy, listings[1].next_at, listings[2].next_at = True, 7.0, float("nan")
    assert lines.take(5.0) == 1
    assert lines.first(1) is listings[3]
    lines.leave(1, 5.0)
    assert lines.take(5.0) is None
    lines.join(1, listings[3], 6.0)
    listings[3].busy = True
    assert lines.take(6.0) == 1
    assert lines.first(1) is None
    assert lines.next_at() == float("inf")


def test_every_host_comes_to_its_turn_whatever_it_waits_for():
    """Against a list of all: hosts that wait at random, for a time or for one of two things."""
    draw, lines, left = random.Random(1), SitemapLines(), dict[int, int]()
    for host in range(30):
        left[host] = draw.randrange(1, 4)
        for n in range(left[host]):
            lines.join(host, Listing(f"http://h{host}.example/{n}", ()), 0.0)
    now, steps = 0.0, 0
    while left:
        steps += 1
        assert steps < 5_000
        assert lines.next_at() < now + 3.0  # so nobody is lost
        if (host := lines.take(now)) is None:
            now = lines.next_at()
            continue
        assert lines.first(host) is not None
        match draw.randrange(4):
            case 0:
                lines.wait(host, now + draw.random())
            case 1 | 2 as reason:
                lines.block(host, f"reason {reason}", now + 0.5)
            case _:
                lines.leave(host, now)
                left[host] -= 1
                if not left[host]:
                    del left[host]
    assert lines.next_at() == float("inf")


def test_what_a_hosts_own_site_names_comes_before_what_others_name_and_is_considered_at_once():
    lines, (other, own, more) = SitemapLines(), [Listing(f"{A}/{i}", ()) for i in range(3)]
    lines.join(1, other, 0.0, own=False)
    assert lines.take(0.0) == 1
    lines.wait(1, 60.0)
    lines.join(1, own, 5.0)
    lines.join(1, more, 5.0)
    for listing in (own, more, other):
        assert lines.take(5.0) == 1
        assert lines.first(1) is listing
        lines.leave(1, 5.0)
    assert lines.take(5.0) is None


def test_a_host_that_waits_for_room_is_in_one_line_however_many_join():
    lines, (other, own) = SitemapLines(), [Listing(f"{A}/{i}", ()) for i in range(2)]
    lines.join(1, other, 0.0, own=False)
    assert lines.take(0.0) == 1
    lines.block(1, "room", 9.0)
    lines.join(1, own, 5.0)
    assert (lines.take(5.0), lines.take(9.0), lines.take(9.0)) == (None, 1, None)
    assert lines.first(1) is own
