"""Expected freshness and age at the ends of their ranges, where differences of nearly equal numbers lurk."""

from fractions import Fraction
from math import factorial

import closed_forms
import numpy as np
import pytest

from evercrawl.change.expectations import ORDERS, mean_age, mean_freshness


def exactly(r, order):
    """Freshness and age of table 1 in fractions, by 50 terms of the exponential series."""
    gone = sum(Fraction((-1) ** (k + 1)) * r**k / factorial(k) for k in range(1, 60))  # 1 - e^-r
    if order == "fixed":
        return gone / r, Fraction(1, 2) - 1 / r + gone / r**2
    if order == "random_order":
        return (1 - (gone / r) ** 2) / r, Fraction(1, 3) + (Fraction(1, 2) - 1 / r) ** 2 - (gone / r**2) ** 2
    return 1 / (1 + r), r / (1 + r)


@pytest.mark.parametrize("order", ORDERS)
def test_no_digit_is_lost_from_the_slowest_to_the_fastest(order):
    for r in (1e-15, 1e-9, 1e-4, 0.01, 0.3, 0.9999999, 1.0, 1.5, 4.0, 9.0):
        fresh, age = exactly(Fraction(r), order)
        assert mean_freshness(r, 1.0, order) == pytest.approx(float(fresh), rel=1e-14)
        assert mean_age(r, 1.0, order) == pytest.approx(float(age), rel=3e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_the_ends(order):
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        fresh = mean_freshness([0.0, 0.0, 1.0, 1e300, 5e-324, 1e300], [0.0, 1.0, 0.0, 1e-300, 1e300, 1e300], order)
        age = mean_age([0.0, 0.0, 1.0, 1e300, 5e-324], [0.0, 1.0, 0.0, 1.0, 1e300], order)
    assert fresh[:5].tolist() == [1.0, 1.0, 0.0, 0.0, 1.0]
    assert 0.4 < fresh[5] < 0.7
    assert age.tolist()[:3] == [0.0, 0.0, np.inf]
    assert age[3] == pytest.approx({"fixed": 1 / 2, "random_order": 7 / 12, "purely_random": 1.0}[order])
    assert age[4] == 0.0


def test_even_visits_are_best_and_the_random_ones_worst():
    r = np.geomspace(1e-3, 1e3, 50)
    fixed, mixed, random = (mean_freshness(r, 1.0, order) for order in ORDERS)
    assert (fixed > mixed).all()
    assert (mixed > random).all()
    old, older, oldest = (mean_age(r, 1.0, order) for order in ORDERS)
    assert (old < older).all()
    assert (older < oldest).all()


def test_the_unit_of_time_does_not_matter():
    for order in ORDERS:
        assert mean_freshness(3.0, 2.0, order) == pytest.approx(mean_freshness(3.0 / 60, 2.0 / 60, order))
        assert mean_age(3.0, 2.0, order) * 60 == pytest.approx(mean_age(3.0 / 60, 2.0 / 60, order))


def test_counts_of_changes_make_a_distribution():
    some = [closed_forms.changes_probability(3.0, 0.7, count) for count in range(40)]
    assert sum(some) == pytest.approx(1.0)
    assert sum(count * p for count, p in enumerate(some)) == pytest.approx(2.1)
    assert 1 - some[0] == pytest.approx(closed_forms.changed_probability(3.0, 0.7).item())
    assert [closed_forms.changes_probability(3.0, 0.0, count) for count in (0, 1)] == [1.0, 0.0]


def test_a_set_of_pages_counts_by_weight():
    assert closed_forms.weighted([1.0, 0.0, np.inf], [1.0, 3.0, 0.0]) == 0.25
    assert closed_forms.weighted([1.0], [0.0]) == 0.0
    assert closed_forms.weighted([0.2, 0.4], 1.0) == pytest.approx(0.3)
