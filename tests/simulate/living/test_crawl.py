"""The shipped loop in a living web, on a virtual clock and on loopback addresses."""

import asyncio
import urllib.request

import numpy as np
import pytest

from evercrawl.simulate.living import comparison
from evercrawl.simulate.living.beliefs import Beliefs, beliefs, importance_errors, rank_correlation
from evercrawl.simulate.living.comparison import BenchWorld
from evercrawl.simulate.living.lives import LivingRequests, life, relive
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.simulate.surroundings.loopback import LivingLoopback

WORLD = BenchWorld(seed=5, pages=200, cycle_s=2.0, fetches_per_s=100.0, seconds=12.0)


@pytest.fixture(scope="module")
def lived() -> tuple[LivingRequests, Beliefs]:
    """The life of the crawl as shipped in that world, and what it believed at the end."""
    web, seen = WORLD.web(), list[Beliefs]()
    life = relive(web, WORLD.fetches_per_s, WORLD.seconds, look=lambda p: seen.append(beliefs(p, web.urls[:200])))
    return life, seen[0]


@pytest.fixture(scope="module")
def compared(lived) -> comparison.PolicyComparison:
    return comparison.beside_round_robin(lived[0], WORLD)


def test_the_crawl_wins_against_a_round_robin(compared):
    assert compared.gain > 1.0
    assert compared.of_optimum < 1.1


@pytest.mark.parametrize(
    "world",
    [
        pytest.param(WORLD, id="few visits"),
        pytest.param(
            BenchWorld(9605, pages=400, cycle_s=10.0, fetches_per_s=60.0, seconds=25.0), id="pages that vanish"
        ),
    ],
)
def test_a_round_robin_is_as_fresh_as_even_intervals_are(world):
    web = world.web(endless=False)
    even = comparison.even_round_robin(web, world.fetches_per_s)
    assert comparison.measured(comparison.round_robin(world)) == pytest.approx(even, rel=0.15)


def test_the_budget_is_used_and_counted(lived):
    life, _ = lived
    assert life.fetches == pytest.approx(1200, abs=30)
    assert life.fetches_per_s == pytest.approx(100, rel=0.03)
    answered = sum(len(of) for of in life.asked.values())
    assert 0 <= life.spent["page"] + life.spent["copy"] - answered < 20  # those that had vanished


def test_what_is_no_page_of_the_web_is_not_taken_for_one():
    web = WORLD.web()
    page = web.urls[0]
    one = life(web, [(1.0, page, 200), (2.0, page.rsplit("/", 1)[0] + "/no-such-page", 404)], 0.0, 3.0)
    assert (one.spent["page"], one.spent["probe"], len(one.asked)) == (1, 1, 1)


def test_the_same_world_is_lived_twice_in_the_same_way():
    lives = [relive(WORLD.web(), WORLD.fetches_per_s, 2.0) for _ in range(2)]
    assert lives[0].spent == lives[1].spent
    assert all(np.array_equal(lives[0].asked[n], lives[1].asked[n]) for n in lives[0].asked)


def test_importance_in_a_still_web_comes_near_the_truth():
    web, seen = WORLD.web(still=True, endless=False), list[Beliefs]()
    life = relive(web, 100.0, 15.0, policy="cycle", look=lambda p: seen.append(beliefs(p, web.urls)))
    errors = importance_errors(web, seen[0], life.read)
    assert len(errors) == 200
    assert errors.mean() < 3.1e-4


def test_rates_are_learned(lived):
    life, believed = lived
    visited = believed.visits >= 3
    true = np.array([life.web.rate_per_s(n) for n in range(200)])
    assert rank_correlation(believed.rate_per_s[visited], true[visited]) > 0.78


def test_a_living_web_is_served():
    def make(origins: tuple[str, ...]) -> LivingWeb:
        return LivingWeb(1, hosts=3, pages=60, origins=origins, still=True)

    async def ask() -> tuple[int, LivingLoopback]:
        async with LivingLoopback(make, hosts=3) as server:
            answer = await asyncio.to_thread(urllib.request.urlopen, server.seeds[2])
            with answer:
                assert answer.read() == server.living.answer(server.living.origins[2], "/", {}, 0.0).body
            return answer.status, server

    status, server = asyncio.run(ask())
    assert status == 200
    assert [served.path for served in server.log] == ["/"]
