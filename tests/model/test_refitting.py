"""Priors that are fitted some records at a time come to what a fit of all at once gives, also while they learn."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evercrawl.change.prior import SitePriors
from evercrawl.model import rates

DAY = 86_400.0
PAGES, SITES = 900, 30


@pytest.fixture
def state(monkeypatch):
    """Records of sites whose pages change at rates far apart; a fit goes through 64 of them at a time."""
    monkeypatch.setattr(rates, "AT_ONCE", 100)
    monkeypatch.setattr(rates, "AT_A_VISIT", 64)
    draw = np.random.default_rng(3)
    rows = np.zeros(PAGES, [("host", "u4"), ("rate_shape", "f4"), ("rate_scale_s", "f4")])
    rows["host"] = draw.integers(0, SITES, PAGES)
    seen = draw.random(PAGES) < 0.7
    rows["rate_shape"] = seen * draw.poisson(2, PAGES)
    rows["rate_scale_s"] = seen * DAY * 10.0 ** (rows["host"] % 4)
    return SimpleNamespace(
        records=SimpleNamespace(rows=rows, count=PAGES), site_of=np.arange(SITES, dtype=np.uint32), sites=range(SITES)
    )


def other(row: Any, draw: np.random.Generator) -> tuple[float, float]:
    """Evidence of one more visit."""
    return float(row["rate_shape"]) + float(draw.integers(0, 2)), float(row["rate_scale_s"]) + DAY


@pytest.mark.parametrize("seed", range(3))
def test_some_at_a_time_come_to_what_all_at_once_does(state, seed):
    draw, rows, priors = np.random.default_rng(seed), state.records.rows, SitePriors(SITES)
    rates.fit(priors, state)
    refitting = rates.Refitting(priors, state)
    rows["rate_scale_s"][rows["rate_scale_s"] > 0] *= 30.0  # far off from what was fitted
    refitting.begin()
    visits = 0
    while refitting.busy:
        record = int(draw.integers(0, PAGES))
        before = float(rows["rate_shape"][record]), float(rows["rate_scale_s"][record])
        after = other(rows[record], draw)
        refitting.learn(int(rows["host"][record]), record, before if any(before) else None, after)
        rows["rate_shape"][record], rows["rate_scale_s"][record] = after
        visits += 1
        assert visits < 13 * PAGES
    assert visits > 2 * PAGES // 64
    whole = SitePriors(SITES)
    rates.fit(whole, state)
    np.testing.assert_allclose(np.log(priors.scales_s), np.log(whole.scales_s), atol=0.05)


def test_few_records_are_fitted_at_once(state):
    state.records.count = 100
    priors, whole = SitePriors(SITES), SitePriors(SITES)
    refitting = rates.Refitting(priors, state)
    refitting.begin()
    rates.fit(whole, state)
    assert not refitting.busy
    np.testing.assert_array_equal(priors.scales_s, whole.scales_s)


def test_sites_that_come_during_a_fit_have_a_prior(state):
    priors = SitePriors(SITES)
    refitting = rates.Refitting(priors, state)
    refitting.begin()
    state.sites, state.site_of = range(SITES + 5), np.arange(SITES + 5, dtype=np.uint32)
    priors.grow(SITES + 5)
    for record in range(PAGES):
        if not refitting.busy:
            break
        refitting.learn(SITES + 4, record, None, (1.0, DAY))
    assert not refitting.busy
    assert np.isfinite(priors.scales_s).all()
    assert len(priors.scales_s) == SITES + 5
    assert priors.scale_s(SITES + 4) < 4 * DAY
