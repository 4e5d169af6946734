"""Whole crawls of made-up webs whose sites have sitemaps and feeds."""

from itertools import pairwise

import pytest

from evercrawl.progress import Limits

A = "http://a.example"


def xml(root, entry, *locations: str, dated="") -> bytes:
    date = f"<lastmod>{dated}</lastmod>" if dated else ""
    inside = "".join(f"<{entry}><loc>{location}</loc>{date}</{entry}>" for location in locations)
    return f"<{root}>{inside}</{root}>".encode()


@pytest.fixture
def world(run):
    """A site of 81 pages: 31 have links to them, 50 stand in five sitemaps only."""
    made = run.World()
    made.pages[f"{A}/robots.txt"] = run.robots_txt(f"User-agent: *\nDisallow: /private/\nSitemap: {A}/s.xml")
    made.pages[f"{A}/"] = run.html(*[f"/{i}" for i in range(30)])
    made.pages |= {f"{A}/{i}": run.html("/", text=f"words {i}") for i in range(80)}
    children = [f"{A}/s{i}.xml" for i in range(5)]
    made.pages[f"{A}/s.xml"] = run.Answer(200, {}, xml("sitemapindex", "sitemap", *children))
    for i, child in enumerate(children):
        pages = [f"{A}/{30 + 10 * i + j}" for j in range(10)]
        made.pages[child] = run.Answer(200, {}, xml("urlset", "url", *pages, f"{A}/private/no", "http://b.example/no"))
    return made


def pages(ran):
    return {url for url in ran.pages if not url.endswith(".xml")}


@pytest.mark.parametrize("settings", [
    {}, {"delay_s": 0.0}, {"rate_per_s": 0.5}, {"connections": 1}, {"connections_per_host": 3},
    {"connections_per_ip": 1},
])  # fmt: skip
def test_pages_that_only_sitemaps_list_are_found(run, world, settings):
    ran = run(
        world,
        [f"{A}/"],
        Limits(until_idle=True, seconds=3600),
        polite=settings.get("connections_per_host", 1) == 1,
        **settings,
    )
    assert ran.summary.reason == "idle"
    assert pages(ran) == {f"{A}/"} | {f"{A}/{i}" for i in range(80)}
    assert sum(url.endswith(".xml") for url in ran.pages.elements()) == 6
    run.same()


def test_sitemaps_leave_most_turns_to_pages(run, world):
    ran = run(world, [f"{A}/"])
    asked = [asked.url.endswith(".xml") for asked in ran.network.log if not asked.url.endswith("/robots.txt")]
    places = [place for place, is_sitemap in enumerate(asked) if is_sitemap]
    assert max(places) < 35
    assert min(later - earlier for earlier, later in pairwise(places)) >= 3


def test_without_sitemaps_none_is_asked_for(run, world):
    ran = run(world, [f"{A}/"], sitemaps=False)
    assert pages(ran) == {f"{A}/"} | {f"{A}/{i}" for i in range(30)} == set(ran.pages)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_a_limit_of_pages_ends_a_crawl_with_sitemaps_due(run, world, most):
    ran = run(world, [f"{A}/"], Limits(pages=most, seconds=3600))
    assert (ran.summary.reason, ran.summary.visits) == ("pages", most)


def test_a_feed_that_a_page_names_is_read(run):
    world = run.World()
    link = '<link rel="alternate" type="application/atom+xml" href="/feed">'
    world.pages[f"{A}/"] = run.html(head=link)
    world.pages[f"{A}/1"] = run.html()
    world.pages[f"{A}/feed"] = run.Answer(
        200, {"Content-Type": "application/atom+xml"}, b"<feed><entry><link href='/1'/></entry></feed>"
    )
    assert set(run(world, [f"{A}/"]).pages) == {f"{A}/", f"{A}/feed", f"{A}/1"}


def test_trouble_costs_neither_pages_nor_manners(run, world):
    world.trouble = 0.2
    ran = run(world, [f"{A}/"], Limits(seconds=6 * 3600), delay_s=0.2)
    assert len(pages(ran)) == 81
    run.same()


def test_sitemaps_count_against_the_rate(run, world):
    ran = run(world, [f"{A}/"], Limits(seconds=120), rate_per_s=0.25, delay_s=0.5)
    at = [asked.at for asked in ran.network.log if not asked.url.endswith("/robots.txt")]
    assert any(asked.url.endswith(".xml") for asked in ran.network.log)
    assert min(later - earlier for earlier, later in pairwise(at)) > 4.0 - 0.3  # a start may make up for a late one


def test_what_went_wrong_with_sitemaps_is_told(run, world):
    world.pages[f"{A}/s1.xml"] = run.Answer(404, {}, b"none")
    world.pages[f"{A}/s2.xml"] = run.Answer(500, {}, b"not now")
    ran = run(world, [f"{A}/"], Limits(seconds=600))
    errors = ran.progress[-1].errors
    assert (errors["sitemap_gone"], errors["sitemap_status_500"]) == (1, 1)
