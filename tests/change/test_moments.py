"""Exact moments of estimators against many drawn histories, and estimators at the ends of their ranges."""

import math
import warnings

import numpy as np
import pytest
from scipy import optimize, stats

from evercrawl.change.estimators import irregular, last_modified, log, log_corrected, moments, naive
from evercrawl.change.estimators.classes import Classes, log_likelihood


def test_the_binomial_distribution():
    for count, p in ((1, 0.3), (40, 0.99), (3000, 1e-3), (3000, 0.7)):
        assert moments.binomial(count, p) == pytest.approx(stats.binom.pmf(np.arange(count + 1), count, p), abs=1e-12)
    assert moments.binomial(3, 0.0).tolist() == [1, 0, 0, 0]
    assert moments.binomial(3, 1.0).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(("rate", "visits"), [(0.1, 5), (1.0, 20), (3.0, 10)])
def test_moments_are_those_of_draws(rate, visits):
    found = np.random.default_rng(1).binomial(visits, -math.expm1(-rate), 200_000).astype(float)
    for expected, estimates in (
        (naive.moments(rate, visits), naive.rate(found, np.full(len(found), visits))),
        (log_corrected.moments(rate, visits), log_corrected.rate(visits, found, visits)),
        (log_corrected.moments(rate, visits, 1.0, 2.0), log_corrected.rate(visits, found, visits, 1.0, 2.0)),
    ):
        assert estimates.mean() == pytest.approx(expected.mean, abs=5 * math.sqrt(expected.variance / 200_000))
        assert estimates.var() == pytest.approx(expected.variance, rel=0.03)
        assert expected.bias == pytest.approx(expected.mean - rate)


def test_the_naive_bias_stays_and_the_corrected_one_goes():
    assert naive.moments(1.0, 1000).bias == naive.moments(1.0, 10).bias
    biases = [abs(log_corrected.moments(1.0, visits).bias) for visits in (3, 10, 30, 100)]
    assert biases == sorted(biases, reverse=True)
    for visits in (1, 2, 10):
        exact = log_corrected.exact_constant(visits).item()
        near, at_half = (log_corrected.moments(1e-3, visits, a).bias for a in (exact, 0.5))
        assert abs(near) < 0.02 * abs(at_half)


def test_the_exact_constant_goes_over_into_its_limit():
    below, above = log_corrected.exact_constant([999.999, 1000.001])
    assert below == pytest.approx(above, abs=1e-9)


def test_where_all_visits_agree():
    everything, nothing = np.array([True] * 3), np.array([False] * 3)
    spans = np.array([1.0, 2.0, 3.0])
    assert log.rate([3, 3, 0], [3, 0, 0], [6.0, 6.0, 0.0]).tolist()[:2] == [math.inf, 0.0]
    assert math.isinf(irregular.rate(spans, everything))
    assert irregular.rate(spans, nothing) == 0.0
    assert math.isnan(irregular.rate(spans[:0], nothing[:0]))
    assert np.isnan(last_modified.rate([3, 3, 0], [3, 0, 0], [6.0, 6.0, 0.0])).all()
    assert log_corrected.rate(3, 3, 6.0) > 0 == log_corrected.rate(3, 0, 6.0)
    assert np.isnan(naive.rate(0, 0.0))


def test_the_most_likely_rate_is_the_most_likely():
    rng = np.random.default_rng(2)
    rows, changed_s, unchanged_s, want = [], [], [], []
    for page in range(60):
        spans, lam = rng.exponential(1.0, 2 + page % 9) * 10.0 ** rng.integers(-3, 4), 10.0 ** rng.integers(-2, 2)
        changed = rng.random(len(spans)) < -np.expm1(-lam * spans)
        changed[:2] = [True, False]

        def unlikely(log_rate: float, spans=spans, changed=changed) -> float:
            x = math.exp(log_rate) * spans
            return x[~changed].sum() - np.log(-np.expm1(-x[changed])).sum()

        best = optimize.minimize_scalar(unlikely, bracket=(-6.0, 2.0), options={"xtol": 1e-12})
        want.append(math.exp(best.x))
        assert irregular.rate(spans, changed) == pytest.approx(want[-1], rel=1e-6)
        rows += [page] * int(changed.sum())
        changed_s += spans[changed].tolist()
        unchanged_s.append(spans[~changed].sum())
    found = irregular.most_likely(60, np.array(rows), np.array(changed_s), np.array(unchanged_s))
    assert found == pytest.approx(want, rel=1e-6)


def test_the_most_likely_rate_at_extremes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for unchanged_s in (1e-300, 1e-12, 1.0, 1e12):
            for changed_s in (0.0, 1e-12, 1.0, 1e12):
                rate = irregular.rate(np.array([unchanged_s, changed_s]), np.array([False, True]))
                assert rate > 0
                if changed_s and math.isfinite(rate) and changed_s / unchanged_s < 1e12:
                    x = rate * changed_s
                    assert changed_s / math.expm1(x) == pytest.approx(unchanged_s, rel=1e-6)


def test_the_last_modified_rate_is_less_biased_than_the_naive_one():
    rng, lam, visits, pages = np.random.default_rng(3), 0.4, 10, 200_000
    count = rng.poisson(lam, (pages, visits))
    age_s = np.where(count > 0, 1 - rng.random((pages, visits)) ** (1 / np.maximum(count, 1)), 1.0)
    changes, exposure_s = (count > 0).sum(1), age_s.sum(1)
    told = (changes > 0) & (changes < visits)
    ours = last_modified.rate(visits, changes, exposure_s)
    assert np.isnan(ours).tolist() == (~told).tolist()
    ours = np.where(changes == 0, 0.0, ours)[changes < visits]
    plain = last_modified.naive(changes, exposure_s)[changes < visits]
    assert abs(ours.mean() - lam) < 0.01
    assert plain.mean() - lam > 0.01


def test_classes_are_bayes_rule_word_by_word():
    periods, prior = np.array([1.0, 7.0, 30.0]), np.array([0.2, 0.5, 0.3])
    pages = Classes(2, periods, prior)
    weight = prior.copy()
    for interval_s, changed in ((3.0, True), (3.0, False), (40.0, True), (0.0, False)):
        gone = 1 - np.exp(-interval_s / periods)
        weight = weight * (gone if changed else 1 - gone)
        pages.learn(np.array([1]), np.array([interval_s]), np.array([changed]))
    assert pages.probabilities()[1] == pytest.approx(weight / weight.sum(), rel=1e-12)
    assert pages.probabilities()[0] == pytest.approx(prior)
    assert pages.rates()[1] == pytest.approx(weight @ (1 / periods) / weight.sum())
    dated = log_likelihood(1 / periods, np.array([5.0]), np.array([True]), np.array([2.0]))[0]
    assert np.exp(dated) == pytest.approx(np.exp(-2.0 / periods) / periods)


def test_classes_survive_the_impossible():
    pages = Classes(1, [1.0, 1e9])
    for _ in range(3000):
        pages.learn(np.array([0]), np.array([1e9]), np.array([False]))
        pages.learn(np.array([0]), np.array([0.0]), np.array([True]))
    assert pages.probabilities().sum() == pytest.approx(1.0)
