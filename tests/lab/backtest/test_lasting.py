"""What lasts of pages that go to and fro, and a policy that tells returns from changes."""

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.lasting import lasting_states
from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import truth

WHOLE = ReplaySetting(1.0, since=0.0, warming=0.0)
A_WEEK = ReplaySetting(1.0, since=0.0, warming=0.0, lasting_days=7.0)


def of_page(written, *days: tuple[float, str, int]) -> list[int]:
    """Return the lasting state of each version of a page, by its content."""
    history = written([(day, 0, what, content) for day, what, content in days] + [(99.0, 1, "born", 1)])
    pages = truth(history, WHOLE)
    contents = [content for _, _, content in days]
    name = dict(zip(pages.state.tolist(), contents, strict=False))
    states = lasting_states(pages, 7 * 86_400.0)
    return [name[state] if state >= 0 else 0 for state in states[: len(days)].tolist()]


def test_what_comes_back_within_a_week_has_not_been_away(written):
    assert of_page(written, (0, "born", 1), (10, "changed", 2), (12, "changed", 1), (50, "changed", 3)) == [1, 1, 1, 3]
    assert of_page(written, (0, "born", 1), (10, "changed", 2), (30, "changed", 1)) == [1, 2, 1]
    to_and_fro = [(0, "born", 1), (10, "changed", 2), (12, "changed", 1), (18, "changed", 3), (20, "changed", 1)]
    assert of_page(written, *to_and_fro) == [1] * 5
    assert of_page(written, (0, "born", 1), (10, "changed", 2), (11, "changed", 3), (12, "changed", 2)) == [1, 2, 2, 2]


def test_nothing_lasts_while_there_is_no_page(written):
    assert of_page(written, (0, "born", 1), (10, "gone", 0), (12, "born", 1)) == [1, 0, 1]


def test_a_copy_counts_as_fresh_while_what_lasts_of_it_is_there(written):
    to_and_fro = [(day + part, 0, "changed", 1 + (part < 0.5)) for day in range(1, 40) for part in (0.2, 0.7)]
    history = written([(0, 0, "born", 1), *to_and_fro])
    plain, lasting = (replay(history, "uniform", setting) for setting in (WHOLE, A_WEEK))
    assert lasting.freshness > plain.freshness + 0.02
    assert (lasting.alive_s == plain.alive_s).all()
    assert (lasting.polls == plain.polls).all()
    notices = replay(history, "notices", A_WEEK)
    assert notices.freshness >= lasting.freshness


def flickering(written, pages: int = 12):
    """Return a history of pages that go to and fro every day or two, and of as many that change for good."""
    draw, events = np.random.default_rng(3), []
    for page in range(pages):
        events += [(0, page, "born", 1), (0, pages + page, "born", 1)]
        days = np.cumsum(draw.exponential(1.5, 80))
        events += [(float(day), page, "changed", 2 - i % 2) for i, day in enumerate(days[days < 110], 1)]
        days = np.cumsum(draw.exponential(12.0, 40))
        events += [(float(day), pages + page, "changed", 2 + i) for i, day in enumerate(days[days < 110])]
    return written(events, paths=tuple(f"{page // pages}/{page}" for page in range(2 * pages)))


def test_who_tells_returns_from_changes_keeps_more_of_what_lasts(written):
    history = flickering(written)
    setting = ReplaySetting(0.15, since=0.0, lasting_days=7.0)
    alike, told = (replay(history, "price", setting, {"flicker": flicker}) for flicker in (0, 1))
    assert told.freshness > alike.freshness + 0.02
    assert told.calibration.expected_error < alike.calibration.expected_error


def test_days_are_none_or_more():
    with pytest.raises(ConfigError, match="lasting_days must be 0 or more"):
        ReplaySetting(0.1, lasting_days=-1.0)
