"""The part of a history that is replayed is the part that was asked for, and holds what was there."""

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import GONE, truth, window

DAY_S = 86_400.0


def part(history, since, until, **given: object):
    return truth(history, ReplaySetting(0.1, since=since * DAY_S, until=until * DAY_S, **given))


def states(pages, page):
    """Return when a page's versions began, in days, and the first version of the same state among them."""
    rows = slice(int(pages.first[page]), int(pages.first[page + 1]))
    state = pages.state[rows].tolist()
    return (pages.at[rows] / DAY_S).tolist(), [None if each == GONE else state.index(each) for each in state]


def test_the_window_is_the_last_years_or_nearly_all(written):
    long = written([(0, 0, "born", 1), (4000, 0, "changed", 2)])
    short = written([(0, 0, "born", 1), (100, 0, "changed", 2)])
    assert np.array(window(long, ReplaySetting(0.1, years=2.0))) / DAY_S == pytest.approx((3269.5, 3513.0, 4000))
    assert np.array(window(short, ReplaySetting(0.1))) / DAY_S == pytest.approx((10, 40, 100))
    asked = ReplaySetting(0.1, since=20 * DAY_S, until=60 * DAY_S, warming=0.5)
    assert np.array(window(short, asked)) / DAY_S == pytest.approx((20, 40, 60))


@pytest.mark.parametrize(("since", "until"), [(50, 50), (60, 50), (-9, -1)])
def test_a_window_with_nothing_in_it_is_refused(written, since, until):
    with pytest.raises(ConfigError, match="no events in that period"):
        part(written([(0, 0, "born", 1), (100, 0, "changed", 2)]), since, until)


def test_what_was_there_before_is_there_at_the_start(written):
    history = written([(0, 0, "born", 1), (3, 0, "changed", 2), (5, 0, "changed", 1), (9, 0, "changed", 2)])
    pages = part(history, 4, 8)
    assert states(pages, 0) == ([4.0, 5.0], [0, 1])
    assert (pages.modified_at / DAY_S).tolist() == [3.0, 5.0]


def test_pages_that_are_not_there_in_that_time_are_left_out(written):
    history = written([
        (0, 0, "born", 1), (2, 0, "gone", 0), (9, 0, "born", 1),
        (0, 1, "born", 1), (5, 1, "gone", 0), (0, 2, "born", 1), (2, 2, "gone", 0), (6, 2, "born", 1),
    ])  # fmt: skip
    pages = part(history, 3, 8)
    assert pages.row.tolist() == [1, 2]
    assert states(pages, 0) == ([3.0, 5.0], [0, None])
    assert states(pages, 1) == ([6.0], [0])


def test_what_the_recorder_did_is_no_change(written):
    history = written([
        (0, 0, "born", 1), (2, 0, "changed", 2), (3, 0, "technical", 7), (4, 0, "changed", 8), (5, 0, "changed", 7),
        (6, 0, "technical", 9), (7, 0, "changed", 1), (10, 0, "changed", 9),
    ])  # fmt: skip
    pages = part(history, 0, 9)
    assert states(pages, 0) == ([0, 2, 3, 4, 5, 6, 7], [0, 1, 1, 3, 1, 1, 0])
    assert (pages.modified_at / DAY_S).tolist() == [0, 2, 2, 4, 5, 5, 7]


def test_a_sample_is_of_each_site_and_repeats(drawn, written):
    events = [(0, page, "born", 1) for page in range(90)] + [(10, 0, "changed", 2)]
    history = written(events, site=[0] * 60 + [1] * 25 + [2] * 5)
    sizes = np.bincount(part(history, 0, 9, sample=20).site)
    assert sizes.tolist() == [20, 20, 5]
    rows = [part(history, 0, 9, sample=20, seed=seed).row.tolist() for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]


def test_names_and_folders_are_those_of_a_site(written):
    paths = ("en/news", "de/news", "en/faq", "en/news")
    pages = part(written([(0, page, "born", 1) for page in range(4)], paths=paths, site=[0, 0, 0, 1]), -1, 1)
    assert pages.folder.tolist() == [0, 1, 0, 2]
    assert pages.name[0] == pages.name[1]
    assert len(set(pages.name.tolist())) == 3


@pytest.mark.parametrize("wrong", [{"lastmod": 1.5}, {"sample": 0}, {"warming": 1.0}, {"years": 0.0},
                                   {"discovery": "luck"}])  # fmt: skip
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        ReplaySetting(0.1, **wrong)
