"""Who is told what is stale: that first, by what matters and how long it will last."""

import numpy as np

from evercrawl.schedule import Pages
from evercrawl.schedule.notices import Notices


def order(weight, rate_per_s, stale, visited_at) -> list[int]:
    n = len(weight)
    one, none = np.ones(n), np.zeros(n)
    notice = np.where(stale, np.inf, 0.0)
    scale_s = 1e12 / np.array(rate_per_s)
    pages = Pages(
        np.arange(n, dtype=np.uint32), np.array(visited_at), np.array(weight), none, 1e12 * one, scale_s, one, none,
        notice,
    )  # fmt: skip
    value = Notices().value(pages, now=100.0)
    assert np.isfinite(value).all()
    return value.argsort(kind="stable")[::-1].tolist()


def test_stale_pages_come_before_fresh_ones_however_important() -> None:
    assert order([1.0, 99.0], [1.0, 1.0], [True, False], [50.0, 0.0]) == [0, 1]


def test_of_stale_pages_the_one_comes_first_that_matters_more_or_will_last_longer() -> None:
    assert order([1.0, 2.0], [1.0, 1.0], [True, True], [0.0, 0.0]) == [1, 0]
    assert order([1.0, 2.0], [0.1, 1.0], [True, True], [0.0, 0.0]) == [0, 1]


def test_a_new_page_is_stale_and_of_fresh_ones_the_longest_held_comes_first() -> None:
    assert order([1.0, 9.0, 9.0], [1.0] * 3, [False, False, False], [np.nan, 50.0, 10.0]) == [0, 2, 1]
