"""The regression of counts finds what made them, and its prior holds where there are none."""

import numpy as np
import pytest

from evercrawl.model.worth import regression


def test_a_regression_finds_the_coefficients_that_made_the_counts():
    draw = np.random.default_rng(5)
    rows = np.column_stack([np.ones(4000), draw.normal(size=(4000, 3))])
    true = np.array([0.5, 1.0, -0.7, 0.0])
    events = draw.poisson(np.exp(rows @ true)).astype(np.float64)
    found = regression.fit(rows, events, np.ones(4000), np.zeros(4), np.full(4, 1e-6))
    assert np.abs(found - true).max() < 0.05
    assert regression.spread(events, np.ones(4000), regression.expectation(rows, found)) > 10
    mixed = draw.negative_binomial(2.0, 2.0 / (2.0 + np.exp(rows @ true))).astype(np.float64)
    assert regression.spread(mixed, np.ones(4000), np.exp(rows @ true)) == pytest.approx(2.0, rel=0.4)


def test_rows_that_stand_for_many_count_as_many():
    rows, events = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 6.0])
    once = regression.fit(np.repeat(rows, (3, 1), 0), np.repeat(events, (3, 1)), np.ones(4), np.zeros(2), np.ones(2))
    assert regression.fit(rows, events, np.array([3.0, 1.0]), np.zeros(2), np.ones(2)) == pytest.approx(once)


def test_events_count_for_the_opportunities_there_were():
    draw = np.random.default_rng(6)
    rows = np.column_stack([np.ones(4000), draw.normal(size=4000)])
    exposure, true = np.exp(draw.normal(size=4000) + rows[:, 1]), np.array([0.3, -0.5])
    events = draw.poisson(exposure * np.exp(rows @ true)).astype(np.float64)
    found = regression.fit(rows, events, np.ones(4000), np.zeros(2), np.full(2, 1e-6), exposure)
    assert np.abs(found - true).max() < 0.05


def test_without_events_the_prior_stands():
    prior = np.array([-1.0, 1.0])
    found = regression.fit(np.ones((2, 2)), np.full(2, np.exp(0.0)), np.ones(2), prior, np.ones(2))
    assert found == pytest.approx(prior)
