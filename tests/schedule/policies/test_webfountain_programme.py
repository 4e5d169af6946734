"""WebFountain's programme: its slope, its constraints, and its optimum against what trying every corner finds."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.errors import ConfigError
from evercrawl.schedule.policies.webfountain.programme import (
    WEIGHTINGS,
    Programme,
    VisitPlan,
    cost_of,
    obsolete,
    slope_of,
    weighting,
)
from evercrawl.schedule.policies.webfountain.solver import bounded, solve
from evercrawl.types import Floats


def programme(buckets: int, periods: int, seed: int) -> Programme:
    draw = np.random.default_rng(seed)
    pages = draw.dirichlet(np.ones(buckets))
    change = 1 - np.exp(-(10 ** draw.uniform(-2, 0.7, (1, buckets))) * draw.uniform(0.5, 1.5, (periods, 1)))
    weight = 1 + draw.pareto(1.1, buckets)
    return Programme(
        pages, pages * draw.random(buckets), change, draw.dirichlet(np.ones(buckets)), 0.3 * draw.random(),
        0.03 * draw.random(periods), draw.uniform(0.5, 2.0, (periods, buckets)), draw.uniform(0.5, 2.0, periods),
        draw.uniform(0.03, 0.3, periods), np.tile(weight, (periods, 1)),
        np.full(periods, weight.mean() * draw.uniform(0.2, 1.5)),
    )  # fmt: skip


def test_obsolete_pages_by_hand() -> None:
    one = np.ones((2, 1))
    of = Programme(
        np.array([10.0]), np.array([4.0]), 0.5 * one, one[0], 8.0, np.array([2.0, 0.0]), one, one[:, 0], 9 * one[:, 0],
        one, np.array([3.0, 3.0]),
    )  # fmt: skip
    plan = VisitPlan(np.array([[5.0], [6.0]]), np.array([4.0, 2.0]))
    first = (1 - 5 / 10) * (4 + 0.5 * (10 - 4)) + 4 * 0.5 / 2
    second = (1 - 6 / 14) * (first + 0.5 * (14 - first)) + 2 * 0.5 / 2
    assert obsolete(of, plan)[:, 0] == pytest.approx([first, second])
    assert cost_of(of, plan) == pytest.approx(first + second + 3 * (8 + 2 - 4) + 3 * (6 - 2))
    assert of.excess(plan) == 0.0
    assert of.excess(VisitPlan(plan.old, plan.new + 3.0)) == pytest.approx(3.0)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), buckets=st.integers(1, 5), periods=st.integers(1, 9))
def test_the_slope_is_that_of_the_cost_and_a_bounded_plan_keeps_all_constraints(seed, buckets, periods) -> None:
    of, draw = programme(buckets, periods, seed), np.random.default_rng(seed)
    plan = bounded(of, VisitPlan(draw.random((periods, buckets)), 0.1 * draw.random(periods)))
    assert of.excess(plan) <= 1e-12
    way, step = VisitPlan(draw.standard_normal((periods, buckets)), draw.standard_normal(periods)), 1e-6
    slope = slope_of(of, plan)
    expected = float((slope.old * way.old).sum() + slope.new @ way.new)
    ends = [cost_of(of, VisitPlan(plan.old + s * way.old, plan.new + s * way.new)) for s in (step, -step)]
    assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), buckets=st.integers(1, 6), periods=st.integers(1, 8))
def test_what_is_solved_keeps_all_constraints_and_no_small_step_betters_it(seed, buckets, periods) -> None:
    of, draw = programme(buckets, periods, seed), np.random.default_rng(seed)
    plan = solve(of)
    assert of.excess(plan) <= 1e-6
    best = cost_of(of, plan)
    for _ in range(20):
        other = bounded(of, VisitPlan(draw.random((periods, buckets)), 0.1 * draw.random(periods)))
        part = 0.01
        near = VisitPlan(*(a + part * (b - a) for a, b in zip(plan, other, strict=True)))
        assert of.excess(near) <= 1e-9
        assert cost_of(of, near) >= best * (1 - 1e-7)


def corners(of: Programme, t: int, pages: Floats, new: Floats) -> list[Floats]:
    """Return the visits of period `t` in which each bucket is visited not at all, wholly, or for what is left."""
    left = np.maximum(of.budget[t] - of.cost_new[t] * new, 0.0)
    found = [np.zeros_like(pages)]
    for order in ((0, 1), (1, 0)):
        visits, room = np.zeros_like(pages), left
        for i in order:
            visits = visits.copy()
            visits[:, i] = np.minimum(pages[:, i], room / of.cost[t, i])
            room = room - of.cost[t, i] * visits[:, i]
            found.append(visits)
    return found


def least_cost(of: Programme, new: Floats) -> Floats:
    """Return the least cost over all corners, for rows of numbers of new pages."""
    sizes = [of.sizes(row) for row in new]
    pages = np.array([b for b, _ in sizes])
    unread = np.array([(of.new_weight * n).sum() for _, n in sizes])
    choices = [corners(of, t, pages[:, t], new[:, t]) for t in range(3)]
    best = np.full(len(new), np.inf)
    for combination in itertools.product(range(5), repeat=3):
        held, cost = np.tile(of.obsolete, (len(new), 1)), unread.copy()
        for t in range(3):
            before = held + of.change[t] * (pages[:, t] - held)
            held = (1 - choices[t][combination[t]] / pages[:, t]) * before
            held = held + of.shares * new[:, t, None] * of.change[t] / 2
            cost += (of.old_weight[t] * held).sum(1)
        best = np.minimum(best, cost)
    return best


@pytest.mark.parametrize("seed", range(4))
def test_two_buckets_and_three_periods_as_if_every_possibility_were_tried(seed: int) -> None:
    of = programme(2, 3, seed)
    most = of.budget / of.cost_new
    known = of.unread + np.cumsum(of.found)
    middle, reach, found = most / 2, most / 2, np.inf
    for _ in range(9):  # a grid of numbers of new pages, made finer around the best
        axes = [np.unique(np.clip(middle[t] + reach[t] * np.linspace(-1, 1, 7), 0.0, most[t])) for t in range(3)]
        new = np.array(list(itertools.product(*axes)))
        new = new - np.maximum(np.cumsum(new, 1) - known, 0).max(1, keepdims=True) / 3
        new = np.maximum(new, 0.0)
        new = new[(np.cumsum(new, 1) <= known + 1e-12).all(1)]
        costs = least_cost(of, new)
        if costs.min() < found:
            found, middle = float(costs.min()), new[costs.argmin()]
        reach = reach / 1.7
    solved = cost_of(of, solve(of))
    assert solved <= found * (1 + 1e-9)
    assert solved == pytest.approx(found, rel=2e-3), "neither is far off"


def test_weights_are_the_same_rise_in_proportion_or_stand_at_the_end() -> None:
    assert weighting("flat", 8).tolist() == [1.0] * 8
    assert weighting("rising", 8) == pytest.approx(np.arange(1, 9) / 8)
    assert weighting("last", 8).tolist() == [1.0] * 7 + [8.0]


def test_the_last_period_should_weigh_most_to_have_few_obsolete_pages_in_the_end() -> None:
    """With equal weights a plan lets pages grow old towards its end: their cost falls outside it."""
    periods, ends, sums = 8, dict[str, list[float]](), dict[str, list[float]]()
    for seed in range(3):
        of = programme(4, periods, seed)
        for name in WEIGHTINGS:
            plan = solve(_weighted(of, weighting(name, periods)))
            left, unread = obsolete(of, plan), of.sizes(plan.new)[1]
            each = (of.old_weight * left).sum(1) + of.new_weight * unread
            ends.setdefault(name, []).append(float(each[-1]))
            sums.setdefault(name, []).append(float(each.sum()))
    assert all(np.array(ends["last"]) <= np.array(ends["flat"]) + 1e-9)
    assert np.mean(ends["last"]) < 0.98 * np.mean(ends["flat"])
    assert np.mean(sums["flat"]) < np.mean(sums["last"]), "there is no magic bullet: each is best by its own measure"
    assert np.mean(ends["last"]) < np.mean(ends["rising"]) < np.mean(ends["flat"])


def _weighted(of: Programme, weights: Floats) -> Programme:
    return Programme(
        of.pages, of.obsolete, of.change, of.shares, of.unread, of.found, of.cost, of.cost_new, of.budget,
        of.old_weight * weights[:, None], of.new_weight * weights,
    )  # fmt: skip


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(ConfigError, match="pip install 'evercrawl"):
        solve(programme(2, 2, 1))
