"""The command that tells how true P(fresh) is, and how much of its error is chance."""

import numpy as np
import pytest
from bench_commands import bench_command

from evercrawl.lab.backtest import polls
from evercrawl.lab.backtest.calibrations import Calibrations
from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.backtest.setting import ReplaySetting

reliability = bench_command("reliability")


def test_it_sees_the_predictions_that_replays_count(drawn):
    history, setting = drawn(4, pages=60, days=200), ReplaySetting(0.05)
    page, said, fresh = reliability.stated(history, "price", setting)
    counted = replay(history, "price", setting).calibration
    assert len(page) == counted.count > 0
    assert reliability.error(said, said - fresh) == pytest.approx(counted.expected_error)
    assert polls.Calibrations is Calibrations


def test_chance_explains_the_error_of_true_statements_and_not_that_of_false_ones():
    draw, n = np.random.default_rng(2), 5_000
    said = draw.random(n)
    true = reliability.errors(said, draw.random(n) < said)
    false = reliability.errors(said, draw.random(n) < said**2)
    assert true[0] == pytest.approx(true[1], abs=0.005)
    assert true[0] == pytest.approx(true[2], abs=0.008)
    assert false[0] > 3 * false[1]
    assert false[0] > 3 * false[2]


def test_groups_hold_all_polls():
    key, said, fresh = np.array([0, 1, 5, 9]), np.full(4, 0.5), np.array([True, False, True, False])
    assert [*reliability.by(key, said, fresh, (0, 1, 4))] == ["0: 1 0.50 1.00", "1: 1 0.50 0.00", "4: 2 0.50 0.50"]
