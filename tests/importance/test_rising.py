"""Two windows over links that came and went."""

import numpy as np
import pytest

from evercrawl.importance.sites.rising import DOUBT, LONGER, Steps, effective, mean_over, rising


def one(amounts, at, page=None) -> Steps:
    return Steps(
        np.zeros(len(at), int) if page is None else np.array(page), np.array(at, float), np.array(amounts, float)
    )


NONE = one([], [])


def test_the_mean_over_a_window_is_the_integral_over_the_past():
    """The level that a page had is drawn, weighed with exp(-age / T) / T, and summed up."""
    draw = np.random.default_rng(1)
    at, amounts, length, now = np.sort(draw.uniform(0, 100, 20)), draw.normal(0.5, 1, 20), 13.0, 100.0
    final = 40.0
    instants = np.arange(now - 40 * length, now, 0.005) + 0.0025
    level = final - amounts.sum() + np.append(0, np.cumsum(amounts))[np.searchsorted(at, instants, side="right")]
    integral = np.sum(level * np.exp(-(now - instants) / length)) / length * 0.005
    assert mean_over(np.array([final]), one(amounts, at), now, length)[0] == pytest.approx(integral, rel=1e-3)


def test_what_stays_as_it_is_neither_rises_nor_falls():
    score, short, long = rising(np.array([0.0, 1.0, 50.0]), NONE, 10.0, 1.0, 1.0)
    assert score.tolist() == [0.0, 0.0, 0.0]
    assert short.tolist() == long.tolist() == [0.0, 1.0, 50.0]


def test_what_gains_rises_and_what_loses_falls():
    steps = one([3, 1, 3, -3, -1, -3], [8, 9, 9.5] * 2, [0, 0, 0, 1, 1, 1])
    score, short, long = rising(np.array([8.0, 1.0]), steps, 10.0, 1.0, 1.0)
    assert score[0] > 0 > score[1]
    assert long[0] < short[0] < 8.0
    assert long[1] > short[1] > 1.0


def test_what_came_long_ago_is_forgotten():
    scores = [rising(np.array([5.0]), one([2, 2], [1000 - age] * 2), 1000.0, 1.0, 1.0)[0][0] for age in (2, 8, 32, 500)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] == pytest.approx(0.0, abs=1e-9)


def test_little_importance_does_not_lead_however_much_it_was_multiplied():
    """Page 0 went from nothing to a hundredth of the mean page, page 1 from the mean page's to twice that."""
    steps = one([0.005, 0.005, 0.5, 0.5], [9.0] * 4, [0, 0, 1, 1])
    score = rising(np.array([0.01, 2.0]), steps, 10.0, 2.0, 1.0)[0]
    assert score[1] > 20 * score[0] > 0


def test_one_link_says_less_than_many():
    steps = one([4, 1, 1, 1, 1], [8.0] * 5, [0, 1, 1, 1, 1])
    score, short, _ = rising(np.array([5.0, 5.0]), steps, 10.0, 1.0, 1.0)
    assert short[0] == pytest.approx(short[1])
    assert score[1] / score[0] == pytest.approx((4 / (4 + DOUBT)) / (1 / (1 + DOUBT)))


def test_the_effective_number_counts_equal_links_and_only_those_between_the_windows():
    steps = one([2] * 5 + [1, 1e-9], [9.0] * 7, [0] * 5 + [1, 1])
    assert effective(3, steps, 10.0, 1.0) == pytest.approx([5.0, 1.0, 0.0])
    old = one([1, 1], [10.0 - 40 * LONGER, 9.0])
    assert effective(1, old, 10.0, 1.0)[0] == pytest.approx(1.0)


def test_links_that_come_and_go_at_random_are_worth_one_and_no_more():
    draw, count = np.random.default_rng(4), 4000
    pages = np.repeat(np.arange(count), 30)
    ages, amounts = draw.uniform(0, 20, len(pages)), draw.choice([-1.0, 1.0], len(pages))
    counted = effective(count, one(amounts, 100 - ages, pages), 100.0, 2.0)
    assert counted.mean() == pytest.approx(1.0, rel=0.1)
    assert effective(count, one(np.abs(amounts), 100 - ages, pages), 100.0, 2.0).min() > 10


def test_what_is_told_of_the_future_counts_as_of_now():
    assert mean_over(np.array([5.0]), one([2], [99.0]), 10.0, 1.0) == pytest.approx([3.0])


def test_no_importance_is_below_nothing():
    assert mean_over(np.array([1.0]), one([5], [10.0]), 10.0, 1.0).tolist() == [0.0]
