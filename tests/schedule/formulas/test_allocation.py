"""The exact optimum: nothing near it is better, whatever the crawl is after, what visits cost, and what hosts give."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evercrawl.schedule.formulas import allocation, objectives
from evercrawl.schedule.formulas.objectives import AGE, FRESHNESS, HARMONIC, OBJECTIVES

POSITIVE = hnp.arrays(np.float64, 6, elements=st.floats(0.01, 100.0))


@example(np.full(6, 0.5), np.full(6, 70.5), 1.0, 0.125, list(range(6)))  # no price is told from that of nothing
@settings(deadline=None, max_examples=50)
@given(
    weight=POSITIVE,
    lam=POSITIVE,
    budget=st.floats(0.05, 100.0),
    move=st.floats(0.001, 0.2),
    pair=st.permutations(range(6)),
)
def test_moving_visits_from_one_page_to_another_never_helps(weight, lam, budget, move, pair) -> None:
    for objective in OBJECTIVES.values():
        best = allocation.optimum(weight, lam, budget, objective)
        assert np.isclose(best.rate.sum(), budget)
        rate = best.rate.copy()
        moved = rate[pair[0]] * move
        rate[pair[0]] -= moved
        rate[pair[1]] += moved
        other = (weight * objective.mean(rate, lam)).sum()
        gain = other - best.value if objective is FRESHNESS else best.value - other
        assert gain <= 1e-9 * best.value


def test_pages_that_never_change_and_pages_that_matter_to_nobody_get_no_visits() -> None:
    best = allocation.optimum([1.0, 1.0, 0.0], [0.0, 1.0, 1.0], 2.0)
    assert best.rate.tolist() == [0.0, np.float64(best.rate[1]), 0.0]
    assert np.isclose(best.rate[1], 2.0)


@pytest.mark.parametrize("objective", [FRESHNESS, HARMONIC, AGE])
def test_what_ending_an_interval_is_worth_is_what_one_visit_more_adds(objective) -> None:
    step = 1e-4
    for lam, rate in ((1.0, 0.3), (0.2, 2.0), (5.0, 1.0)):
        adds = (objective.mean(rate + step, lam) - objective.mean(rate - step, lam)) / (2 * step)
        worth = objective.worth(np.array(lam / rate)) / lam**objective.power
        assert abs(adds) == pytest.approx(worth, rel=1e-5)


@given(log_x=st.floats(-15.0, 10.0), dear=st.floats(0.0, 50.0))
def test_intervals_are_those_whose_worth_is_the_cost(log_x, dear) -> None:
    for objective in OBJECTIVES.values():
        x = np.array(np.exp(min(log_x, 3.0) if objective is FRESHNESS else log_x))
        level = objective.worth(x) / (1.0 + dear * objectives.h(x))
        assert allocation.interval(level, objective, dear) == pytest.approx(x, rel=1e-6)


def test_a_change_that_costs_much_makes_its_page_rarer() -> None:
    weight, lam = np.ones(3), np.array([0.1, 1.0, 1.0])
    best = allocation.optimum(weight, lam, 10.0, FRESHNESS, 1.0, [0.0, 0.0, 20.0])
    spent = best.rate * (1.0 - np.array([0.0, 0.0, 20.0]) * np.expm1(-lam / best.rate))
    assert spent.sum() == pytest.approx(10.0)
    assert best.rate[2] < 0.5 * best.rate[1]
    for moved in (0.9, 1.1):  # the third page's visits; the second takes what that leaves
        rate = best.rate * [1.0, 1.0, moved]
        left = 10.0 - rate[0] - rate[2] * (1.0 - 20.0 * np.expm1(-lam[2] / rate[2]))
        rate[1] = left
        assert (weight * objectives.freshness(rate, lam)).sum() < best.value


def draw(pages: int, hosts: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.pareto(1.1, pages) + 1, np.exp(rng.normal(-2.0, 2.0, pages)), rng.integers(hosts, size=pages)


def test_no_host_gives_more_than_its_cap_and_prices_say_who_is_short() -> None:
    weight, lam, host = draw(300, 10, 3)
    cap = np.array([0.0, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, np.inf, np.inf])
    best = allocation.constrained(weight, lam, host, cap, 40.0)
    used = np.bincount(host, best.rate, 10)
    assert used.sum() == pytest.approx(40.0)
    assert (used <= cap * (1 + 1e-9)).all()
    short = best.extra > 1e-9
    assert used[short] == pytest.approx(cap[short])
    assert 2 <= short.sum() <= 8
    worth = weight / lam * objectives.h(lam / np.where(best.rate > 0, best.rate, 1e-9))
    paid = best.price + best.extra[host]
    visited = best.rate > 0
    assert worth[visited] == pytest.approx(paid[visited], rel=1e-9)
    assert (weight / lam <= paid * (1 + 1e-9))[~visited & (host > 0)].all()


def test_caps_that_do_not_bind_change_nothing_and_caps_that_all_bind_leave_budget_over() -> None:
    weight, lam, host = draw(200, 5, 4)
    free = allocation.optimum(weight, lam, 20.0)
    loose = allocation.constrained(weight, lam, host, np.full(5, 19.0), 20.0)
    assert loose.rate == pytest.approx(free.rate, rel=1e-9)
    assert loose.price == pytest.approx(free.price)
    tight = allocation.constrained(weight, lam, host, np.full(5, 2.0), 20.0)
    assert (tight.price, tight.rate.sum()) == (0.0, pytest.approx(10.0))
    assert tight.value < free.value


def test_a_host_left_to_itself_is_the_optimum_of_its_pages() -> None:
    weight, lam, host = draw(60, 2, 5)
    best = allocation.constrained(weight, lam, host, [1.0, np.inf], 6.0, HARMONIC)
    first = host == 0
    assert best.rate[first] == pytest.approx(allocation.optimum(weight[first], lam[first], 1.0, HARMONIC).rate)
