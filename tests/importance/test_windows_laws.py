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
