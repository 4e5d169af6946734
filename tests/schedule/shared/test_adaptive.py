"""The schedules of Nutch and StormCrawler: each page has an interval, and what is not due is left alone."""

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.schedule import Pages, Policy, Visits
from evercrawl.schedule.base import Context
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.policies.nutch_adaptive import NutchAdaptive, adapt
from evercrawl.schedule.policies.stormcrawler_adaptive import StormcrawlerAdaptive
from evercrawl.schedule.shared.adaptive import Adaptive
from evercrawl.types import Floats, Slots

DAY, HOUR = 86_400.0, 3_600.0
BOTH = [NutchAdaptive, StormcrawlerAdaptive]


def pages(visited_at: list[float], importance: list[float] | None = None) -> Pages:
    n = len(visited_at)
    one, none = np.ones(n), np.zeros(n)
    weight = one if importance is None else np.array(importance)
    return Pages(np.arange(n, dtype=np.uint32), np.array(visited_at), weight, none, one, one, one, none, none)


def visits(slots: list[int], at: list[float], changed: list[int], read: int = 1, gone: int = 0) -> Visits:
    n = len(slots)
    slot, one, count = np.array(slots, np.uint32), np.ones(n), np.ones(n, np.int64)
    flag = np.ones(n, np.bool_)
    return Visits(
        slot, slot, np.array(at), DAY * one, flag & bool(read), flag & bool(gone), np.array(changed, np.bool_),
        np.nan * one, one, one, count, ~flag, count,
    )  # fmt: skip


def due_at(policy: Policy, at: float) -> float:
    return float(policy.due(pages([at]), Context(at))[0])


def test_nutch_takes_the_best_score_of_what_is_due_and_stormcrawler_the_oldest_date() -> None:
    waiting = pages([-60 * DAY, -40 * DAY, -1 * HOUR, np.nan], [1.0, 3.0, 9.0, 2.0])
    nutch, storm = (
        NutchAdaptive().value(waiting, Context(0.0)),
        StormcrawlerAdaptive(new_share=0.0).value(waiting, Context(0.0)),
    )
    assert nutch.argsort()[::-1].tolist() == [1, 3, 0, 2]
    assert storm.argsort()[::-1].tolist() == [0, 1, 3, 2]
    assert (nutch >= 0).tolist() == (storm >= 0).tolist() == [True, True, False, True]


def test_among_pages_that_matter_the_same_nutch_takes_new_ones_and_then_the_one_that_has_been_due_longest() -> None:
    """Else, where more is due than can be visited, those with high numbers would never be."""
    waiting = pages([-40 * DAY, -60 * DAY, np.nan, -60 * DAY, -50 * DAY], [1.0, 1.0, 1.0, 1.0 + 1e-6, 1.0])
    assert NutchAdaptive().value(waiting, Context(0.0)).argsort()[::-1].tolist() == [3, 2, 1, 4, 0]
    worthless = pages([-40 * DAY, -60 * DAY], [0.0, 0.0])
    assert NutchAdaptive().value(worthless, Context(0.0)).argmax() == 1


def test_without_stretch_nutchs_intervals_are_as_long_as_visits_make_them() -> None:
    for stretch, interval, due in ((True, 100.0, 170.0), (False, 14.0, 100.0 + 1.4)):
        after = adapt(10 * DAY, 0.0, 100 * DAY, False, stretch=stretch)
        assert (after.interval_s / DAY, after.due_at / DAY) == pytest.approx((interval, due))
    for stretch, due in ((1, 170.0), (0, 100.0 + 1.4)):
        policy = NutchAdaptive("10d", stretch=stretch)
        policy.learn(visits([0], [0.0], [0]))
        policy.learn(visits([0], [100 * DAY], [0]))
        assert due_at(policy, 100 * DAY) == pytest.approx(due * DAY)


@pytest.mark.parametrize("kind", BOTH)
def test_a_first_visit_tells_nothing_of_change(kind: type[Adaptive]) -> None:
    policy = kind("10d")
    policy.learn(visits([0], [0.0], [0]))
    assert due_at(policy, 0.0) == 10 * DAY
    policy.learn(visits([0], [DAY], [1]))
    assert due_at(policy, DAY) < 10 * DAY


def test_nutch_tries_again_after_a_day_and_what_is_gone_ever_more_seldom() -> None:
    policy = NutchAdaptive("10d")
    policy.learn(visits([0], [0.0], [0]))
    for _ in range(3):
        policy.learn(visits([0], [0.0], [0], read=0))
        assert due_at(policy, 0.0) == DAY
    for days in (15.0, 22.5):
        policy.learn(visits([0], [0.0], [0], read=0))
        assert due_at(policy, 0.0) == pytest.approx(days * DAY), "after three failures it counts as gone"
    policy.learn(visits([0], [0.0], [0]))
    assert due_at(policy, 0.0) == pytest.approx(1.4 * 22.5 * DAY)
    policy.learn(visits([0], [0.0], [0], read=0))
    assert due_at(policy, 0.0) == DAY, "the visit that was read has forgiven the failures"
    for _ in range(20):
        policy.learn(visits([0], [0.0], [0], read=0, gone=1))
    assert due_at(policy, 0.0) == pytest.approx(0.9 * 365 * DAY)


def test_stormcrawler_forgets_the_interval_of_a_page_that_failed() -> None:
    policy = StormcrawlerAdaptive("10d")
    for _ in range(3):
        policy.learn(visits([0], [0.0], [0]))
    assert due_at(policy, 0.0) == 14 * DAY
    policy.learn(visits([0], [0.0], [0], read=0))
    assert due_at(policy, 0.0) == 2 * HOUR
    policy.learn(visits([0], [0.0], [0], read=0, gone=1))
    assert due_at(policy, 0.0) == 31 * DAY
    policy.learn(visits([0], [0.0], [1]))
    assert due_at(policy, 0.0) == 10 * DAY
    policy.learn(visits([0], [0.0], [1]))
    assert due_at(policy, 0.0) == (10 * DAY + HOUR) / 2 // 60 * 60


def test_intervals_stay_within_their_bounds() -> None:
    nutch, storm = NutchAdaptive("1h", shortest="30m", longest="2h"), StormcrawlerAdaptive("1h", longest="2h")
    for changed, nutch_s, storm_s in ((1, 1800.0, HOUR), (0, 2 * HOUR, 2 * HOUR)):
        for policy, expected in ((nutch, nutch_s), (storm, storm_s)):
            for _ in range(9):
                policy.learn(visits([0], [0.0], [changed]))
            assert due_at(policy, 0.0) == expected


def test_a_page_that_never_changes_is_not_due_for_ever() -> None:
    """Its last change is so long ago that a part of that time is longer than the longest interval."""
    after = adapt(365 * DAY, 0.0, 2000 * DAY, False)
    assert float(after.due_at) == pytest.approx(2365 * DAY)


@pytest.mark.parametrize("kind", BOTH)
def test_a_cycle_is_what_it_takes_to_visit_all_pages_once(kind: type[Adaptive]) -> None:
    policy = kind("cycle")
    policy.learn(visits(list(range(101)), [10.0 * i for i in range(101)], [0] * 101))
    assert policy.due(pages([500.0]), Context(0.0))[0] == pytest.approx(1500.0)
    policy.learn(visits([3, 4], [9e5, 9e5 + 1], [0, 0]))
    assert policy.due(pages([500.0]), Context(0.0))[0] == pytest.approx(1500.0), "since then the budget lay idle"


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("start", ["cycle", "3d"])
def test_who_is_told_again_in_other_batches_knows_the_same(kind: type[Adaptive], start: str) -> None:
    draw = np.random.default_rng(1)
    slots = np.concatenate([draw.permutation(30) for _ in range(8)]).tolist()
    at = np.sort(draw.random(len(slots)) * 100 * DAY).tolist()
    changed = draw.integers(0, 2, len(slots)).tolist()
    together, apart = kind(start), kind(start)
    for first in range(0, len(slots), 30):
        part = slice(first, first + 30)
        together.learn(visits(slots[part], at[part], changed[part]))
    for i, slot in enumerate(slots):
        apart.learn(visits([slot], [at[i]], [changed[i]]))
    waiting = pages([100 * DAY] * 31)
    assert np.array_equal(together.due(waiting, Context(0.0)), apart.due(waiting, Context(0.0)))
    assert np.array_equal(together.value(waiting, Context(130 * DAY)), apart.value(waiting, Context(130 * DAY)))


class World:
    """Pages on a host each, which the real frontier offers; half of them change at every visit."""

    def __init__(self, policy: Policy, count: int) -> None:
        self.policy, self.now = policy, 0.0
        self.visited_at, self.seen_at = np.full(count, np.nan), np.full(count, np.nan)
        self.frontier = Frontier(
            policy, self.columns, lambda slot: float(self.visited_at[slot]), delay_s=1.0, refresh_after_s=60.0
        )
        for number in range(count):
            self.frontier.locate(self.frontier.add_host(f"h{number}"), (f"10.0.0.{number}",), 0.0)
            self.frontier.add_new(number, [number])
        self.visits = np.zeros(count, int)

    def columns(self, slots: Slots) -> Pages:
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        return Pages(slots, self.visited_at[slots], one, none, one, one, one, none, none)

    def run(self, until: float) -> float:
        """Visit a page at a time; return for how long nothing was chosen."""
        idle = 0.0
        while self.now < until:
            chosen = self.frontier.choose(self.now, 1)
            for host, slot, new in chosen:
                self.frontier.began(host, self.now)
                self.frontier.ended(host, self.now)
                self.visited_at[slot] = self.now
                self.policy.learn(visits([slot], [self.now], [int(slot % 2 == 0 and not new)]))
                self.frontier.add_seen(host.number, slot)
                self.visits[slot] += 1
            following = self.now + 300.0 if chosen else max(self.frontier.next_at(), self.now + 1.0)
            idle += 0.0 if chosen else following - self.now
            self.now = following
        return idle


@pytest.mark.parametrize("kind", BOTH)
def test_as_published_the_budget_lies_idle_until_something_is_due(kind: type[Adaptive]) -> None:
    world = World(kind("5h"), 10)
    assert world.run(40 * HOUR) > 15 * HOUR
    assert world.visits.min() >= 2
    assert world.visits[::2].sum() > 1.3 * world.visits[1::2].sum(), "what changes is visited more often"
    early = (
        world.frontier.next_at()
        - world.policy.due(world.columns(np.arange(10, dtype=np.uint32)), Context(world.now)).min()
    )
    assert early <= 0.0


@pytest.mark.parametrize("kind", BOTH)
def test_a_policy_that_conserves_work_is_never_idle(kind: type[Adaptive]) -> None:
    world = World(kind("5h", work_conserving=1), 10)
    assert world.run(10 * HOUR) < 10 * 60.0
    assert world.visits.sum() > 110


@pytest.mark.parametrize("kind", BOTH)
def test_where_nothing_is_due_all_intervals_are_made_shorter_in_proportion(kind: type[Adaptive]) -> None:
    """Else pages that change often, whose next visit is always near, would have all that is to spare."""
    policy = kind("10d", work_conserving=1)
    policy.learn(visits([0, 1, 2], [0.0] * 3, [0] * 3))
    policy.learn(visits([0], [2 * DAY], [1]))
    policy.learn(visits([1, 2], [2 * DAY] * 2, [0] * 2))
    seen = pages([2 * DAY] * 3)
    wait_s = policy.due(seen, Context(2 * DAY)) - 2 * DAY
    assert wait_s[0] < wait_s[1]
    at = 2 * DAY + 0.9 * wait_s[0]
    assert policy.value(seen, Context(at)) == pytest.approx((at - 2 * DAY) / wait_s - 1.0)


def test_new_pages_have_their_share_of_stormcrawlers_visits() -> None:
    policy, taken = StormcrawlerAdaptive(new_share=0.25), []
    waiting = pages([0.0, np.nan])
    for _ in range(40):
        value: Floats = policy.value(waiting, Context(9 * DAY))
        taken.append(int(value.argmax()))
        policy.chosen(value[taken[-1:]], Context(9 * DAY, 1), new=taken[-1])
    assert sum(taken) == 10


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (NutchAdaptive, {"start": "soon"}),
        (NutchAdaptive, {"work_conserving": 2}),
        (NutchAdaptive, {"decrease": 1.0}),
        (NutchAdaptive, {"stretch": 2}),
        (NutchAdaptive, {"shortest": "2d", "longest": "1d"}),
        (StormcrawlerAdaptive, {"increase": -1.0}),
        (StormcrawlerAdaptive, {"shortest": "1s"}),
        (StormcrawlerAdaptive, {"failed": "-1h"}),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_write(kind: type[Adaptive], options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="must"):
        kind(**options)


def test_the_intervals_can_be_looked_at() -> None:
    policy = NutchAdaptive("10d")
    policy.learn(visits([1, 4], [0.0, DAY], [0, 0]))
    policy.learn(visits([4], [2 * DAY], [1]))
    table = policy.tables(Context(0.0))["intervals"]
    assert table["slot"].tolist() == [1, 4]
    assert table["interval_s"].tolist() == [10 * DAY, 8 * DAY]
    assert table["due_at"].tolist() == [10 * DAY, 10 * DAY]
