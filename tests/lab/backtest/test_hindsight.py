"""The best fixed intervals of pages, with all their changes in view."""

import numpy as np
import pytest
from bench_commands import bench_command

from evercrawl.lab.backtest.setting import DAY_S, ReplaySetting
from evercrawl.lab.backtest.truth import truth


@pytest.fixture(scope="module")
def hindsight():
    return bench_command("hindsight")


def lived(hindsight, drawn):
    """What the pages of a small history lived through, and how many there are."""
    pages = truth(drawn(3, pages=40, days=200), ReplaySetting(0.05))
    return hindsight.stretches(pages), len(pages), pages


def test_freshness_is_that_of_copies_polled_at_random_phases(hindsight, drawn):
    of, n, _ = lived(hindsight, drawn)
    interval_s = np.full(n, 6 * DAY_S)
    draw = np.random.default_rng(1)
    at = [draw.uniform(of.since_s, of.until_s) for _ in range(400)]  # an instant of each stretch
    fresh = np.mean([of.new | (draw.uniform(0, 6 * DAY_S, len(age)) < age) for age in at], axis=0)
    lasts = of.until_s - of.since_s
    assert hindsight.freshness(of, np.ones(n), interval_s) == pytest.approx(
        float(fresh @ lasts / lasts.sum()), abs=0.01
    )


def test_the_best_intervals_cost_no_more_and_gain_most(hindsight, drawn):
    of, n, _ = lived(hindsight, drawn)
    weight, budget = np.random.default_rng(2).random(n), 0.05
    best_s = hindsight.best_intervals(of, weight, budget)
    alive_s = np.bincount(of.page, of.until_s - of.since_s, n)
    polls = float((alive_s / best_s).sum())
    assert polls <= budget * alive_s.sum() / DAY_S
    found, draw = hindsight.best_freshness(of, weight, budget), np.random.default_rng(3)
    assert found > hindsight.freshness(of, weight, np.full(n, DAY_S / budget)) + 0.01
    for _ in range(50):  # no other intervals that cost the same do better
        other_s = best_s * draw.lognormal(0.0, 0.5, n)
        other_s *= float((alive_s / other_s).sum()) / polls
        assert hindsight.freshness(of, weight, other_s) <= found + 0.002


def test_stretches_are_the_time_that_pages_exist(hindsight, drawn):
    of, n, pages = lived(hindsight, drawn)
    alive_s = np.bincount(of.page, of.until_s - of.since_s, n)
    assert (alive_s <= pages.end - pages.measured_at + 1.0).all()
    assert (of.since_s >= 0).all()
    assert (of.until_s > of.since_s).all()
