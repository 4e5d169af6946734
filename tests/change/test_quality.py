"""Popularity by its equations, integrated step by step, and quality found again from two looks at it."""

import closed_forms
import numpy as np
import pytest

from evercrawl.change import quality


def integrated(slope, start, until, steps=20_000):
    """Runge and Kutta's fourth-order rule; returns the end and the integral on the way."""
    p, h, area = start, until / steps, 0.0
    for _ in range(steps):
        k1 = slope(p)
        k2 = slope(p + h * k1 / 2)
        k3 = slope(p + h * k2 / 2)
        k4 = slope(p + h * k3)
        before, p = p, p + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        area += h * (before + p) / 2
    return p, area


@pytest.mark.parametrize(("q", "first", "growth", "passed"), [(0.5, 0.05, 1.0, 9.0), (0.9, 0.2, 0.3, 30.0)])
def test_popularity_is_what_its_equations_say(q, first, growth, passed):
    end, area = integrated(lambda p: growth * p * (q - p), first, passed)
    assert closed_forms.surfed(q, first, growth, passed) == pytest.approx(end, rel=1e-9)
    aware = closed_forms.awareness(growth, area, first / q)
    assert aware * q == pytest.approx(end, rel=1e-6)  # P = A Q
    end, _ = integrated(lambda p: growth * p**2.25 * (q - p), first, passed)
    assert closed_forms.searched(q, first, growth, passed) == pytest.approx(end, rel=1e-9)


def test_a_search_engine_that_ranks_by_popularity_holds_new_pages_back():
    times = np.array([10.0, 30.0, 100.0])
    assert (closed_forms.searched(0.8, 0.01, 1.0, times) < closed_forms.surfed(0.8, 0.01, 1.0, times)).all()
    assert closed_forms.searched(0.8, 0.01, 1.0, 1e9) == pytest.approx(0.8)


def test_popularity_that_has_come_to_the_quality_stays_there():
    for curve in (closed_forms.surfed, closed_forms.searched):
        assert curve([0.5, 0.5], [0.5, 0.05], 1.0, 1e9) == pytest.approx([0.5, 0.5])
        assert curve(0.5, 0.5, 1.0, [0.0, 7.0]).tolist() == [0.5, 0.5]
    assert closed_forms.searched(0.5, 0.5 * (1 - 1e-12), 1.0, 7.0) == pytest.approx(0.5)


@pytest.mark.parametrize("first", [0.0, -0.1, 0.6, float("nan")])
def test_a_popularity_that_no_page_of_that_quality_has_is_refused(first):
    with pytest.raises(ValueError, match="above 0, and no more than the quality"):
        closed_forms.searched([0.5, 0.5], [0.1, first], 1.0, 7.0)


def test_quality_is_found_again():
    q = np.array([0.1, 0.5, 0.9])
    first = closed_forms.surfed(q, 0.01, 2.0, 1.0)
    for passed, near in ((1e-3, 1e-3), (1.0, 1.0)):
        after = closed_forms.surfed(q, first, 2.0, passed)
        assert closed_forms.estimate_between(first, after, passed, 2.0) == pytest.approx(q, rel=1e-6)
        assert quality.estimate(first, after, passed, 2.0) == pytest.approx(q, rel=near)


def test_a_new_page_of_quality_comes_before_an_old_one_of_fame():
    assert quality.estimate(0.01, 0.02, 1.0, 1.0) > quality.estimate(0.3, 0.3, 1.0, 1.0)


def test_popularity_that_stays_or_falls():
    assert quality.estimate([0.3, 0.3, 0.0, 0.0], [0.3, 0.01, 0.0, 0.2], 1.0, 2.0).tolist()[:3] == [0.3, 0.0, 0.0]
    found = closed_forms.estimate_between([0.3, 0.3, 0.0, 0.0], [0.3, 0.01, 0.0, 0.2], 1.0, 2.0)
    assert found.tolist() == [0.3, 0.01, 0.0, 0.2]
    level = closed_forms.surfed(0.3, 0.3 * (1 - 1e-12), 1.0, 50.0)
    assert closed_forms.estimate_between(0.3 * (1 - 1e-12), level, 50.0, 1.0) == pytest.approx(0.3)
