"""What pages are worth has a say under every policy, or the policy says that it does not ask."""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from evercrawl import catalog, schedule
from evercrawl.config import Config, Focus
from evercrawl.model.policy.policies import names, policy_of
from evercrawl.model.worth.usage import Question
from evercrawl.progress import Limits
from evercrawl.simulate.living.comparison import BenchWorld
from evercrawl.simulate.living.lives import explore

PAGES, SECONDS = 120, 14.0
OPTIONS = {"nutch_adaptive": ("start=1s",), "stormcrawler_adaptive": ("start=1s",)}
"""Of policies that leave every page alone for longer than these crawls last."""
WORLD = BenchWorld(2, PAGES, 6.0, 10.0, SECONDS)
PAGE = (Path(__file__).parents[3] / "docs" / "guide" / "POLICIES.md").read_text("utf-8")


@cache
def opened() -> tuple[str, ...]:
    """Return ten pages that are found late."""
    web = WORLD.web(endless=False)
    return tuple(web.urls[number] for number in range(PAGES) if np.isinf(web.vanishes_at(number)))[-10:]


@dataclass
class Visited:
    """All requests, in order; how many were for those pages; and how many came before each of these, on the mean."""

    asked: list[str]
    visits: int
    before: float


def crawl(policy: str, weight: str) -> Visited:
    usage = [Question(float(i), "", (), (opened()[i % 10],)) for i in range(1000)]
    config = Config(
        rate_per_s=10.0, delay_s=0.001, refresh_after_s=0.0, policy=policy, policy_options=OPTIONS.get(policy, ()),
        weight=weight,
    )  # fmt: skip
    asked = [one.url for one in explore(WORLD.web(endless=False), config, SECONDS, usage=usage)]
    counts = Counter(asked)
    before = np.mean([asked.index(url) if url in counts else len(asked) for url in opened()])
    return Visited(asked, sum(counts[url] for url in opened()), float(before))


@pytest.mark.parametrize("name", names())
def test_what_people_open_is_visited_sooner_or_more_or_nobody_asks(name):
    plain, weighed = crawl(name, "importance"), crawl(name, "access")
    if policy_of(name).weighs:
        assert weighed.before <= 0.8 * plain.before or weighed.visits >= 1.5 * plain.visits > 0
    else:
        assert weighed.asked == plain.asked


@pytest.mark.parametrize("name", ["cycle", "price"])
@pytest.mark.parametrize(("settings", "named"), [
    ({"weight": "learned"}, "weight = learned changes"),
    ({"weight": "quality", "focus": (Focus(url="/x"),), "discovery": 0.7},
     "weight = quality and focus and discovery = 0.7 change"),
    ({}, ""),
])  # fmt: skip
def test_a_policy_that_does_not_ask_says_so_once_when_a_crawl_begins(run, name, settings, named):
    world = run.World()
    world.pages["http://a.example/"] = run.html("/x")
    ran = run(world, ["http://a.example/"], Limits(seconds=5.0), policy=policy_of(name), **settings)
    told = [one.message for one in ran.progress if "does not ask" in one.message]
    assert len(told) == (1 if named and name == "cycle" else 0)
    assert all(one.endswith(f"does not ask what pages are worth, so {named} nothing") for one in told)


def test_the_page_about_policies_names_those_that_do_not_ask():
    rows = [line for line in PAGE.splitlines() if line.startswith("These do not use it")]
    policies = catalog.find(schedule.policies, schedule.Policy)
    assert len(rows) == 1
    assert sorted(rows[0].split("`")[1::2]) == sorted(name for name, kind in policies.items() if not kind.weighs)
