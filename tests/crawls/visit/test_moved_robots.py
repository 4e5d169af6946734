"""robots.txt that are said to be on another host: its turns stay its own, and each address is asked once."""

from collections import Counter

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits

VICTIM = "http://victim.example"
OTHERS = [f"http://h{i}.attacker{i}.test" for i in range(200)]
SECONDS = 60
SETTINGS = {"delay_s": 0.5, "refresh_after_s": 1.0, "sitemaps": False, "latency_s": lambda _: 0.1}


def web(run, led_to):
    """Return a web of one host of many pages, and two hundred whose robots.txt are said to be where `led_to` says."""
    world = run.World()
    world.pages[f"{VICTIM}/"] = world.html(*(f"/{n}" for n in range(1, 500)))
    for n in range(1, 500):
        world.pages[f"{VICTIM}/{n}"] = world.html("/", text=str(n))
    for i, home in enumerate(OTHERS):
        world.pages[f"{home}/robots.txt"] = run.Answer(302, {"Location": led_to(i)}, b"")
        world.pages[f"{home}/"] = world.html(text=home)
    return world


def crawled(run, name: str, led_to, seeds, seconds=SECONDS):
    run.directory, run.now, run.runs = run.directory.parent / name, 1.7e9, 0
    run.read_robots_at.clear()
    world = web(run, led_to)
    world.pages[f"{VICTIM}/rules"] = world.robots_txt("User-agent: *\nDisallow: /secret")
    names = {hostname(f"{home}/"): [f"8.9.{i // 200}.{i % 200}"] for i, home in enumerate([VICTIM, *OTHERS])}
    for other in ("x1.victim.example", "x2.victim.example"):
        names[other] = names["victim.example"]
    ran = run(world, [f"{home}/" for home in seeds], Limits(seconds=seconds), names=names, polite=False, **SETTINGS)
    assert verify(run.directory).wrong == []
    return ran


def turns(ran) -> int:
    """Return how many pages of the victim's own were asked for."""
    return sum(count for url, count in ran.pages.items() if url.startswith(VICTIM) and url[len(VICTIM) + 1 :].isdigit())


@pytest.mark.parametrize("led_to", [
    lambda i: f"{VICTIM}/{500 + i}/robots.txt",
    lambda i: f"http://x{i % 2 + 1}.victim.example/{i}/robots.txt",
], ids=["addresses", "names"])  # fmt: skip
def test_whom_two_hundred_hosts_lead_to_keeps_its_turns(run, led_to):
    alone = turns(crawled(run, "alone", led_to, [VICTIM]))
    ran = crawled(run, "beside", led_to, [VICTIM, *OTHERS])
    assert alone > 90
    assert turns(ran) >= 0.9 * alone
    assert ran.progress[-1].errors["robots_unreachable"] > 150
    assert "too many other sites say" in ran.progress[-1].robots_trouble


def test_one_address_is_asked_once_for_all(run):
    ran = crawled(run, "one", lambda _: f"{VICTIM}/rules", [VICTIM, *OTHERS], seconds=20)
    asked = Counter(one.url for one in ran.network.log)
    assert asked[f"{VICTIM}/rules"] == 1
    read = {hostname(url) for url in ran.pages} & {hostname(f"{home}/") for home in OTHERS}
    assert len(read) == len(OTHERS)


def test_a_site_may_keep_the_files_of_its_own_hosts_where_it_likes(run):
    world = run.World()
    homes = [f"http://h{i}.one.example" for i in range(40)]
    for home in homes:
        world.pages[f"{home}/robots.txt"] = run.Answer(301, {"Location": f"http://www.one.example/for/{home[7:]}"}, b"")
        world.pages[f"{home}/"] = world.html(text=home)
    names = {hostname(f"{home}/"): [f"8.9.0.{i}"] for i, home in enumerate([*homes, "http://www.one.example"])}
    ran = run(world, [f"{home}/" for home in homes], Limits(seconds=45), names=names, polite=False, **SETTINGS)
    assert {url.rstrip("/") for url in ran.pages if "/for/" not in url} == {*homes}


def test_names_at_the_address_of_a_host_that_others_lead_to_leave_it_its_turns(run):
    """Each host says that its robots.txt is on a name of its own, at the address of the victim."""

    def led_to(i: int) -> str:
        return f"http://y{i}.spread{i}.test/rules"

    def pages(name: str, seeds) -> int:
        run.directory, run.now, run.runs = run.directory.parent / name, 1.7e9, 0
        names = {hostname(f"{home}/"): [f"8.9.0.{i}"] for i, home in enumerate([VICTIM, *OTHERS[:100]])}
        names |= {hostname(led_to(i)): names["victim.example"] for i in range(100)}
        return turns(run(web(run, led_to), seeds, Limits(seconds=40), names=names, polite=False, **SETTINGS))

    alone = pages("alone", [f"{VICTIM}/"])
    assert pages("beside", [f"{VICTIM}/", *(f"{home}/" for home in OTHERS[:100])]) >= 0.65 * alone > 40
