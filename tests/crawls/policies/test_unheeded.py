"""A crawl says which parameter of its policy changes nothing: when it begins, or once a plan has made it so."""

import pytest

from evercrawl.progress import Limits
from evercrawl.schedule.base import Policy
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.schedule.policies.marked_point import counts as marked_point_counts
from evercrawl.schedule.policies.marked_point.marked_point import MarkedPoint
from evercrawl.schedule.policies.optimal import Optimal

SITE = "http://a.example"
BYTES = "the budget is in fetches, so objective = bytes is the same as freshness; --rate-bytes sets a budget in bytes"
SPLIT = "a horizon has too many visits for split = greedy, so they are split by price"


@pytest.fixture
def said(run):
    """Return what tells the sentences that a crawl says of its policy, with how many seconds after it began."""

    def crawled(policy: Policy, **settings: float) -> list[tuple[float, str]]:
        world = run.World()
        world.pages[f"{SITE}/"] = run.html(*(f"/{i}" for i in range(5)))
        world.pages |= {f"{SITE}/{i}": run.html() for i in range(5)}
        given = {"refresh_after_s": 10.0, "sitemaps": False, **settings}
        ran = run(world, [f"{SITE}/"], Limits(seconds=120), policy=policy, **given)
        begun_at = ran.progress[0].at
        return [(progress.at - begun_at, progress.message) for progress in ran.progress if progress.message]

    return crawled


def test_that_bytes_are_no_objective_where_the_budget_is_of_fetches(said):
    assert said(Optimal(objective="bytes"), rate_per_s=1.0) == [(0.0, BYTES)]


@pytest.mark.parametrize(
    ("policy", "settings"),
    [
        (Optimal(objective="bytes"), {"rate_bytes_per_s": 20_000}),
        (Optimal(objective="bytes"), {}),
        (Optimal(objective="age"), {"rate_per_s": 1.0}),
        (MarkedPoint(split="dynamic"), {}),
        (Cycle(), {}),
    ],
)
def test_where_all_is_heeded_nothing_is_said(said, policy, settings):
    assert said(policy, **settings) == []


def test_that_visits_are_too_many_for_a_split_is_said_once_when_they_are_planned(said, monkeypatch):
    monkeypatch.setattr(marked_point_counts, "HEAP_VISITS", 45)  # of five pages or more
    ((after_s, sentence),) = said(MarkedPoint(split="greedy", replan=1e-3))
    assert sentence == SPLIT
    assert 0 < after_s < 60, "not before there was something to plan"
