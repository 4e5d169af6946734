"""Pages whose links found no room on their own host are read again once there is room: large sites get whole."""

import pytest

from evercrawl.crawl.loop import Crawl
from evercrawl.progress import Limits
from evercrawl.store.quarantine import Quarantine

SITE = "http://8.8.8.8"
LEAVES = [f"{SITE}/{i}" for i in range(60)]
ALL = {f"{SITE}/", *LEAVES}


@pytest.fixture
def world(run):
    made = run.World()
    made.pages[f"{SITE}/"] = made.html(*LEAVES)
    for url in LEAVES:
        made.pages[url] = made.html(text=url)
    return made


def test_a_site_with_more_pages_than_may_wait_is_read_whole(run, world):
    ran = run(world, [f"{SITE}/"], Limits(until_idle=True), max_backlog_per_host=20, sitemaps=False)
    assert set(ran.pages) >= ALL
    assert 2 <= ran.pages[f"{SITE}/"] <= 6  # once for each time that half of the queue is free
    assert all(ran.pages[url] == 1 for url in LEAVES)


def test_also_after_a_restart(run, world):
    first = run(world, [f"{SITE}/"], Limits(pages=5), max_backlog_per_host=20, sitemaps=False)
    second = run(world, [], Limits(until_idle=True), max_backlog_per_host=20, sitemaps=False)
    assert set(first.pages) | set(second.pages) >= ALL
    assert sum(second.pages[url] for url in LEAVES) == 56


def test_one_that_fails_then_waits_for_its_usual_turn(run, world):
    first = run(world, [f"{SITE}/"], Limits(pages=5), max_backlog_per_host=20, sitemaps=False)
    del world.pages[f"{SITE}/"]
    second = run(world, [], Limits(until_idle=True), max_backlog_per_host=20, sitemaps=False)
    assert first.pages[f"{SITE}/"] == second.pages[f"{SITE}/"] == 1
    assert len(set(first.pages) | set(second.pages)) == 21


def test_links_that_another_budget_keeps_out_are_no_reason(run, world):
    ran = run(
        world, [f"{SITE}/"], Limits(until_idle=True), max_pages_per_host=10, max_backlog_per_host=20, sitemaps=False
    )
    assert ran.pages[f"{SITE}/"] == 1
    assert len(ran.pages) == 10


def test_nobody_waits_for_a_host_that_is_away(run, world):
    world.pages[LEAVES[10]] = run.Answer(429, {"Retry-After": "86400"})  # just when half of the queue is free
    ran = run(world, [f"{SITE}/"], Limits(until_idle=True, seconds=3600), max_backlog_per_host=20, sitemaps=False)
    assert ran.summary.reason == "idle"
    assert ran.pages[f"{SITE}/"] < 4


def test_after_a_restart_only_pages_that_found_no_room_are_read_again(run):
    """All whose links were kept out by another budget were read again at once, at each start."""
    world = run.World()
    world.pages[f"{SITE}/"] = world.html(*LEAVES)
    for number, url in enumerate(LEAVES):
        world.pages[url] = world.html(*(f"http://9.9.9.9/{number}/{i}" for i in range(9)), text=url)
    settings = {"max_backlog_per_host": 20, "max_pages_per_link": 5, "scope": "any", "sitemaps": False}
    run(world, [f"{SITE}/"], Limits(until_idle=True), **settings)
    again = run(world, [], Limits(until_idle=True), **settings)
    assert not any(again.pages[url] for url in LEAVES)


def test_a_run_for_certain_pages_reads_no_others_again(run, world, monkeypatch):
    crawled = Crawl.run

    def only(self, seeds, limits):  # noqa: ANN202 - as the runner calls it
        return crawled(self, seeds, limits, only=[LEAVES[0]])

    run(world, [f"{SITE}/"], Limits(pages=15), max_backlog_per_host=20, sitemaps=False)
    monkeypatch.setattr(Crawl, "run", only)
    again = run(world, [], Limits(until_idle=True), max_backlog_per_host=20, sitemaps=False)
    assert set(again.pages) == {LEAVES[0]}


def test_a_page_that_is_set_aside_keeps_no_crawl_from_being_idle(run, world, monkeypatch):
    run(world, [f"{SITE}/"], Limits(pages=15), max_backlog_per_host=20, sitemaps=False)
    holds = Quarantine.holds
    monkeypatch.setattr(Quarantine, "holds", lambda self, url: url == f"{SITE}/" or holds(self, url))
    again = run(world, [], Limits(until_idle=True, seconds=3600), max_backlog_per_host=20, sitemaps=False)
    assert again.summary.reason == "idle"
    assert not again.pages[f"{SITE}/"]
