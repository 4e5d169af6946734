"""What `--render auto` learns of a site holds for all of its hosts, and for the runs after; the browser is made up."""

import asyncio

import pytest

from evercrawl.crawl.removing.forgetting import forget
from evercrawl.crawl.rendering import rendering
from evercrawl.crawl.rendering.browser import AbsentError, CrashError
from evercrawl.crawl.rendering.worth import due
from evercrawl.parse.sites import found_site
from evercrawl.progress import Limits
from evercrawl.store.disk.disk import Disk
from evercrawl.store.partition import Partition
from evercrawl.store.render_gains import TRIED, SiteGain
from evercrawl.types import Outcome

A, B = "http://one.a.example", "http://two.a.example"
SHELL = "<script src=/app.js></script>"
DEPTHS = {"shallow": 4_990, "deep": 5_010}
BUILT = f"<p>{'words that scripts wrote ' * 9}</p>"


class MadePool:
    """Takes a second for each page, whose document is what `show` says of its URL."""

    peak_bytes = ended = 0

    def __init__(self, show) -> None:
        self.show, self.urls = show, []

    async def rendered(self, url, answer, pending) -> str:
        self.urls.append(url)
        await asyncio.sleep(1.0)
        shown = self.show(url)
        if isinstance(shown, Exception):
            raise shown
        return shown

    async def close(self) -> None:
        """Have nothing to end."""


@pytest.fixture
def crawled(run, monkeypatch):
    """Crawl twelve shells on each host of a site; `show` says what a browser makes of a page. Return what it read."""

    def crawl(show, host: str = A, limits: Limits | None = None, disk: Disk | None = None) -> list[str]:
        pool = MadePool(show)
        monkeypatch.setattr(rendering, "ChromiumPool", lambda *_, **__: pool)
        world = run.World()
        for origin in (A, B):
            urls = [f"{origin}/{number}" for number in range(12)]
            world.pages |= {url: run.html(text=f"of {url}", head=SHELL) for url in urls}
            world.pages[f"{origin}/"] = run.html(*urls, text="long enough " * 100)
        run(world, [f"{host}/"], limits or Limits(until_idle=True, seconds=900),
            render="auto", sitemaps=False, probe_share=0.0, delay_s=2.0, robots=":memory:", disk=disk)  # fmt: skip
        return pool.urls

    return crawl


def gain(run, host="one.a.example"):
    with_journal, restored = run.folded(), run.restored()
    gains = [each.state.render_gains.of(each.state.site_number(host)) for each in (with_journal, restored)]
    for each in (with_journal, restored):
        each.close()
    assert gains[0] == gains[1]
    return gains[0]


def nothing(_):
    return f"<p>poor</p>{SHELL}"


def test_what_is_learned_on_one_host_holds_for_others_of_its_site_and_in_the_runs_after(crawled, run):
    first = crawled(nothing)
    assert len([url for url in first if not url.endswith("/")]) == TRIED + in_turn(run, first, A)
    assert gain(run).gained == 0
    assert not gain(run).pays
    second = crawled(nothing, host=B)
    assert len(second) == in_turn(run, second, B)
    run.same()


def in_turn(run, urls, origin):
    """Return how many of these were tried although that did not pay."""
    partition = run.folded()
    state = partition.state
    slots = [slot for slot in range(state.known.count) if state.urls.get(slot).startswith(origin)]
    tried = [state.urls.get(slot) for slot in slots if due(slot, 0)]
    partition.close()
    return len([url for url in urls if url in tried])


def test_what_pays_is_known_in_the_runs_after_and_a_killed_one_loses_what_was_not_acknowledged_alone(crawled, run):
    first = crawled(lambda _: BUILT)
    assert len(first) == 12
    before = gain(run)
    assert before.gained > 0
    with pytest.raises(run.Crash):
        crawled(lambda _: BUILT, host=B, disk=run.DyingDisk(run.directory, 12))
    assert gain(run).gained >= before.gained
    run.same()


@pytest.mark.parametrize(("error", "vain"), [(CrashError("it ends"), 12), (AbsentError("no browser"), 0)])
def test_a_page_that_fails_counts_a_little_and_a_browser_that_does_not_start_nothing(crawled, run, error, vain):
    crawled(lambda _: error)
    assert gain(run).vain == vain


@pytest.mark.parametrize("shown", ["<html><body></body></html>", "\u00e9" * 9_000_000])
def test_pages_that_stay_blank_or_are_too_large_say_that_rendering_brings_nothing(crawled, run, shown):
    """Else thousands of them went to the browser."""
    crawled(lambda _: shown)
    assert gain(run).vain > 0


def test_pages_that_a_run_leaves_in_the_browser_say_nothing_of_their_site(crawled, run):
    async def never(self, url, answer, pending) -> str:
        await asyncio.sleep(1e6)
        raise AssertionError

    MadePool.rendered, real = never, MadePool.rendered
    try:
        crawled(nothing, limits=Limits(seconds=60))
    finally:
        MadePool.rendered = real
    assert gain(run) == SiteGain()


@pytest.mark.parametrize("mode", ["auto", "always"])
def test_a_page_that_is_nested_too_deep_goes_to_no_browser(run, monkeypatch, mode):
    pool = MadePool(lambda _: BUILT)
    monkeypatch.setattr(rendering, "ChromiumPool", lambda *_, **__: pool)
    world = run.World()
    world.pages = {f"{A}/{name}": run.html(text=f"{SHELL}{'<div><b>' * deep}") for name, deep in DEPTHS.items()}
    ran = run(world, list(world.pages), render=mode, sitemaps=False, probe_share=0.0)
    assert pool.urls == [f"{A}/shallow"]
    assert [visit.outcome for visit in ran.visits] == [Outcome.OK] * 2


def test_a_site_that_is_forgotten_leaves_nothing_of_what_was_learned(crawled, run):
    crawled(lambda _: BUILT)
    assert gain(run).gained
    forget(run.directory, ["one.a.example"])
    partition = Partition(run.directory, lambda n: bytes(n), now=run.now, writable=False, site=found_site)
    assert len(partition.state.render_gains) == 0
    partition.close()
    run.same()
