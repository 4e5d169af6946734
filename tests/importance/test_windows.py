"""Windows: what each does that others do not."""

from fractions import Fraction

import numpy as np
import pytest

from evercrawl.importance.base import Account
from evercrawl.importance.windows import Pasts
from evercrawl.importance.windows._measures import HeldMeasures, Measure, merged, unpack
from evercrawl.importance.windows.base import LEAST, TURN
from evercrawl.importance.windows.exponential import Exponential
from evercrawl.importance.windows.fixed import Fixed
from evercrawl.importance.windows.improved import Improved
from evercrawl.importance.windows.interpolation import Interpolation
from evercrawl.importance.windows.two_windows import TwoWindows, blend
from evercrawl.importance.windows.unbounded import Unbounded
from evercrawl.importance.windows.variable import Variable


def visited(window, visits, born=1):
    page = Account(0, 0, born=born)
    for cash, clock in visits:
        page = Account(0, *window.add(page._replace(cash=cash), clock), born=born)
    return page


def estimate(window, page, total, cash=0.0, guess=None):
    kept = np.array([page.kept], np.float64).reshape(1, window.width)
    past = Pasts(np.array([float(page.history)]), np.array([float(page.mark)]), kept, np.array([float(page.born)]))
    return float(window.now(past, np.array([cash]), total, guess)[0])


STORY = [(Fraction(1, 3), 2), (Fraction(1, 7), Fraction(5, 2)), (Fraction(2, 7), 9), (Fraction(1, 9), 10)]
RATIONAL = [Unbounded(Fraction(4)), Variable(3), Fixed(Fraction(4)), Improved(Fraction(4)), Interpolation(Fraction(4))]


@pytest.mark.parametrize("window", RATIONAL, ids=lambda window: type(window).__name__)
def test_exact_numbers_stay_exact(window):
    past = visited(window, STORY)[1:4]
    assert all(isinstance(number, int | Fraction) for number in (past[0], past[1], *past[2]))


def test_a_birth_that_nobody_noted_is_a_window_ago_at_most():
    for window in (Variable(3, 4.0), Fixed(4.0), Interpolation(4.0), Exponential(4.0), TwoWindows(4.0, 1.0)):
        for born, age in ((0, 4.0), (98.0, 2.0), (90.0, 10.0 if isinstance(window, Variable) else None)):
            page = visited(window, [(0.5, 100.0)], born)
            unread = Account(0.0, 0.0, kept=(0.0,) * window.width, born=born)
            assert age is None or estimate(window, page, 100.0) == pytest.approx(0.5 / age)
            assert estimate(window, unread, 100.0, cash=0.5) == pytest.approx(estimate(window, page, 100.0))


@pytest.mark.parametrize("window", [Fixed(8.0), Interpolation(8.0), Exponential(8.0), TwoWindows(8.0, 7.9)])
def test_a_guess_fills_what_is_missing_of_the_window(window):
    """Here a quarter of the window was there, less where it fades; all of it came at a rate of 0.05."""
    page = visited(window, [(0.1, 3.0)])
    empty, filled = estimate(window, page, 3.0, guess=0.0), estimate(window, page, 3.0, guess=0.02)
    seen = empty / 0.05
    assert 0.2 < seen <= 0.25001
    assert filled == pytest.approx(empty + (1 - seen) * 0.02, rel=1e-2)
    old = visited(window, [(0.1, 3.0), (5.0, 1000.0)])
    assert estimate(window, old, 1000.0, guess=9.0) == pytest.approx(estimate(window, old, 1000.0))


def test_a_guess_stands_for_the_time_before_a_birth_where_there_is_no_window():
    page = visited(Unbounded(), [(0.5, 10.0)], born=5.0)
    assert estimate(Unbounded(), page, 10.0) == 0.05
    assert estimate(Unbounded(), page, 10.0, guess=0.1) == pytest.approx(0.1)


def test_cash_that_came_in_no_time_is_no_rate():
    for window in (Fixed(4.0), Interpolation(4.0), Exponential(4.0)):
        unread = Account(0.0, 0.0, kept=(0.0,) * window.width, born=7.0)
        assert estimate(window, unread, 7.0, cash=0.01) == pytest.approx(0.01 / 4.0 / LEAST)
        assert estimate(window, unread, 7.0, cash=0.01, guess=0.03) == pytest.approx(0.01 / 4.0 + 0.03)


def test_a_variable_window_is_as_long_as_its_measures():
    page = visited(Variable(3), [(9.0, 2.0), (0.5, 3.0), (0.25, 10.0)])
    assert estimate(Variable(3), page, 10.0) == pytest.approx(0.75 / 8)
    assert estimate(Variable(3), page, 14.0, cash=0.25) == pytest.approx(1.0 / 12)


def test_a_measure_at_the_very_edge_counts():
    page = visited(Fixed(4.0), [(0.5, 5.0), (0.25, 9.0)])
    assert estimate(Fixed(4.0), page, 9.0) == 0.75 / 4
    assert estimate(Fixed(4.0), page, 9.01) == 0.25 / 4


def test_a_seldom_visited_page_is_judged_by_three_measures_of_its_own():
    page = visited(Improved(4.0), [(1.0, 11.0), (2.0, 31.0), (4.0, 51.0), (6.0, 81.0)])
    assert len(unpack(page.kept).measures) == 3
    assert estimate(Improved(4.0), page, 81.0) == pytest.approx(12.0 / 70)
    busy = visited(Improved(4.0), [(1.0, 11.0), (2.0, 31.0), (0.1, 32.0), (0.1, 33.0)])
    assert estimate(Improved(4.0), busy, 33.0) == pytest.approx(2.2 / 4)


@pytest.mark.parametrize("kind", [Fixed, Improved])
def test_under_a_cap_old_measures_are_merged_and_the_mean_stays(kind):
    small, large = kind(4.0, places=8), kind(4.0, places=64)
    few = many = Account(0, 0, born=1.0)
    found = []
    for n in range(1, 200):
        clock, cash = 1 + 0.1 * n, 0.01 + 0.001 * (n % 7)
        few, many = (
            Account(0, *window.add(page._replace(cash=cash), clock), born=1.0)
            for window, page in ((small, few), (large, many))
        )
        found.append((estimate(small, few, clock), estimate(large, many, clock)))
    assert [len(unpack(page.kept).measures) for page in (few, many)] == [8, 40]
    assert unpack(few.kept).measures[-4:] == unpack(many.kept).measures[-4:]
    ours, theirs = np.mean(found[50:], axis=0)
    assert ours == pytest.approx(theirs, rel=0.03)


def test_measures_are_merged_where_it_is_least_wrong():
    newest = [Measure(1.0, at) for at in (11.0, 12.0, 13.0, 14.0)]
    far = [Measure(1.0, 1.0), Measure(1.0, 5.0), Measure(1.0, 5.5), Measure(1.0, 9.0)]
    assert merged(HeldMeasures(0.0, (*far, *newest)), 7).measures[:3] == (Measure(1.0, 1.0), Measure(2.0, 5.25), far[3])
    nothing = [Measure(0.0, 1.0), Measure(0.0, 5.0), Measure(1.0, 5.5)]
    assert merged(HeldMeasures(0.0, (*nothing, *newest)), 6).measures[0] == Measure(0.0, 5.0)
    assert merged(HeldMeasures(0.0, tuple(newest)), 5) == HeldMeasures(0.0, tuple(newest))


def test_an_exponential_window_fades_by_its_length():
    page = visited(Exponential(2.0), [(1.0, 2.0)])
    later = visited(Exponential(2.0), [(1.0, 2.0), (0.0, 4.0)])
    assert later.history == pytest.approx(page.history / np.e)


def test_two_windows_follow_the_short_one_only_when_they_disagree():
    assert blend(np.array([1.2]), np.array([1.0])) == pytest.approx(1.0, abs=0.05)
    assert blend(np.array([0.5, 2.0]), np.array([1.0, 1.0])) == pytest.approx([0.5, 2.0], abs=1e-3)
    assert blend(np.array([0.0, 0.0]), np.array([1.0, 0.0])).tolist() == [0.0, 0.0]
    assert (TwoWindows().short, TwoWindows().length) == (TURN, 8 * TURN)


def test_two_windows_agree_on_the_whole_before_they_disagree_on_a_page():
    """A short window that says 40 % too little of all pages has nothing to say of any one."""
    window = TwoWindows(8.0, 1.0)
    long = np.array([1.0, 2.0, 3.0])
    pages = Pasts(
        0.6 * long * 1.0, np.full(3, 50.0), np.stack([long * 8.0, np.zeros(3), np.zeros(3)], axis=1), np.ones(3)
    )
    assert window.now(pages, np.zeros(3), 50.0) == pytest.approx(0.6 * long, rel=1e-2)
    assert window.shares(pages, np.zeros(3), 50.0) == pytest.approx(long / 6, rel=1e-12)


CLOCK = Fraction(10)
OTHER = [(Fraction(1, 5), 3), (Fraction(1, 4), Fraction(19, 2))]


@pytest.mark.parametrize("window", RATIONAL, ids=lambda window: type(window).__name__)
def test_joined_numbers_stay_exact(window):
    page, other = visited(window, STORY), visited(window, OTHER)
    past = window.join(page._replace(cash=Fraction(1, 3)), other._replace(cash=Fraction(1, 5)), CLOCK)
    assert all(isinstance(number, int | Fraction) for number in (past[0], past[1], *past[2]))


def test_measures_of_two_pages_are_those_of_one_and_none_of_the_cash_is_lost():
    window = Fixed(Fraction(20))
    page, other = visited(window, STORY), visited(window, OTHER)
    past = window.join(page, other, CLOCK)
    assert past.history == sum(cash for cash, _ in STORY + OTHER)
    held = unpack(past.kept)
    assert held.start == 1
    assert [float(measure.at) for measure in held.measures] == [2.0, 2.5, 3.0, 9.0, 9.5, 10.0]
    assert held.measures[0].cash == Fraction(1, 3) + Fraction(1, 5) / 2  # half of the other's first interval
    assert held.measures[4].cash == Fraction(1, 9) / 2 + Fraction(1, 4) / 13


def test_joined_measures_are_as_many_as_there_are_places_for():
    for window in (Fixed(50.0, places=6), Improved(50.0, places=6), Variable(7, 50.0)):
        page, other = (
            visited(window, [(0.1, start + 2.0 * visit) for visit in range(12)], born=0.5) for start in (1.0, 2.0)
        )
        past = window.join(page, other, 30.0)
        assert len(past.kept) == window.width
        assert len(unpack(past.kept).measures) == 6


def test_merged_measures_stay_between_those_they_are_made_of():
    measures = [Measure(cash, at) for cash, at in ((-0.5, 1.0), (0.6, 2.0), (0.1, 3.0), (0.1, 4.0), (0.1, 5.0))]
    one = merged(HeldMeasures(0.0, (*measures, Measure(0.1, 6.0))), 5).measures[0]
    assert one == (pytest.approx(0.1), 2.0)


def test_two_windows_are_joined_each_for_itself():
    both, story = TwoWindows(8.0, 2.0), [(0.3, 2.0), (0.1, 5.0)]
    for length, history, missing in ((2.0, 0, 2), (8.0, 1, 3)):
        single = Exponential(length)
        pasts = [
            window.join(visited(window, story)._replace(cash=0.2), visited(window, OTHER)._replace(cash=0.1), 12.0)
            for window in (both, single)
        ]
        numbers = (pasts[0].history, *pasts[0].kept)
        assert (numbers[history], numbers[missing]) == pytest.approx((pasts[1].history, *pasts[1].kept))


def test_joined_history_is_that_of_either_as_of_now_less_the_cash_that_waits_but_came_before():
    """T = 4, G = 6: of the one page 0.5 are a T ago, and 0.4 came in twice T; of the other half of 0.2 counts."""
    window = Interpolation(4.0)
    page, other = Account(0.4, 0.5, -2.0, (0.0,)), Account(0.3, 0.2, 4.0, (0.5,))
    past = window.join(page, other, 6.0)
    assert past.history == pytest.approx(0.4 / 2 - 0.4 + 0.2 / 2)
    assert past[1:] == (6.0, (0.0,))


def test_before_the_clock_has_moved_there_is_nothing_to_join():
    for window in (Unbounded(), Variable(), Fixed(), Improved(), Interpolation(), Exponential(), TwoWindows()):
        page, other = Account(0.5, 0, put_in=0.5), Account(0.25, 0, put_in=0.25)
        assert window.join(page, other, 0) == (0, 0, ())
