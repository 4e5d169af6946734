"""Whole crawls of made-up webs: every page once, manners at every request, the same seed the same journal."""

import asyncio
import math
from collections import Counter
from itertools import pairwise

import pytest

from evercrawl.progress import Limits
from evercrawl.schedule.policies.greedy import Greedy
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.types import Outcome

HOSTS = ("http://a.example", "http://b.example", "http://c.example:8080")
SEEDS = [f"{origin}/" for origin in HOSTS]
WEB = MadeWeb(seed=3, origins=HOSTS, pages=25, changing=0)


def asked_for(web: MadeWeb) -> Counter[str]:
    return Counter({url: 1 for url, outcome in web.urls().items() if outcome != "refused"})


def test_every_page_once_and_every_outcome_as_foretold(run):
    ran = run(run.World(WEB), SEEDS)
    assert ran.summary.reason == "idle"
    assert ran.pages == asked_for(WEB)
    outcomes = {url: Outcome(outcome).label for url, (outcome, _) in run.outcomes().items()}
    foretold = {url: what for url, what in WEB.urls().items() if what != "copy"}
    assert {url: what for url, what in outcomes.items() if url in foretold} == foretold
    for origin in HOSTS:
        assert {outcomes[f"{origin}/p/1"], outcomes[f"{origin}/copy"]} == {"ok", "duplicate"}
    run.same()


@pytest.mark.parametrize("seed", range(3))
def test_trouble_costs_visits_but_neither_pages_nor_manners(run, seed):
    world = run.World(WEB, seed=seed, trouble=0.15)
    ran = run(world, SEEDS, Limits(seconds=1800), seed=seed, delay_s=0.5, connections_per_ip=3)
    assert set(ran.pages) == set(asked_for(WEB))
    assert max(ran.pages.values()) <= 3  # a page in trouble is tried twice more before its refresh
    assert sum(ran.pages.values()) == len([v for v in ran.visits if v.outcome != Outcome.REFUSED])
    assert ran.summary.visits == len(ran.visits)
    run.same()


def test_the_same_seed_writes_the_same_journal(run, tmp_path):
    def once(name, seed):  # noqa: ANN202
        run.directory, run.now, run.runs = tmp_path / name, 1.7e9, 0
        world = run.World(WEB, seed=7, trouble=0.1)
        return run(world, SEEDS, Limits(seconds=300), seed=seed)

    first, again, other = once("first", 1), once("again", 1), once("other", 2)
    assert first.digest == again.digest
    assert [(a.at, a.url) for a in first.network.log] == [(a.at, a.url) for a in again.network.log]
    assert other.digest != first.digest  # latencies and record names are drawn anew
    segments = [next((tmp_path / name / "archive").glob("*.warc.gz")) for name in ("first", "again")]
    assert segments[0].read_bytes() == segments[1].read_bytes()


def test_a_gap_is_the_delay_and_not_much_more(run):
    ran = run(run.World(WEB), SEEDS, delay_s=2.0, connections_per_ip=8)
    gaps = [gap for host in ran.manners.gaps.values() for gap in host]
    assert min(gaps) == pytest.approx(2.0, abs=1e-3)
    assert sorted(gaps)[len(gaps) // 2] < 2.1


def test_many_names_at_one_address_share_its_connections(run):
    origins = tuple(f"http://n{i}.example" for i in range(20))
    web = MadeWeb(seed=1, origins=origins, pages=4, changing=0)
    ran = run(run.World(web), [f"{origin}/" for origin in origins], connections_per_ip=2, delay_s=1.0)
    assert ran.pages == asked_for(web)  # Manners counts the connections at the address


def test_of_hosts_at_addresses_of_their_own_all_are_busy_at_once(run):
    origins = tuple(f"http://n{i}.example" for i in range(20))
    web = MadeWeb(seed=1, origins=origins, pages=4, changing=0)
    names = {f"n{i}.example": [f"8.8.4.{i + 1}"] for i in range(20)}
    ran = run(run.World(web), [f"{origin}/" for origin in origins], names=names, delay_s=1.0)
    assert ran.pages == asked_for(web)
    slowest = max(len(gaps) + 1 for gaps in ran.manners.gaps.values())
    assert ran.summary.elapsed_s < slowest * 1.9 + 2  # a rest and at most 0.8 s of answering for each request


# What ends a run


def test_pages_end_a_run_at_that_many_visits_redirects_included(run):
    ran = run(run.World(WEB), SEEDS, Limits(pages=17), connections_per_ip=8)
    assert (ran.summary.reason, ran.summary.visits, sum(ran.pages.values())) == ("pages", 17, 17)
    rest = run(run.World(WEB), [], Limits(until_idle=True))
    assert ran.pages + rest.pages == asked_for(WEB)


def test_seconds_end_a_run_on_time_and_what_is_under_way_is_kept(run):
    ran = run(run.World(WEB), SEEDS, Limits(seconds=20.0))
    assert ran.summary.reason == "seconds"
    assert 20.0 <= ran.took_s < 23.5
    assert all(asked.ended_at < math.inf for asked in ran.network.log)
    rest = run(run.World(WEB), [])
    assert ran.pages + rest.pages == asked_for(WEB)


def test_what_takes_too_long_when_a_run_ends_is_asked_for_again_by_the_next(run):
    slow = run(run.World(WEB), SEEDS[:1], Limits(seconds=5.0), latency_s=lambda _: 20.0)
    assert slow.took_s < 8.5
    assert slow.network.log[-1].ended_at == math.inf
    rest = run(run.World(WEB), [])
    assert set(rest.pages) >= {url for url in asked_for(WEB) if url.startswith(HOSTS[0])}


def test_idle_does_not_wait_for_a_host_that_is_away(run):
    world = run.World()
    world.pages["http://dead.example/"] = run.NoAnswerError("connect")
    world.pages["http://live.example/"] = run.html("/1", "/2")
    ran = run(world, ["http://dead.example/", "http://live.example/"], robots=":memory:")
    assert ran.summary.reason == "idle"
    assert ran.pages["http://dead.example/"] == 3


def test_stop_ends_a_run_within_the_grace(run):
    async def soon(one) -> None:
        await asyncio.sleep(10.0)
        one.stop()

    ran = run(run.World(WEB), SEEDS, Limits(), during=soon)
    assert ran.summary.reason == "stopped"
    assert ran.took_s < 14.0
    assert run(run.World(WEB), []).pages + ran.pages == asked_for(WEB)


# Ceilings


@pytest.mark.parametrize("rate", [0.5, 3.0, 10.0])
def test_no_more_pages_a_second_than_allowed_and_not_many_fewer(run, rate):
    origins = tuple(f"http://n{i}.example" for i in range(12))
    web = MadeWeb(seed=1, origins=origins, pages=12, changing=0)
    names = {f"n{i}.example": [f"8.8.4.{i + 1}"] for i in range(12)}
    seconds = 100 / rate
    ran = run(run.World(web), [f"{o}/" for o in origins], Limits(seconds=seconds), names=names, rate_per_s=rate,
              delay_s=0.2)  # fmt: skip
    starts = sorted(asked.at for asked in ran.network.log if not asked.url.endswith("/robots.txt"))
    steps = [late - early for early, late in pairwise(starts)]
    assert min(steps) > 1 / rate - 1e-6
    assert len(starts) >= 0.8 * seconds * rate


def test_no_more_bytes_a_second_than_allowed_in_the_long_run(run):
    origins = tuple(f"http://n{i}.example" for i in range(12))
    names = {f"n{i}.example": [f"8.8.4.{i + 1}"] for i in range(12)}
    world = run.World()
    for origin in origins:
        for i in range(20):
            world.pages[f"{origin}/{i}" if i else f"{origin}/"] = run.html(f"/{i + 1}", text=f"{origin} {i} " * 400)
    ran = run(world, [f"{o}/" for o in origins], Limits(seconds=100), names=names, rate_bytes_per_s=20_000, delay_s=0.2)
    received = sum(visit.wire_bytes for visit in ran.visits)
    largest = max(visit.wire_bytes for visit in ran.visits)
    assert received < 20_000 * 100 + 13 * largest  # one of each host may be under way when the ceiling is met
    assert received > 0.8 * 20_000 * 100


def test_a_host_without_rest_is_asked_for_several_pages_at_once_and_for_its_rules_once(run):
    world, hosts = run.World(), ("http://a.example", "http://b.example")
    for host in hosts:
        world.pages[f"{host}/"] = run.html(*(f"/{i}" for i in range(30)))
        world.pages |= {f"{host}/{i}": run.html(text=f"words of {i} on {host}") for i in range(30)}
    world.pages["http://b.example/robots.txt"] = run.robots_txt("User-agent: *\nCrawl-delay: 2")
    names = {"a.example": ["8.8.4.1"], "b.example": ["8.8.4.2"]}
    settings = {"delay_s": 0.0, "connections_per_host": 4, "connections_per_ip": 4, "connections": 16}
    seeds = [f"{host}/{page}" for host in hosts for page in ("", "0", "1", "2")]
    ran = run(world, seeds, names=names, polite=False, policy=Greedy(), **settings)
    assert ran.pages == Counter(f"{host}/{page}" for host in hosts for page in ("", *range(30)))
    assert [len(ran.asked(f"{host}/robots.txt")) for host in hosts] == [1, 1]
    quick, slow = ([asked for asked in ran.network.log if asked.url.startswith(host)] for host in hosts)
    assert max(sum(one.at <= asked.at < one.ended_at for one in quick) for asked in quick) == 4
    assert min(late.at - early.at for early, late in pairwise(slow[1:])) >= 2.0
