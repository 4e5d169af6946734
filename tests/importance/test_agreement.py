"""How well a measure goes with raters."""

import numpy as np
import pytest

from evercrawl.importance.sites.agreement import by_chance, cut, identical, mean_rating


def test_a_measure_gets_as_many_of_each_rank_as_the_rater_gave():
    draw = np.random.default_rng(1)
    values, like = draw.random(500), draw.integers(1, 5, 500)
    ranks = cut(values, like)
    assert np.array_equal(np.bincount(ranks), np.bincount(like))
    assert np.all(np.diff(ranks[np.argsort(values)]) >= 0)


def test_a_measure_in_the_raters_own_order_agrees_with_all_of_it():
    like = np.array([1, 4, 2, 2, 3, 1])
    assert identical(cut(like + np.array([0.1, 0, 0.2, 0.3, 0, 0]), like), like) == 1.0


def test_a_measure_in_the_opposite_order_agrees_by_the_middle_alone():
    assert identical(cut(-np.arange(5.0), np.array([1, 2, 3, 4, 4])), np.array([1, 2, 3, 4, 4])) == pytest.approx(0.2)


def test_chance_is_what_shuffled_ranks_agree_by():
    draw = np.random.default_rng(2)
    one, other = draw.choice(4, 2000, p=[0.4, 0.3, 0.2, 0.1]) + 1, draw.integers(1, 5, 2000)
    shuffled = [identical(draw.permutation(one), other) for _ in range(200)]
    assert by_chance(one, other) == pytest.approx(np.mean(shuffled), abs=0.005)


def test_the_reference_is_the_rank_nearest_to_the_mean_and_a_missing_rating_does_not_count():
    ratings = np.array([[1, 1, 4], [1, 1, 4], [4, 4, 3], [4, 0, 2]])
    assert mean_rating(ratings).tolist() == [3, 2, 3]
    assert mean_rating(np.array([[2], [3], [4], [3], [2]])).tolist() == [3]


def test_nothing_rated_agrees_with_nothing():
    none = np.zeros(0, int)
    assert np.isnan(identical(none, none))
    assert np.isnan(by_chance(none, none))
