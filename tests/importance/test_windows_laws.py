"""What every window in the catalogue keeps to; a new file enrols itself."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl import catalog
from evercrawl.importance import windows
from evercrawl.importance.base import Account
from evercrawl.importance.windows import Pasts, Window

WINDOWS = catalog.find(windows, Window)  # type: ignore[type-abstract]
DROPPING = ["variable", "improved"]  # at a visit the oldest measure, whatever the new one says
LATE = ["unbounded"]  # says of a page that became known late how much of all cash it moved, not how fast
CHOOSING = ["two_windows", "fixed"]  # which window counts, which measures
BY_VISITS = ["interpolation"]  # how much of the window there is depends on when the visits were, unless that is all
THE_START = math.ulp(0.0)  # a birth that was noted; 0 would say that nobody did

each_window = pytest.mark.parametrize("window", [pytest.param(kind(), id=name) for name, kind in WINDOWS.items()])
gaps = st.lists(st.floats(0.1, 40.0), min_size=1, max_size=30)
inflows = st.floats(1e-6, 1.0)
steps = st.integers(0, 2000).map(lambda count: count / 64)
visits = st.lists(steps.flatmap(lambda gap: st.tuples(st.just(gap), st.sampled_from([0.0, min(gap, 1), gap / 64]))))
a_few = settings(max_examples=20, deadline=None)


def visited(window, page, cash, clock):
    """Return the account after a visit."""
    return Account(0.0, *window.add(page._replace(cash=cash), clock), born=page.born)


def lived(window, visits, born=THE_START):
    """Return account and clock after visits, each a G-time since the one before and the cash that it found."""
    page, clock = Account(0.0, 0.0, born=born), born
    for gap, cash in visits:
        clock += gap
        page = visited(window, page, cash, clock)
    return page, clock


def columns(pages, width):
    kept = np.array([page.kept or (0.0,) * width for page in pages], np.float64).reshape(len(pages), width)
    history, mark, born = (np.array([float(p[k]) for p in pages]) for k in (1, 2, 4))
    return Pasts(history, mark, kept, born)


def estimate(window, page, cash, clock, guess=None):
    return float(window.now(columns([page], window.width), np.array([float(cash)]), float(clock), guess)[0])


def test_the_windows_of_the_literature_are_found_by_name():
    named = "unbounded variable fixed improved interpolation exponential two-windows"
    for name in named.split():
        assert isinstance(catalog.pick(windows, Window, name)(), Window)  # type: ignore[type-abstract]


@each_window
@a_few
@given(visits=visits)
def test_as_many_numbers_are_kept_as_the_width_says(window, visits):
    page, clock = lived(window, visits)
    assert len(window.begun(clock).kept) == window.width
    assert not page.mark or len(page.kept) == window.width


@each_window
@a_few
@given(gaps=gaps, inflow=inflows, waits=st.floats(0.0, 20.0))
def test_a_steady_inflow_is_estimated_as_what_it_is_whenever_the_visits_are(window, gaps, inflow, waits):
    page, clock = lived(window, [(gap, gap * inflow) for gap in gaps])
    found = estimate(window, page, inflow * waits, clock + waits)
    if window.exact:
        assert found == pytest.approx(inflow, rel=1e-9)
    else:
        longest = max(*gaps, waits) if len(gaps) > 1 else gaps[0] + waits
        assert inflow * (1 - 1e-9) <= found <= inflow * (1 + longest / window.length) * (1 + 1e-9)


@each_window
@a_few
@given(gaps=gaps, inflow=inflows, born=st.floats(1.0, 1000.0))
def test_so_it_is_of_a_page_that_became_known_late(window, gaps, inflow, born):
    page, clock = lived(window, [(gap, gap * inflow) for gap in gaps], born)
    guesses = (inflow,) if catalog_name(window) in LATE else (None, inflow)
    for guess in guesses:
        found = estimate(window, page, 0.0, clock, guess)
        assert found >= inflow * (1 - 1e-9)
        assert not window.exact or found == pytest.approx(inflow, rel=1e-9)


def catalog_name(window):
    return type(window).__module__.rpartition(".")[2]


@each_window
@a_few
@given(visits=visits, gap=st.floats(0.5, 30.0), cash=st.floats(0.0, 0.5))
def test_a_visit_changes_no_estimate(window, visits, gap, cash):
    """Cash that waits counts as if the visit were made now; where a measure is dropped, if all say the same."""
    if catalog_name(window) in DROPPING:
        visits, cash = [(since + 0.1, 0.01 * (since + 0.1)) for since, _ in visits], 0.01 * gap
    page, clock = lived(window, visits)
    now = clock + gap
    before, after = estimate(window, page, cash, now), estimate(window, visited(window, page, cash, now), 0.0, now)
    if window.exact or catalog_name(window) not in DROPPING:
        assert after == pytest.approx(before, rel=1e-9, abs=1e-12)


@each_window
@a_few
@given(stories=st.lists(visits, min_size=1, max_size=6), guess=st.none() | st.floats(0.0, 0.1))
def test_columns_say_what_each_page_says_alone(window, stories, guess):
    lives = [lived(window, story) for story in stories]
    pages, now = [page for page, _ in lives], max(clock for _, clock in lives)
    cash = np.linspace(0.0, 0.5, len(pages))
    found = window.now(columns(pages, window.width), cash, now, guess)
    alone = [estimate(window, page, c, now, guess) for page, c in zip(pages, cash.tolist(), strict=True)]
    assert found.tolist() == pytest.approx(alone, rel=1e-12)


@each_window
@a_few
@given(visits=visits)
def test_exact_numbers_say_what_floats_say(window, visits):
    page, clock = lived(window, visits)
    exact, _ = lived(window, [(Fraction(gap), Fraction(cash)) for gap, cash in visits], Fraction(THE_START))
    assert estimate(window, exact, 0.0, clock) == pytest.approx(estimate(window, page, 0.0, clock), rel=1e-9, abs=1e-15)


@each_window
@a_few
@given(before=visits, cash=st.floats(0.01, 1.0))
def test_nothing_breaks_where_the_last_visit_is_one_length_ago(window, before, cash):
    length = getattr(window, "short", window.length)
    if not window.exact:  # there a measure counts or does not; with all measures alike that is one of some
        before, cash = [(length / 4, length / 400)] * 8, length / 100
    page, clock = lived(window, [*before, (1.0, 0.01)])
    ends = [clock + length * (1 + e) for e in (-1e-9, 0, 1e-9)]
    found = [estimate(window, visited(window, page, cash, end), 0.0, end) for end in ends]
    assert max(found) <= min(found) * (1 + 1e-6 if window.exact else 2)


@each_window
@a_few
@given(visits=visits, gaps=st.lists(st.floats(1.0, 1e6), max_size=20))
def test_a_page_that_gets_nothing_more_falls_to_nothing(window, visits, gaps):
    page, clock = lived(window, visits)
    for gap in gaps:
        clock += gap
        page = visited(window, page, 0.0, clock)
    assert 0.0 <= estimate(window, page, 0.0, clock + 1e9) <= 1e-7


@each_window
@a_few
@given(visits=visits, gap=st.floats(0.1, 40.0))
def test_a_page_that_comes_back_begins_anew(window, visits, gap):
    _, clock = lived(window, visits)
    page = Account(0.0, *window.begun(clock + 1.0), born=THE_START)
    now = clock + 1.0 + gap
    found = estimate(window, visited(window, page, 0.01 * gap, now), 0.0, now)
    expected = 0.01 * gap / now if catalog_name(window) in LATE else 0.01 * gap / max(gap, 0.0)
    assert found == pytest.approx(expected) or not window.exact
    assert found >= expected * (1 - 1e-9)


@each_window
@a_few
@given(visits=visits)
def test_a_mark_kept_with_fewer_digits_does_no_harm(window, visits):
    """It may then be ahead of the clock."""
    if catalog_name(window) in DROPPING:
        visits = [(3.0, 0.125)] * len(visits)
    page, clock = lived(window, [*visits, (3.0, 0.125)])
    rounded, cash = page._replace(mark=clock * (1 + 1e-7)), 1e-9
    after = visited(window, rounded, cash, clock)
    for found, waits in ((rounded, cash), (after, 0.0)):
        assert estimate(window, found, waits, clock) == pytest.approx(estimate(window, page, 0.0, clock), rel=1e-5)


@each_window
@a_few
@given(cash=st.floats(0.0, 1.0), total=st.floats(0.0, 1e6), born=st.floats(0.0, 1e6), guess=st.floats(0.0, 0.1))
def test_a_page_never_read_is_worth_something_finite(window, cash, total, born, guess):
    page = Account(0.0, 0.0, born=born)
    for found in (estimate(window, page, cash, total), estimate(window, page, cash, total, guess)):
        assert 0.0 <= found < math.inf
    assert estimate(window, page, 0.0, total) == 0.0


@each_window
@a_few
@given(visits=visits, put_in=st.floats(0.0, 1.0))
def test_cash_that_was_put_in_says_nothing(window, visits, put_in):
    earned, clock = lived(window, [(1.0, 0.25)])
    page = Account(0.0, 0.0, born=THE_START, put_in=put_in)
    given = Account(0.0, *window.add(page._replace(cash=0.25 + put_in), clock), born=THE_START)
    more = put_in / clock if catalog_name(window) in LATE else 0.0  # all cash counts, so that H sums to G
    assert estimate(window, given, 0.0, clock) == pytest.approx(estimate(window, earned, 0.0, clock) + more)


@each_window
@a_few
@given(stories=st.lists(visits, min_size=1, max_size=6))
def test_shares_sum_to_one(window, stories):
    lives = [lived(window, [*story, (1.0, 0.5)]) for story in stories]
    now = max(clock for _, clock in lives)
    cash = np.full(len(lives), 0.125)
    assert window.shares(columns([page for page, _ in lives], window.width), cash, now).sum() == pytest.approx(1)


def alias(window, page, other, now):
    """Return the account of a page that another turned out to be."""
    joined = window.join(page, other, now)
    return Account(page.cash + other.cash, *joined, born=page.born)


def as_it_is(window, page, now, guess=None):
    return estimate(window, page, page.cash, now, guess)


def steady(window, gaps, inflow, born, now):
    """Return the account of a page that gains `inflow` from its birth to `now`, visited while that is not reached."""
    page, clock = Account(0.0, 0.0, born=born), born
    for gap in gaps:
        if clock + gap < now:
            clock += gap
            page = visited(window, page, gap * inflow, clock)
    return page._replace(cash=(now - clock) * inflow)


def longest(gaps, now):
    return min(max(*gaps, now - sum(gaps)) if len(gaps) > 1 else now, now)


@each_window
@a_few
@given(visits=visits, cash=st.floats(0.0, 0.5), wait=st.floats(0.1, 30.0))
def test_who_joins_with_nothing_changes_nothing(window, visits, cash, wait):
    page, clock = lived(window, visits)
    page, now = page._replace(cash=cash), clock + wait
    for nothing in (Account(0.0, 0.0), Account(0.0, *window.begun(clock), born=THE_START)):
        assert window.join(page, nothing, now) == page[1:4]


@each_window
@a_few
@given(gaps=st.tuples(gaps, gaps), inflow=st.tuples(inflows, inflows), now=st.floats(1.0, 400.0))
def test_pages_that_are_one_gain_what_both_do(window, gaps, inflow, now):
    if catalog_name(window) in BY_VISITS:
        now += 200.0
    page, other = (steady(window, *each, THE_START, now) for each in zip(gaps, inflow, strict=True))
    found = as_it_is(window, alias(window, page, other, now), now)
    if window.exact:
        assert found == pytest.approx(sum(inflow), rel=1e-9)
    else:
        too_high = 1 + max(longest(each, now) for each in gaps) / window.length
        assert sum(inflow) * (1 - 1e-9) <= found <= sum(inflow) * too_high * (1 + 1e-9)


@each_window
@a_few
@given(stories=st.tuples(visits, visits), cash=st.tuples(*[st.floats(0.0, 0.5)] * 2), wait=st.floats(0.1, 30.0))
def test_the_estimate_of_pages_that_are_one_is_the_sum_of_both(window, stories, cash, wait):
    """Where the window is a sum, whatever came when."""
    if catalog_name(window) not in (*DROPPING, *CHOOSING):
        lives = [lived(window, story) for story in stories]
        now = max(clock for _, clock in lives) + wait
        page, other = (life[0]._replace(cash=has) for life, has in zip(lives, cash, strict=True))
        found = alias(window, page, other, now)
        for guess in (0.0,) if catalog_name(window) in BY_VISITS else (0.0, None):
            each = [as_it_is(window, one, now, guess) for one in (page, other)]
            assert as_it_is(window, found, now, guess) == pytest.approx(sum(each), rel=1e-9, abs=1e-12)


@each_window
@a_few
@given(gaps=st.tuples(gaps, gaps), inflow=st.tuples(inflows, inflows), age=st.floats(0.1, 50.0))
def test_a_young_page_that_is_an_old_one_too_is_worth_the_old_one_at_least(window, gaps, inflow, age):
    now = 100.0
    old = steady(window, gaps[0], inflow[0], THE_START, now)
    young = steady(window, gaps[1], inflow[1], now - age, now)
    least, each = as_it_is(window, old, now), [as_it_is(window, page, now) for page in (old, young)]
    too_high = 1 if window.exact else 1 + max(longest(gaps[0], now), longest(gaps[1], age)) / window.length
    for pages in ((old, young), (young, old)):
        found = as_it_is(window, alias(window, *pages, now), now)
        assert (least if window.exact else inflow[0]) * (1 - 1e-9) <= found <= sum(each) * too_high * (1 + 1e-9)


@each_window
@a_few
@given(gaps=gaps, inflow=inflows, now=st.floats(1.0, 200.0))
def test_a_page_not_known_before_is_worth_what_its_alias_was(window, gaps, inflow, now):
    page = steady(window, gaps, inflow, THE_START, now)
    found = as_it_is(window, alias(window, Account(0.0, 0.0, born=now), page, now), now)
    if window.exact:
        assert found == pytest.approx(as_it_is(window, page, now), rel=1e-9)
    else:
        assert 1 - 1e-9 <= found / inflow <= 1 + longest(gaps, now) / window.length


@each_window
@a_few
@given(gaps=st.tuples(gaps, gaps), inflow=st.tuples(inflows, inflows), gap=st.floats(0.1, 30.0), now=st.floats(1, 200))
def test_what_is_joined_is_counted_once_by_the_visits_that_follow(window, gaps, inflow, gap, now):
    if catalog_name(window) in BY_VISITS:
        now += 200.0
    page, other = (steady(window, *each, THE_START, now) for each in zip(gaps, inflow, strict=True))
    found = alias(window, page, other, now)
    at_once = visited(window, found, found.cash, now)
    later = visited(window, found, found.cash + sum(inflow) * gap, now + gap)
    after = visited(window, at_once, sum(inflow) * gap, now + gap)
    if window.exact:
        waited, length = found.cash / sum(inflow), getattr(window, "short", window.length)
        too_high = 1 - waited * gap / length**2 / math.expm1(-(now + gap) / length)  # old cash is taken for new
        assert as_it_is(window, at_once, now) == pytest.approx(as_it_is(window, found, now), rel=1e-9)
        assert as_it_is(window, after, now + gap) == pytest.approx(sum(inflow), rel=1e-9)
        assert 1 - 1e-9 <= as_it_is(window, later, now + gap) / sum(inflow) <= too_high + 1e-9


@each_window
@a_few
@given(stories=st.tuples(visits, visits), cash=st.floats(0.0, 1.0), more=visits)
def test_what_is_joined_never_falls_below_nothing(window, stories, cash, more):
    lives = [lived(window, story) for story in stories]
    now = max(clock for _, clock in lives)
    page = alias(window, lives[0][0], lives[1][0]._replace(cash=cash), now)
    waits = cash
    for gap, came in more:
        now, waits = now + gap, waits + came
        assert as_it_is(window, page._replace(cash=waits), now) >= -1e-12
        page, waits = visited(window, page, waits, now), 0.0
    assert as_it_is(window, page, now) >= -1e-12
