"""Rings of cells: what is in them when bins are made wider and narrower."""

import numpy as np
import pytest

from evercrawl.schedule.clocks._layout import CELLS
from evercrawl.schedule.clocks.rings import AT_ONCE, ClockRings


def filled(count, seed=1, head=5000):
    """Rings whose cells hold something each, up to a newest bin that is not the same in all."""
    draw, rings = np.random.default_rng(seed), ClockRings(60.0)
    rings.more(count)
    tables = {name: table.all() for name, table in rings.tables().items()}
    tables["heads"][1:] = head + draw.integers(0, 300, count)
    tables["units"][1:, :2] = draw.gamma(2.0, 1e-5, (count, 2))
    for name in ("changes", "expected"):
        tables[name][1:] = draw.integers(0, 0x4000, (count, CELLS))
    return rings


def held(rings, begins_s, ends_s):
    """The changes in a stretch of time, and for how long pages were watched times their rates; shape (rings,) each."""
    heads = rings.tables()["heads"].all()
    changes, expected = rings.bins()
    begins = (heads[:, None] - np.arange(changes.shape[1])) * rings.width_s
    within = np.minimum(begins + rings.width_s, ends_s) - np.maximum(begins, begins_s)
    share = np.where(heads[:, None] < 0, 0.0, np.clip(within / rings.width_s, 0, 1))
    return (changes * share).sum(axis=1), (expected * share).sum(axis=1) * rings.width_s


def test_new_rings_are_empty_and_no_ring_is_given_twice():
    rings = ClockRings(60.0)
    assert rings.more(3).tolist() == [1, 2, 3]
    assert rings.more(20).tolist() == list(range(4, 24))
    assert len(rings) == 24
    assert (rings.tables()["heads"].all() == -1).all()
    assert all(column.sum() == 0.0 for column in rings.bins())


def test_every_bin_lies_in_one_cell_and_each_cell_is_used():
    rings = ClockRings(60.0)
    rings.more(64)
    tables = {name: table.all() for name, table in rings.tables().items()}
    tables["heads"][1:] = 5000 + np.arange(64)
    tables["units"][:, :2] = 1.0
    tables["changes"][1:] = tables["expected"][1:] = 1
    changes, expected = (column[1:] for column in rings.bins())
    assert (expected <= 1.0).all()
    reach = expected.sum(axis=1)
    assert reach.min() >= 249
    assert reach.max() <= 256
    assert changes.sum(axis=1).min() >= CELLS - 3, "but one of each level where the next one may end"


@pytest.mark.parametrize("count", [3, 1500])
def test_wider_bins_hold_all_changes_and_who_was_watched_as_long(count):
    rings = filled(count)
    changes, watched = held(rings, 0.0, 1e9)
    assert rings.fit(250.0)
    assert rings.width_s == 240.0
    while rings.stale:
        rings.go_on()
    made, looked = held(rings, 0.0, 1e9)
    np.testing.assert_allclose(made, changes, rtol=1e-3)
    np.testing.assert_allclose(looked, watched, rtol=1e-3)


def test_narrower_bins_hold_what_there_was_in_the_time_that_they_still_reach():
    rings = filled(40)
    rings.tables()["heads"].all()[1:] = 5001
    stretch = (5002 - 64) * 60.0, 5002 * 60.0
    changes, watched = held(rings, *stretch)
    assert rings.fit(20.0)
    assert rings.width_s == 30.0
    made, looked = held(rings, *stretch)
    np.testing.assert_allclose(made, changes, rtol=0.05)
    np.testing.assert_allclose(looked, watched, rtol=0.05)


def test_within_a_factor_of_two_nothing_is_touched():
    rings = filled(5)
    before = rings.tables()["changes"].all().copy()
    assert not rings.fit(119.0)
    assert not rings.fit(31.0)
    assert rings.width_s == 60.0
    np.testing.assert_array_equal(rings.tables()["changes"].all(), before)


def test_rings_that_were_never_used_stay_so():
    rings = ClockRings(60.0)
    rings.more(2)
    for width_s in (240.0, 15.0):
        rings.fit(width_s)
        assert (rings.tables()["heads"].all() == -1).all()
        assert rings.tables()["changes"].all().sum() == 0


def test_rings_that_are_looked_at_follow_first_and_all_come_to_the_same():
    count = 2 * AT_ONCE + 9
    rings, at_once, early = filled(count), filled(count), np.array([count - 1, 3, count - 1, AT_ONCE + 7])
    for each in (rings, at_once):
        assert each.fit(500.0)
    while at_once.stale:
        at_once.go_on()
    assert rings.stale
    assert not rings.fit(5000.0), "they are not there yet"
    rings.settle(early)
    for name, table in rings.tables().items():
        np.testing.assert_array_equal(table.all()[early], at_once.tables()[name].all()[early])
    after = ClockRings(rings.width_s)
    for name, table in after.tables().items():
        table.restore(rings.tables()[name].all())
    after.resume(rings.rest())
    for each in (rings, after):
        each.settle(early)  # once is enough
        for _ in range(2):
            each.go_on()
        assert not each.stale
        assert each.rest() == {}
        for name, table in each.tables().items():
            np.testing.assert_array_equal(table.all(), at_once.tables()[name].all())
    assert rings.fit(5000.0)
