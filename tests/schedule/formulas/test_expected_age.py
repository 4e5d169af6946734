"""The expected age of copies, against the integral in closed form and by drawing."""

import numpy as np
import pytest

from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas.expected_age import expected_age_s
from evercrawl.schedule.formulas.index import parts
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.uniform import Uniform

NOW = 1e6


def pages(age_s: np.ndarray, shape: float = 0.4, scale_s: float = 1000.0, neg_log_unchanged: float = 0.0) -> Pages:
    one = np.ones(len(age_s))
    slots = np.arange(len(age_s), dtype=np.uint32)
    return Pages(slots, NOW - age_s, one, 0 * one, shape * one, scale_s * one, one, 0 * one, neg_log_unchanged * one)


@pytest.mark.parametrize("shape", [0.4, 1.0, 30.0])
def test_it_is_the_integral_of_being_stale(shape: float) -> None:
    age_s = np.array([1.0, 100.0, 1000.0, 5000.0])
    found = expected_age_s(Uniform(), pages(age_s, shape), Context(NOW))
    assert found == pytest.approx(parts(shape, 1000.0, age_s).harmonic, rel=5e-3)


def test_pages_drawn_from_the_belief_are_as_old_on_the_mean() -> None:
    draw = np.random.default_rng(1)
    first_s = draw.exponential(1.0, 200_000) / draw.gamma(0.4, 1 / 1000.0, 200_000)
    found = expected_age_s(Uniform(), pages(np.array([2000.0])), Context(NOW))
    assert found.item() == pytest.approx(np.maximum(2000.0 - first_s, 0.0).mean(), rel=0.02)


def test_what_is_announced_is_taken_to_have_happened_at_once() -> None:
    assert expected_age_s(
        Uniform(), pages(np.array([60.0]), neg_log_unchanged=50.0), Context(NOW)
    ).item() == pytest.approx(60.0)


def test_a_page_that_was_never_visited_has_none() -> None:
    assert np.isnan(expected_age_s(Uniform(), pages(np.array([np.nan])), Context(NOW))).all()
