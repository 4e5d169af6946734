"""Once URLs of a host that only other sites name lead to nothing, they wait behind its own pages."""

import asyncio
from dataclasses import replace

import pytest

from evercrawl.model.rules.named_by_others import DOUBT
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.schedule.policies.greedy import Greedy
from evercrawl.schedule.policies.price.price import Price
from evercrawl.schedule.policies.uniform import Uniform

VICTIM, EVIL, LISTS = "http://victim.example", "http://evil.test", "http://lists.example"
NAMES = {"victim.example": ["8.8.1.7"], "evil.test": ["8.8.2.7"], "lists.example": ["8.8.3.7"]}
OWN = [f"{VICTIM}/{n}" for n in range(200)]
ABSENT = [f"{VICTIM}/j{n}" for n in range(150)]
USUAL = {"names": NAMES, "delay_s": 0.5, "refresh_after_s": 86_400.0, "scope": "any", "latency_s": lambda _: 0.1}


def web(run, **pages: list[str]):
    """Return a web in which the victim's front page links to its pages, and an evil front page to absent ones."""
    world = run.World()
    world.pages = {url: world.html("/", text=f"page {url}") for url in OWN}
    fronts = {"victim": OWN, "evil": ABSENT} | pages
    for name, links in fronts.items():
        front = {"victim": VICTIM, "evil": EVIL, "lists": LISTS}[name]
        world.pages[f"{front}/"] = world.html(*links, text=f"front page of {name}")
    return world


def asked(ran) -> list[str]:
    return [one.url for one in ran.network.log if hostname(one.url) == "victim.example" and one.url.count("/") == 3]


@pytest.mark.parametrize("policy", [Price, Greedy, BreadthFirst, Uniform], ids=lambda policy: policy.__name__)
def test_once_some_lead_to_nothing_they_get_one_of_twenty_turns_of_any_policy(run, policy):
    ran = run(web(run), [f"{EVIL}/", f"{VICTIM}/"], Limits(seconds=70), policy=policy(), **USUAL)
    urls = asked(ran)
    assert len(urls) > 100
    assert DOUBT <= sum(url in ABSENT for url in urls) <= len(urls) / 20 + DOUBT + 3


@pytest.mark.parametrize("policy", [Price, BreadthFirst], ids=lambda policy: policy.__name__)
def test_a_restart_holds_them_back_too(run, policy):
    run(web(run), [f"{EVIL}/", f"{VICTIM}/"], Limits(seconds=10), policy=policy(), **USUAL)
    urls = asked(run(web(run), [f"{EVIL}/", f"{VICTIM}/"], Limits(seconds=60), policy=policy(), **USUAL))
    assert len(urls) > 80
    assert sum(url in ABSENT for url in urls) <= len(urls) / 20 + DOUBT + 3


def test_the_front_page_waits_behind_none_at_a_start_either(run):
    """Others name it last, and absent pages before it."""
    links = [*ABSENT, f"{VICTIM}/", *OWN[100:]]
    for limits in (Limits(pages=1), Limits(seconds=30)):
        ran = run(web(run, evil=links), [f"{EVIL}/"], limits, policy=Price(), **USUAL)
    urls = asked(ran)
    assert f"{VICTIM}/" in urls[: DOUBT + 3]
    assert sum(url in ABSENT for url in urls) <= len(urls) / 20 + 2 * DOUBT + 3


def test_what_its_own_pages_name_later_waits_no_longer(run):
    """Others name all of its pages first, with as many absent ones."""
    links = [url for pair in zip(ABSENT, OWN, strict=False) for url in pair]
    ran = run(web(run, evil=links), [f"{EVIL}/", f"{VICTIM}/"], Limits(seconds=100), policy=Price(), **USUAL)
    urls = asked(ran)
    assert sum(url in OWN for url in urls) > 140
    assert sum(url in ABSENT for url in urls) <= len(urls) / 10 + 5  # some that it has were read while they were held


def test_what_its_sitemap_lists_later_waits_no_longer(run):
    world = web(run, victim=OWN[:100], evil=[*OWN[100:150], *ABSENT])
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in OWN[100:150])
    world.pages[f"{VICTIM}/robots.txt"] = world.robots_txt(f"Sitemap: {VICTIM}/map.xml\n")
    world.pages[f"{VICTIM}/map.xml"] = run.Answer(200, {}, f"<urlset>{listed}</urlset>".encode())
    urls = asked(run(world, [f"{EVIL}/", f"{VICTIM}/"], Limits(seconds=96), policy=BreadthFirst(), **USUAL))
    assert {*OWN[100:130]} <= {*urls}
    assert sum(url in ABSENT for url in urls) <= len(urls) / 20 + DOUBT + 3


def test_a_host_without_own_pages_is_not_slowed(run):
    """All of its pages are named by another site; its host is busy until all are read."""
    world = web(run, victim=[], lists=OWN)
    ran = run(world, [f"{LISTS}/", f"{VICTIM}/"], Limits(seconds=0.6 * len(OWN) + 10), policy=Price(), **USUAL)
    assert {*asked(ran)} >= {*OWN}


def test_an_honest_site_has_its_turn_beside_one_that_names_many(run):
    world = web(run, evil=ABSENT, lists=[f"{VICTIM}/other0", f"{VICTIM}/other1"])
    for n in range(2):
        world.pages[f"{VICTIM}/other{n}"] = world.html(text=f"other {n}")
    ran = run(world, [f"{EVIL}/", f"{VICTIM}/", f"{LISTS}/"], Limits(seconds=90), policy=Price(), **USUAL)
    assert {f"{VICTIM}/other0", f"{VICTIM}/other1"} <= {*asked(ran)}


def test_good_ones_are_not_held_back(run):
    world = web(run, evil=[], lists=[f"{VICTIM}/other{n}" for n in range(100)])
    for n in range(100):
        world.pages[f"{VICTIM}/other{n}"] = world.html(text=f"other {n}")
    urls = asked(run(world, [f"{LISTS}/", f"{VICTIM}/"], Limits(seconds=114), policy=BreadthFirst(), **USUAL))
    assert sum("other" in url for url in urls) == 100


def test_redirects_to_one_page_lead_to_nothing(run):
    world = web(run, evil=ABSENT)
    for url in ABSENT:
        world.pages[url] = run.Answer(301, {"location": "/"}, b"")
    urls = asked(run(world, [f"{EVIL}/", f"{VICTIM}/"], Limits(seconds=70), policy=Price(), **USUAL))
    assert sum(url in ABSENT for url in urls) <= len(urls) / 20 + DOUBT + 3


@pytest.mark.parametrize("policy", [Price, BreadthFirst], ids=lambda policy: policy.__name__)
def test_own_pages_with_parameters_that_change_nothing_lead_to_nothing(run, policy):
    """Others name them first, so that they are read before the pages whose copies they are."""
    named = [f"{url}?from=mail{n}" for n in range(2) for url in OWN[20:]]
    world = web(run, evil=named)
    for url in named:
        world.pages[url] = world.pages[url.partition("?")[0]]
    urls = asked(run(world, [f"{EVIL}/", f"{VICTIM}/"], Limits(seconds=70), policy=policy(), **USUAL))
    assert len(urls) > 100
    assert sum("?" in url for url in urls) <= len(urls) / 20 + DOUBT + 3


def test_entries_that_only_others_name_wait_until_the_list_that_the_host_names_is_read(run):
    entries = [f"{OWN[0]}?id={n}" for n in range(100)]
    world = web(run, lists=entries, evil=[])
    for url in entries:
        world.pages[url] = world.html(text=f"the text of {url}")
    urls = asked(run(world, [f"{LISTS}/", f"{VICTIM}/"], Limits(seconds=120), policy=Price(), **USUAL))
    assert sum("?" in url for url in urls) > 80


def test_doubt_ends_when_what_others_name_is_there_again(run):
    """Two thirds of what is named is there; it begins with what is not."""
    named = [*ABSENT[:10], *(f"{VICTIM}/other{n}" for n in range(100))]
    world = web(run, evil=[], lists=named)
    for url in named[10:]:
        world.pages[url] = world.html(text=f"the text of {url}")
    urls = asked(run(world, [f"{LISTS}/", f"{VICTIM}/"], Limits(seconds=230), policy=BreadthFirst(), **USUAL))
    assert sum("other" in url for url in urls[-40:]) > 20


def test_a_rule_drops_them_so_that_the_crawl_gets_idle_and_lifting_it_brings_them_back(run):
    seeds, idle = [f"{EVIL}/", f"{VICTIM}/"], Limits(until_idle=True, seconds=3600.0)
    run(web(run), seeds, Limits(seconds=5), policy=Price(), **USUAL)
    ran = run(web(run), seeds, idle, policy=Price(), exclude=("/j",), **USUAL)
    assert ran.summary.reason == "idle"
    assert ran.progress[-1].queue == 0
    assert not {*asked(ran)} & {*ABSENT}
    assert len({*asked(run(web(run), seeds, idle, policy=Price(), **USUAL))} & {*ABSENT}) > 100


def test_a_rule_that_is_set_while_the_crawl_runs_drops_them_at_once(run):
    instants = []

    async def change(one) -> None:
        await asyncio.sleep(20.0)
        one.scope.change(replace(one.tuning.config, exclude=("/j",)))
        instants.append(asyncio.get_running_loop().time())

    limits = Limits(until_idle=True, seconds=3600.0)
    ran = run(web(run), [f"{EVIL}/", f"{VICTIM}/"], limits, policy=Price(), during=change, **USUAL)
    assert ran.summary.reason == "idle"
    assert ran.progress[-1].queue == 0
    assert {*asked(ran)} >= {*OWN}
    assert not [one.url for one in ran.network.log if "/j" in one.url and one.at > instants[0]]
