"""Calibration held against its definition, word by word."""

from dataclasses import asdict

import numpy as np
import pytest

from evercrawl.change.calibration import BINS, Calibration


def drawn(count, seed=1):
    rng = np.random.default_rng(seed)
    probability = rng.beta(2.0, 0.7, count)
    return probability, rng.random(count) < probability**1.5, rng.exponential(1.0, count)


def slowly(probability, fresh, weight):
    """ECE and Brier's score, one at a time."""
    bins = {}
    for p, y, w in zip(probability.tolist(), fresh.tolist(), weight.tolist(), strict=True):
        bins.setdefault(min(int(p * BINS), BINS - 1), []).append((p, y, w))
    whole = weight.sum()
    error = sum(abs(sum(w * (y - p) for p, y, w in each)) for each in bins.values()) / whole
    return error, (weight * (probability - fresh) ** 2).sum() / whole


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_by_their_definitions(weighted):
    probability, fresh, weight = drawn(500)
    weight = weight if weighted else np.ones(500)
    seen = Calibration()
    seen.add(probability, fresh, weight if weighted else None)
    assert (seen.expected_error, seen.brier) == pytest.approx(slowly(probability, fresh, weight), rel=1e-12)
    assert seen.predicted == pytest.approx(np.average(probability, weights=weight))
    assert seen.observed == pytest.approx(np.average(fresh, weights=weight))


def test_pieces_add_up():
    whole, pieces = Calibration(), Calibration()
    probability, fresh, weight = drawn(300)
    whole.add(probability, fresh, weight)
    for first in (0, 1, 100):
        part = slice(first, {0: 1, 1: 100, 100: 300}[first])
        pieces.add(probability[part], fresh[part], weight[part])
    for column, one in asdict(whole.table()).items():
        assert one == pytest.approx(getattr(pieces.table(), column), nan_ok=True), column
    assert pieces.brier == pytest.approx(whole.brier)
    assert pieces.count == 300


def test_bounds_belong_to_one_bin():
    seen = Calibration()
    seen.add([0.0, 0.05, 0.0999, 0.95, 1.0], np.ones(5))
    table = seen.table()
    assert table.count.tolist() == [1, 2] + [0] * 17 + [2]
    assert (table.low[1], table.high[1], table.high[-1]) == (0.05, 0.1, 1.0)
    assert np.isnan(table.observed[2])
    assert (table.at_least[2], table.at_most[2]) == (0.0, 1.0)


def test_what_is_calibrated_has_little_error_and_intervals_that_hold():
    rng = np.random.default_rng(3)
    probability = rng.random(40_000)
    seen = Calibration()
    seen.add(probability, rng.random(40_000) < probability)
    table = seen.table(0.99)
    assert seen.expected_error < 0.015
    assert ((table.at_least <= table.predicted) & (table.predicted <= table.at_most)).sum() >= 18
    low, high = seen.interval(0.99)
    assert low < seen.predicted < high


def test_nothing_yet():
    seen = Calibration()
    assert np.isnan([seen.expected_error, seen.brier, seen.predicted, seen.observed]).all()
    assert seen.interval() == (0.0, 1.0)
    assert seen.count == 0
