"""What visits add to the evidence of a rate: of one page as of many, and where some changes are announced."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.change import evidence, gamma
from evercrawl.change.announcements import AT_FIRST
from evercrawl.change.evidence import Interval, Intervals, Refits

spans = st.floats(0.0, 1e8)
maybe = st.none() | st.floats(0.0, 1e8)
visits = st.lists(
    st.tuples(st.floats(0.0, 50.0), st.floats(0.0, 1e8), st.floats(0.1, 1e8), spans, st.booleans(), maybe, maybe,
              st.floats(0.0, 0.98), st.booleans()), min_size=1, max_size=20,
)  # fmt: skip


def column(values):
    return np.array([np.nan if value is None else value for value in values], np.float64)


@given(visits, st.just(0.0) | st.floats(1e-3, 1e6))
def test_many_pages_learn_as_one_does(drawn, cycle_s):
    shape, scale_s, prior_s, interval_s, changed, age_s, announced_s, share, likely = zip(*drawn, strict=True)
    ones = [evidence.interval(*each[3:8], likely=each[8]) for each in drawn]
    flags = np.array(changed)
    found = evidence.intervals(
        column(interval_s), flags, column(age_s), column(announced_s), column(share), np.array(likely)
    )
    for name in Interval._fields:
        expected = column(getattr(one, name) for one in ones)
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-12, err_msg=name)
    weights = evidence.kept_many(column(interval_s), cycle_s)
    np.testing.assert_allclose(weights, [evidence.kept(each, cycle_s) for each in interval_s], rtol=1e-12)
    after = evidence.learn_many((column(shape), column(scale_s)), (0.4, column(prior_s)), found, flags, weights)
    expected = [
        evidence.learn((each[0], each[1]), (0.4, each[2]), one, each[4], evidence.kept(each[3], cycle_s))
        for each, one in zip(drawn, ones, strict=True)
    ]
    np.testing.assert_allclose(np.column_stack(after), expected, rtol=1e-7)


@given(st.floats(0.0, 1e8), maybe)
def test_silence_lasts_until_something_is_announced(interval_s, announced_s):
    found = evidence.unannounced_s(interval_s, announced_s)
    assert 0.0 <= found <= interval_s
    assert evidence.unannounced_many_s(column([interval_s]), column([announced_s])) == pytest.approx(found)


def test_without_announcements_it_is_the_step_of_the_posterior():
    for changed, age_s in ((False, None), (True, None), (True, 3.0)):
        seen = evidence.interval(10.0, changed, age_s, None, 0.0, likely=True)
        assert seen == Interval(10.0, 0.0, age_s)
        found = evidence.learn((1.0, 20.0), (0.4, 3.0), seen, changed, 1.0)
        assert found == gamma.learn_evidence(1.0, 20.0, (0.4, 3.0), 10.0, changed, age_s)


def test_what_was_announced_counts_until_then_and_in_proportion():
    follow = [
        evidence.interval(10.0, True, age, 4.0, share, likely=True) for age in (None, 2.0) for share in (0.0, 0.9)
    ]
    assert [seen.age_s for seen in follow] == pytest.approx([6 * AT_FIRST, 5.4] * 2)
    assert evidence.interval(10.0, True, 2.0, 4.0, 0.9, likely=False) == Interval(10.0, 0.0, 2.0)
    assert evidence.interval(10.0, False, None, 4.0, 0.9, likely=True) == Interval(10.0)


def test_a_change_of_which_nothing_was_said_is_one_of_the_others():
    assert evidence.interval(10.0, True, None, None, 0.25, likely=True) == Interval(7.5, 2.5)
    assert evidence.interval(10.0, True, 2.0, None, 0.25, likely=True) == Interval(10.0, 0.0, 2.0)
    assert evidence.interval(10.0, False, None, None, 0.25, likely=True) == Interval(10.0)


def test_no_more_is_forgotten_after_twenty_cycles():
    weights = evidence.kept_many(np.array([0.0, 1.0, 20.0, 1e9]), 1.0)
    assert weights.tolist() == pytest.approx([1.0, np.exp(-0.05), np.exp(-1.0), np.exp(-1.0)])
    assert evidence.kept_many(np.ones(2), 1.0, 0.5).tolist() == pytest.approx([np.exp(-0.5)] * 2)


def test_priors_are_fitted_less_and_less_often():
    refits, found = Refits(), []
    for _ in range(400_000):
        refits.intervals += 1
        if refits.due():
            found.append(refits.intervals)
    assert found[:5] == [20, 22, 24, 26, 28]
    assert all(b - a == max(a // 10, 1) for a, b in itertools.pairwise(found) if a < 100_000)
    assert [b == 2 * a for a, b in itertools.pairwise(found)][-1]
    assert not Refits(100).due()


def test_intervals_of_many_pages_have_the_fields_of_one():
    assert Interval._fields == Intervals._fields
