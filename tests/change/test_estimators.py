"""Every estimator there is: what all promise, and what each comes to in the long run; a new file is picked up."""

import math

import numpy as np
import pytest

from evercrawl import catalog, change
from evercrawl.change import Estimator
from evercrawl.change.estimators._shared import step
from evercrawl.change.estimators.classes import Classes
from evercrawl.change.estimators.log_corrected import LogCorrected
from evercrawl.change.estimators.posterior import Posterior

ESTIMATORS = catalog.find(change.estimators, Estimator)  # type: ignore[type-abstract]
N = 300
ROWS = np.arange(N)
SPANS = {
    "naive": "short", "log": "even", "log_corrected": "even", "log_exact": "even", "online_counts": "random",
    "online_steps": "random", "online_momentum": "random",
}  # fmt: skip
"""At which intervals each is right; the others are at any."""


def made(name, pages=N):
    """Return an estimator; those that believe something at first believe it of the seconds of these tests."""
    kind = ESTIMATORS[name]
    if name == "classes":
        return Classes(pages, 1 / np.geomspace(0.05, 10, 60))
    return Posterior(pages, 0.4, 1.0) if name == "posterior" else kind(pages)


def visited(told, lam, visits, spans, seed):
    """Let pages of one rate be visited, and return the estimators that were told of it all."""
    rng = np.random.default_rng(seed)
    for _ in range(visits):
        interval_s = {"even": np.ones(N), "short": np.full(N, 1e-3)}.get(spans, rng.exponential(1.0, N))
        count = rng.poisson(lam * interval_s)
        age_s = interval_s * (1 - rng.random(N) ** (1 / np.maximum(count, 1)))
        for estimator in told.values():
            estimator.learn(ROWS, interval_s, count > 0, np.where(count > 0, age_s, np.nan))
    return next(iter(told.values())).rates()


def test_the_names_are_those_of_the_papers():
    listed = {name for name in ESTIMATORS if f"`{name}`" in (change.__doc__ or "")}
    assert listed == set(ESTIMATORS)
    assert set(SPANS) < set(ESTIMATORS)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("lam", [0.3, 1.5])
def test_in_the_long_run_each_is_right(name, lam):
    lam, visits = (20 * lam, 1500) if name == "naive" else (lam, 400)
    rates = visited({name: made(name)}, lam, visits, SPANS.get(name, "random"), 2)
    assert rates.mean() == pytest.approx(lam, rel=0.06)
    assert np.sqrt(((rates - lam) ** 2).mean()) < 0.35 * lam


@pytest.mark.parametrize("name", ESTIMATORS)
def test_more_visits_make_each_better(name):
    lam, spans = 20.0 if name == "naive" else 0.5, SPANS.get(name, "random")
    few, many = (visited({name: made(name)}, lam, visits, spans, 3) for visits in (25, 400))
    few, many = (np.sort(np.abs(rates - lam)) for rates in (few, many))  # nan and infinity last
    assert many[: N * 9 // 10].mean() < 0.6 * few[: N * 9 // 10].mean()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_unit_of_time_does_not_matter(name):
    rng = np.random.default_rng(4)
    one, other = (ESTIMATORS[name](N), ESTIMATORS[name](N))
    if name == "classes":
        one, other = Classes(N, [1.0, 10.0]), Classes(N, [60.0, 600.0])
    if name == "posterior":
        one, other = Posterior(N, 0.4, 1.0), Posterior(N, 0.4, 60.0)
    for _ in range(10):
        interval_s, changed = rng.exponential(1.0, N), rng.random(N) < 0.5
        one.learn(ROWS, interval_s, changed, interval_s / 3)
        other.learn(ROWS, 60 * interval_s, changed, 20 * interval_s)
    assert other.rates() * 60 == pytest.approx(one.rates(), rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_page_nobody_visited_is_as_it_was_and_the_order_of_rows_is_free(name):
    rng = np.random.default_rng(5)
    one, other = (ESTIMATORS[name](N), ESTIMATORS[name](N))
    untouched = one.rates()[-9:].copy()
    for _ in range(6):
        rows = rng.permutation(N - 9)[:50]
        interval_s, changed = rng.exponential(1e5, 50), rng.random(50) < 0.5
        one.learn(rows, interval_s, changed)
        for row in range(50):
            other.learn(rows[row : row + 1], interval_s[row : row + 1], changed[row : row + 1], np.array([np.nan]))
    assert one.rates() == pytest.approx(other.rates(), rel=1e-9, nan_ok=True)
    assert one.rates()[-9:].tolist() == pytest.approx(untouched.tolist(), nan_ok=True)
    assert not np.isneginf(one.rates()).any()
    assert (np.nan_to_num(one.rates()) >= 0).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_pages_that_come_later_are_as_if_there_from_the_start(name):
    rng = np.random.default_rng(9)
    one, other = ESTIMATORS[name](1), ESTIMATORS[name](N)
    for pages in (2, 40, N):
        one.grow(pages)
        for _ in range(3):
            rows = np.arange(pages // 2)
            interval_s, changed = rng.exponential(1e5, len(rows)), rng.random(len(rows)) < 0.5
            for estimator in (one, other):
                estimator.learn(rows, interval_s, changed, interval_s / 3)
    assert one.rates().tolist() == pytest.approx(other.rates().tolist(), nan_ok=True)


def test_steps_are_as_convergence_asks():
    n = np.arange(1.0, 1e5)
    for power in (0.6, 0.75, 1.0):
        lengths = step(n, power)
        assert lengths[0] == 1.0
        assert (lengths**2).sum() - (lengths[: 10**4] ** 2).sum() < 0.12 * (lengths**2).sum()
        assert lengths.sum() > math.log(1e5)


def test_for_even_visits_the_online_ones_come_to_what_their_page_says():
    for name in ("online_counts", "online_steps", "online_momentum"):
        rates = visited({name: made(name)}, 0.7, 600, "even", 6)
        assert rates.mean() == pytest.approx(math.expm1(0.7), rel=0.05)


def test_the_exact_constant_takes_the_bias_away():
    half, exact = (LogCorrected(20_000, exact=exact) for exact in (False, True))
    rng = np.random.default_rng(7)
    for _ in range(2):
        for estimator in (half, exact):
            estimator.learn(np.arange(20_000), np.ones(20_000), rng.random(20_000) < -math.expm1(-0.05))
    assert abs(exact.rates().mean() - 0.05) < 0.5 * abs(half.rates().mean() - 0.05) + 0.002


def test_a_belief_that_forgets_follows_a_rate_that_moves():
    firm, forgetful = Posterior(N, 0.4, 1.0), Posterior(N, 0.4, 1.0, forgetting_per_s=0.02)
    for lam in (3.0, 0.2):
        visited({"firm": firm, "forgetful": forgetful}, lam, 300, "random", 8)
    assert firm.rates().mean() > 0.6
    assert forgetful.rates().mean() == pytest.approx(0.2, rel=0.25)
