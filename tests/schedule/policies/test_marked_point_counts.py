"""Whole numbers of visits: the quick way, the heap and the dynamic programme agree, and trying all finds no better."""

import itertools

import numpy as np
import pytest

from evercrawl.schedule.formulas import allocation
from evercrawl.schedule.policies.marked_point import counts as marked_point_counts


def draw(pages: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.pareto(1.1, pages) + 1, np.exp(rng.normal(-1.0, 2.0, pages))


@pytest.mark.parametrize("seed", range(5))
def test_three_ways_find_what_trying_all_finds(seed) -> None:
    weight, lam = draw(4, seed)
    every = np.arange(7)
    values = np.stack([marked_point_counts.worth(w, r, 2.0, every) for w, r in zip(weight, lam, strict=True)])
    splits = [split for split in itertools.product(range(7), repeat=4) if sum(split) == 6]
    best = max(sum(values[page, count] for page, count in enumerate(split)) for split in splits)
    for found in (
        marked_point_counts.greedy(weight, lam, 2.0, 6),
        marked_point_counts.by_price(weight, lam, 2.0, 6),
        marked_point_counts.dynamic(values, 6),
    ):
        assert found.each.sum() == 6
        assert found.value == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("visits", [1, 37, 300, 3000])
def test_the_quick_way_is_as_good_as_the_heap(visits) -> None:
    weight, lam = draw(300, 9)
    quick = marked_point_counts.by_price(weight, lam, 5.0, visits)
    assert quick.each.sum() == visits
    assert quick.value == pytest.approx(marked_point_counts.greedy(weight, lam, 5.0, visits).value, rel=1e-12)


def test_the_dynamic_programme_takes_values_of_any_form() -> None:
    rng = np.random.default_rng(3)
    values = np.concatenate([np.zeros((3, 1)), rng.random((3, 5))], 1)
    best = max(
        sum(values[page, count] for page, count in enumerate(split))
        for split in itertools.product(range(6), repeat=3)
        if sum(split) <= 5
    )
    assert marked_point_counts.dynamic(values, 5).value == pytest.approx(best)


def test_a_horizon_of_ten_visits_a_page_loses_nothing_that_shows_and_one_of_one_a_little() -> None:
    weight, lam = draw(400, 11)
    best = allocation.optimum(weight, lam, 40.0).value
    for each, least, most in ((1, 0.93, 0.998), (10, 0.999, 1.0 + 1e-12)):
        found = marked_point_counts.by_price(weight, lam, each * 10.0, each * 400)
        assert least <= found.value / best <= most
