"""Hosts with several addresses: the one that is counted is the one that is connected to."""

from collections import Counter
from itertools import pairwise

import pytest

from evercrawl.progress import Limits

A = "http://a.example"
NAMES = {"a.example": ["8.8.0.1", "8.8.0.2", "8.8.0.3"]}
PAGES = [f"{A}/", *(f"{A}/{number}" for number in range(1, 5))]


def small(run):
    world = run.World()
    world.pages = {f"{A}/": world.html("/1", "/2", "/3", "/4")} | {page: world.html() for page in PAGES[1:]}
    return world


@pytest.mark.parametrize("why", ["connect", "timeout"])
def test_where_nobody_is_the_next_address_is_asked_and_no_visit_fails(run, why):
    def vacant(address) -> str:
        return why if address != "8.8.0.3" else ""

    ran = run(small(run), PAGES[:1], names=NAMES, vacant=vacant)
    assert ran.summary.reason == "idle"
    asked = Counter(asked.address for asked in ran.network.log)
    assert (asked["8.8.0.1"], asked["8.8.0.2"]) == (1, 1)  # for robots.txt
    assert len(ran.visits) == 5
    assert not any(visit.error for visit in ran.visits)


def test_a_page_has_failed_once_all_addresses_were_tried(run):
    def vacant(_) -> str:
        return "connect" if gone else ""

    gone = []
    world = small(run)
    world.pages[f"{A}/"] = lambda _headers, _at: gone.append(1) or world.html("/1")
    ran = run(world, PAGES[:1], Limits(seconds=30), names=NAMES, vacant=vacant)
    failed = [asked for asked in ran.network.log if not asked.status]
    assert [asked.url for asked in failed[:3]] == [f"{A}/1"] * 3
    assert {asked.address for asked in failed[:3]} == set(NAMES["a.example"])
    errors = [visit.error.partition(":")[0] for visit in ran.visits]
    assert errors == ["", *["connect"] * (len(failed) // 3)]


BOTH = {"a.example": ["8.8.0.1", "8.8.0.2", "2600::1", "2600:1::1"], "b.example": ["8.8.0.9", "2600::1"]}


def test_two_addresses_of_two_families_are_tried_at_a_time_and_the_host_stays_where_it_was_answered(run):
    ran = run(small(run), PAGES[:1], names=BOTH, vacant=lambda address: "" if address == "2600::1" else "timeout")
    assert len(ran.visits) == 5
    assert {asked.address for asked in ran.network.log} == {"2600::1"}  # from robots.txt on
    assert [asked.beside for asked in ran.network.log] == ["8.8.0.1", *[""] * (len(ran.network.log) - 1)]


def test_after_two_that_are_silent_come_the_next_two(run):
    ran = run(small(run), PAGES[:1], names=BOTH, vacant=lambda address: "" if address == "2600:1::1" else "timeout")
    assert not any(visit.error for visit in ran.visits)
    tried = [(asked.address, asked.beside) for asked in ran.network.log[:2]]
    assert tried == [("8.8.0.1", "2600::1"), ("2600:1::1", "8.8.0.2")]


def test_an_address_that_is_busy_is_not_tried_beside(run):
    world = small(run)
    other = "http://b.example"
    world.pages |= {f"{other}/": world.html()}
    ran = run(world, [PAGES[0], f"{other}/"], names=BOTH, connections_per_ip=1)
    pairs = {(asked.url.split("/")[2], asked.address) for asked in ran.network.log}
    assert pairs == {("a.example", "8.8.0.1"), ("b.example", "8.8.0.9")}
    assert [asked.beside for asked in ran.network.log if asked.url.endswith("/robots.txt")] == ["2600::1", ""]


def test_an_address_taken_beside_rests_for_a_host_that_was_chosen_together(run):
    """Both were asked at the same address in the same instant."""
    world = small(run)
    other = "http://b.example"
    world.pages |= {f"{other}/": world.html()}
    names = {"a.example": ["8.8.0.1", "2600::1"], "b.example": ["2600::1"]}
    ran = run(world, [PAGES[0], f"{other}/"], names=names, delay_s=2.0, connections_per_ip=2)
    begun = sorted(asked.at for asked in ran.network.log if "2600::1" in (asked.address, asked.beside))
    assert len(begun) >= 3
    assert min(after - before for before, after in pairwise(begun)) >= 2.0 / 2 - 1e-6


@pytest.mark.parametrize("settings", [{"happy_eyeballs_s": 0}, {"proxy": "socks5://127.0.0.1:9"}])
def test_nothing_is_tried_beside_where_nobody_wants_it_or_a_proxy_connects(run, settings):
    ran = run(small(run), PAGES[:1], names=BOTH, **settings)
    assert {asked.beside for asked in ran.network.log} == {""}
