"""What is gathered site by site is what is gathered of each alone, and of all together."""

import numpy as np
import pytest

from evercrawl.change.calibration import Calibration
from evercrawl.lab.backtest import calibrations
from evercrawl.lab.backtest.calibrations import Calibrations

PAGES = 50


def everything(of: Calibration):
    bins = of.table()
    return [of.brier, of.expected_error, *bins.count, *bins.predicted, *bins.observed, *bins.at_least, *bins.at_most]


@pytest.mark.parametrize("at_once", [1, 40, 10_000])
def test_each_site_and_all_together(monkeypatch, at_once):
    monkeypatch.setattr(calibrations, "AT_ONCE", at_once)
    draw = np.random.default_rng(1)
    site = draw.choice([2, 3, 7], PAGES)
    found, alone = Calibrations(site), {number: Calibration() for number in (2, 3, 7)}
    for _ in range(20):
        rows, said = draw.integers(0, PAGES, 13), np.r_[0.0, 1.0, draw.random(11)]
        fresh = draw.random(13) < said
        found.add(rows, said, fresh)
        for number, of in alone.items():
            of.add(said[site[rows] == number], fresh[site[rows] == number])
    for number, of in alone.items():
        assert everything(found.of(number)) == pytest.approx(everything(of), nan_ok=True)
    assert everything(found.whole()) == pytest.approx(everything(Calibration.together(alone.values())), nan_ok=True)
    assert found.of(5).count == found.of(8).count == 0
