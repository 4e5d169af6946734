"""Bounds of parts: their defining equation, and how often they hold what they promise."""

import numpy as np
import pytest

from evercrawl.change.proportions import deviates, effective_size, wilson


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_bounds_are_so_many_deviations_away(level):
    part, size = np.array([0.02, 0.3, 0.5, 0.97]), np.array([50.0, 7.0, 1000.0, 33.0])
    for bound in wilson(part, size, level):
        away = np.abs(part - bound) / np.sqrt(bound * (1 - bound) / size)
        assert away == pytest.approx(np.full(4, deviates(level)), rel=1e-9)


def test_without_a_sample_everything_is_possible():
    assert [bound.tolist() for bound in wilson([np.nan, 1.0], [0.0, 0.0])] == [[0.0, 0.0], [1.0, 1.0]]


def test_all_of_a_sample_leaves_room_below_only():
    low, high = wilson(1.0, 100.0)
    assert low == pytest.approx(100 / (100 + deviates(0.95) ** 2))
    assert high == 1.0
    assert all(wilson(1.0, float(size))[1] == 1.0 and wilson(0.0, float(size))[0] == 0.0 for size in range(1, 200))


@pytest.mark.parametrize("part", [0.5, 0.9, 0.97])
def test_it_holds_the_true_part_about_as_often_as_it_says(part):
    found = np.random.default_rng(1).binomial(300, part, 4000) / 300
    low, high = wilson(found, 300.0)
    assert 0.935 < ((low <= part) & (part <= high)).mean() < 0.97


def test_equal_weights_count_as_what_they_are():
    assert effective_size(30.0, 90.0) == 10.0  # ten of 3
    assert effective_size(0.0, 0.0) == 0.0


def test_unequal_weights_hold_as_often():
    rng, part = np.random.default_rng(2), 0.8
    weight = rng.exponential(1.0, (3000, 400))
    found = (weight * (rng.random(weight.shape) < part)).sum(1) / weight.sum(1)
    low, high = wilson(found, effective_size(weight.sum(1), (weight**2).sum(1)))
    assert 0.93 < ((low <= part) & (part <= high)).mean() < 0.97
