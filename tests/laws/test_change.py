"""What a visit may and may not do to what is believed of a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.change import gamma

shapes = st.floats(1e-3, 1e4)
spans = st.floats(1e-2, 1e10)
intervals = st.floats(0.0, 1e10)
visits = st.lists(st.tuples(st.floats(0.0, 1e9), st.booleans(), st.none() | st.floats(0.0, 1e9)), max_size=30)


@given(shape=shapes, scale_s=spans, interval_s=st.floats(1.0, 1e10))
def test_an_unchanged_page_is_slower_than_believed(shape, scale_s, interval_s):
    a, b = gamma.learn(shape, scale_s, interval_s, False)
    assert a == shape
    assert a / b <= shape / scale_s
    assert b == scale_s + interval_s


@given(shape=shapes, scale_s=spans, interval_s=intervals)
def test_a_changed_page_is_not_slower_than_believed(shape, scale_s, interval_s):
    a, b = gamma.learn(shape, scale_s, interval_s, True)
    assert a / b >= shape / scale_s * (1 - 1e-12)


@given(shape=shapes, scale_s=spans, interval_s=intervals, age=st.none() | st.floats(0.0, 1.0))
def test_a_visit_adds_at_most_a_change_and_its_interval(shape, scale_s, interval_s, age):
    age_s = None if age is None else age * interval_s
    more, more_s = gamma.learn_evidence(0.0, 0.0, (shape, scale_s), interval_s, True, age_s)
    assert 0 <= more <= 1 + 1e-9
    assert 0 <= more_s <= interval_s * (1 + 1e-9)


@given(history=visits, first=spans, later=spans)
def test_evidence_stands_under_any_prior(history, first, later):
    evidence = (0.0, 0.0)
    for interval_s, changed, age_s in history:
        evidence = gamma.learn_evidence(*evidence, (0.4, first), interval_s, changed, age_s)
        first, later = later, first
        assert min(evidence) >= 0


@given(history=visits)
def test_evidence_on_a_prior_is_the_belief(history):
    belief, evidence = (0.4, 3e5), (0.0, 0.0)
    for visit in history:
        belief = gamma.learn(*belief, *visit)
        evidence = gamma.learn_evidence(*evidence, (0.4, 3e5), *visit)
    assert (0.4 + evidence[0], 3e5 + evidence[1]) == pytest.approx(belief, rel=1e-9)


@given(spans_s=st.lists(st.floats(0.0, 1e9), min_size=1, max_size=20), data=st.data())
def test_unchanged_intervals_may_come_in_any_order(spans_s, data):
    belief = other = (0.4, 3e5)
    for interval_s, elsewhere_s in zip(spans_s, data.draw(st.permutations(spans_s)), strict=True):
        belief, other = gamma.learn(*belief, interval_s, False), gamma.learn(*other, elsewhere_s, False)
    assert belief == pytest.approx(other, rel=1e-12)


@given(shape=shapes, scale_s=spans, interval_s=intervals, changed=st.booleans(), unit=st.sampled_from([60.0, 86_400.0]))
def test_the_unit_of_time_does_not_matter(shape, scale_s, interval_s, changed, unit):
    a, b = gamma.learn(shape, scale_s, interval_s, changed)
    assert gamma.learn(shape, scale_s / unit, interval_s / unit, changed) == pytest.approx((a, b / unit), rel=1e-6)
