"""Sites that name any number of URLs, or ports, of another's host, so that its own pages are not read."""

import pytest
from soak import in_soak

from evercrawl.model.rules.named_by_others import FIRST, OTHERS_PORTS
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits

VICTIM, EVIL = "http://victim.example", "http://evil.test"
PAGES, TURNS, LINKS = 150, 420, 300
OWN = {f"{VICTIM}/", *(f"{VICTIM}/{n}" for n in range(1, PAGES))}
NAMES = {"victim.example": ["8.8.1.7"], "evil.test": ["8.8.2.7"]}


def crawl(
    run, named, *, robots: str = "", head: str = "", more=None, waits_s: float = 0.0, silent=lambda url: False,
    scope: str = "any", requisites: bool = False,
) -> list[str]:  # fmt: skip
    """Crawl a host of pages in sections, and one that names what `named` says; return the requests to the first."""
    world = run.World()
    sections = [f"/{n}" for n in range(1, 11)]
    world.pages[f"{VICTIM}/"] = world.html(*sections, text="front page")
    for n in range(1, PAGES):
        links = [f"/{m}" for m in range(10 + n, PAGES, 10)] if n <= 10 else ["/"]
        world.pages[f"{VICTIM}/{n}"] = world.html(*links, text=f"page {n} of a host that has some")
    pages = [f"{EVIL}/{n}" for n in range(8)]
    world.pages[f"{EVIL}/robots.txt"] = run.robots_txt(robots)
    world.pages[f"{EVIL}/"] = world.html(*pages, text="evil", head=head)
    for number, url in enumerate(pages):
        links = [named(number * LINKS + i) for i in range(LINKS)]
        moves = [link for link in links if "/to?" in link]
        world.pages |= {link: run.Answer(302, {"Location": link.partition("/to?")[2]}) for link in moves}
        world.pages[url] = world.html(*links, text=f"evil page {number}")

    world.pages |= more or {}

    def lasts_s(request) -> float:
        return 29.5 if silent(request.url) else 0.1

    run_out = Limits(seconds=TURNS * 0.6 + waits_s)
    others = sorted({hostname(url) for url in world.pages} - NAMES.keys())  # of the same site
    names = NAMES | {name: [f"8.8.3.{number}"] for number, name in enumerate(others)}
    seeds = [f"{EVIL}/", f"{VICTIM}/", *(f"http://{name}/" for name in others)]
    ran = run(
        world, seeds, run_out, names=names, latency_s=lasts_s, delay_s=0.5, refresh_after_s=86_400.0,
        scope=scope, requisites=requisites,
    )  # fmt: skip
    return [one.url for one in ran.network.log if hostname(one.url) == "victim.example"]


@pytest.mark.parametrize("scope", ["any", *in_soak("hosts")])
@pytest.mark.parametrize(
    "named",
    [
        lambda i: f"{VICTIM}/j{i}",
        lambda i: f"{VICTIM}/a{i}/b{i}",
        lambda i: f"{VICTIM}/?q={i}",
        lambda i: f"{VICTIM}/{1000 + i}",
        lambda i: f"http://{i % 60}.evil.test/to?{VICTIM}/x{i}",
    ],
    ids=["names", "folders", "queries", "numbers", "redirects"],
)
def test_who_names_what_a_host_does_not_have_takes_few_of_its_turns(run, named, scope):
    asked = crawl(run, named, scope=scope)
    assert {*asked} >= OWN
    last = max(asked.index(url) for url in OWN)
    assert len([url for url in asked[:last] if url not in OWN and not url.endswith("/robots.txt")]) < FIRST + 40


@pytest.mark.parametrize("silent", [False, True], ids=["refusing", "silent"])
@pytest.mark.parametrize("way", ["links", "redirects", "sitemaps", "sitemaps that move", "feeds", "pictures"])
def test_nobody_has_the_ports_of_another_host_asked(run, way, silent):
    """Each port has a robots.txt of its own, for which the host has to be asked in its turn."""
    places = [f"{VICTIM}:{port}/s.xml" for port in range(2000, 2300)]
    moved = {f"{EVIL}/s{n}.xml": run.Answer(302, {"Location": url}) for n, url in enumerate(places)}
    lines, head = "", ""
    if way.startswith("sitemaps"):
        lines = "".join(f"Sitemap: {url}\n" for url in (places if way == "sitemaps" else moved))
    elif way == "feeds":
        head = "".join(f'<link rel="alternate" type="application/rss+xml" href="{url}">' for url in places)
    elif way == "pictures":
        head = "".join(f'<link rel="stylesheet" href="{url}">' for url in places)
    named = {"links": lambda i: f"{VICTIM}:{2000 + i}/", "redirects": lambda i: f"{EVIL}/to?{VICTIM}:{2000 + i}/"}
    asked = crawl(
        run, named.get(way, lambda i: f"{EVIL}/{i % 8}"), robots=lines, head=head, more=moved,
        waits_s=2 * OTHERS_PORTS * 30.0 if silent else 0.0,
        silent=lambda url: silent and url.startswith(f"{VICTIM}:"), requisites=way == "pictures",
    )  # fmt: skip
    assert len({url.split("/")[2] for url in asked if url.startswith(f"{VICTIM}:")}) <= OTHERS_PORTS
    assert len({*asked} & OWN) >= 0.9 * len(OWN)


@pytest.mark.parametrize("way", ["named", "moved", "feeds"])
def test_sitemaps_that_others_name_take_few_turns_and_come_after_its_own(run, way):
    places = [f"{VICTIM}/other{n}.xml" for n in range(300)]
    moved = {f"{EVIL}/s{n}.xml": run.Answer(302, {"Location": url}) for n, url in enumerate(places)}
    lines = "".join(f"Sitemap: {url}\n" for url in (places if way == "named" else moved)) if way != "feeds" else ""
    head = "".join(f'<link rel="alternate" type="application/rss+xml" href="{url}">' for url in places)
    children = "".join(f"<sitemap><loc>{VICTIM}/own{n}.xml</loc></sitemap>" for n in range(5))
    moved[f"{VICTIM}/robots.txt"] = run.robots_txt(f"Sitemap: {VICTIM}/own.xml\n")
    moved[f"{VICTIM}/own.xml"] = run.Answer(200, {}, f"<sitemapindex>{children}</sitemapindex>".encode())
    asked = crawl(run, lambda i: f"{EVIL}/{i % 8}", robots=lines, head=head if way == "feeds" else "", more=moved)
    maps = [url for url in asked if url.endswith(".xml")]
    own = [f"{VICTIM}/own.xml", *(f"{VICTIM}/own{n}.xml" for n in range(5))]
    assert {*own} <= {*asked[:50]}
    last = max(asked.index(url) for url in OWN)
    assert len([url for url in asked[:last] if url in maps and url not in own]) <= last / 20 + 2
    assert len(maps) > len(own) + 2
