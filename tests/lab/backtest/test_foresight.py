"""What the past tells of the best intervals: the command that takes the loss of fixed intervals apart."""

import numpy as np
import pytest
from bench_commands import bench_command

from evercrawl.lab.backtest.setting import DAY_S, ReplaySetting
from evercrawl.lab.backtest.truth import truth


@pytest.fixture(scope="module")
def foresight():
    return bench_command("foresight")


def test_changes_and_times_add_up(foresight, drawn):
    pages = truth(drawn(3, pages=40, days=200), ReplaySetting(0.05))
    parts = [
        foresight.seen(pages, *part) for part in ((pages.start, pages.measured_at), (pages.measured_at, pages.end))
    ]
    whole = foresight.seen(pages, pages.start, pages.end)
    assert np.array_equal(parts[0].shape + parts[1].shape, whole.shape)
    assert np.allclose(parts[0].scale_s + parts[1].scale_s, whole.scale_s)
    assert whole.shape.sum() > 0
    assert whole.scale_s.max() <= pages.end - pages.start


def test_polls_teach_what_they_see_and_frequent_ones_nearly_all(foresight, drawn):
    pages = truth(drawn(3, pages=40, days=200), ReplaySetting(0.05))
    all_seen = foresight.seen(pages, pages.start, pages.end)
    prior = foresight.usual(all_seen)
    seldom, often = (foresight.polled(pages, prior, pages.end, days * DAY_S) for days in (40, 0.25))
    learned = [(rates.shape - prior.shape).sum() for rates in (seldom, often)]
    assert learned[0] < 0.7 * learned[1]
    assert learned[1] == pytest.approx(all_seen.shape.sum(), rel=0.1)
    assert np.array_equal(foresight.polled(pages, prior, pages.start, DAY_S).shape, prior.shape), "no poll, no lesson"


def test_copies_are_as_fresh_as_random_changes_leave_them(foresight):
    rates = foresight.Rates(np.array([0.4, 1.0, 3.0]), np.array([1.0, 2.0, 5.0]) * DAY_S)
    k = 60
    interval_s, draw = foresight.INTERVALS_S[k], np.random.default_rng(1)
    per_s = draw.gamma(rates.shape, 1 / rates.scale_s, (200_000, 3))
    assert rates.fresh()[k] == pytest.approx((-np.expm1(-per_s * interval_s) / (per_s * interval_s)).mean(0), abs=0.005)


def test_known_rates_close_more_of_the_gap_than_guessed_ones(foresight, drawn, monkeypatch):
    history = drawn(5, pages=60, days=300)
    found = dict(zip((*foresight.COLUMNS, "price"), foresight.shares(history, 0.05, "price"), strict=True))
    assert found["hindsight"] > found["rates"] > found["polled"], found
    assert all(np.isfinite([*found.values()]))
