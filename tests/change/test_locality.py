"""Whether pages change together: nothing is found where there is nothing, and what there is, is found."""

from itertools import combinations

import numpy as np
import pytest

from evercrawl.change import locality


def drawn(seed, spread=0.0, groups=40, each=25):
    """Visits of groups whose shares of changes differ by `spread` in the logarithm of the odds."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups) * 7, each)
    odds = np.repeat(rng.normal(0, spread, groups), each)
    order = rng.permutation(len(group))
    return counted(group[order], (rng.random(len(group)) < 1 / (1 + np.exp(1 - odds)))[order])


def counted(group, changed):
    """Return the pages, and the changes, of each group."""
    number = np.unique(group, return_inverse=True)[1]
    return np.bincount(number), np.bincount(number, changed).astype(int)


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
    found = locality.in_groups(*counted(group, changed))
    assert found.lift == pytest.approx(3 / np.mean(seen))
    assert found.errors == pytest.approx((3 - np.mean(seen)) / np.std(seen))


def test_the_correlation_within_groups_worked_out_by_hand():
    """Between groups a mean square of 1/2, within them of 1/6, two to a group: (1/2 - 1/6) / (1/2 + 1/6)."""
    group, changed = np.array([4, 4, 7, 7, 9, 9]), np.array([1, 1, 1, 0, 0, 0], bool)
    assert locality.correlation(*counted(group, changed)) == pytest.approx(0.5)


def test_groups_that_say_nothing():
    every = np.ones(4, bool)
    for group in (np.arange(4), np.zeros(4, int)):
        for changed in (every, ~every):
            assert np.isnan(locality.correlation(*counted(group, changed)))
            assert np.isnan(locality.in_groups(*counted(group, changed)).errors)
    assert locality.correlation(np.array([4]), np.array([2])) == 0.0
    assert np.isnan(locality.correlation(np.zeros(1, int), np.zeros(1, int)))
    assert np.isnan(locality.in_groups(np.zeros(1, int), np.zeros(1, int)).lift)
