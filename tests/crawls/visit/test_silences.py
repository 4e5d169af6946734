"""Connections that stay silent: they keep nobody else from being asked, and are held against no page."""

from collections import Counter

import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.ask.why.waiting import hindrances
from evercrawl.config import Config
from evercrawl.model.rules.waits import silent_until
from evercrawl.model.view import View
from evercrawl.parse.urls import hostname
from evercrawl.progress import Limits
from evercrawl.types import Outcome

pytestmark = pytest.mark.usefixtures("reporting")

GOOD = [f"http://good{i}.example" for i in range(10)]
SILENT = [f"http://silent{i}.example" for i in range(1000)]
SECONDS = 60
SETTINGS = {"delay_s": 0.5, "refresh_after_s": 10.0, "scope": "any", "sitemaps": False}


def spread(hosts: list[str]) -> dict[str, list[str]]:
    """Return an address for each host, each of a network of its own."""
    return {hostname(f"{host}/"): [f"8.{i // 250 + 20}.{i % 250}.7"] for i, host in enumerate(hosts)}


def crowd(hosts: list[str]) -> dict[str, list[str]]:
    """Return an address for each host, all of four networks."""
    return {hostname(f"{host}/"): [f"8.90.{i // 250}.{i % 250 + 1}"] for i, host in enumerate(hosts)}


def web(run):
    world = run.World()
    for home in GOOD:
        world.pages[f"{home}/"] = world.html(*(f"/{n}" for n in range(1, 60)), text=home)
        for n in range(1, 60):
            world.pages[f"{home}/{n}"] = world.html("/", text=f"{home} {n}")
    for home in SILENT:
        world.pages[f"{home}/"] = world.html(text=home)
    return world


def lasts_s(request) -> float:
    return 29.5 if "silent" in request.url else 0.1


def crawled(run, name: str, hosts: list[str], names=spread, connections=256):
    run.directory, run.now, run.runs = run.directory.parent / name, 1.7e9, 0
    run.read_robots_at.clear()
    ran = run(
        web(run), [f"{host}/" for host in hosts], Limits(seconds=SECONDS), names=names(GOOD + SILENT),
        latency_s=lasts_s, connections=connections, **SETTINGS,
    )  # fmt: skip
    assert verify(run.directory).wrong == []
    return ran


def pages(ran) -> int:
    """Return how many pages of good hosts were read."""
    return sum(count for url, count in ran.pages.items() if "good" in url)


@pytest.mark.parametrize("names", [spread, crowd])
def test_a_thousand_silent_addresses_keep_ten_hosts_from_nothing(run, names):
    alone = crawled(run, "alone", GOOD)
    beside = crawled(run, "beside", GOOD + SILENT, names=names)
    assert pages(alone) > 900
    assert pages(beside) > 0.9 * pages(alone)
    assert beside.progress[-1].errors["silent"] > 1650
    assert not any(visit.error.startswith("silent") for visit in beside.visits)


def test_of_all_a_quarter_and_of_a_network_a_tenth_may_be_silent(run):
    for names, most in ((spread, 25), (crowd, 40)):  # four networks
        ran = crawled(run, f"most{most}", GOOD + SILENT, names=names, connections=100)
        began = min(asked.at for asked in ran.network.log)
        for after_s in range(5, SECONDS, 5):
            at = began + after_s
            silent = [one for one in ran.network.log if one.at < at - 3.6 and one.ended_at > at]
            assert len(silent) <= most
            nets = Counter(one.address.rpartition(".")[0] for one in silent)
            assert max(nets.values(), default=0) <= 10


def test_who_is_slow_beside_nobody_is_waited_for(run):
    ran = crawled(run, "slow", SILENT[:10])
    assert "silent" not in ran.progress[-1].errors
    assert {visit.outcome for visit in ran.visits} == {Outcome.OK}


def test_a_silent_host_loses_no_page_and_it_is_told_why_it_waits(run):
    """Nothing of it is a visit, or a failure of its page; once others are silent no more it is read."""
    world, speaks = web(run), []

    def patience_s(request) -> float:
        return 29.5 if "silent" in request.url and not speaks else 0.1

    seeds = [f"{home}/" for home in SILENT[:60]]
    names = spread(SILENT)
    ran = run(world, seeds, Limits(seconds=10), names=names, latency_s=patience_s, connections=40, **SETTINGS)
    assert ran.visits == []
    partition = run.restored()
    left_alone = silent_until(partition.state)
    assert len(left_alone) > 20
    view = View(partition, Config(), run.now)
    told = {host: hindrances(view, int(view.state.find([f"http://{view.state.hosts[host]}/"])[0]))
            for host in left_alone}  # fmt: skip
    partition.close()
    assert all("did not answer while too many requests waited" in " ".join(said) for said in told.values())
    speaks.append(True)
    ran = run(world, [], Limits(seconds=400), names=names, latency_s=patience_s, connections=40, **SETTINGS)
    assert {visit.outcome for visit in ran.visits} == {Outcome.OK}
    assert len({visit.slot for visit in ran.visits}) == 60
