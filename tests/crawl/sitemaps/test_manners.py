"""How often sitemaps are asked for, and what a request for one waits for."""

from itertools import pairwise

import numpy as np
import pytest

from evercrawl.crawl.sitemaps import sitemaps as module
from evercrawl.crawl.sitemaps.sitemaps import FIRST_WAIT_S, LEAST_WAIT_S, MOST_WAIT_S, SHARE
from evercrawl.simulate.surroundings.network import NoAnswerError
from evercrawl.simulate.worlds.made_web import Answer
from tests.helpers.sitemap_world import DAY, HOUR, MAP, A, World, index, ok, urlset


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
