"""Hosts that rest for long, or stay silent, keep the requisites of no other host waiting."""

from collections import Counter
from itertools import pairwise

import pytest

from evercrawl.crawl.requisites.window import MOST, OwedWindow
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits
from evercrawl.store.journal.requisite_events import RequisitesNeeded
from evercrawl.store.requisites.book import RequisiteBook

GOOD = "http://good.example"
EVIL = [f"http://evil{i}.example" for i in range(20)]
SETTINGS = {"requisites": True, "sitemaps": False, "probe_share": 0.0, "scope": "any", "requisites_share": 1.0}
RESTS = "User-agent: *\nCrawl-delay: 3600\n"


@pytest.mark.parametrize(("robots", "lasts_s", "delay_s", "most"), [(RESTS, 0.1, 10.0, 40), ("", 29.5, 0.5, 28)])
def test_hosts_that_rest_or_are_silent_hold_few_slots_for_requisites(run, robots, lasts_s, delay_s, most):
    """Beside nobody, 42 and 31 pictures are fetched."""
    world = run.World()
    three = "".join(f"<img src={GOOD}/{{}}-{n}.png>" for n in range(3))
    world.pages = {f"{GOOD}/{i}": world.html(f"/{i + 1}", text=three.replace("{}", str(i))) for i in range(16)}
    for home in EVIL:
        world.pages[f"{home}/"] = world.html(text="".join(f"<img src=/{n}.png>" for n in range(5)))
        world.pages[f"{home}/robots.txt"] = run.robots_txt(robots)
    names = {hostname(f"{home}/"): [f"8.8.{i}.7"] for i, home in enumerate([GOOD, *EVIL])}
    seeds = [*(f"{home}/" for home in EVIL), f"{GOOD}/0"]

    def lasting_s(request) -> float:
        return lasts_s if "evil" in request.url and request.url.endswith(".png") else 0.1

    limits = Limits(seconds=60 * delay_s)
    ran = run(world, seeds, limits, names=names, latency_s=lasting_s, delay_s=delay_s, **SETTINGS)
    assert sum(count for url, count in ran.pages.items() if url.startswith(GOOD) and url.endswith(".png")) >= most


def pictures_of(run, homes, late=()):
    """Crawl hosts with a page of twenty slow pictures each, some of which are `late`; return the requests by host."""
    world, pictures = run.World(), "".join(f"<img src=/{n}.png>" for n in range(20))
    world.pages = {f"{home}/": world.html(text=pictures) for home in homes}
    names = {hostname(f"{home}/"): [f"8.8.{i}.7"] for i, home in enumerate(homes)}
    slow = {f"{home}/" for home in late}
    ran = run(
        world, [f"{home}/" for home in homes], Limits(seconds=40.0), names=names, delay_s=0.1, **SETTINGS,
        latency_s=lambda request: 2.5 if request.url.endswith(".png") or request.url in slow else 0.1,
    )  # fmt: skip
    return Counter(url.rpartition("/")[0] for url in ran.pages.elements() if url.endswith(".png"))


@pytest.mark.parametrize(("others", "of_others", "of_site"), [(10, 120, 50), (0, 0, 150)])
def test_a_site_with_many_hosts_has_a_quarter_of_the_slots_while_others_wait(run, others, of_others, of_site):
    """Of 16 slots, ten sites with a host each get ten; without them, the hosts of the one site have all 16."""
    evil, good = [f"http://h{i}.evil.example" for i in range(20)], [f"http://good{i}.example" for i in range(others)]
    of = pictures_of(run, evil + good)
    assert sum(of[home] for home in good) >= of_others
    assert sum(of[home] for home in evil) >= of_site


def test_hosts_that_fill_all_slots_take_turns_with_those_whose_pages_come_later(run):
    homes = [f"http://host{i}.example" for i in range(20)]
    of = pictures_of(run, homes, late=homes[16:])
    assert min(of[home] for home in homes) >= 8  # four had none before the others had all


def test_hosts_with_any_number_of_requisites_keep_those_of_no_other_from_being_seen():
    book, window = RequisiteBook.opened(":memory:"), OwedWindow()
    for i in range(33):
        urls = [f"http://evil{i}.example/{n}.png" for n in range(2_000)]
        book.fold(RequisitesNeeded(1.0, i, -1, 2_000 * i, urls), 0, 0)
    book.fold(RequisitesNeeded(1.0, 99, -1, 66_000, [f"{GOOD}/x.png"]), 0, 0)
    for _ in range(70):
        window.load(book, 2.0, ())
    assert len(window) <= MOST
    assert "good.example" in dict(window.heads())
    window.take(66_000)
    assert "good.example" not in dict(window.heads())
    book.close()


def test_a_site_has_a_part_of_the_window():
    book, window = RequisiteBook.opened(":memory:"), OwedWindow()
    for i in range(2):
        urls = [f"http://h{i}.evil.example/{n}.png" for n in range(1_000)]
        book.fold(RequisitesNeeded(1.0, i, -1, 1_000 * i, urls), 0, 0)
    book.fold(RequisitesNeeded(1.0, 99, -1, 2_000, [f"{GOOD}/x.png"]), 0, 0)
    for _ in range(3):
        window.load(book, 2.0, ())
    assert len(window) == 1_001
    book.close()


def test_the_crawl_delay_of_a_host_without_pages_is_kept(run):
    world = run.World()
    world.pages = {f"{GOOD}/": world.html(text="".join(f"<img src={EVIL[0]}/{n}.png>" for n in range(5)))}
    world.pages[f"{EVIL[0]}/robots.txt"] = run.robots_txt("User-agent: *\nCrawl-delay: 30\n")
    names = {"good.example": ["8.8.0.1"], "evil0.example": ["8.8.1.1"]}
    ran = run(
        world, [f"{GOOD}/"], Limits(seconds=200.0), names=names, requisites=True, requisites_from="any", sitemaps=False
    )  # fmt: skip
    at = [asked.at for asked in ran.network.log if "evil0" in asked.url]
    assert len(at) == 6
    assert min(later - earlier for earlier, later in pairwise(at)) > 30.0


def test_large_robots_txt_files_of_pictures_are_parsed_one_after_another_and_keep_no_page_waiting(run):
    world, large = run.World(), run.robots_txt("User-agent: *\n" + "Disallow: /no\n" * 20_000)  # 280 kB: 2.2 s
    world.pages = {f"{GOOD}/": world.html(text="".join(f"<img src={home}/x.png>" for home in EVIL[:8]))}
    world.pages |= {"http://late.example/": world.html("/1"), "http://late.example/1": world.html()}
    for home in [*EVIL[:8], "http://late.example"]:
        world.pages[f"{home}/robots.txt"] = large
    names = {hostname(f"{home}/"): [f"8.8.{i}.7"] for i, home in enumerate([GOOD, *EVIL[:8], "http://late.example"])}
    ran = run(
        world,
        [f"{GOOD}/", "http://late.example/"],
        Limits(seconds=60.0),
        names=names,
        requisites_from="any",
        **SETTINGS,
    )
    pictures = sorted(asked.at for asked in ran.network.log if asked.url.endswith(".png"))
    assert len(pictures) == 8
    assert min(later - earlier for earlier, later in pairwise(pictures)) > 2.0
    assert next(asked.at for asked in ran.network.log if asked.url == "http://late.example/") < pictures[1]
