"""Whether changes come together in time: nothing is found where there is nothing, and what there is, is found."""

from itertools import combinations, pairwise

import closed_forms
import numpy as np
import pytest

from evercrawl.change import bursts


def runs(seed, again, pages=200, bins=60):
    """Bins with a change: after one with a change with probability `again`, else with 0.2."""
    rng = np.random.default_rng(seed)
    now, page, at = rng.random(pages) < 0.2, [], []
    for place in range(bins):
        now = rng.random(pages) < np.where(now, again, 0.2)
        page.append(np.flatnonzero(now))
        at.append(np.full(int(now.sum()), place + 0.5))
    return np.concatenate(page), np.concatenate(at)


def test_followers_in_time():
    began, ended = np.zeros(200), np.full(200, 60.0)
    errors = [bursts.in_time(*bursts.binned(*runs(seed, 0.2), 1.0, began, ended)).errors for seed in range(60)]
    assert abs(np.mean(errors)) < 0.4
    assert np.std(errors) == pytest.approx(1.0, abs=0.35)
    found = bursts.in_time(*bursts.binned(*runs(1, 0.6), 1.0, began, ended))
    assert found.lift > 1.5
    assert found.errors > 20
    assert np.isnan(bursts.in_time(np.zeros(3), np.full(3, 9), np.zeros(3)).lift)
    assert np.isnan(bursts.in_time(np.ones(1), np.ones(1), np.zeros(1)).lift)


def test_pages_that_differ_in_how_much_they_change_are_no_locality():
    rng = np.random.default_rng(2)
    share = rng.random(300) ** 3
    table = rng.random((300, 50)) < share[:, None]
    page, place = np.nonzero(table)
    found = bursts.in_time(*bursts.binned(page, place + 0.25, 1.0, np.zeros(300), np.full(300, 50.0)))
    assert abs(found.errors) < 3
    assert found.lift == pytest.approx(1.0, abs=0.03)


def test_followers_are_those_of_all_orders():
    seen = [sum(b - a == 1 for a, b in pairwise(which)) for which in combinations(range(7), 3)]
    found = bursts.in_time(np.array([3]), np.array([7]), np.array([2]))
    assert found.lift == pytest.approx(2 / np.mean(seen))
    assert found.errors == pytest.approx((2 - np.mean(seen)) / np.std(seen))


def test_bins_end_with_the_record_and_pages_do_not_follow_each_other():
    page, at = np.array([0, 0, 0, 1, 1, 1, 0]), np.array([12.2, 12.9, 14.5, 10.0, 11.0, 99.0, 9.0])
    changes, bins, following = bursts.binned(page, at, 1.0, np.array([10.0, 10.0, 10.0]), np.array([14.9, 12.0, 9.0]))
    assert changes.tolist() == [1, 2, 0]
    assert bins.tolist() == [4, 2, 0]
    assert following.tolist() == [0, 1, 0]


def test_bursts_and_batches():
    rng = np.random.default_rng(3)
    assert closed_forms.burstiness(rng.exponential(1.0, 20_000))[0] == pytest.approx(1.0, abs=0.03)
    c, b = closed_forms.burstiness(np.where(rng.random(20_000) < 0.9, 0.01, 10.0))
    assert c > 2.5
    assert b == pytest.approx((c - 1) / (c + 1))
    assert np.isnan(closed_forms.burstiness(np.ones(1))).all()
    assert np.isnan(closed_forms.burstiness(np.zeros(5))).all()
    at = np.concatenate([np.full(12, 5.5), np.arange(20.0, 40.0)])
    assert closed_forms.in_batches(at, 1.0) == pytest.approx(12 / 32)
    assert np.isnan(closed_forms.in_batches(at[:0], 1.0))
