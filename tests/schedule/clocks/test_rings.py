"""Rings of bins: what is in them when bins are made wider and narrower."""

import numpy as np
import pytest

from evercrawl.schedule.clocks._layout import BINS
from evercrawl.schedule.clocks.rings import ClockRings


def filled(count, seed=1, head=5000):
    """Rings whose bins hold something each, up to a newest bin that is not the same in all."""
    draw, rings = np.random.default_rng(seed), ClockRings(60.0)
    rings.more(count)
    tables = {name: table.all() for name, table in rings.tables().items()}
    tables["heads"][1:] = head + draw.integers(0, 300, count)
    for name in ("changes", "expected"):
        tables[name][1:] = draw.gamma(0.5, 2.0, (count, BINS))
    return rings


def held(rings, name, begins_s, ends_s):
    """What the bins hold of a stretch of time, shape (rings,), each bin by the part of it that is within."""
    tables = {key: table.all() for key, table in rings.tables().items()}
    bins = tables["heads"][:, None] - np.arange(BINS)
    begins = bins * rings.width_s
    within = np.minimum(begins + rings.width_s, ends_s) - np.maximum(begins, begins_s)
    share = np.where(tables["heads"][:, None] < 0, 0.0, np.clip(within / rings.width_s, 0, 1))
    return (np.take_along_axis(tables[name], bins % BINS, axis=1) * share).sum(axis=1)


def test_new_rings_are_empty_and_no_ring_is_given_twice():
    rings = ClockRings(60.0)
    assert rings.more(3).tolist() == [1, 2, 3]
    assert rings.more(20).tolist() == list(range(4, 24))
    assert len(rings) == 24
    tables = {name: table.all() for name, table in rings.tables().items()}
    assert (tables["heads"] == -1).all()
    assert tables["changes"].sum() == tables["expected"].sum() == 0.0


@pytest.mark.parametrize("count", [3, 1500])
def test_wider_bins_hold_all_changes_and_who_was_watched_as_long(count):
    rings = filled(count)
    whole = (0.0, 1e9)
    changes, watched = held(rings, "changes", *whole), held(rings, "expected", *whole) * 60.0
    assert rings.fit(250.0)
    assert rings.width_s == 240.0
    np.testing.assert_allclose(held(rings, "changes", *whole), changes, rtol=1e-5)
    np.testing.assert_allclose(held(rings, "expected", *whole) * 240.0, watched, rtol=1e-5)


def test_narrower_bins_hold_what_there_was_in_the_time_that_they_still_reach():
    rings = filled(40)
    rings.tables()["heads"].all()[1:] = 5000
    since, until = (5001 - 60) * 60.0, 5001 * 60.0
    changes, watched = held(rings, "changes", since, until), held(rings, "expected", since, until) * 60.0
    assert rings.fit(20.0)
    assert rings.width_s == 30.0
    np.testing.assert_allclose(held(rings, "changes", since, until), changes, rtol=1e-5)
    np.testing.assert_allclose(held(rings, "expected", since, until) * 30.0, watched, rtol=1e-5)


def test_within_a_factor_of_two_nothing_is_touched():
    rings = filled(5)
    before = rings.tables()["changes"].all().copy()
    assert not rings.fit(119.0)
    assert not rings.fit(31.0)
    assert rings.width_s == 60.0
    np.testing.assert_array_equal(rings.tables()["changes"].all(), before)


def test_what_was_worked_out_of_old_bins_is_forgotten():
    rings = filled(5)
    rings.tables()["done"].all()[:] = 5000
    rings.fit(120.0)
    assert (rings.tables()["done"].all() == -1).all()


def test_rings_that_were_never_used_stay_so():
    rings = ClockRings(60.0)
    rings.more(2)
    for width_s in (240.0, 15.0):
        rings.fit(width_s)
        assert (rings.tables()["heads"].all() == -1).all()
        assert rings.tables()["changes"].all().sum() == 0.0
