"""Freshness and age of a copy by their definitions, and the expectations against many drawn histories."""

import closed_forms
import numpy as np
import pytest
from closed_forms import freshness_after

from evercrawl.change import copies
from evercrawl.change.expectations import ORDERS, age_after, mean_age, mean_freshness


def slowly(changes, visits, at):
    seen = max(visit for visit in visits if visit <= at)
    missed = [change for change in changes if seen < change <= at]
    return (0.0, at - min(missed)) if missed else (1.0, 0.0)


def test_the_definitions_word_by_word():
    rng = np.random.default_rng(1)
    changes, visits = np.sort(rng.integers(0, 60, 25).astype(float)), np.arange(0.0, 60.0, 7.0)
    at = np.sort(rng.uniform(0, 70, 500))
    want = np.array([slowly(changes.tolist(), visits.tolist(), each) for each in at.tolist()])
    assert closed_forms.freshness(changes, visits, at).tolist() == want[:, 0].tolist()
    assert closed_forms.age(changes, visits, at) == pytest.approx(want[:, 1])


def test_over_time_is_the_mean_of_many_instants():
    rng = np.random.default_rng(2)
    changes, visits = np.sort(rng.uniform(0, 60, 25)), np.sort(rng.uniform(0, 60, 12))
    at = np.linspace(visits[0], 60.0, 400_001)
    fresh, age = copies.over_time(changes, visits, 60.0)
    assert fresh == pytest.approx(closed_forms.freshness(changes, visits, at).mean(), abs=1e-4)
    assert age == pytest.approx(closed_forms.age(changes, visits, at).mean(), abs=1e-4)
    assert copies.over_time(np.zeros(0), np.array([5.0, 70.0]), 60.0) == (1.0, 0.0)


def visits_in(order, rng, count):
    if order == "fixed":
        return np.arange(count, dtype=float)
    return np.arange(count) + rng.random(count) if order == "random_order" else np.cumsum(rng.exponential(1.0, count))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("lam", [0.1, 1.0, 6.0])
def test_long_histories_come_to_what_is_expected(order, lam):
    rng = np.random.default_rng(3)
    visits = visits_in(order, rng, 60_000)
    changes = np.cumsum(rng.exponential(1 / lam, int(lam * visits[-1] * 1.05) + 100))
    fresh, age = copies.over_time(changes, visits, float(visits[-1]))
    assert fresh == pytest.approx(mean_freshness(lam, 1.0, order).item(), abs=0.01)
    assert age == pytest.approx(mean_age(lam, 1.0, order).item(), rel=0.05)


def test_after_one_visit():
    rng = np.random.default_rng(4)
    first = rng.exponential(1 / 0.3, 200_000)
    assert (first > 2.0).mean() == pytest.approx(freshness_after(0.3, 2.0).item(), abs=0.005)
    assert np.maximum(2.0 - first, 0).mean() == pytest.approx(age_after(0.3, 2.0).item(), rel=0.01)
