"""The price policy: worth it in a made-up world whose optimum is known, and its kernels as `index` says."""

import numpy as np
import pytest
import visit_forms
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas import allocation, index
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.policies.price.price import Price
from evercrawl.schedule.policies.price_gamma import PriceGamma
from evercrawl.types import Slots

DAY = 86400.0
SURE = 1e6  # the shape of a belief that knows the rate
POSITIVE = st.floats(1e-3, 1e3)


class World:
    """Pages that change by a Poisson process, on a host that may be asked as often as one likes."""

    def __init__(self, policy: Price, pages: int, budget: float, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.weight = draw.pareto(1.1, pages) + 1
        self.rate_per_s = np.exp(draw.normal(-2.5, 2.0, pages)) / DAY
        self.visited_at = np.full(pages, np.nan)
        self.budget_per_s = budget / DAY
        self.policy = policy
        self.frontier = Frontier(policy, self.columns, lambda slot: float(self.visited_at[slot]), refresh_after_s=0.0)
        self.frontier.add_host("h").delay_s = 0.0
        self.frontier.add_new(0, range(pages))
        self.now = 0.0

    def columns(self, slots: Slots) -> Pages:
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        scale = SURE / self.rate_per_s[slots]
        return Pages(slots, self.visited_at[slots], self.weight[slots], none, SURE * one, scale, one, none, none)

    def visit(self) -> tuple[int, float]:
        """Visit a page; return it, and the weighted expected freshness that the interval before had earned (s)."""
        self.now += 1 / self.budget_per_s
        [(host, slot, _)] = self.frontier.choose(self.now, 1)
        self.frontier.began(host, self.now)
        self.frontier.ended(host, self.now)
        waited_s = self.now - self.visited_at[slot]
        self.visited_at[slot] = self.now
        self.frontier.add_seen(0, slot)
        rate = self.rate_per_s[slot]
        return slot, -np.expm1(-rate * waited_s) / rate * self.weight[slot]

    def run(self, cycles: float) -> float:
        """Return the mean expected freshness, weighted, over some cycles."""
        start, earned = self.now, 0.0
        open_at = np.where(np.isnan(self.visited_at), start, self.visited_at)
        before = self._since(open_at, start)
        for _ in range(int(cycles * len(self.weight))):
            earned += np.nan_to_num(self.visit()[1])
        earned += self._since(np.where(np.isnan(self.visited_at), self.now, self.visited_at), self.now) - before
        return earned / (self.now - start) / float(self.weight.sum())

    def _since(self, visited_at: np.ndarray, now: float) -> float:
        return float((-np.expm1(-self.rate_per_s * (now - visited_at)) / self.rate_per_s * self.weight).sum())

    def ratio(self, warm: float, cycles: float) -> float:
        """Return what share of the optimum some cycles reach, after others to warm up."""
        self.run(warm)
        best = allocation.optimum(self.weight, self.rate_per_s, self.budget_per_s).value / self.weight.sum()
        return self.run(cycles) / float(best)


@pytest.mark.parametrize("budget", [30.0, 300.0])
def test_freshness_comes_near_to_the_optimum(budget: float) -> None:
    assert World(Price(harmonic=0.0), 1000, budget, seed=1).ratio(4, 6) >= 0.99


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_a_wrong_price_is_put_right(factor: float) -> None:
    world = World(Price(harmonic=0.0), 1000, 100.0, seed=2)
    world.run(2)
    world.policy.price *= factor
    assert world.ratio(2, 6) >= 0.97


def test_the_harmonic_part_costs_little_and_abandons_no_page() -> None:
    world = World(Price(), 1000, 300.0, seed=3)
    assert world.ratio(4, 16) >= 0.97
    assert world.now - world.visited_at.min() < 20 * 1000 / world.budget_per_s


@given(
    weight=POSITIVE, shape=st.floats(0.05, 1e4), scale=st.floats(1.0, 1e9), age=st.floats(0.0, 1e9), cost=POSITIVE,
    changed=st.floats(0.0, 1e3), price=POSITIVE,
)  # fmt: skip
def test_the_kernels_say_what_the_readable_version_says(weight, shape, scale, age, cost, changed, price) -> None:
    columns = [np.array([value]) for value in (0.0, weight, 0.0, shape, scale, cost, changed, 0.0)]
    pages, policy = Pages(np.zeros(1, np.uint32), *columns), Price(close=1e-6)
    policy.price = price
    value = policy.value(pages, Context(age))
    assert value == pytest.approx(
        index.index(weight, shape, scale, age, cost, changed), rel=1e-8, abs=1e-12 * weight * scale
    )
    due = policy.due(pages, Context(0.0))[0]
    assert due == pytest.approx(visit_forms.due_after_s(price, weight, shape, scale, cost, changed), rel=1e-6)


def one(visited_at: float, **columns: float) -> Pages:
    usual = {
        "importance": 1.0,
        "cash": 0.0,
        "shape": 1.0,
        "scale_s": DAY,
        "cost": 1.0,
        "cost_changed": 0.0,
        "neg_log_unchanged": 0.0,
    }
    return Pages(
        np.zeros(1, np.uint32), np.array([visited_at]), **{k: np.array([v]) for k, v in (usual | columns).items()}
    )


def test_a_new_page_is_worth_a_visit_after_the_time_of_patience_at_full_cost() -> None:
    policy = Price()
    policy.patience = 20 * DAY
    expected = index.index(1.0, 1.0, DAY, 20 * DAY, cost=4.0, harmonic=0.05)
    assert policy.value(one(np.nan, cost=1.0, cost_changed=3.0), Context(5.0)) == pytest.approx(expected)


def test_a_new_page_that_surely_changes_seldom_is_worth_all_the_time_that_its_copy_will_be_good() -> None:
    policy = PriceGamma()
    policy.patience = 20 * DAY
    sure, unsure = (one(np.nan, shape=shape, scale_s=1000 * shape * DAY) for shape in (1e12, 0.4))
    assert policy.value(sure, Context(5.0)) == pytest.approx(1000 * DAY, rel=1e-6)
    assert policy.value(unsure, Context(5.0)) == pytest.approx(index.index(1.0, 0.4, 400 * DAY, 20 * DAY, harmonic=0.0))
    blended = Price()
    blended.patience = 20 * DAY
    assert 950 * DAY < blended.value(sure, Context(5.0))[0] < 951 * DAY, (
        "no more than that, or the price could not follow"
    )


def test_a_notice_makes_a_visit_worth_more_and_due_sooner() -> None:
    policy = Price(close=1e-6)
    plain, noticed = one(0.0), one(0.0, neg_log_unchanged=0.5)
    assert policy.value(noticed, Context(DAY)) > policy.value(plain, Context(1.5 * DAY))
    policy.price = float(policy.value(plain, Context(3 * DAY))[0])
    assert policy.due(plain, Context(0.0))[0] == pytest.approx(3 * DAY, rel=1e-3)
    sooner = float(policy.due(noticed, Context(0.0))[0])
    assert 0.0 <= sooner < 2.8 * DAY
    assert policy.value(noticed, Context(max(sooner, 1.0)))[0] >= policy.price * (1 - 1e-3)
    assert policy.due(one(7.0, neg_log_unchanged=50.0), Context(0.0))[0] == 7.0


def test_what_matters_to_nobody_is_never_due() -> None:
    policy = Price()
    policy.price = 1.0
    assert policy.due(one(0.0, importance=0.0), Context(0.0))[0] == np.inf


def test_patience_is_twenty_cycles_of_what_was_measured() -> None:
    policy = Price()
    for i in range(2000):
        policy.chosen(np.ones(1), Context(10.0 * i, 300))
    assert policy.patience == pytest.approx(20 * 300 * 10.0, rel=0.01)
    assert policy.price == pytest.approx(1.0)


@pytest.mark.parametrize(("lasts_s", "expected_s"), [(1e4, 1e4), (1e9, 20 * 300 * 10.0), (1e-3, 1.0)])
def test_and_no_longer_than_pages_last(lasts_s, expected_s) -> None:
    policy = Price()
    for i in range(2000):
        policy.chosen(np.ones(1), Context(10.0 * i, 300, 1.0 / lasts_s))
    assert policy.patience == pytest.approx(expected_s, rel=0.01)


def test_age_alone_is_worth_something_but_where_rates_are_given():
    """A page that is thought never to change falls due all the same, sooner the more it weighs."""
    one, none = np.ones(2), np.zeros(2)
    still = Pages(
        np.arange(2, dtype=np.uint32), none, np.array([1.0, 5.0]), none, 0.4 * one, 1e12 * one, one, none, none
    )
    given_rate = Pages(np.arange(2, dtype=np.uint32), none, one, none, 1e12 * one, 1e24 * one, one, none, none)
    policy, due = Price(), []
    for visits in (50, 200):
        for second in range(visits):
            policy.chosen(np.full(1, 100.0), Context(float(second), 10))
        due.append(policy.due(still, Context(0.0)))
    assert (due[1] < 0.1 * due[0]).all()
    assert due[1][1] < due[1][0] < 200 * 10
    assert policy.value(still, Context(1000.0))[1] > 255_000
    assert policy.value(given_rate, Context(1000.0))[1] < 5.5e-7
