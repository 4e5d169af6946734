"""Renewal processes of any law: closed forms, and simulation."""

import math

import numpy as np
import pytest

from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.formulas.renewal import (
    LAWS,
    EmpiricalLaw,
    SurvivalLaw,
    renewal_law,
    staleness_bound,
    weibull_shape,
)
from evercrawl.schedule.policies.marked_point.counts import by_law, dynamic, greedy
from evercrawl.schedule.policies.marked_point.marked_point import MarkedPoint
from evercrawl.schedule.policies.polling import Polling, levels

X = np.array([0.05, 0.3, 1.0, 2.5])


def sampled(name: str, spread: float, draw: np.random.Generator, size: int) -> np.ndarray:
    if name == "constant":
        return np.ones(size)
    if name == "exponential":
        return draw.exponential(size=size)
    if name == "gamma":
        return draw.gamma(1 / spread**2, spread**2, size)
    if name == "weibull":
        shape = weibull_shape(spread)
        return draw.weibull(shape, size) / math.gamma(1 + 1 / shape)
    variance = math.log1p(spread**2)
    return draw.lognormal(-variance / 2, math.sqrt(variance), size)


@pytest.mark.parametrize("shape", [0.5, 2.0, 7.0])
def test_gamma_has_its_transform_and_erlang_its_residual(shape):
    law = renewal_law("gamma", 1 / math.sqrt(shape))
    assert law.transform(X) == pytest.approx((1 + X / shape) ** -shape, rel=2e-4)
    if shape == 2.0:
        assert law.residual(X) == pytest.approx(np.exp(-2 * X) * (1 + X), abs=1e-5)
        assert law.kept(X) == pytest.approx(0.75 - np.exp(-2 * X) * (0.75 + X / 2), abs=1e-4)


def test_weibull_of_shape_one_is_exponential_and_of_two_has_the_error_function():
    one, exponential = renewal_law("weibull", 1.0), renewal_law("exponential")
    for name in ("survival", "transform", "residual", "kept"):
        assert getattr(one, name)(X) == pytest.approx(getattr(exponential, name)(X), abs=1e-4), name
    two = renewal_law("weibull", math.sqrt(4 / math.pi - 1))
    scale = math.sqrt(math.pi) / 2
    assert two.residual(X) == pytest.approx([math.erfc(scale * x) for x in X], abs=1e-4)


def test_lognormal_has_its_survival_function_and_mean():
    law, variance = renewal_law("lognormal", 1.5), math.log1p(1.5**2)
    deep = math.sqrt(variance)
    expected = [0.5 * math.erfc((math.log(x) + variance / 2) / deep / math.sqrt(2)) for x in X]
    assert law.survival(X) == pytest.approx(expected, abs=1e-3)
    assert law.residual(0.0) == pytest.approx(1.0)
    assert float(law.kept(1e4)) == pytest.approx((1 + 1.5**2) / 2, rel=0.01), "the mean wait for the next event"


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("spread", [0.4, 1.7])
def test_simulated_pages_are_as_fresh_as_the_law_says(name, spread):
    draw = np.random.default_rng(3)
    at = np.cumsum(sampled(name, spread, draw, 200_000))
    law = renewal_law(name, spread)
    for every in (math.sqrt(2) - 1, (math.sqrt(5) + 1) / 2):  # constant intervals are met at all phases
        visits = np.arange(at[100], at[-100], every)
        after = at[np.searchsorted(at, visits, side="right")] - visits
        fresh = np.minimum(after, every).mean() / every
        assert fresh == pytest.approx(float(law.freshness(1 / every, 1.0)), abs=0.012)
        assert (after > every).mean() == pytest.approx(float(law.residual(every)), abs=0.012)


def test_an_empirical_law_is_that_of_its_sample():
    sample = sampled("gamma", 0.6, np.random.default_rng(4), 20_000)
    found, true = EmpiricalLaw(3.0 * sample), renewal_law("gamma", 0.6)
    for name in ("survival", "transform", "residual", "kept"):
        assert getattr(found, name)(X) == pytest.approx(getattr(true, name)(X), abs=0.012), name


def test_a_law_by_its_survival_function_is_the_law():
    law = SurvivalLaw(lambda x: np.exp(-3 * x))
    assert law.kept(X) == pytest.approx(1 - np.exp(-X), abs=1e-5), "in units of its mean"


@pytest.mark.parametrize("name", LAWS)
def test_whole_visits_are_split_as_well_as_the_dynamic_programme_does(name):
    draw = np.random.default_rng(5)
    law = renewal_law(name, 0.5)
    for _ in range(5):
        weight, lam, visits = draw.random(6), draw.exponential(size=6) * 5, int(draw.integers(1, 25))
        values = weight[:, None] * law.freshness(np.arange(visits + 1)[None] / 2.0, lam[:, None])
        best = dynamic(values, visits)
        found = by_law(weight, lam, 2.0, visits, law)
        assert found.each.sum() == visits
        assert found.value == pytest.approx(best.value, abs=1e-9)


def test_exponential_changes_are_split_as_before():
    draw = np.random.default_rng(6)
    weight, lam = draw.random(50), draw.exponential(size=50)
    old, new = greedy(weight, lam, 3.0, 120), by_law(weight, lam, 3.0, 120, renewal_law("exponential"))
    assert new.value == pytest.approx(old.value)
    assert renewal_law("exponential").freshness(0.7, lam) == pytest.approx(allocation.freshness(np.array(0.7), lam))


def test_the_polling_bound_is_tight_for_even_polls_and_takes_any_law_of_access_times():
    lam, access = np.array([0.5, 2.0]), 0.01
    for name in LAWS:
        level = levels(lam, access, renewal_law(name, 0.8))
        assert level == pytest.approx(lam * access, rel=0.02), "accesses are short"
        assert staleness_bound([0.4, 0.6], lam, access, np.exp(-level)) == pytest.approx(
            1 - allocation.freshness(np.array([0.4, 0.6]) / access, lam), abs=0.01
        )
    long = [float(levels(2.0, 1.0, renewal_law(name, 2.0))) for name in ("constant", "gamma")]
    assert long[0] > long[1], "where access times vary, a page is more likely to be as it was"


def test_the_policies_take_a_law():
    assert Polling(times="weibull", times_spread=0.5).times == "weibull"
    assert MarkedPoint(changes="gamma", changes_spread=0.3).changes == "gamma"
