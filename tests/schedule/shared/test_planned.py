"""Policies that allocate: what they are told to have much of they have, in time, and within what there is."""

import numpy as np
import pytest
from visit_forms import stale, stale_at_random

from evercrawl.errors import ConfigError
from evercrawl.lab.polling.polling import Conditions, poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.objectives import OBJECTIVES
from evercrawl.schedule.pages import Pages, Visits
from evercrawl.schedule.policies.azar import Azar, fresh_at_random, random_optimum
from evercrawl.schedule.policies.importance_proportional import ImportanceProportional
from evercrawl.schedule.policies.lambda_crawl import LambdaCrawl, harmonic_cost, harmonic_optimum
from evercrawl.schedule.policies.marked_point import counts as marked_point_counts
from evercrawl.schedule.policies.marked_point.marked_point import MarkedPoint
from evercrawl.schedule.policies.optimal import Optimal
from evercrawl.schedule.policies.partition import KEYS, Partitioned, grouped
from evercrawl.schedule.policies.polling import Polling, random_shares, shares
from evercrawl.schedule.policies.proportional import Proportional
from evercrawl.schedule.policies.uniform import Uniform
from evercrawl.schedule.shared.estimated import names
from evercrawl.schedule.shared.planned import PlannedRates

DAY_S = 86_400.0
SURE = 1e12


def known(weight, lam, at=0.0, **columns: np.ndarray) -> Pages:
    lam = np.asarray(lam, np.float64)
    one, none = np.ones(len(lam)), np.zeros(len(lam))
    usual = {"neg_log_unchanged": none, "cost": one, "cost_changed": none} | columns
    return Pages(np.arange(len(lam), dtype=np.uint32), at + none, weight * one, none, SURE * one, SURE / lam, **usual)


def planned(policy: PlannedRates, pages: Pages, per_s: float, unread: int = 0) -> np.ndarray:
    """Return the rates that a policy gives where there are so many visits a second."""
    policy.resume({"planned_visits_per_s": per_s})
    policy.plan(pages, unread, Context(0.0))
    return policy.rates(pages.slot)


def told(slots, interval_s, changed, at=0.0, age_s=np.nan) -> Visits:
    n = len(slots)
    none, no = np.zeros(n), np.zeros(n, bool)
    return Visits(
        np.array(slots, np.uint32), np.zeros(n, np.uint32), none + at, none + interval_s, ~no, no,
        no | np.asarray(changed), none + age_s, none, none, none.astype(int), no, none.astype(int),
    )  # fmt: skip


def draw(pages: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.pareto(1.1, pages) + 1, np.exp(rng.normal(-2.0, 2.0, pages))


def test_rates_are_those_of_the_rule_and_use_what_there_is() -> None:
    weight, lam = draw(50, 1)
    pages = known(weight, lam)
    for policy, expected in (
        (Uniform(), np.ones(50)),
        (Proportional(), lam),
        (ImportanceProportional(), weight),
        (Optimal(), allocation.optimum(weight, lam, 5.0).rate),
        (Optimal("harmonic"), allocation.optimum(weight, lam, 5.0, OBJECTIVES["harmonic"]).rate),
        (Optimal("age"), allocation.optimum(weight, lam, 5.0, OBJECTIVES["age"]).rate),
        (Azar(), random_optimum(weight, lam, 5.0).rate),
        (LambdaCrawl(), harmonic_optimum(weight, lam, 5.0).rate),
        (MarkedPoint(), marked_point_counts.by_price(weight, lam, 100.0, 500).each),
        (Polling(), lam),
        (Polling(times="exponential"), np.log1p(lam / 5.0)),
        (Polling(spacing="random"), np.expm1(lam / 5.0)),
        (Polling(costs="importance"), shares(weight, lam, 0.2, lam / 5.0)),
        (Polling(costs="importance", spacing="random"), random_shares(weight, lam, 0.2, lam / 5.0)),
    ):
        assert planned(policy, pages, 5.0) == pytest.approx(expected * 5.0 / expected.sum(), rel=1e-6, abs=1e-9)
    groups = grouped(weight, lam, 5.0, "pf", 20, 30)
    assert planned(Partitioned(), pages, 5.0) == pytest.approx(groups.rate[groups.label], rel=1e-6)


@pytest.mark.parametrize("key", KEYS)
def test_clustering_makes_groups_of_pages_alike_and_betters_what_they_earn(key) -> None:
    pages, earned, spread = population(1000, seed=3), [], []
    weight, lam = pages.weight, pages.lam_per_day
    for steps in (0, 1, 30):
        found = grouped(weight, lam, 100.0, key, 20, steps)
        assert found.rate @ found.size == pytest.approx(100.0)
        rate = found.rate[found.label]
        earned.append(weight @ allocation.freshness(rate, lam) / weight.sum() / pages.optimum(0.1).value)
        places = (np.sqrt(column) / np.sqrt(column).std() for column in (weight, lam))
        spread.append(sum(np.var(place[found.label == g]) * n for place in places for g, n in enumerate(found.size)))
    assert earned[2] > earned[0] + 0.05
    assert spread[0] > spread[1] > spread[2]
    policy = Partitioned(grouping=key, steps=0)
    assert not np.allclose(
        planned(policy, known(weight, lam), 100.0), planned(Partitioned(grouping=key), known(weight, lam), 100.0)
    )


def test_groups_can_be_exported_and_have_the_rates_of_their_pages() -> None:
    policy = Partitioned(groups=3, steps=0)
    assert set(policy.tables(Context(0.0))) == {"plan"}
    rates = planned(policy, known([1.0, 9.0, 2.0, 8.0, 3.0, 7.0], np.ones(6)), 2.0)
    table = policy.tables(Context(0.0))["groups"]
    assert table["pages"].tolist() == [2, 2, 2]
    assert table["importance"].tolist() == [1.5, 5.0, 8.5]
    assert np.repeat(table["visits_per_day"] / DAY_S, 2) == pytest.approx(np.sort(rates))


def test_new_pages_keep_their_share_of_what_there_is() -> None:
    assert planned(Uniform(new_share=0.25), known(1.0, np.ones(10)), 2.0, unread=3).sum() == pytest.approx(1.5)


def test_pages_that_no_plan_knows_have_the_mean_rate() -> None:
    policy = ImportanceProportional()
    planned(policy, known([1.0, 3.0], [1.0, 1.0]), 2.0)
    assert policy.rates(np.array([1, 2], np.uint32)) == pytest.approx([1.5, 1.0])


def test_bytes_are_saved_where_a_change_costs_much() -> None:
    dear = np.array([0.0, 0.0, 50.0])
    pages = known(1.0, [0.1, 1.0, 1.0], cost_changed=dear)
    rate = planned(Optimal("bytes"), pages, 2.0)
    assert rate.sum() == pytest.approx(2.0)
    assert rate[2] < 0.5 * rate[1]
    assert planned(Optimal(), pages, 2.0)[2] == pytest.approx(planned(Optimal(), pages, 2.0)[1])


def test_visits_come_when_an_interval_is_over_and_first_to_who_is_late_by_most_intervals() -> None:
    policy, pages = ImportanceProportional(new_share=0.0), known([1.0, 3.0, 0.0], [1.0, 1.0, 1.0], at=100.0)
    planned(policy, pages, 4.0)
    assert policy.due(pages, Context(100.0)) == pytest.approx([101.0, 100.0 + 1 / 3, np.inf])
    assert policy.value(pages, Context(100.5)).argsort().tolist() == [2, 0, 1]
    assert policy.value(pages, Context(1e9)).argsort().tolist() == [2, 0, 1], (
        "who has no rate comes last, however long it waits"
    )


def test_estimates_from_counts_take_the_place_of_the_belief() -> None:
    visits = [told([0, 1, 2], 10.0, [True, False, False]), told([0, 1, 2], 10.0, [True, True, False])]
    pages = known(1.0, np.full(4, 0.5))
    for estimator, first in (("naive", 0.1), ("log_corrected", -np.log(0.5 / 2.5) / 10)):
        policy = Proportional(estimator=estimator)
        for visit in visits:
            policy.learn(visit)
        found = policy.changes_per_s(pages)
        assert found[0] == pytest.approx(first)
        assert found[0] > found[1] > found[2] > 0.0, "half a change stands for none"
        assert found[3] == pytest.approx(0.5), "no visit has told of it"


@pytest.mark.parametrize("name", names())
def test_every_estimator_can_drive_a_policy(name) -> None:
    """Page 0 changes often, page 1 seldom; page 2 never did, nobody knows of page 3, and page 5,000 came late."""
    policy, after, rng = Optimal(estimator=name), Optimal(estimator=name), np.random.default_rng(1)
    n = 5001
    pages = known(1.0, np.full(n, 0.37))
    visits = [told([0, 1, 2], 1.0, [True, rng.random() < 0.2, False], age_s=0.5) for _ in range(40)]
    visits += [told([0, 5000], 1.0, [late, not late], age_s=0.5) for late in (False, True)]
    for visit in visits:
        policy.learn(visit)
    found = policy.changes_per_s(pages)
    assert np.isfinite(found).all()
    assert (found > 0).all()
    if name in {"classes", "posterior"}:  # of classes and a belief of days, not of these seconds
        assert found[0] > found[1] > found[2]
    else:
        assert found[0] > 0.9 > 0.5 > found[1]
        assert found[3] == pytest.approx(0.37), "nothing can be said of it, so the belief stands"
    assert found[5000] != found[3]
    planned(policy, pages, 50.0)
    assert policy.rates(pages.slot).sum() == pytest.approx(50.0)
    for visit in visits:  # a restart: told of them again, one by one
        for row in range(len(visit)):
            after.learn(visit.take(slice(row, row + 1)))
    assert after.changes_per_s(pages) == pytest.approx(found)


def test_where_an_estimator_says_nothing_or_infinity_the_belief_stands() -> None:
    pages = known(1.0, np.full(3, 0.5))
    for name in ("log", "irregular", "last_modified"):
        policy = Proportional(estimator=name)
        for _ in range(3):
            policy.learn(told([0, 1], 10.0, [True, False]))
        assert policy.changes_per_s(pages) == pytest.approx(0.5), "always, never, not visited"


def test_a_visit_that_told_of_no_change_and_a_clock_set_back_do_no_harm() -> None:
    policy, pages = Proportional(estimator="irregular"), known(1.0, np.full(2, 0.5))
    policy.learn(told([0, 1], np.nan, [False, False]))
    assert policy.changes_per_s(pages) == pytest.approx(0.5)
    for interval_s, changed in ((-5.0, True), (0.0, False), (4.0, True), (4.0, False)):
        policy.learn(told([0], interval_s, [changed]))
    assert 0.1 < policy.changes_per_s(pages)[0] < 10.0


def test_another_estimator_begins_with_the_visits_to_come_and_the_same_goes_on() -> None:
    policy, pages = Proportional(), known(1.0, np.full(1, 0.5))
    policy.adjust({"estimator": "irregular"})
    policy.learn(told([0], 1.0, [True]))
    policy.adjust({"new_share": 0.25})
    policy.learn(told([0], 1.0, [False]))
    assert policy.changes_per_s(pages) == pytest.approx(np.log(2.0))
    policy.adjust({"estimator": "gamma"})
    assert policy.changes_per_s(pages) == pytest.approx(0.5)


def test_an_estimator_from_outside_the_tree_can_drive_a_policy_too() -> None:
    policy, pages = Proportional(estimator="evercrawl.change.estimators.naive:Naive"), known(1.0, np.full(1, 0.5))
    policy.learn(told([0], 4.0, [True]))
    assert policy.changes_per_s(pages) == pytest.approx(0.25)
    with pytest.raises(ConfigError, match="is not of the class Estimator"):
        Proportional(estimator="evercrawl.schedule.policies.cycle:Cycle")


def test_an_unknown_rate_is_typically_less_than_its_mean() -> None:
    one, none = np.ones(1), np.zeros(1)
    pages = Pages(np.zeros(1, np.uint32), none, one, none, 0.4 * one, 4.0 * one, one, none, none)
    assert Optimal(estimator="gamma").changes_per_s(pages) == pytest.approx(0.1)
    assert Optimal().changes_per_s(pages) == pytest.approx(np.exp(-2.561384544585116) / 4.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Optimal("fresh"), "optimal: objective must be one of freshness, harmonic, age, bytes, not 'fresh'"),
        (lambda: Azar("odd"), "azar: spacing must be one of even, random"),
        (lambda: Polling(costs="1"), "polling: costs"),
        (lambda: Partitioned(grouping="q"), "partition: grouping"),
        (lambda: Partitioned(groups=0), "partition: groups must be from 1"),
        (lambda: MarkedPoint(each=0), "marked_point: each"),
        (lambda: Uniform(new_share=2.0), "uniform: new_share must be from 0 to 1"),
        (
            lambda: Proportional(estimator="median"),
            "proportional: estimator must be one of typical, .*irregular",
        ),
    ],
)
def test_parameters_are_checked(make, message) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def test_parameters_may_change_while_it_runs_and_wrong_ones_change_nothing() -> None:
    policy, pages = Optimal(), known(1.0, [0.1, 9.0])
    assert planned(policy, pages, 0.5)[1] == 0.0
    with pytest.raises(ConfigError, match="optimal has no weight; it has objective, new_share"):
        policy.adjust({"weight": 1.0})
    with pytest.raises(ConfigError, match="objective must be"):
        policy.adjust({"objective": "none", "new_share": 0.1})
    assert (policy.objective, policy.new_share) == ("freshness", 0.5)
    policy.adjust({"objective": "age", "new_share": 0.0})
    assert planned(policy, pages, 0.5)[1] > 0.0
    policy.chosen(np.ones(1), Context(0.0, 2), 0)
    new = np.array([False, True])
    mixed = Pages(pages.slot, np.where(new, np.nan, 0.0), *(getattr(pages, n) for n in (
        "importance", "cash", "shape", "scale_s", "cost", "cost_changed", "neg_log_unchanged")))  # fmt: skip
    assert policy.value(mixed, Context(10.0)).argmax() == 0, "new pages have no share any more"


def test_the_plan_can_be_looked_at() -> None:
    policy = Uniform()
    planned(policy, known(1.0, np.ones(3)), 3.0)
    table = policy.tables(Context(0.0))["plan"]
    assert table["slot"].tolist() == [0, 1, 2]
    assert table["visits_per_day"] == pytest.approx([DAY_S] * 3)


def test_random_moments_are_exponential_and_the_same_after_a_restart() -> None:
    lam = np.full(4000, 1.0)
    policy, pages = Azar("random"), known(1.0, lam, at=50.0)
    planned(policy, pages, 4000.0)
    waits = policy.due(pages, Context(50.0)) - 50.0
    assert waits.mean() == pytest.approx(1.0, abs=0.05)
    assert (waits > 1.0).mean() == pytest.approx(np.exp(-1.0), abs=0.03)
    again = Azar("random")
    planned(again, pages, 4000.0)
    assert (again.due(pages, Context(99.0)) == policy.due(pages, Context(50.0))).all()
    order = policy.value(pages, Context(50.5))
    assert (np.diff(order[np.argsort(waits)]) <= 0).all(), "the moment that is longest ago comes first"


def test_announced_changes_are_visited_by_lot() -> None:
    weight = np.repeat([100.0, 10.0], 2000)
    notice = np.tile([1.0, 0.0], 2000)
    policy, pages = LambdaCrawl(), known(weight, np.full(4000, 1.0), neg_log_unchanged=notice)
    planned(policy, pages, 2000.0)
    at_once = policy.due(pages, Context(0.0)) == 0.0
    assert not at_once[notice == 0].any()
    assert at_once[(weight > 10) & (notice > 0)].all()
    assert 0.0 < at_once[(weight == 10) & (notice > 0)].mean() < 0.178
    best = policy.value(pages, Context(1e-3)) >= np.sort(policy.value(pages, Context(1e-3)))[-int(at_once.sum())]
    assert (best == at_once).all()


def test_no_small_change_of_the_rates_at_random_moments_is_better() -> None:
    weight, lam = draw(30, 3)
    fresh, few = random_optimum(weight, lam, 4.0), harmonic_optimum(weight, lam, 4.0)
    rng = np.random.default_rng(4)
    for _ in range(20):
        for rate, gain in (
            (fresh.rate, lambda rate: (weight * fresh_at_random(rate, lam)).sum() - fresh.value),
            (few.rate, lambda rate: few.value - harmonic_cost(weight, lam, rate)),
        ):
            moved = rate * np.exp(0.1 * rng.normal(size=30))
            assert gain(moved * 4.0 / moved.sum()) <= 1e-9
    assert harmonic_cost(weight, lam, fresh.rate + 1e-9) > few.value


def test_polling_with_free_costs_leaves_no_better_shares_near() -> None:
    rng = np.random.default_rng(5)
    cost, mu, access_s = rng.uniform(0.5, 5.0, 8), rng.uniform(0.1, 4.0, 8), 0.1
    level = mu * access_s
    for found, staleness in (
        (shares(cost, mu, access_s, level), stale),
        (random_shares(cost, mu, access_s, level), stale_at_random),
    ):
        assert found.sum() == pytest.approx(1.0)
        best = cost @ staleness(found, mu, access_s, level)
        for _ in range(20):
            moved = found * np.exp(0.1 * rng.normal(size=8))
            assert cost @ staleness(moved / moved.sum(), mu, access_s, level) >= best - 1e-12


@pytest.mark.parametrize(
    ("policy", "random"),
    [
        (ImportanceProportional(), False),
        (Optimal(), False),
        (Azar(), False),
        (Azar("random"), True),
        (LambdaCrawl(), True),
        (MarkedPoint(), False),
        (Partitioned(), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, PlannedRates) else "random" if value else "even",
)
def test_a_run_with_known_rates_earns_what_the_rates_promise(policy, random) -> None:
    pages, budget = population(300, seed=2), 0.1
    found = poll(policy, pages, budget, cycles=8, measured_from=4, conditions=Conditions(known=True))
    per_day = policy.rates(np.arange(300, dtype=np.uint32)) * DAY_S
    per_day *= budget * 300 / per_day.sum()
    earns = fresh_at_random if random else allocation.freshness
    expected = float(pages.weight @ earns(per_day, pages.lam_per_day) / pages.weight.sum())
    assert found.value == pytest.approx(expected, abs=0.03)
    assert found.unused == 0.0
