"""Who is told what is stale: that first, by what matters and how long it will last."""

import numpy as np

from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.notices import Notices


def order(weight, rate_per_s, stale, visited_at) -> list[int]:
    n = len(weight)
    one, none = np.ones(n), np.zeros(n)
    neg_log_unchanged = np.where(stale, np.inf, 0.0)
    scale_s = 1e12 / np.array(rate_per_s)
    pages = Pages(
        np.arange(n, dtype=np.uint32), np.array(visited_at), np.array(weight), none, 1e12 * one, scale_s, one, none,
        neg_log_unchanged,
    )  # fmt: skip
    value = Notices().value(pages, Context(100.0))
    assert np.isfinite(value).all()
    return value.argsort(kind="stable")[::-1].tolist()


def test_stale_pages_come_before_fresh_ones_however_important() -> None:
    assert order([1.0, 99.0], [1.0, 1.0], [True, False], [50.0, 0.0]) == [0, 1]


def test_of_stale_pages_the_one_comes_first_that_matters_more_or_will_last_longer() -> None:
    assert order([1.0, 2.0], [1.0, 1.0], [True, True], [0.0, 0.0]) == [1, 0]
    assert order([1.0, 2.0], [0.1, 1.0], [True, True], [0.0, 0.0]) == [0, 1]


def test_a_new_page_is_stale_and_of_fresh_ones_the_longest_held_comes_first() -> None:
    assert order([1.0, 9.0, 9.0], [1.0] * 3, [False, False, False], [np.nan, 50.0, 10.0]) == [0, 2, 1]


def test_a_page_of_which_nothing_is_known_is_not_left_for_those_that_are_known_to_last() -> None:
    """It may last as long; a still page that weighs a third as much comes after it."""
    day, none, one = 86_400.0, np.zeros(2), np.ones(2)
    shape, scale_s = np.full(2, 0.4), day * np.array([4.0, 1000.0])
    pages = Pages(
        np.arange(2, dtype=np.uint32), np.array([np.nan, 0.0]), np.array([1.0, 0.3]), none, shape, scale_s, one, none,
        np.array([0.0, np.inf]),
    )  # fmt: skip
    assert Notices().value(pages, Context(day)).argmax() == 0
