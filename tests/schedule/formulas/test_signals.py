"""What announcements are worth: limits in which the sums are known, and draws."""

import numpy as np
import pytest
from visit_forms import level, worth

from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.allocation import h
from evercrawl.schedule.formulas.index import announced, heard, parts
from evercrawl.schedule.formulas.signals import lower_gamma, optimum, signals, times

LEVELS = np.array([0.01, 0.5, 1.0, 3.0, 10.0])


def test_where_nothing_is_announced_it_is_the_index_of_a_known_rate() -> None:
    assert worth(signals(0.3, 0.0, 0.0), 2.0, LEVELS) == pytest.approx(2.0 / 0.3 * h(LEVELS), rel=1e-9)


def test_false_alarms_alone_change_nothing() -> None:
    of = signals(0.3, 0.0, 1.0)
    assert of.kappa == 0.0
    assert worth(of, 2.0, LEVELS[:3]) == pytest.approx(2.0 / 0.3 * h(LEVELS[:3]), rel=1e-6)


def test_a_visit_is_worth_more_the_higher_the_level_and_announcements_make_waiting_safer() -> None:
    of = signals(1.0, 0.8, 0.1)
    value = worth(of, 1.0, np.linspace(0.0, 8.0, 60))
    assert value[0] == 0.0
    assert (np.diff(value) >= -1e-12).all()
    assert times(of, np.array([1.0]))[0] > times(signals(1.0, 0.0, 0.0), np.array([1.0]))[0]


def test_the_times_are_those_of_draws() -> None:
    of, draw, at = signals(1.0, 0.6, 0.3), np.random.default_rng(1), 1.2
    passed = []
    for _ in range(4000):
        now, count = 0.0, 0
        while True:
            left = (at - of.kappa * count) / of.silent - now
            wait = draw.exponential(1.0 / of.announced)
            if left <= wait:
                end = now + max(left, 0.0)
                break
            now, count = now + wait, count + 1
        passed.append(end)
    assert times(of, np.array([at]))[0][0] == pytest.approx(np.mean(passed), abs=5 * np.std(passed) / np.sqrt(4000))
    assert level(of, 1.0, 2) == pytest.approx(of.silent + 2 * of.kappa)


@pytest.mark.parametrize("shape", [1, 2, 7, 30])
def test_the_gamma_function_is_right_in_both_tails(shape: int) -> None:
    scipy = pytest.importorskip("scipy.special")
    x = np.array([1e-3, 0.5, shape * 0.7, shape + 1.0, 3.0 * shape])
    assert lower_gamma(shape, x) == pytest.approx(scipy.gammainc(shape, x), rel=1e-9)


@pytest.mark.parametrize("rho", [0.3, 0.8, 0.95])
def test_below_one_announcement_that_is_certain_the_closed_form_is_the_index(rho) -> None:
    age = np.array([0.1, 0.5, 1.0, 3.0])
    of = signals(1.0, rho, 1e-9)
    assert heard(1e9, 1e9, age, rho) == pytest.approx(worth(of, 1.0, level(of, age, 0)), rel=1e-5)
    doubted = signals(1.0, rho, rho * (1 / 0.9 - 1))
    assert heard(1e9, 1e9, age, rho) == pytest.approx(worth(doubted, 1.0, level(doubted, age, 0)), rel=0.12)


@pytest.mark.parametrize("shape", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("rho", [0.05, 0.5, 0.9])
def test_where_the_rate_is_not_known_the_index_is_the_mean_over_what_is_believed_now(shape, rho) -> None:
    """Of Gamma(a, b + rho t) after silence, and with one announcement more where there was one."""
    draw = np.random.default_rng(1)
    for age in (0.3, 4.0):
        quiet = draw.gamma(shape, 1.0 / (1.0 + rho * age), 400_000)
        mean = np.mean(known_rate(quiet, rho, age))
        assert heard(shape, 1.0, age, rho) == pytest.approx(mean, rel=0.02)
        told, kappa = draw.gamma(shape + 1.0, 1.0 / (1.0 + rho * age), 400_000), 1.5
        mean = np.mean(known_rate(told, rho, age + kappa / ((1.0 - rho) * told)))
        assert announced(shape, 1.0, age, rho, kappa)[0] == pytest.approx(mean, rel=0.05)


def known_rate(rate, rho, age):
    """Return what a visit is worth of pages of known rates, by the definition."""
    return -np.expm1(-rate * age) / rate + np.exp(-(1 - rho) * rate * age) * np.expm1(-rho * rate * age) / (rho * rate)


def test_it_grows_without_bound_so_that_no_page_is_given_up() -> None:
    ages = np.geomspace(1.0, 1e9, 30)
    for rho in (0.1, 0.5, 0.95):
        worth = heard(0.4, 1.0, ages, rho)
        assert (np.diff(worth) > 0).all()
        assert worth[-1] > 1e3 * worth[15]
    assert (heard(0.4, 1.0, ages[:5], 0.5) < parts(0.4, 1.0, ages[:5]).fresh).all()


def test_the_best_there_is_lies_between_the_optimum_without_and_telling_all() -> None:
    draw = np.random.default_rng(1)
    weight, lam = draw.pareto(1.1, 300) + 1.0, np.exp(draw.normal(0.0, 2.0, 300))
    budget = 0.2 * lam.sum()
    none = allocation.optimum(weight, lam, budget).value / weight.sum()
    some = [optimum(weight, lam, budget, recall, 0.9) for recall in (0.1, 0.5, 0.9)]
    order = np.argsort(lam / weight)
    told_all = weight[order][np.cumsum(lam[order]) <= budget].sum() / weight.sum()
    assert optimum(weight, lam, budget, 0.0, 1.0) == pytest.approx(none, rel=1e-4)
    assert none < some[0] < some[1] < some[2] < told_all
    assert optimum(weight, lam, budget, 1.0 - 1e-6, 1.0 - 1e-9) == pytest.approx(told_all, abs=0.01)
