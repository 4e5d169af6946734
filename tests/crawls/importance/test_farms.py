"""What a farm of links is worth to the page that it is for, with sites trusted and without."""

import numpy as np
import pytest
from soak import in_soak

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.model.policy.schemes import stored
from evercrawl.model.view import View
from evercrawl.progress import Limits

HONEST = [f"http://h{i}.example" for i in range(8)]
FARM = "http://farm.example"
TRUSTED = ("h1.example", "h2.example", "h5.example")
SETTINGS = {"latency_s": lambda _: 0.01, "delay_s": 0.05, "refresh_after_s": 5.0, "scope": "any"}
LONG = Limits(seconds=15)
MOST, PAGES = 5.0, 60


def web(run, pages: int, *, farmed: bool):
    """Return a web of eight sites that link to each other, one of them to a ninth of so many pages.

    They link on to each other, or all to its front page alone.
    """
    world = run.World()
    for i, home in enumerate(HONEST):
        others = [HONEST[(i + step) % 8] for step in (1, 3)] + ([FARM] if i == 0 else [])
        world.pages[f"{home}/"] = world.html(
            *(f"/{n}" for n in range(4)), *(f"{other}/" for other in others), text=home
        )
        for n in range(4):
            world.pages[f"{home}/{n}"] = world.html("/", f"/{(n + 1) % 4}", f"{others[n % 2]}/{n}", text=f"{home} {n}")
    work = [f"/{n}" for n in range(pages)]
    world.pages[f"{FARM}/"] = world.html(*work, f"{HONEST[3]}/", text="buy")
    for n in range(pages):
        world.pages[f"{FARM}/{n}"] = world.html("/" if farmed else f"/{(n + 1) % pages}", text=f"buy {n}")
    return world


def target(run) -> float:
    """Return the importance of the page that the farm is for, in units of the mean honest page."""
    partition = run.restored()
    view, state = View(partition, Config(), run.now), partition.state
    slots = state.find([f"{home}/{path}" for home in HONEST for path in ("", "0", "1", "2", "3")])
    honest = float(np.mean(view.importance[slots]))
    found = float(view.importance[int(state.find([f"{FARM}/"])[0])]) / honest
    partition.close()
    assert verify(run.directory).wrong == []
    return found


@pytest.mark.parametrize(
    ("name", "trusted"), [("push", TRUSTED), ("aopic", ()), *in_soak(("push", ()), ("aopic", TRUSTED))]
)
def test_a_farm_gains_little(run, name, trusted):
    gains = []
    for farmed in (False, True):
        run.directory, run.now, run.runs = run.directory.parent / f"{farmed}", 1.7e9, 0
        run.read_robots_at.clear()
        world = web(run, PAGES, farmed=farmed)
        run(world, [f"{HONEST[0]}/"], LONG, scheme=stored(name, 0.1, trusted=trusted), **SETTINGS)
        gains.append(target(run))
    assert gains[1] / gains[0] <= MOST
    assert gains[0] > 0


@pytest.mark.parametrize("name", ["push", "aopic"])
def test_only_trusted_sites_have_a_source_and_each_the_same(run, name):
    run(web(run, 5, farmed=True), [f"{HONEST[0]}/"], LONG, scheme=stored(name, 0.1, trusted=TRUSTED), **SETTINGS)
    partition = run.folded()
    state = partition.state
    accounts, members = state.accounts, state.accounts.sites["members"][: len(state.sites)]
    before = accounts.shares() * members
    accounts.virtual += 3.0
    accounts.spend()
    given = dict(zip(state.sites, accounts.shares() * members - (before if accounts.handout else 0.0), strict=True))
    assert given == pytest.approx({site: float(site in TRUSTED) for site in state.sites}, abs=1e-9)
    assert len(given) == 9
    assert accounts.sources() == (0.0 if accounts.handout else 3.0)
    partition.close()


def test_a_farm_of_many_sites_gains_nothing_where_others_are_trusted(run):
    """Each site has a source of its own otherwise, and names cost little."""
    gains = {}
    for trusted in ((), TRUSTED):
        for farmed in (False, True):
            run.directory, run.now, run.runs = run.directory.parent / f"{farmed} {len(trusted)}", 1.7e9, 0
            run.read_robots_at.clear()
            world = web(run, 0, farmed=False)
            names = [f"http://f{i}.example/" for i in range(30)]
            world.pages[f"{FARM}/"] = world.html(*names, text="buy")
            for name in names:
                world.pages[name] = world.html(*([f"{FARM}/"] if farmed else names[:3]), text=name)
            run(world, [f"{HONEST[0]}/"], LONG, scheme=stored("push", 0.1, trusted=trusted), **SETTINGS)
            gains[bool(trusted), farmed] = target(run)
    assert gains[False, True] > MOST * gains[False, False]
    assert gains[True, True] <= MOST * gains[True, False]
