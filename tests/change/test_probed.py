"""How copies are judged that were drawn by lot: case by case, and on the mean over draws where the truth is known."""

import math

import numpy as np
import pytest

from evercrawl.change.probed import Prediction, ProbeFinding, judged, measure, stale_age_s

DAY_S = 86_400.0


def test_what_is_still_fresh_was_so_before():
    assert judged(Prediction(0.3, 5.0, 10.0), ProbeFinding(100.0, fresh=True, said=0.1)) == (1.0, 0.0)


def test_seen_stale_at_once_it_was_stale():
    said = Prediction(0.8, 10.0, 100.0)
    for after_s in (0.0, -3.0):
        assert judged(said, ProbeFinding(after_s, fresh=False, said=0.8)) == (0.0, pytest.approx(50.0))


def test_a_change_dated_before_the_drawing_was_missed_by_the_copy():
    of = judged(Prediction(0.5, 20.0, 100.0), ProbeFinding(60.0, fresh=False, said=0.4, change_after_s=-30.0))
    assert of.fresh == 0.0
    assert 30.0 < of.age_s < 100.0  # 30 s at least, and more as far as there were changes before that


def test_a_change_dated_after_the_drawing_says_nothing_of_before():
    assert judged(Prediction(0.5, 20.0, 100.0), ProbeFinding(60.0, fresh=False, said=0.4, change_after_s=10.0)) == (
        0.5,
        20.0,
    )


def test_a_copy_that_was_just_made_was_fresh():
    assert judged(Prediction(1.0, 0.0, 0.0), ProbeFinding(3600.0, fresh=False, said=0.7)) == (1.0, 0.0)


def test_no_copy_is_older_than_the_time_it_was_left_alone():
    assert stale_age_s(Prediction(1.0, 0.0, 60.0)) == 30.0
    assert stale_age_s(Prediction(0.5, 200.0, 60.0)) == 60.0


@pytest.mark.parametrize("dated", [False, True])
def test_on_the_mean_it_is_as_it_was(dated):
    """Pages that change at random at a known rate, left alone for a day and drawn at a random instant of it, are
    visited at its end, up to a day after."""
    draw, lam, n = np.random.default_rng(1), 1.5 / DAY_S, 20_000
    fresh, age_s, was_fresh, was_age_s = np.zeros((4, n))
    for i in range(n):
        alone_s = draw.uniform(0.0, DAY_S)
        changes = np.cumsum(draw.exponential(1 / lam, 12))
        changes = changes[changes < DAY_S]
        missed = changes[changes < alone_s]
        was_fresh[i], was_age_s[i] = not len(missed), alone_s - missed[0] if len(missed) else 0.0
        p = math.exp(-lam * alone_s)
        said = Prediction(p, alone_s - (1 - p) / lam, alone_s)
        last = changes[-1] - alone_s if dated and len(changes) else math.nan
        found = ProbeFinding(DAY_S - alone_s, not len(changes), math.exp(-lam * DAY_S), last)
        fresh[i], age_s[i] = judged(said, found)
    assert fresh.mean() == pytest.approx(was_fresh.mean(), abs=0.012)
    assert age_s.mean() == pytest.approx(was_age_s.mean(), rel=0.03)
    assert np.corrcoef(fresh, was_fresh)[0, 1] > 0.5


def sample(n, part=0.8, seed=1):
    draw = np.random.default_rng(seed)
    stale = draw.random(n) >= part
    age_s = np.where(stale, draw.exponential(100.0, n), 0.0)
    return 1.0 - stale, age_s, np.full(n, part), np.full(n, 20.0), np.full(n, 100.0)


def test_intervals_hold_what_they_promise():
    held = np.zeros((80, 2), bool)
    for seed in range(80):
        found = measure(*sample(150, seed=seed), np.arange(150))
        assert found is not None
        held[seed] = found.fresh_low <= 0.8 <= found.fresh_high, found.age_low_s <= 20.0 <= found.age_high_s
    assert held[:, 0].mean() == pytest.approx(0.95, abs=0.05)
    assert held[:, 1].mean() > 0.87  # the bootstrap of what is skew is a little narrow


def test_copies_that_one_visit_judged_count_as_one():
    columns = sample(300)
    each = tuple(np.repeat(column, 4) for column in columns)
    alone, together = measure(*columns, np.arange(300)), measure(*each, np.repeat(np.arange(300), 4))
    assert alone is not None
    assert together is not None
    assert (together.probes, together.visits) == (1200, 300)
    assert together[2:6] == pytest.approx(alone[2:6])
    assert together.age_high_s == pytest.approx(alone.age_high_s)


def test_where_all_are_fresh_the_age_is_bounded_by_what_may_be_stale():
    n = 50
    one = np.ones(n)
    found = measure(one, 0 * one, one, 0 * one, 60.0 * one, np.arange(n))
    assert found is not None
    assert (found.fresh, found.fresh_high, found.age_s) == (1.0, 1.0, 0.0)
    assert found.age_high_s == pytest.approx((1 - found.fresh_low) * 60.0)


def test_an_empty_sample_says_nothing():
    assert measure(*np.zeros((5, 0)), np.zeros(0, np.int64)) is None
