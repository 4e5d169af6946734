"""Farms of what costs next to nothing, or little: addresses, free names below a suffix, registered domains."""

import numpy as np
import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.change.prior import SHAPE
from evercrawl.config import Config
from evercrawl.model.expecting import Expecting
from evercrawl.model.policy.schemes import stored
from evercrawl.model.rates import priors_of
from evercrawl.model.view import View
from evercrawl.model.web.farms import farmers
from evercrawl.parse.urls import hostname, normalise
from evercrawl.progress import Limits
from evercrawl.schedule.shared.prospects import Prospects
from evercrawl.store.cash.spread import ELSEWHERE, IN_CELL, expected
from evercrawl.store.table.table import NO_RECORD

HONEST = [f"http://h{i}.example" for i in range(20)]
TARGET = "http://target.test/"
SETTINGS = {"latency_s": lambda _: 0.01, "delay_s": 0.05, "refresh_after_s": 60.0, "scope": "any", "connections": 200}
LONG = Limits(seconds=20)
SIZE = 40
KINDS = {
    "addresses of one network": lambda i: f"http://{normalise(f'http://{0x08080100 + i}/').split('/')[2]}/",
    "addresses of many networks": lambda i: f"http://8.{i // 200 + 30}.{i % 200}.7/",
    "addresses of the longer kind": lambda i: f"http://[2a00:1450:{i + 1:x}::1]/",
    "free names": lambda i: f"http://f{i}.github.io/",
    "domains": lambda i: f"http://f{i}.test/",
}


def web(run, farm: list[str]):
    """Return twenty sites that link to three others each; one links to a page that links to the farm, and that back."""
    world = run.World()
    for i, home in enumerate(HONEST):
        others = [HONEST[(i + step) % 20] for step in (1, 3, 7)]
        world.pages[f"{home}/"] = world.html(*(f"{other}/" for other in others), *[TARGET][: i == 4], text=home)
    world.pages[TARGET] = world.html(*farm, text="buy")
    for home in farm:
        world.pages[home] = world.html(TARGET, text=home)
    return world


def bought(run, farm: list[str], name: str = "push") -> tuple[float, tuple[str, ...]]:
    """Return the importance of the page in units of the mean honest front page, and who is suspected."""
    names = {hostname(f"{url}/"): [f"8.9.{i // 200}.{i % 200}"] for i, url in enumerate([*HONEST, TARGET, *farm])}
    ran = run(web(run, farm), [f"{HONEST[0]}/"], LONG, names=names, scheme=stored(name, 0.1), **SETTINGS)
    assert {*farm, TARGET} <= {*ran.pages}
    partition = run.restored()
    view, state = View(partition, Config(), run.now), partition.state
    slots = state.find([TARGET, *(f"{home}/" for home in HONEST)])
    share, suspected = float(view.importance[slots[0]] / np.mean(view.importance[slots[1:]])), farmers(view)
    partition.close()
    assert verify(run.directory).wrong == []
    return share, suspected


@pytest.mark.parametrize("name", ["push", "aopic"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("addresses")])
def test_addresses_bring_nothing_however_many_there_are(run, kind, name):
    share, suspected = bought(run, [KINDS[kind](i) for i in range(SIZE)], name)
    assert share < 1.5, f"{share:.2f}"
    assert suspected == ()


@pytest.mark.parametrize("kind", ["free names", "domains"])
@pytest.mark.parametrize("size", [SIZE, 9])
def test_names_bring_what_they_are_and_no_honest_site_is_named(run, kind, size):
    share, suspected = bought(run, [KINDS[kind](i) for i in range(size)])
    assert share == pytest.approx(0.5 * (size + 1), rel=0.15)  # in this web; each name is a site, and has a vote
    assert not {home.removeprefix("http://") for home in HONEST} & {*suspected}
    if 3 * (size + 1) <= 20 + size + 1:
        assert len(suspected) == size + 1


def test_unread_pages_of_addresses_are_worth_what_links_bring(run):
    """Their networks have no source; as if they had one, they came before pages of sites that have one."""
    world, home = web(run, [KINDS["addresses of many networks"](1)]), KINDS["addresses of many networks"](1)
    world.pages[home] = world.html(f"{home}x", f"{home}y", text=home)
    world.pages[f"{HONEST[0]}/"] = world.html(f"{HONEST[4]}/", f"{HONEST[0]}/x", f"{HONEST[0]}/y", text="front")
    world.pages |= {f"{one}{name}": world.html(text=f"{one}{name}") for one in (home, f"{HONEST[0]}/") for name in "xy"}
    names = {hostname(f"{url}/"): [f"8.9.0.{i}"] for i, url in enumerate([*HONEST, TARGET, home[:-1]])}
    run(world, [f"{HONEST[0]}/"], LONG, names=names, scheme=stored("push", 0.1), **SETTINGS)
    partition = run.restored()
    state = partition.state
    slots = state.find([f"{home}x", f"{HONEST[0]}/x"])
    hosts, links = state.known.columns().host[slots], 0.03
    state.table.cash[slots] = links
    cells = np.full(2, ELSEWHERE << IN_CELL | NO_RECORD | 1, np.uint32)
    expecting = Expecting(state, Prospects(), 0.05, timed=True, expects=True)
    worth = expecting.times(expecting.prospect(cells, hosts), slots, cells, hosts) * expected(np.full(2, links), cells)
    assert worth[0] == pytest.approx(links, rel=0.02)
    assert worth[1] == pytest.approx(links + 1 / 32)
    partition.close()


def believed_s(run, farm: list[str], seeds: list[str]) -> float:
    """Return after how long a page of a new site is believed to change, beside 21 sites that change every 300 s."""
    world = web(run, farm)
    links = [f"{home}/" for home in HONEST] + [TARGET]
    for home in links[:-1]:
        world.pages[home] = lambda _, at: world.html(*links, text=f"at {at // 300:.0f}")
    world.pages[TARGET] = lambda _, at: world.html(*farm, text=f"at {at // 300:.0f}")
    names = {hostname(f"{url}/"): [f"8.9.{i // 200}.{i % 200}"] for i, url in enumerate([*HONEST, TARGET, *farm])}
    run(world, [f"{HONEST[0]}/", *seeds], Limits(seconds=1800), names=names, **SETTINGS)
    partition = run.restored()
    scale_s = priors_of(partition.state).crawl_scale_s
    partition.close()
    return scale_s / SHAPE


@pytest.mark.parametrize(
    ("kind", "size", "most_s"),
    [
        ("free names", 0, 106.0),
        ("free names", 20, 125.0),  # it was 457
        ("free names", 60, 125.0),  # 1169
        ("addresses of many networks", 20, 125.0),  # 457
        ("domains", 10, 150.0),  # 271
    ],
)
def test_names_that_cost_nothing_hardly_change_what_is_believed_of_new_sites(run, kind, size, most_s):
    assert 100.0 < believed_s(run, [KINDS[kind](i) for i in range(size)], []) < most_s


def test_free_names_that_were_asked_for_have_votes(run):
    farm = [KINDS["free names"](i) for i in range(20)]
    assert believed_s(run, farm, farm) > 150.0
