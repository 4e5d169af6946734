"""Sizes of windows: how they are written, and what they come to in a crawl."""

from types import SimpleNamespace

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.importance.windows import TURN, Interpolation, TwoWindows
from evercrawl.model.policy.window_sizes import WindowLength, WindowSize, split, window_of

DAY = 86_400.0


def crawl(visits=0, pages=0, clock=0.0, marks=()):
    """Return a crawl in which pages were last visited at the instants, with the clock, that `marks` has."""
    rows = np.zeros(max(pages, len(marks)), [("mark", "f4"), ("visited", "u4")])
    for row, (at, mark) in enumerate(marks):
        rows[row] = (mark, at)
    records = SimpleNamespace(rows=rows, count=len(rows))
    return SimpleNamespace(visits=visits, records=records, accounts=SimpleNamespace(total=clock), instant=float)


@pytest.mark.parametrize(
    ("text", "length"),
    [("interpolation:4", 4.0), ("fixed:0.5", 0.5), ("improved:8v", 8 * TURN), ("exponential:90d", 8.0)],
)
def test_a_size_is_in_g_in_visits_or_in_time(text, length):
    assert window_of(text).length == length


def test_measures_are_counted_and_two_windows_keep_their_ratio():
    assert (window_of("variable:8").places, window_of("variable:8v").places) == (7, 7)
    both = window_of("two_windows:16")
    assert (both.length, both.short) == (16.0, 2.0)
    both.resize(8.0)
    assert (both.length, both.short) == (8.0, 1.0)
    assert window_of("two-windows").length == TwoWindows().length


@pytest.mark.parametrize(
    "text",
    [
        "variable:90d",
        "variable:1",
        "variable:2.5",
        "variable:65",
        "fixed:0",
        "fixed:3parsecs",
        "unbounded:3",
        "round:4",
    ],
)
def test_what_is_no_size_is_refused_with_a_sentence(text):
    with pytest.raises(ConfigError, match=text.split(":")[0]):
        window_of(text)


def test_a_class_from_elsewhere_is_no_size():
    assert split("package.module:Class") == ("package.module:Class", None)
    assert split("package.module:Class:4") == ("package.module:Class", WindowSize(4.0, "own"))


def test_in_visits_it_is_what_they_move_on_the_mean():
    window, state = Interpolation(1.0), crawl(visits=500, pages=100, clock=10.0)  # and the visit that is being settled
    WindowLength(window, WindowSize(8.0, "visits"), state).renew(0.0)
    assert window.length == pytest.approx(8 * 10.0 / 501 * 100)


def test_in_time_it_is_what_moved_since_then():
    """A clock that goes at 1 a day for ten days, and then at 3 a day; after a restart only the records know of it."""
    clocks = [(day * DAY, float(day if day < 10 else 10 + 3 * (day - 10))) for day in range(21)]
    window = Interpolation(1.0)
    state = crawl(clock=clocks[-1][1], marks=clocks)
    WindowLength(window, WindowSize(4 * DAY, "s"), state).renew(20 * DAY)
    assert window.length == pytest.approx(12.0)
    WindowLength(window, WindowSize(15 * DAY, "s"), state).renew(20 * DAY)
    assert window.length == pytest.approx(clocks[20][1] - clocks[5][1])


def test_while_it_goes_on_it_need_not_look_at_the_records():
    window, state = Interpolation(1.0), crawl()
    length = WindowLength(window, WindowSize(4 * DAY, "s"), state)
    for hour in range(24 * 20):
        state.accounts.total = hour / 24 if hour < 240 else 10 + 3 * (hour - 240) / 24
        length.renew(hour * 3600.0)
    assert window.length == pytest.approx(12.0, rel=0.02)


def test_a_young_crawl_is_taken_to_go_on_at_its_pace():
    window, state = Interpolation(8.0), crawl()
    length = WindowLength(window, WindowSize(90 * DAY, "s"), state)
    length.renew(0.0)
    assert window.length == 8.0  # nothing is known yet
    state.accounts.total = 3.0
    length.renew(DAY)
    assert window.length == pytest.approx(270.0)


def test_a_size_in_g_stays():
    window = Interpolation(4.0)
    WindowLength(window, WindowSize(4.0, "own"), crawl(visits=9, pages=3, clock=8.0)).renew(DAY)
    assert window.length == 4.0
