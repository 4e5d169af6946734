"""What a budget brings: exact where rates are known, and true for a crawl whose world is known."""

from itertools import pairwise

import numpy as np
import pytest

from evercrawl.ask.plan.curve import LINE, SELDOM_S, BudgetCurve, PlannedPages
from evercrawl.ask.plan.outlook import freshness_of_late, outlook
from evercrawl.ask.plan.rates import at_rates
from evercrawl.config import Config
from evercrawl.errors import ConfigError
from evercrawl.model.view import View
from evercrawl.schedule import Pages
from evercrawl.schedule.formulas.allocation import optimum
from evercrawl.schedule.formulas.index import HARMONIC
from evercrawl.simulate.living import comparison
from evercrawl.simulate.living.lives import relive
from evercrawl.store.journal.events import CHANGED, Visit
from evercrawl.store.partition import Partition

SITE = "http://example.org"
DAY_S = 86_400.0


def pages(weight, shape, scale_s, cost=1.0, changed=0.0):
    count = len(weight)
    none, full = np.zeros(count), np.ones(count)
    columns = (np.broadcast_to(np.asarray(of, np.float64), count).copy() for of in (shape, scale_s, cost, changed))
    a, b, c0, c1 = columns
    return Pages(np.arange(count, dtype=np.uint32), none, np.asarray(weight, np.float64), full, a, b, c0, c1, none)


def held(columns, wait_s=0.0, copies=True):
    count = len(columns.slot)
    return PlannedPages(columns, np.full(count, copies), np.full(count, wait_s), np.ones(count))


@pytest.fixture(scope="module")
def population():
    draw = np.random.default_rng(4)
    return draw.pareto(1.1, 400) + 0.01, np.exp(draw.normal(-10.0, 2.3, 400))


@pytest.mark.parametrize("per_page_s", [1e-7, 1e-6, 1e-5, 1e-4])
def test_with_known_rates_it_is_the_optimum(population, per_page_s):
    weight, lam = population
    budget = per_page_s * len(lam)
    point = BudgetCurve(held(pages(weight, 1e12, 1e12 / lam)), harmonic=0.0).spending(budget)
    best = optimum(weight, lam, budget)
    assert point.budget == pytest.approx(budget, rel=1e-6)
    assert point.visits_per_s == pytest.approx(budget, rel=1e-6)
    assert point.freshness == pytest.approx(best.value / weight.sum(), abs=1e-6)
    assert point.price == pytest.approx(best.price, rel=1e-5)
    assert point.marginal == pytest.approx(best.price / weight.sum(), rel=0.01)


@pytest.mark.parametrize(("shape", "harmonic"), [(1e12, 0.0), (0.4, 0.0), (3.0, 0.0), (0.4, HARMONIC)])
def test_more_brings_more_and_ever_less_of_it(population, shape, harmonic):
    weight, lam = population
    curve = BudgetCurve(held(pages(weight, shape, shape / lam)), harmonic)
    points = curve.points([len(lam) * per_s for per_s in np.geomspace(1e-8, 1e-2, 13)])
    for less, more in pairwise(points):
        assert less.freshness < more.freshness
        assert less.price > more.price
        if harmonic == 0.0:
            gain = (more.freshness - less.freshness) / (more.budget - less.budget)
            assert less.marginal * 1.02 >= gain >= more.marginal * 0.98
    assert 0.0 < points[0].freshness < points[-1].freshness < 1.0


def test_the_harmonic_part_costs_a_little_and_gives_nothing_up(population):
    weight, lam = population
    all_pages = held(pages(weight, 1e12, 1e12 / lam))
    best, usual = (BudgetCurve(all_pages, harmonic).spending(0.004) for harmonic in (0.0, HARMONIC))
    assert best.freshness - 0.04 < usual.freshness < best.freshness
    assert best.seldom > usual.seldom


def test_what_costs_when_it_has_changed_is_paid_as_often_as_that(population):
    weight, lam = population
    curve = BudgetCurve(held(pages(weight, 1e12, 1e12 / lam, cost=600.0, changed=20_000.0)), 0.0)
    point = curve.spending(40.0)
    assert point.budget == pytest.approx(40.0, rel=1e-6)
    assert 600.0 < point.budget / point.visits_per_s < 20_600.0


def test_no_more_is_spent_than_the_wait_of_pages_lets(population):
    weight, lam = population
    curve = BudgetCurve(held(pages(weight, 1e12, 1e12 / lam), wait_s=1_000.0))
    point = curve.spending(1e6)
    assert point.budget == pytest.approx(len(lam) / 1_000.0)
    assert point.marginal == 0.0
    assert len(curve.points([0.01, 1.0, 10.0, 100.0])) == 2


def test_a_curve_is_drawn_through_its_points_and_others_where_they_are_far_apart(population):
    weight, lam = population
    curve = BudgetCurve(held(pages(weight, 1e12, 1e12 / lam)), 0.0)
    near = curve.points([0.001, 0.002, 0.004])
    assert curve.through(near[::-1]) == near
    assert curve.through([near[0], *near]) == near
    assert curve.through([]) == []
    far = curve.points([1e-5, 1.0])
    line = curve.through([*far, near[1]])
    assert {*far, near[1]} <= {*line}
    for less, more in pairwise(line):
        assert less.budget < more.budget < 3.1 * less.budget
        assert less.freshness < more.freshness
    assert len(curve.through(curve.points([1e-30, 1.0]))) <= 2 + LINE


def test_what_is_no_copy_costs_and_is_never_fresh(population):
    weight, lam = population
    columns = pages(np.append(weight, weight.max()), 1e12, np.append(1e12 / lam, 1e12 / np.median(lam)))
    copies = np.append(np.ones(len(lam), np.bool_), False)
    beside = BudgetCurve(PlannedPages(columns, copies, np.zeros(len(copies)), np.ones(len(copies))), 0.0)
    alone = BudgetCurve(held(pages(weight, 1e12, 1e12 / lam)), 0.0)
    price = alone.spending(0.01).price
    assert beside.at(price).freshness == pytest.approx(alone.at(price).freshness)
    assert beside.at(price).budget > alone.at(price).budget


def test_a_sample_stands_for_all(population):
    weight, lam = population
    everything = held(pages(np.tile(weight, 20), 1e12, np.tile(1e12 / lam, 20)))
    sampled = everything.sampled(2_000)
    assert len(sampled.times) == 2_000
    assert sampled.times.sum() == pytest.approx(8_000)
    whole, some = (BudgetCurve(of, 0.0).spending(0.08) for of in (everything, sampled))
    assert some.freshness == pytest.approx(whole.freshness, abs=0.01)
    assert some.price == pytest.approx(whole.price, rel=0.1)


def test_rates_that_are_the_best_bring_what_the_curve_has_and_others_bring_less(population):
    weight, lam = population
    everything, budget = held(pages(weight, 1e12, 1e12 / lam)), 0.004
    best = BudgetCurve(everything, harmonic=0.0).spending(budget)
    ours = at_rates(everything, 100.0 * optimum(weight, lam, budget).rate, budget)
    assert ours.freshness == pytest.approx(best.freshness, abs=1e-6)
    assert (ours.budget, ours.visits_per_s) == pytest.approx((budget, budget))
    assert ours.seldom == pytest.approx(best.seldom, abs=1e-3)
    alike = at_rates(everything, np.ones(len(lam)), budget)
    tau = len(lam) / budget
    assert alike.freshness == pytest.approx(weight @ (-np.expm1(-lam * tau) / (lam * tau)) / weight.sum(), abs=1e-6)
    assert alike.freshness < best.freshness - 0.05
    assert alike.left_alone == 0.0


def test_visits_by_lot_bring_less_than_even_ones_and_what_costs_more_is_paid(population):
    weight, lam = population
    dear = held(pages(weight, 2.0, 2.0 / lam, cost=600.0, changed=20_000.0))
    even, lots = (at_rates(dear, np.sqrt(weight * lam), 40.0, at_random=lot) for lot in (False, True))
    assert even.budget == pytest.approx(40.0, rel=1e-5)
    assert lots.budget == pytest.approx(40.0, rel=1e-5)
    assert 600.0 < even.budget / even.visits_per_s < 20_600.0
    assert lots.freshness < even.freshness - 0.02
    known = held(pages(weight, 1e9, 1e9 / lam))
    rate = np.full(len(lam), 1e-5)
    found = at_rates(known, rate, 1e-5 * len(lam), at_random=True)
    assert found.freshness == pytest.approx(weight @ (rate / (rate + lam)) / weight.sum(), abs=0.005)


def test_pages_are_counted_that_are_left_alone_for_longer_than_a_year(population):
    weight, lam = population
    everything = held(pages(weight, 1e12, 1e12 / lam))
    curve = BudgetCurve(everything, harmonic=0.0)
    for budget in (0.0004, 0.004, 0.04):
        rate = optimum(weight, lam, budget).rate
        assert curve.spending(budget).left_alone == pytest.approx((rate < 1.0 / SELDOM_S).sum(), abs=1)
    assert curve.spending(0.0004).left_alone > curve.spending(0.04).left_alone > 0
    some = np.where(np.arange(len(lam)) < 30, 1.0, 0.0)
    assert at_rates(everything, some, 0.004).left_alone == len(lam) - 30


def test_a_plan_that_a_crawl_follows_is_reckoned_with_by_its_own_rates(made, asked):
    view = filled_view(made, asked)
    told = {
        options: outlook(View(view.partition, Config(policy=options[0], policy_options=options[1:]), view.now))
        for options in (("optimal",), ("uniform",), ("azar", "spacing=random"), ("azar",), ("cycle",), ("price",))
    }
    best = told["optimal",]
    assert best.planned is not None
    assert best.now is not None
    assert best.planned.budget == pytest.approx(best.spent.budget, rel=1e-5)
    assert best.planned.freshness <= best.now.freshness
    assert best.curve == "best"
    assert told["uniform",].planned.freshness < best.now.freshness - 0.01
    assert told["azar", "spacing=random"].planned.freshness < told["azar",].planned.freshness
    for name in ("cycle", "price"):
        assert told[name,].planned is None
        assert told[name,].curve == ("price" if name == "price" else "best")


def filled_view(made, asked):
    made.seed(f"{SITE}/", "http://other.example/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", "/gone"))
    for round_ in range(6):
        made.now += DAY_S
        for name in ("a", "b"):
            made.visit(f"{SITE}/{name}", made.page(name, text=f"{name} {round_ // 3 if name == 'a' else round_}"))
    made.visit(f"{SITE}/gone", b"", 404)
    made.visit("http://other.example/", made.page("Other"))
    return asked(100.0)


def test_it_tells_where_a_crawl_is(made, asked):
    found = outlook(filled_view(made, asked))
    assert (found.unit, found.copies, found.pages, found.unread, found.site) == ("bytes", 4, 5, 0, "")
    assert found.now is not None
    assert found.now.budget == pytest.approx(found.spent.budget, rel=1e-6)
    assert [point.budget for point in found.points] == pytest.approx(
        [found.spent.budget * factor for factor in (0.125, 0.25, 0.5, 1, 2, 4, 8)], rel=1e-6
    )
    assert found.spent.within_s == DAY_S  # of which there are six; a day is the most
    assert found.spent.refreshes_per_s == pytest.approx(2 / DAY_S, rel=1e-3)
    assert found.spent.new_per_s == pytest.approx(2 / DAY_S, rel=1e-3)
    assert 0.0 < found.spent.freshness < 1.0
    assert 0.0 < found.fresh < 1.0
    assert found.polite_per_s == 2.0  # two hosts, a second each


def test_it_goes_by_the_options_of_the_policy(made, asked):
    usual = filled_view(made, asked)
    config = Config(policy_options=("harmonic=0.9",), newcomers=usual.config.newcomers)
    other = outlook(View(usual.partition, config, usual.now), budgets=[0.05])
    plain = outlook(usual, budgets=[0.05])
    assert other.points[0].freshness < plain.points[0].freshness
    best = outlook(View(usual.partition, Config(policy="cycle"), usual.now), budgets=[0.05])
    gone = 0.01  # pages found gone have a share of either budget, not quite the same, that makes no copy fresher
    assert best.points[0].freshness >= plain.points[0].freshness - gone


def test_of_one_site_it_tells_what_is_of_that_site(made, asked):
    view = filled_view(made, asked)
    there, other = outlook(view, "www.example.org"), outlook(view, "other.example")
    assert (there.site, there.copies, there.pages) == ("example.org", 3, 4)
    assert (other.copies, other.spent.refreshes_per_s, other.now) == (1, 0.0, None)
    assert len(other.points) > 3
    with pytest.raises(ConfigError, match="does not know nowhere"):
        outlook(view, "nowhere.example")


def test_without_a_copy_there_is_nothing_to_plan(made, asked):
    made.seed(f"{SITE}/")
    with pytest.raises(ConfigError, match="nothing to plan"):
        outlook(asked())


def test_visits_show_how_fresh_copies_were():
    """One page was never found changed; the other was at each visit, in the middle of the time as far as is known."""
    columns = pages([3.0, 1.0], 1e6, [1e6 * 1e12, 1e6 * 1e12])
    visits = [Visit(slot, 0, 10.0 * i, 1, 200, CHANGED * slot, interval_s=10.0) for i in (1, 2) for slot in (0, 1)]
    assert freshness_of_late(held(columns), visits, 0.0, 20.0) == pytest.approx((3 * 1.0 + 1 * 0.5) / 4, abs=1e-3)


def test_it_agrees_with_the_truth_of_a_living_web():
    """The first world of bench/plan.py, smaller."""
    world = comparison.BenchWorld(1, 120, 6.0, 20.0, 90.0)
    found = []

    def look(partition: Partition) -> None:
        config = Config(rate_per_s=world.fetches_per_s, refresh_after_s=0.0)
        found.append(outlook(View(partition, config, 0.0)))

    life = relive(world.web(endless=False), world.fetches_per_s, world.seconds, look=look)
    reached = comparison.measured(life)
    assert 0.3 < reached < 0.9
    assert found[0].unit == "fetches"
    assert found[0].now.freshness == pytest.approx(reached, abs=0.06)
    assert found[0].spent.freshness == pytest.approx(reached, abs=0.05)
    assert found[0].spent.refreshes_per_s == pytest.approx(world.fetches_per_s, rel=0.05)
