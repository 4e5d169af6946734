"""The belief about one page, held against integrals of the very densities."""

import math

import numpy as np
import pytest

from evercrawl.change import gamma

LOGS = np.linspace(-260.0, 12.0, 400_001)  # ln of the rate: over it a trapezium rule is all but exact


def posterior_moments(shape, scale_s, interval_s):
    """Mean and variance of the rate, given a change of unknown age, from the definition."""
    rates = np.exp(LOGS)
    weight = np.exp(shape * LOGS - rates * scale_s) * -np.expm1(-rates * interval_s)
    mean = (weight * rates).sum() / weight.sum()
    return mean, (weight * (rates - mean) ** 2).sum() / weight.sum()


@pytest.mark.parametrize("shape", [0.1, 0.4, 1.0, 6.0, 40.0])
@pytest.mark.parametrize("interval", [1e-4, 0.1, 1.0, 30.0])
def test_a_change_of_unknown_age_keeps_mean_and_variance(shape, interval):
    mean, variance = posterior_moments(shape, 2.0, interval)
    a, b = gamma.learn(shape, 2.0, interval, True)
    assert a / b == pytest.approx(mean, rel=1e-7)
    assert a / b**2 == pytest.approx(variance, rel=1e-7)


def test_the_limit_of_no_interval_is_joined_without_a_step():
    for shape in (0.01, 0.4, 3.0, 1e4):
        at, above = (gamma.learn_evidence(0.0, 0.0, (shape, 1.0), t, True) for t in (gamma.SMALL, 1.001 * gamma.SMALL))
        assert above[0] == pytest.approx(at[0], abs=1e-8)
        assert above[1] == pytest.approx(1.001 * at[1], rel=1e-5)


def test_a_change_that_was_certain_tells_nothing():
    assert gamma.learn(5.0, 1.0, 1e300, True) == pytest.approx((5.0, 1.0))


def test_nothing_is_too_small_or_too_large():
    for shape in (1e-6, 0.4, 1e7):
        for scale_s in (1e-6, 1.0, 1e15):
            for interval_s in (-5.0, 0.0, 5e-324, 1e-12, 1.0, 1e18):
                for age_s in (None, 0.5):
                    a, b = gamma.learn(shape, scale_s, interval_s, True, age_s)
                    assert math.isfinite(a)
                    assert math.isfinite(b)
                    assert shape <= a <= shape + 1.000001
                    assert scale_s <= b <= scale_s + max(interval_s, 0.0)


def test_many_visits_at_once_are_as_many_single_ones():
    rng = np.random.default_rng(5)
    shape, scale_s = np.exp(rng.uniform(-9, 12, (2, 3000)))
    interval_s = np.where(rng.random(3000) < 0.1, 0.0, scale_s * np.exp(rng.uniform(-25, 400, 3000)))
    interval_s[:10] = -3.0
    changed = rng.random(3000) < 0.7
    age_s = np.where(rng.random(3000) < 0.5, np.nan, interval_s * rng.uniform(-0.5, 1.5, 3000))
    for ages in (None, age_s):
        a, b = gamma.learn_many(shape, scale_s, interval_s, changed, ages)
        for row in range(3000):
            age = None if ages is None or np.isnan(ages[row]) else float(ages[row])
            want = gamma.learn(*(float(x[row]) for x in (shape, scale_s, interval_s)), bool(changed[row]), age)
            assert (a[row], b[row]) == pytest.approx(want, rel=1e-12)
    none = np.zeros(0)
    assert gamma.learn_many(none, none, none, none > 0)[0].shape == (0,)


def test_an_age_is_held_to_the_interval():
    assert gamma.learn(1.0, 1.0, 10.0, True, age_s=99.0) == (2.0, 11.0)
    assert gamma.learn(1.0, 1.0, 10.0, True, age_s=-1.0) == (2.0, 1.0)
    assert gamma.learn(1.0, 1.0, 10.0, False, age_s=3.0) == (1.0, 11.0)


def test_survival_is_the_mean_over_the_rates():
    rates = np.exp(LOGS)
    for shape, scale_s, age_s in ((0.4, 3.0, 1.0), (2.0, 1.0, 9.0)):
        weight = np.exp(shape * LOGS - rates * scale_s)
        expected = (weight * np.exp(-rates * age_s)).sum() / weight.sum()
        assert gamma.survival(np.array(shape), np.array(scale_s), np.array(age_s)) == pytest.approx(expected, rel=1e-9)
    assert gamma.survival(np.ones(1), np.ones(1), np.array([-3.0])).tolist() == [1.0]


@pytest.mark.parametrize("shape", [0.05, 0.4, 1.0, 7.0, 300.0])
def test_an_interval_holds_what_it_says(shape):
    draws = np.random.default_rng(1).gamma(shape, 1 / 50.0, 200_000)
    low, high = gamma.interval(shape, 50.0, 0.9)
    assert 0 <= low < high
    assert (draws < low).mean() == pytest.approx(0.05, abs=0.0025)
    assert (draws > high).mean() == pytest.approx(0.05, abs=0.0025)


def test_forgotten_evidence_leaves_the_prior():
    assert gamma.forget(3.0, 7.0, 0.0) == (0.0, 0.0)
    assert gamma.forget(3.0, 7.0, 1.0) == (3.0, 7.0)
