"""Farms of links that a crawl has found among its sites, and what is left of them once they have no source."""

import numpy as np
import pytest
from msgspec.structs import replace

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.model.policy.schemes import stored
from evercrawl.model.view import View
from evercrawl.model.web.farms import farmers
from evercrawl.progress import Limits

HONEST = [f"http://h{i}.example" for i in range(30)]
FARM = [f"http://f{i}.example" for i in range(12)]
SETTINGS = {"latency_s": lambda _: 0.01, "delay_s": 0.05, "refresh_after_s": 5.0, "scope": "any"}
LONG = Limits(seconds=30)


def web(run):
    """Thirty sites that link to three others each; the fifth links to the first of a star of twelve."""
    world = run.World()
    for i, home in enumerate(HONEST):
        others = [HONEST[(i + step) % 30] for step in (1, 3, 7)] + ([FARM[0]] if i == 4 else [])
        world.pages[f"{home}/"] = world.html(*(f"{other}/" for other in others), text=home)
    for i, home in enumerate(FARM):
        world.pages[f"{home}/"] = world.html(*(f"{one}/" for one in (FARM[1:] if i == 0 else FARM[:1])), text=home)
    return world


def looked(run) -> tuple[float, tuple[str, ...]]:
    """Return how important the page is that the farm is for, in units of the mean honest one, and who is suspected."""
    partition = run.restored()
    view = View(partition, Config(), run.now)
    slots = partition.state.find([f"{home}/" for home in [FARM[0], *HONEST]])
    importance, suspected = view.importance[slots], farmers(view)
    partition.close()
    assert verify(run.directory).wrong == []
    return float(importance[0] / np.mean(importance[1:])), suspected


@pytest.mark.parametrize("name", ["push", "aopic"])
def test_a_farm_without_a_source_has_what_others_give_it_and_is_still_known_for_one(run, name):
    scheme = stored(name, 0.1)
    run(web(run), [f"{HONEST[0]}/"], LONG, scheme=scheme, **SETTINGS)
    before, suspected = looked(run)
    assert suspected == tuple(sorted(site.removeprefix("http://") for site in FARM))
    assert before > 1.5
    capped = replace(scheme, distrusted=suspected)
    run(web(run), [], LONG, scheme=scheme, switch=capped, **SETTINGS)
    after, still = looked(run)
    assert after < 1.0
    assert after < before / 3
    assert still == suspected


def test_sites_that_are_not_trusted_have_no_source(run):
    scheme = replace(stored("push", 0.1, trusted=("h1.example", "h2.example")), distrusted=("h2.example",))
    run(web(run), [f"{HONEST[0]}/"], LONG, scheme=scheme, **SETTINGS)
    partition = run.folded()
    assert partition.state.accounts.sources() == 1.0
    partition.close()
