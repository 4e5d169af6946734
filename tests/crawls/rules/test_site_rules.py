"""Sections of single sites hold in crawls of made-up webs: their rest, their hours, which of their pages belong."""

from itertools import pairwise

import pytest

from evercrawl.config import SiteRules
from evercrawl.progress import Limits

A, B = "http://a.example", "http://b.example"
CLOSED_S, OPEN_S = 100.0, 300.0  # a crawl of these tests begins at 22:13:20
USUAL = {"refresh_after_s": 100.0, "probe_share": 0.0, "sitemaps": False}


def web(run, pages=4):
    world = run.World()
    for home in (A, B):
        links = [f"{home}/{i}" for i in range(pages)]
        world.pages[f"{home}/"] = run.html(*links)
        world.pages |= {url: run.html(text=url) for url in links}
    return world


def gaps(ran, home):
    log = sorted((each.at, each.ended_at) for each in ran.network.log if each.url.startswith(home))
    return [later[0] - before[1] for before, later in pairwise(log)]


def crawled(run, sites, seconds=300.0, world=None, **settings: object):
    seeds = [] if run.runs else [f"{A}/", f"{B}/"]
    settings = {"sites": sites, **USUAL, **settings}
    return run(world or web(run), seeds, Limits(seconds=seconds), polite=False, **settings)


def test_hosts_of_a_section_rest_as_it_says_and_others_as_usual(run):
    ran = crawled(run, (SiteRules("a.example", delay_s=30.0),))
    assert min(gaps(ran, A)) > 30.0 - 1e-6
    assert 1.0 - 1e-6 < min(gaps(ran, B)) < 2.0
    again = crawled(run, (SiteRules("example", rate_per_s=0.05),))  # after a start, and of all hosts below
    assert min(gaps(again, A)) > 20.0 - 1e-6
    assert min(gaps(again, B)) > 20.0 - 1e-6


def test_a_section_may_ask_for_a_shorter_rest_but_not_below_a_crawl_delay(run):
    world = web(run)
    world.pages[f"{B}/robots.txt"] = run.robots_txt("User-agent: *\nCrawl-delay: 7\n")
    quick = (SiteRules("a.example", delay_s=0.25), SiteRules("b.example", delay_s=0.25))
    ran = crawled(run, quick, world=world, delay_s=5.0)
    assert 0.25 - 1e-6 < min(gaps(ran, A)) < 1.0
    assert min(gaps(ran, B)[1:]) > 7.0 - 1e-6


def test_a_changed_delay_of_the_crawl_leaves_those_of_sections(run):
    async def change(one) -> None:
        from dataclasses import replace

        one.tuning.adopt(replace(one.tuning.config, delay_s=10.0), 0.0)

    ran = crawled(run, (SiteRules("a.example", delay_s=3.0),))
    assert 3.0 - 1e-6 < min(gaps(ran, A)) < 4.0
    ran = run(
        web(run), [], Limits(seconds=300.0), during=change, polite=False,
        sites=(SiteRules("a.example", delay_s=3.0),), **USUAL,
    )  # fmt: skip
    assert 3.0 - 1e-6 < min(gaps(ran, A)) < 4.0
    assert min(gaps(ran, B)[1:]) > 10.0 - 1e-6


def test_a_site_is_asked_for_nothing_outside_its_hours(run):
    began_at = run.now
    ran = crawled(run, (SiteRules("a.example", hours="22:15-22:20"),), seconds=600.0)
    asked = [each.at - began_at for each in ran.network.log if each.url.startswith(A)]  # robots.txt among them
    assert CLOSED_S <= min(asked) < CLOSED_S + 2.0
    assert CLOSED_S + OPEN_S - 110.0 < max(asked) < CLOSED_S + OPEN_S
    others = [each.at - began_at for each in ran.network.log if each.url.startswith(B)]
    assert min(others) < CLOSED_S
    assert max(others) > CLOSED_S + OPEN_S
    run.same()


@pytest.mark.parametrize(
    ("settings", "rule", "kept"),
    [
        ({}, {"exclude": ["/[01]$"]}, {"/", "/2", "/3"}),
        ({}, {"include": ["/[01]$"]}, {"/", "/0", "/1"}),  # a seed was named by a person
        ({"include": ("/[0123]$",)}, {"include": ["/0$"]}, {"/", "/0"}),
        ({}, {"max_depth": 1}, {"/", "/0", "/1", "/2", "/3"}),
        ({"max_depth": 1}, {"max_depth": 0}, {"/", "/0", "/1", "/2", "/3", "/deep"}),
    ],
)
def test_a_section_says_which_pages_of_its_site_belong_known_ones_too(run, settings, rule, kept):
    world = web(run)
    for home in (A, B):
        world.pages[f"{home}/0"], world.pages[f"{home}/deep"] = run.html(f"{home}/deep"), run.html()
    sites = (SiteRules("a.example", **rule),)
    fresh = {url.removeprefix(A) for url in crawled(run, sites, world=world, **settings).pages if url.startswith(A)}
    assert fresh == kept
    crawled(run, (), world=world)
    ran = crawled(run, sites, world=world, **settings)
    assert {url.removeprefix(A) for url in ran.pages if url.startswith(A)} == kept
    everything = {"/", "/0", "/1", "/2", "/3", "/deep"}
    elsewhere = everything - ({"/deep"} if settings else set())
    assert {url.removeprefix(B) for url in ran.pages if url.startswith(B)} == elsewhere
