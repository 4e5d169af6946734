"""A policy keeps to its plan though the process is killed before any snapshot: the journal has what it noted."""

import asyncio
from contextlib import closing

import pytest

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.verify import inspect
from evercrawl.crawl import loop
from evercrawl.model.policy.policies import policy_of
from evercrawl.progress import Limits
from evercrawl.store.journal.events import Noted, Visit

HOST = "http://a.example"
PAGES = 100
HOUR_S = 3600.0
pytestmark = pytest.mark.usefixtures("reporting")
CYCLES = ["capacity=20", "cycle=1h", "new_percent=50"]


@pytest.fixture
def world(run):
    """One page that links to all others."""
    made = run.World()
    made.pages[f"{HOST}/"] = run.html(*(f"/{number}" for number in range(PAGES)))
    for number in range(PAGES):
        made.pages[f"{HOST}/{number}"] = run.html("/", text=f"This is number {number} of them, and no other.")
    return made


def crawl(run, world, seconds, *, killed=False, policy="tianwang", options=CYCLES):
    """Crawl for some seconds, and end by the limit or by a kill; no snapshot is made but at a clean end."""

    async def kill() -> None:
        await asyncio.sleep(seconds)
        raise run.Crash

    begun_at, settings = run.now, {"delay_s": 1.0, "refresh_after_s": 60.0, "sitemaps": False, "probe_share": 0.0}
    limits = Limits(seconds=seconds + 100 * killed)
    try:
        run(
            world, [f"{HOST}/"], limits, policy=policy_of(policy, options), snapshot_every_s=1e6,
            during=lambda _: kill() if killed else None, **settings,
        )  # fmt: skip
    except run.Crash:
        run.now = begun_at + seconds


def events(run, kind):
    with closing(run.folded()) as partition:
        return [event for _, _, event in partition.journal.replay() if isinstance(event, kind)]


def counted(run) -> int:
    return len(events(run, Visit))


@pytest.mark.parametrize("killed", [False, True])
def test_a_cycle_has_room_for_so_many_visits_however_often_it_is_interrupted(run, world, killed):
    made = []
    for _ in range(3):
        crawl(run, world, 30.0, killed=killed)
        made.append(counted(run))
    assert made == [11, 11, 11], "the seed, which nothing was planned for, and half of twenty for new URLs"
    assert len(events(run, Noted)) == 1
    run.now += HOUR_S - 3 * 30.0
    crawl(run, world, 60.0, killed=killed)
    assert counted(run) == 11 + 20, "ten more that are new, and ten that were read but once, a round ago"


def test_a_kill_in_the_middle_leaves_the_rest_of_a_cycle(run, world):
    crawl(run, world, 5.0, killed=True)
    before = counted(run)
    assert 2 < before < 9
    crawl(run, world, 30.0)
    assert before < counted(run) <= 11 + 1, "what was under way at the kill was not stored"
    assert len({event.notes["tianwang_begun_at"] for event in events(run, Noted)}) == 1


def test_the_cycle_before_is_remembered_so_that_what_it_left_over_is_not_new(run, world, monkeypatch):
    monkeypatch.setattr(loop, "REPORT_S", 1e4)
    for _ in range(3):
        crawl(run, world, 30.0, killed=True)
        run.now += HOUR_S - 30.0
    cycles = {event.notes["tianwang_begun_at"]: event.notes.get("tianwang_before_at") for event in events(run, Noted)}
    assert list(cycles.values()) == [None, *list(cycles)[:-1]]
    assert len(cycles) > 2


def test_whoever_opens_it_reads_it_and_finds_it_in_order(run, world):
    crawl(run, world, 30.0, killed=True)
    found = Findings()
    with closing(run.restored()) as partition:
        assert partition.state.notes["tianwang_capacity"] == 20.0
        inspect(partition, found, interrupted=True)
    assert found.wrong == []


def test_nothing_is_noted_by_those_who_have_nothing_to_keep_to(run, world):
    crawl(run, world, 30.0, policy="optimal", options=[])
    assert counted(run) > 20
    assert events(run, Noted) == []


def test_a_cycle_in_which_nothing_is_visited_leaves_nothing(run, world, monkeypatch):
    monkeypatch.setattr(loop, "REPORT_S", 10.0)  # of ten hours, in cycles of ten minutes
    for _ in range(2):
        crawl(run, world, 5 * HOUR_S, options=["capacity=200", "cycle=10m", "new_percent=60", "longest=1000"])
        assert counted(run) == 2 * (1 + PAGES), "each twice; then they wait for a thousand rounds"
        assert 1 <= len(events(run, Noted)) <= 3, "of sixty cycles"


def test_the_first_cycle_after_another_policy_is_as_long_as_its_visits_take(run, world):
    crawl(run, world, 300.0, policy="cycle", options=[])
    made = events(run, Visit)
    pace = (len(made) - 1) / (made[-1].at - made[0].at)
    assert pace < 0.8
    run.now += 7 * 24 * HOUR_S
    crawl(run, world, 10.0, killed=True, options=[])
    (noted,) = events(run, Noted)
    lasts_s = noted.notes["tianwang_ends_at"] - noted.notes["tianwang_begun_at"]
    assert lasts_s == pytest.approx((1 + PAGES) / 5 / pace, rel=0.05)
