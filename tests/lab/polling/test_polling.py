"""Policies on made-up pages: what is spent, what is told, and what it earns, where closed forms say what it must be."""

from dataclasses import replace

import numpy as np
import pytest

from evercrawl.lab.polling.choosing import best
from evercrawl.lab.polling.poisson import Poisson
from evercrawl.lab.polling.polling import BEGAN_AT, Conditions, PollingRun, poll
from evercrawl.lab.polling.population import DAY_S, population
from evercrawl.schedule import Pages, Policy, Visits
from evercrawl.schedule.abilities import Learns, Plans
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.schedule.policies.notices import Notices
from evercrawl.schedule.policies.price.price import Price
from evercrawl.schedule.policies.price_gamma import PriceGamma

PAGES = population(200, seed=1)
QUICK = Conditions(ticks=50)
KNOWN = replace(QUICK, known=True)


class Listening(Learns, Plans, Policy):
    """Round robin, writing down all it is told."""

    def __init__(self) -> None:
        self.visits: list[Visits] = []
        self.plans_made: list[tuple[int, int]] = []
        self.notices: list[np.ndarray] = []
        self.deaths_per_s = 0.0

    def value(self, pages: Pages, context: Context):
        self.notices.append(pages.neg_log_unchanged.copy())
        self.deaths_per_s = context.deaths_per_s
        return np.where(np.isnan(pages.visited_at), 1e12, context.now - pages.visited_at)

    def learn(self, visits: Visits) -> None:
        self.visits.append(visits)

    def plan(self, pages: Pages, unread: int, context: Context) -> float:
        self.plans_made.append((len(pages.slot), unread))
        return context.now + DAY_S

    def told(self, name: str):
        return np.concatenate([getattr(visits, name) for visits in self.visits])


def heard(conditions: Conditions, budget: float = 0.5, cycles: float = 3.0) -> Listening:
    policy = Listening()
    poll(policy, PAGES, budget, cycles=cycles, measured_from=1, conditions=conditions)
    return policy


def uniform(budget: float) -> float:
    return float(np.average(allocation.freshness(budget, PAGES.lam_per_day), weights=PAGES.weight))


def test_the_same_seed_gives_the_same_and_another_something_else() -> None:
    first, again, other = (
        poll(Price(), PAGES, 0.3, cycles=2, measured_from=1, seed=seed, conditions=QUICK) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.value != other.value


def test_the_whole_budget_is_spent_and_every_visit_is_told_once() -> None:
    policy = heard(QUICK)
    slots, at, interval_s = (policy.told(name) for name in ("slot", "at", "interval_s"))
    assert len(slots) == 3 * len(PAGES)
    assert np.isnan(interval_s).sum() == len(PAGES)
    for slot in (0, 77):
        mine = slots == slot
        assert np.allclose(np.diff(at[mine]), interval_s[mine][1:])
    assert all(len(np.unique(visits.slot)) == len(visits) for visits in policy.visits)
    assert not policy.told("changed")[np.isnan(interval_s)].any()


def test_a_policy_that_plans_sees_all_visited_pages_when_it_asked_to() -> None:
    policy = heard(QUICK, budget=0.5, cycles=3.0)  # six days
    assert all(seen + unread == len(PAGES) and seen for seen, unread in policy.plans_made)
    assert len(policy.plans_made) == 6
    assert policy.plans_made[-1] == (len(PAGES), 0)


def test_changes_are_found_as_often_as_they_come() -> None:
    policy = heard(QUICK, budget=0.5, cycles=8.0)
    later = ~np.isnan(policy.told("interval_s"))
    x = PAGES.lam_per_s[policy.told("slot")[later]] * policy.told("interval_s")[later]
    expected = -np.expm1(-x)
    error = np.sqrt((expected * (1 - expected)).sum())
    assert abs(policy.told("changed")[later].sum() - expected.sum()) < 4 * error


def test_those_that_are_dated_say_when_they_changed_within_the_interval() -> None:
    policy = heard(replace(QUICK, dated=0.5))
    changed, age_s = policy.told("changed"), policy.told("age_s")
    first, dated = np.isnan(policy.told("interval_s")), np.isfinite(age_s)
    assert not dated[~changed & ~first].any()
    assert dated[first].any(), "those that changed before they were first read"
    assert 0.2 < np.isfinite(age_s[changed]).mean() < 0.8
    assert (age_s[dated & ~first] <= policy.told("interval_s")[dated & ~first]).all()
    says = set(policy.told("slot")[dated].tolist())
    assert says.isdisjoint(policy.told("slot")[changed & ~dated].tolist())


def test_what_nobody_heeds_makes_no_copy_fresher() -> None:
    told = poll(Cycle(), PAGES, 0.3, cycles=9, measured_from=1, conditions=replace(QUICK, recall=0.5, precision=0.8))
    assert told.value == pytest.approx(uniform(0.3), abs=0.03)


def test_announcements_come_of_changes_and_of_errors_as_often_as_they_should() -> None:
    world = Poisson(PAGES, 1, recall=0.8, precision=0.5)
    world.pass_to(0.0)
    signals = world.pass_to(100 * DAY_S)
    assert signals is not None
    expected = 0.8 * 100 * PAGES.lam_per_day.sum()
    assert signals.right.sum() == pytest.approx(expected, abs=4 * np.sqrt(expected))
    assert signals.wrong.sum() == pytest.approx(expected, abs=4 * np.sqrt(expected))


def test_notices_reach_those_that_were_visited_and_end_with_the_next_visit() -> None:
    policy = heard(replace(QUICK, recall=1.0))
    assert not policy.notices[0].any()
    assert (policy.notices[-1] > 0).any()
    world = PollingRun(policy, PAGES, 0.5, conditions=replace(QUICK, recall=1.0))
    world.held.pass_to(BEGAN_AT)
    world.held.visited_at[:] = BEGAN_AT
    world.held.pass_to(BEGAN_AT + 30 * DAY_S)
    rows = np.flatnonzero(world.held.columns(None).neg_log_unchanged)
    seen = world.world.visit(rows, BEGAN_AT + 30 * DAY_S)
    world.held.learn(rows, np.full(len(rows), 30 * DAY_S), seen, BEGAN_AT + 30 * DAY_S)
    assert not world.held.columns(None).neg_log_unchanged.any()


def test_who_is_told_what_is_stale_does_better_than_the_best_who_is_not() -> None:
    found = poll(Notices(), PAGES, 0.3, cycles=6, measured_from=2, conditions=replace(KNOWN, ticks=200))
    assert found.ratio > 1.02


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_known_rates_come_near_to_the_optimum_from_any_price_through_the_frontier(factor: float) -> None:
    policy = PriceGamma()
    optimum = PAGES.optimum(0.3)
    policy.resume({"price": factor * optimum.price * DAY_S})
    found = poll(policy, PAGES, 0.3, cycles=8, measured_from=4, conditions=replace(KNOWN, frontier=True))
    assert found.ratio > 0.985
    assert found.visits == 8 * len(PAGES)


def test_what_is_learned_comes_near_to_what_is_known() -> None:
    learned = poll(Price(), PAGES, 0.3, cycles=6, measured_from=3, conditions=QUICK)
    assert learned.ratio > 0.93
    assert learned.by_cycle[-1] > learned.by_cycle[0]
    assert poll(Cycle(), PAGES, 0.3, cycles=3, measured_from=2, conditions=QUICK).ratio < learned.ratio - 0.03


class Lazy(Cycle):
    """Round robin that leaves alone what it visited within two days."""

    min_value = 2 * DAY_S


def test_what_a_policy_does_not_want_is_lost_and_counted() -> None:
    found = poll(Lazy(), PAGES, 1.0, cycles=12, measured_from=6, conditions=QUICK)
    assert found.unused == pytest.approx(0.5, abs=0.06)
    assert found.value == pytest.approx(uniform(0.5), abs=0.03)


def test_hosts_are_not_asked_more_often_than_they_allow() -> None:
    cap = np.full(PAGES.host.max() + 1, 3.0)
    policy = heard(replace(QUICK, cap_per_day=cap), budget=0.5, cycles=3.0)
    day = np.floor((policy.told("at") - BEGAN_AT) / DAY_S)
    for number in np.unique(day):
        assert np.bincount(policy.told("site")[day == number]).max() <= 4


def test_hosts_rest_through_the_frontier_too() -> None:
    cap = np.full(PAGES.host.max() + 1, 3.0)
    policy = heard(replace(QUICK, cap_per_day=cap, frontier=True), budget=0.5, cycles=3.0)
    at, site = policy.told("at"), policy.told("site")
    apart = [np.diff(np.sort(at[site == number])) for number in np.unique(site)]
    assert min(each.min() for each in apart if len(each)) >= DAY_S / 3 - 1e-3


def test_where_visits_cost_the_budget_is_in_the_same_unit() -> None:
    n = len(PAGES)
    small, whole = np.full(n, 0.1), np.full(n, 0.9)
    policy = heard(replace(QUICK, cost=small, cost_changed=whole), budget=0.5, cycles=3.0)
    new = np.isnan(policy.told("interval_s"))
    spent = 0.1 * len(new) + 0.9 * (new | policy.told("changed")).sum()
    assert spent == pytest.approx(3.0 * n, abs=1.0)
    assert len(new) > 3.3 * n


def test_pages_die_and_are_found_gone() -> None:
    policy = heard(replace(QUICK, deaths=0.2), cycles=4.0)
    gone = policy.told("gone")
    assert 0 < gone.sum() < 0.8 * len(gone)
    assert not policy.told("read")[gone].any()
    assert 0.04 < policy.deaths_per_s * DAY_S < 0.1, "a fifth of them in two days; at first one in a page's year"


def test_a_copy_of_a_page_that_is_gone_counts_until_somebody_finds_out() -> None:
    still = replace(PAGES, lam_per_day=np.zeros(200), weight=np.ones(200))
    world, rows = Poisson(still, 1, deaths_a_day=0.5), np.arange(200)
    world.pass_to(0.0)
    world.visit(rows, 0.0)
    world.pass_to(DAY_S)
    gone = world.visit(rows[:100], DAY_S).gone.sum()
    before = world.earned(DAY_S)
    found = (world.earned(2 * DAY_S) - before) / DAY_S
    alive = (~world.visit(rows, 2 * DAY_S).gone).sum()
    assert 30 < gone < 70
    assert alive < 130
    assert found == pytest.approx(alive / (200 - gone))


def test_who_finds_a_page_gone_thinks_half_as_much_of_it() -> None:
    world = PollingRun(Listening(), PAGES, 0.5, conditions=replace(QUICK, deaths=0.2))
    rows, now = np.arange(200), BEGAN_AT
    for day in range(3):
        now = BEGAN_AT + day * 20 * DAY_S
        world.held.pass_to(now)
        seen = world.world.visit(rows, now)
        world.held.learn(rows, np.full(200, 20 * DAY_S if day else np.nan), seen, now)
    held, gone = world.held.columns(None), seen.gone
    assert gone.sum() > 100
    assert (held.importance[~gone] == PAGES.weight[~gone]).all()
    assert (held.importance[gone] <= PAGES.weight[gone] / 2).all()


def test_rates_drift_and_the_optimum_with_them() -> None:
    world = Poisson(PAGES, 1, jumps_a_day=0.1)
    before, best_before = world.rate_per_s.copy(), world.best(0.3)
    for day in range(3):
        world.pass_to(day * DAY_S)
    assert 0.05 < (world.rate_per_s != before).mean() < 0.4
    assert world.best(0.3) != best_before
    swapped = Poisson(PAGES, 1, swaps_a_day=0.1)
    for day in range(3):
        swapped.pass_to(day * DAY_S)
    assert np.allclose(np.sort(swapped.weight), np.sort(PAGES.weight))
    assert (swapped.weight != PAGES.weight).any()


def test_the_best_come_first_and_of_equals_the_earlier() -> None:
    values = np.random.default_rng(1).integers(0, 50, 400).astype(float)
    assert sorted(values[best(values, 30)].tolist()) == sorted(values)[-30:]
    assert (np.diff(values[best(values, 30)]) <= 0).all()


def test_who_is_told_of_some_changes_learns_how_many_and_keeps_copies_fresher() -> None:
    one_host = replace(PAGES, host=np.zeros(200, np.int64))
    told = PollingRun(Price(), one_host, 0.3, conditions=replace(QUICK, recall=0.8, precision=0.9))
    untold = PollingRun(Price(), one_host, 0.3, conditions=QUICK)
    assert told.run(6, 3).value > untold.run(6, 3).value + 0.02
    recall = told.held.columns(None).announced_share
    assert recall is not None
    assert 0.2 < recall[0] < 1.0
    assert untold.held.columns(None).announced_share is None


def test_pages_that_come_back_do_so_after_a_time_and_say_whether_they_changed_since_they_were_read() -> None:
    still = replace(PAGES, lam_per_day=np.where(np.arange(200) < 100, 1e-9, 1e3), weight=np.ones(200))
    world, rows = Poisson(still, 1, deaths_a_day=0.5, returns=1.0, away_s=20 * DAY_S), np.arange(200)
    world.pass_to(0.0)
    world.visit(rows, 0.0)
    world.pass_to(DAY_S)
    gone = world.visit(rows, DAY_S).gone
    assert 60 < gone.sum() < 140
    world.deaths_per_s = 0.0
    world._fresh[:] = 0.0
    world.pass_to(21 * DAY_S)
    back = gone & world.alive
    assert 0.4 < back.sum() / gone.sum() < 0.85, "1 - 1/e"
    before = world.earned(21 * DAY_S)
    assert world.earned(22 * DAY_S) == before, "a page that is back has no copy until it is read"
    seen = world.visit(rows, 22 * DAY_S)
    assert (seen.gone == ~(back | ~gone)).all()
    assert not seen.changed[back & (rows < 100)].any()
    assert seen.changed[back & (rows >= 100)].all()
    world.pass_to(200 * DAY_S)
    assert not world.visit(rows, 200 * DAY_S).gone.any()


def test_the_part_that_comes_back_is_as_asked_for_and_the_same_pages_go_away() -> None:
    def there(returns: float) -> np.ndarray:
        world = Poisson(PAGES, 1, deaths_a_day=0.6, returns=returns, away_s=0.01 * DAY_S)
        world.pass_to(0.0)
        world.pass_to(DAY_S)
        world.deaths_per_s = 0.0
        before = world.alive.copy()
        world.pass_to(3 * DAY_S)
        return np.array([before, world.alive])

    never, half, every = (there(returns) for returns in (0.0, 0.5, 1.0))
    assert (never[0] == half[0]).all()
    assert (never[1] == never[0]).all()
    gone = ~never[0]
    assert 0.35 < half[1][gone].mean() < 0.65
    assert every[1].all()


def test_of_a_page_that_is_back_the_rate_is_learned_from_when_it_was_read_last() -> None:
    slow = replace(PAGES, lam_per_day=np.full(200, 1e-9))
    conditions = replace(QUICK, deaths=0.5, returns=1.0, away=0.5)
    polling = PollingRun(Listening(), slow, 0.5, conditions=conditions)
    held, row = polling.held, np.array([0])
    held.pass_to(BEGAN_AT)
    alive = polling.world.visit(row, BEGAN_AT)
    for day, lost in ((0, False), (1, True), (3, False)):
        interval_s = np.array([[np.nan, 1.0, 0.0, 2.0][day] * DAY_S])
        held.learn(row, interval_s, alive._replace(gone=np.array([lost])), BEGAN_AT + day * DAY_S)
    assert held.beliefs._scale_s[0] == pytest.approx(3 * DAY_S), "three days without a change, and not two"


def test_visits_to_pages_that_are_gone_are_counted_and_nobody_is_told_of_deaths_who_is_not_to_be() -> None:
    policy = Listening()
    found = poll(policy, PAGES, 0.5, cycles=4, measured_from=2, conditions=replace(QUICK, deaths=0.2))
    late = policy.told("at") > BEGAN_AT + 4 * DAY_S
    assert found.gone == pytest.approx(policy.told("gone")[late].mean())
    assert 0 < found.again < found.gone
    untold = heard(replace(QUICK, deaths=0.2, told_deaths=False))
    assert untold.told("gone").any()
    assert untold.deaths_per_s == 0.0
    assert heard(replace(QUICK, deaths=0.2)).deaths_per_s > 0.0
