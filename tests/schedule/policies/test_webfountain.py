"""WebFountain: what it measures, how the numbers of its programme become turns of pages, and what that is worth."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.polling.polling import Conditions, poll
from evercrawl.lab.polling.population import Population
from evercrawl.schedule import Pages, Visits
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.schedule.policies.webfountain import webfountain
from evercrawl.schedule.policies.webfountain.buckets import HISTORY, measure, sort_into
from evercrawl.schedule.policies.webfountain.webfountain import Webfountain
from evercrawl.schedule.shared.tempo import MEMORY_S, Tempo
from evercrawl.types import Floats

DAY = 86_400.0
SURE = 1e12
N = 120


def pages(visited_at: Floats, rate: Floats, weight: Floats | None = None) -> Pages:
    n = len(visited_at)
    one, none = np.ones(n), np.zeros(n)
    return Pages(
        np.arange(n, dtype=np.uint32), visited_at, one if weight is None else weight, none, SURE * one, SURE / rate,
        one, none, none,
    )  # fmt: skip


def visits(slots: list[int], at: Floats, interval_s: float, changed: Floats | None = None, found: int = 0) -> Visits:
    n = len(slots)
    slot, one, flag = np.array(slots, np.uint32), np.ones(n), np.ones(n, np.bool_)
    change = ~flag if changed is None else changed.astype(np.bool_)
    count = np.full(n, found, np.int64)
    return Visits(slot, slot, at, interval_s * one, flag, ~flag, change, np.nan * one, one, one, count, ~flag, count)


ORDER = np.random.default_rng(4).permutation(N)  # in which pages are visited: not that of their slots


def told(policy: Webfountain, found: int = 0) -> Pages:
    """Tell of two rounds: a visit every 10 minutes, in the second a change of every page of even number."""
    at, even = 600.0 * np.arange(N), np.arange(N) % 2 == 0
    policy.learn(visits(ORDER.tolist(), at, np.nan, found=found))
    policy.learn(visits(ORDER.tolist(), at + 600.0 * N, 600.0 * N, even[ORDER], found=found))
    return pages(600.0 * (N + np.argsort(ORDER)), np.where(even, 4.0, 0.5) / DAY)


def test_buckets_are_alike_in_rate_and_then_in_weight_and_need_about_as_many_visits() -> None:
    draw = np.random.default_rng(1)
    rate, weight = 10 ** draw.uniform(-3, 1, 5000), 1 + draw.pareto(1.1, 5000)
    bucket = sort_into(rate, weight, 16, by_weight=True)
    assert len(np.unique(bucket)) == 16
    root = np.sqrt(rate * weight)
    needed = np.bincount(bucket, root / root.mean() + 1)
    assert needed.max() < 1.5 * needed.min()
    for row in range(3):
        assert rate[bucket // 4 == row].max() <= rate[bucket // 4 == row + 1].min()
    of = bucket // 4 == 2
    assert weight[of & (bucket == 8)].max() <= weight[of & (bucket == 9)].min()
    assert len(np.unique(sort_into(rate, weight, 12, by_weight=False))) == 12


def test_pages_that_are_all_alike_share_a_bucket_and_one_page_has_one() -> None:
    one = np.ones(50)
    assert len(np.unique(sort_into(one, one, 16, by_weight=True))) == 1
    assert len(sort_into(one[:1], 0 * one[:1], 16, by_weight=True)) == 1


def test_what_is_measured_is_what_the_visits_found() -> None:
    draw = np.random.default_rng(2)
    history = np.zeros(2000, HISTORY)
    bucket = np.repeat([0, 1], 1000)
    rate = np.where(bucket == 0, 0.5, 3.0) / DAY
    history["visits"], history["exposure_s"] = 5.0, 5 * 0.5 * DAY
    history["changes"] = draw.binomial(5, -np.expm1(-rate * 0.5 * DAY))
    history["first_at"] = np.where(np.arange(2000) % 4 == 3, 100 * DAY, 1.0) * (bucket == 1) + 1.0
    found = measure(bucket, 3, history, pages(np.zeros(2000), np.full(2000, 9 / DAY)), DAY, 10 * DAY)
    assert found.rate_per_s[:2] * DAY == pytest.approx([0.5, 3.0], rel=0.05)
    assert found.pages.tolist() == [1000, 1000, 0]
    assert found.obsolete[:2] == pytest.approx(1000 * -np.expm1(-found.rate_per_s[:2] * DAY))
    assert found.shares[1] > 0.99
    assert found.shares.sum() == pytest.approx(1.0)


def test_where_no_visit_found_a_change_the_belief_stands_in_and_is_outweighed_by_and_by() -> None:
    history = np.zeros(2, HISTORY)
    for exposure_s, expected in ((0.0, 2.0), (0.5, 1.0), (49.75, 0.01)):
        history["visits"], history["exposure_s"] = float(exposure_s > 0), exposure_s
        found = measure(np.array([0, 0]), 1, history, pages(np.zeros(2), np.array([1.0, 3.0])), 1.0, 1.0)
        assert found.rate_per_s == pytest.approx([1 / (1 / 2 + 2 * exposure_s)])
        assert found.rate_per_s == pytest.approx([expected], rel=0.35)


def test_in_each_bucket_the_oldest_come_first_and_as_many_as_the_programme_says() -> None:
    policy = Webfountain(count=4, periods=8)
    seen = told(policy)
    now = float(seen.visited_at.max())
    until = policy.plan(seen, 0, Context(now))
    due_at = policy.due(seen, Context(now))
    for fast in (0, 1):
        of = np.flatnonzero(np.arange(N) % 2 == fast)
        oldest_first = of[np.argsort(seen.visited_at[of])]
        assert (np.diff(due_at[oldest_first]) > 0).all(), "in the order of their last visits"
    planned = policy.tables(Context(now))["buckets"]
    assert np.sort(planned["pages"]).tolist() == [N / 2, N / 2]
    assert (due_at <= until).sum() == pytest.approx(planned["visits_0"].sum(), abs=2)
    budget = (until - now) / 600.0
    assert planned["visits_0"].sum() == pytest.approx(budget, rel=0.02)
    assert until - now == pytest.approx(max(N / 16, 16) * 600.0, rel=0.02)
    value = policy.value(seen, Context(until))
    assert np.array_equal(np.argsort(-value), np.argsort(due_at, kind="stable"))


def test_visits_that_cost_more_are_fewer_and_what_is_spent_is_what_is_being_spent() -> None:
    """Pages are alike but for what they cost; the dear ones matter a little more, so that they come first else."""
    dear = np.arange(N) % 2 == 0
    cost, shares, visited = np.where(dear, 9.0, 1.0), [], []
    for costs in (np.full(N, 5.0), cost):
        policy = Webfountain(count=4, periods=8)
        for turn in range(3):
            at, every_s = 600.0 * (np.arange(N) + turn * N), 600.0 * N if turn else np.nan
            policy.learn(visits(ORDER.tolist(), at, every_s, 0 * at + turn % 2))
        seen = pages(600.0 * (2 * N + np.argsort(ORDER)), np.full(N, 1.0 / DAY), np.where(dear, 1.01, 1.0))
        now = float(seen.visited_at.max())
        policy.plan(replace(seen, cost=costs), 0, Context(now))
        table = policy.tables(Context(0.0))["buckets"]
        order = np.argsort(-table["weight"])  # the dear ones first
        of = sum(table[f"visits_{t}"][order] for t in range(8))
        assert table["cost"][order] == pytest.approx(costs[:2])
        assert of @ costs[:2] == pytest.approx(8 * 16 * 5.0, rel=0.02), "as much as 16 visits a period cost so far"
        shares.append(float(of[0] / of.sum()))
        visited.append(float(of.sum()))
    assert shares[0] > 0.38
    assert shares[1] < 0.5 * shares[0]
    assert visited[1] > 1.3 * visited[0]


def test_what_changed_pages_cost_besides_counts_as_often_as_they_change() -> None:
    history = np.zeros(2, HISTORY)
    history["visits"], history["exposure_s"], history["changes"] = 50.0, 50.0, [50.0, 0.0]
    seen = replace(pages(np.zeros(2), np.ones(2)), cost=np.array([1.0, 1.0]), cost_changed=np.array([20.0, 30.0]))
    found = measure(np.array([0, 1]), 2, history, seen, 1.0, 1.0)
    assert found.visit_costs == pytest.approx([1 + 20 * -np.expm1(-found.rate_per_s[0]), 1.0], abs=1.0)
    assert found.visit_costs[0] > 18.8
    assert found.new_cost == pytest.approx(1 + (20 + 30) / 2)


def test_change_is_measured_and_not_believed() -> None:
    """Pages that are believed to be alike, and were put in two buckets for their weights, show which of them change."""
    policy = Webfountain(count=4, periods=8)
    seen = told(policy)
    weight = np.where(np.arange(N) % 2 == 0, 1.0, 1.01)
    seen = pages(seen.visited_at, np.full(N, 1.0 / DAY), weight)
    policy.plan(seen, 0, Context(float(seen.visited_at.max())))
    table = policy.tables(Context(0.0))["buckets"]
    assert len(table["weight"]) == 2
    calm, busy = table["rate_per_s"][table["weight"].argsort()[::-1]]
    assert busy > 20 * calm


def test_a_page_is_new_when_it_is_first_read_and_no_visit_in_vain_tells_where_new_ones_belong() -> None:
    policy = Webfountain(count=4, periods=8)
    seen = told(policy)
    for turn in (2, 3):
        policy.learn(visits(ORDER.tolist(), 600.0 * (np.arange(N) + turn * N), 600.0 * N, ORDER % 2 == 0))
    late = 600.0 * 4 * N
    rate = np.append(np.where(np.arange(N) % 2 == 0, 4.0, 0.5) / DAY, 4.0 / DAY)
    both = pages(np.append(seen.visited_at + 600.0 * 2 * N, late), rate)
    once = visits([N], np.array([late]), np.nan)
    for read, expected in ((False, 0.5), (True, 0.75)):
        policy.learn(replace(once, read=np.array([read])))
        policy.plan(both, 0, Context(late + 1.0))
        table = policy.tables(Context(0.0))["buckets"]
        busy = table["rate_per_s"].argmax()
        assert table["shares"][busy] == pytest.approx(expected, abs=0.01)


def test_new_pages_get_what_the_programme_gives_them() -> None:
    shares = {}
    for unread, new_weight in ((0, 1.0), (400, 0.0), (400, 1.0)):
        policy = Webfountain(count=4, periods=8, new_weight=new_weight)
        seen = told(policy)
        policy.plan(seen, unread, Context(float(seen.visited_at.max())))
        both = pages(
            np.append(seen.visited_at, [np.nan, np.nan]), np.full(N + 2, 1 / DAY), np.append(np.ones(N), [1, 2])
        )
        taken = 0
        for _ in range(100):
            value = policy.value(both, Context(float(seen.visited_at.max())))
            best = int(value.argmax())
            assert best != N, "the other new one matters more"
            taken += best == N + 1
            policy.chosen(value[best : best + 1], Context(0.0, N), int(best == N + 1))
        planned = policy.tables(Context(0.0))
        new, old = float(planned["periods"]["new"][0]), float(planned["buckets"]["visits_0"].sum())
        assert taken / 100 == pytest.approx(new / (new + old), abs=0.02)
        shares[unread, new_weight] = taken / 100
    assert shares[0, 1.0] == 0.0
    assert shares[400, 1.0] > shares[400, 0.0]


def test_pages_that_are_found_are_foreseen() -> None:
    planned = []
    for found in (0, 3):
        policy = Webfountain(count=4, periods=8, new_weight=5.0)
        seen = told(policy, found)
        policy.plan(seen, 0, Context(float(seen.visited_at.max())))
        planned.append(policy.tables(Context(0.0))["periods"]["new"].sum())
    assert planned[0] == pytest.approx(0.0, abs=1e-9)
    assert planned[1] > 115


def test_new_pages_are_expected_where_they_turned_out_to_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the shares that were measured the programme goes on, and not with those of all pages."""
    planned = []
    for shares in ([0.0, 1.0], [1.0, 0.0]):
        policy = Webfountain(count=4, periods=8)
        monkeypatch.setattr(
            webfountain, "measure", lambda *told, shares=shares: measure(*told)._replace(shares=np.array(shares))
        )
        seen = told(policy)
        policy.plan(seen, 400, Context(float(seen.visited_at.max())))
        planned.append(policy.tables(Context(0.0))["periods"]["new"])
    assert np.abs(planned[0] - planned[1]).max() > 14.5


def test_who_is_told_again_in_other_batches_plans_the_same() -> None:
    together, apart = Webfountain(count=4), Webfountain(count=4)
    seen = told(together)
    at, even = 600.0 * np.arange(N), ORDER % 2 == 0
    for turn, changed in ((0, ~even & even), (1, even)):
        for i, slot in enumerate(ORDER.tolist()):
            interval_s = 600.0 * N if turn else np.nan
            apart.learn(visits([slot], at[i : i + 1] + 600.0 * N * turn, interval_s, changed[i : i + 1]))
    now = float(seen.visited_at.max())
    assert together.plan(seen, 9, Context(now)) == pytest.approx(apart.plan(seen, 9, Context(now)))
    assert together.due(seen, Context(now)) == pytest.approx(apart.due(seen, Context(now)))


def test_it_keeps_pages_fresher_than_visiting_all_alike() -> None:
    """A third changes too often to be worth much, a third hardly ever, and a few matter most."""
    draw = np.random.default_rng(3)
    lam = np.repeat([20.0, 1.0, 0.02], N // 3)
    weight = np.where(draw.random(N) < 0.2, 10.0, 1.0)
    made = Population(weight, lam, np.zeros(N, np.int64))
    run = {"cycles": 2.0, "measured_from": 1.0, "conditions": Conditions(known=True, ticks=20)}
    plain = poll(Cycle(), made, 1.0, **run)
    ours = poll(Webfountain(count=9), made, 1.0, **run)
    assert ours.ratio > plain.ratio + 0.08
    assert ours.unused == 0.0


def test_buckets_by_rate_alone_heed_no_weights() -> None:
    planned = []
    for buckets in ("rate", "rate_importance"):
        policy = Webfountain(buckets, count=8)
        seen = told(policy)
        weight = np.where(np.arange(N) % 4 < 2, 1.0, 9.0)
        rate = seen.shape / seen.scale_s
        policy.plan(pages(seen.visited_at, rate, weight), 0, Context(float(seen.visited_at.max())))
        planned.append(len(policy.tables(Context(0.0))["buckets"]["pages"]))
    assert planned == [2, 4]


def test_one_page_and_a_page_that_does_not_matter_are_no_reason_to_fail() -> None:
    policy = Webfountain()
    one = np.array([5.0])
    policy.learn(visits([0], one, np.nan))
    until = policy.plan(pages(one, np.array([1e-9]), 0 * one), 0, Context(6.0))
    assert until > 6.0
    assert np.isfinite(policy.value(pages(one, one), Context(7.0))).all()
    assert Webfountain().tables(0.0) == {}


def test_a_tempo_is_that_of_the_last_day_in_whatever_batches_it_is_told() -> None:
    at = np.concatenate([np.arange(0.0, 20 * MEMORY_S, 500.0), np.arange(20 * MEMORY_S, 30 * MEMORY_S, 100.0)])
    found = (np.arange(len(at)) % 5).astype(float)
    together, apart = Tempo(1), Tempo(1)
    together.learn(at, found)
    for first in range(0, len(at), 37):
        apart.learn(at[first : first + 37], found[first : first + 37])
    assert together.per_s == pytest.approx([0.01, 0.02], rel=0.01)
    assert apart.per_s == pytest.approx(together.per_s, rel=1e-9)
    assert Tempo().cycle_s(5) == 5.0


def test_a_crawl_without_scipy_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ConfigError, match="pip install 'evercrawl"):
        Webfountain()


@pytest.mark.parametrize(
    "options",
    [{"buckets": "size"}, {"periods": 7}, {"count": 0}, {"weights": "first"}, {"new_weight": -1.0}, {"shortest": "x"}],
)
def test_what_makes_no_sense_is_refused_with_what_to_write(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="must"):
        Webfountain(**options)  # type: ignore[arg-type]
