"""Whether changes come together: nothing is found where there is nothing, and what there is, is found."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from evercrawl.change import locality


def drawn(seed, spread=0.0, groups=40, each=25):
    """Visits of groups whose shares of changes differ by `spread` in the logarithm of the odds."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups) * 7, each)
    odds = np.repeat(rng.normal(0, spread, groups), each)
    order = rng.permutation(len(group))
    return group[order], (rng.random(len(group)) < 1 / (1 + np.exp(1 - odds)))[order]


def test_nothing_is_found_where_pages_change_by_themselves():
    found = [drawn(seed) for seed in range(60)]
    errors = [locality.in_groups(*of).errors for of in found]
    assert abs(np.mean(errors)) < 0.4
    assert np.std(errors) == pytest.approx(1.0, abs=0.35)
    assert abs(np.mean([locality.correlation(*of) for of in found])) < 0.01


def test_what_there_is_is_found():
    for seed in range(3):
        found = drawn(seed, spread=2.0)
        assert locality.in_groups(*found).errors > 10
        assert locality.in_groups(*found).lift > 1.3
        assert 0.2 < locality.correlation(*found) < 0.6


def test_pairs_in_groups_are_those_of_all_draws():
    group = np.array([0, 0, 0, 1, 1, 2])
    seen = [
        sum(group[i] == group[j] for i, j in combinations(which, 2)) for which in combinations(range(len(group)), 3)
    ]
    changed = np.array([True, True, True, False, False, False])
    found = locality.in_groups(group, changed)
    assert found.lift == pytest.approx(3 / np.mean(seen))
    assert found.errors == pytest.approx((3 - np.mean(seen)) / np.std(seen))


def test_the_correlation_within_groups_worked_out_by_hand():
    """Between groups a mean square of 1/2, within them of 1/6, two to a group: (1/2 - 1/6) / (1/2 + 1/6)."""
    group, changed = np.array([4, 4, 7, 7, 9, 9]), np.array([1, 1, 1, 0, 0, 0], bool)
    assert locality.correlation(group, changed) == pytest.approx(0.5)


def test_groups_that_say_nothing():
    every = np.ones(4, bool)
    for group in (np.arange(4), np.zeros(4, int)):
        for changed in (every, ~every):
            assert np.isnan(locality.correlation(group, changed))
            assert np.isnan(locality.in_groups(group, changed).errors)
    assert locality.correlation(np.zeros(4, int), np.array([1, 0, 0, 1], bool)) == 0.0
    assert np.isnan(locality.correlation(np.zeros(0, int), np.zeros(0, bool)))
    assert np.isnan(locality.in_groups(np.zeros(0, int), np.zeros(0, bool)).lift)


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
    errors = [locality.in_time(*locality.binned(*runs(seed, 0.2), 1.0, began, ended)).errors for seed in range(60)]
    assert abs(np.mean(errors)) < 0.4
    assert np.std(errors) == pytest.approx(1.0, abs=0.35)
    found = locality.in_time(*locality.binned(*runs(1, 0.6), 1.0, began, ended))
    assert found.lift > 1.5
    assert found.errors > 20
    assert np.isnan(locality.in_time(np.zeros(3), np.full(3, 9), np.zeros(3)).lift)
    assert np.isnan(locality.in_time(np.ones(1), np.ones(1), np.zeros(1)).lift)


def test_pages_that_differ_in_how_much_they_change_are_no_locality():
    rng = np.random.default_rng(2)
    share = rng.random(300) ** 3
    table = rng.random((300, 50)) < share[:, None]
    page, place = np.nonzero(table)
    found = locality.in_time(*locality.binned(page, place + 0.25, 1.0, np.zeros(300), np.full(300, 50.0)))
    assert abs(found.errors) < 3
    assert found.lift == pytest.approx(1.0, abs=0.03)


def test_followers_are_those_of_all_orders():
    seen = [sum(b - a == 1 for a, b in pairwise(which)) for which in combinations(range(7), 3)]
    found = locality.in_time(np.array([3]), np.array([7]), np.array([2]))
    assert found.lift == pytest.approx(2 / np.mean(seen))
    assert found.errors == pytest.approx((2 - np.mean(seen)) / np.std(seen))


def test_bins_end_with_the_record_and_pages_do_not_follow_each_other():
    page, at = np.array([0, 0, 0, 1, 1, 1, 0]), np.array([12.2, 12.9, 14.5, 10.0, 11.0, 99.0, 9.0])
    changes, bins, following = locality.binned(page, at, 1.0, np.array([10.0, 10.0, 10.0]), np.array([14.9, 12.0, 9.0]))
    assert changes.tolist() == [1, 2, 0]
    assert bins.tolist() == [4, 2, 0]
    assert following.tolist() == [0, 1, 0]


def test_bursts_and_batches():
    rng = np.random.default_rng(3)
    assert locality.burstiness(rng.exponential(1.0, 20_000))[0] == pytest.approx(1.0, abs=0.03)
    c, b = locality.burstiness(np.where(rng.random(20_000) < 0.9, 0.01, 10.0))
    assert c > 2.5
    assert b == pytest.approx((c - 1) / (c + 1))
    assert np.isnan(locality.burstiness(np.ones(1))).all()
    assert np.isnan(locality.burstiness(np.zeros(5))).all()
    at = np.concatenate([np.full(12, 5.5), np.arange(20.0, 40.0)])
    assert locality.in_batches(at, 1.0) == pytest.approx(12 / 32)
    assert np.isnan(locality.in_batches(at[:0], 1.0))
