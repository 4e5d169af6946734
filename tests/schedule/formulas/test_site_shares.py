"""The distribution of sites' shares, against scipy's and against draws."""

import numpy as np
import pytest
from scipy import stats

from evercrawl.schedule.formulas.site_shares import Shares, beta_probability, fit

SHAPES = [(a, b) for a in (0.05, 0.4, 1.0, 3.0, 50.0) for b in (0.05, 1.0, 7.0, 900.0)]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_probability_threshold_and_mean_above(a, b):
    shares = Shares(a, b)
    for x in (0.0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0):
        assert beta_probability(a, b, x) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-11)
    for part in (0.01, 0.1, 0.5, 0.9):
        at = shares.threshold(part)
        assert at == pytest.approx(stats.beta.isf(part, a, b), abs=1e-9)
        above = a / (a + b) * stats.beta.sf(at, a + 1, b) / part
        assert shares.mean_above(part) == pytest.approx(above, abs=1e-9)
        assert shares.density(0.3) == pytest.approx(stats.beta.pdf(0.3, a, b), rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [(0.4, 2.0), (1.0, 1.0), (2.0, 5.0), (20.0, 60.0)])
def test_a_fit_finds_what_was_drawn(a, b):
    rng = np.random.default_rng(1)
    probed = rng.integers(3, 30, 20_000)
    changed = rng.binomial(probed, rng.beta(a, b, 20_000))
    found = fit(changed.astype(float), probed.astype(float))
    assert found.mean == pytest.approx(a / (a + b), rel=0.03)
    assert found.a + found.b == pytest.approx(a + b, rel=0.15)


def test_a_fit_has_ends():
    tens = np.full(50, 10.0)
    alike = fit(np.full(50, 3.0), tens)
    assert alike.a + alike.b == pytest.approx(1e4)
    apart = fit(np.repeat([0.0, 10.0], 25), tens)
    assert 0 < apart.a + apart.b < 0.1
    for changed, probed in ((0.0, 10.0), (10.0, 10.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)):
        shares = fit(np.array([changed]), np.array([probed]))
        assert min(shares) > 0
        for part in (0.01, 0.99):
            assert np.isfinite([shares.density(shares.threshold(part)), shares.mean_above(part)]).all()
