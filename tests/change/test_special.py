"""The special functions against what is known of them."""

import math

import numpy as np
import pytest

from evercrawl.change.special import digamma, digammas, gamma_probability, gamma_quantile


def test_digamma_where_it_is_known():
    euler = 0.5772156649015329
    assert digamma(1.0) == pytest.approx(-euler, abs=1e-11)
    assert digamma(0.5) == pytest.approx(-euler - 2 * math.log(2), abs=1e-11)
    assert digamma(10.0) == pytest.approx(sum(1 / k for k in range(1, 10)) - euler, abs=1e-11)
    assert digamma(1e9) == pytest.approx(math.log(1e9) - 5e-10, abs=1e-12)


def test_digamma_is_the_slope_of_ln_gamma():
    for x in (0.05, 0.4, 2.7, 5.9999, 6.0, 33.0):
        h = 1e-5 * x
        assert digamma(x) == pytest.approx((math.lgamma(x + h) - math.lgamma(x - h)) / (2 * h), rel=1e-7)


def test_many_are_as_one():
    x = np.geomspace(0.01, 1e6, 100)
    assert digammas(x) == pytest.approx([digamma(value) for value in x.tolist()], rel=1e-13)


def test_probability_where_it_is_known():
    for x in (1e-9, 0.3, 1.0, 2.0, 2.1, 40.0):
        assert gamma_probability(1.0, x) == pytest.approx(-math.expm1(-x), rel=1e-13)
        assert gamma_probability(0.5, x) == pytest.approx(math.erf(math.sqrt(x)), rel=1e-12)
        assert gamma_probability(3.0, x) == pytest.approx(1 - math.exp(-x) * (1 + x + x * x / 2), rel=1e-12, abs=1e-15)
    assert gamma_probability(2.0, 0.0) == 0.0


@pytest.mark.parametrize("shape", [0.02, 0.4, 1.0, 3.0, 50.0, 1e3, 9e4, 3e5])
def test_the_quantile_turns_the_probability_round(shape):
    for p in (0.001, 0.05, 0.5, 0.95, 0.999):
        assert gamma_probability(shape, gamma_quantile(shape, p)) == pytest.approx(p, abs=1e-8)


def test_a_quantile_too_small_for_a_float_is_nothing():
    assert gamma_quantile(1e-4, 0.05) == 0.0
