"""The measures of error are what they are called."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from evercrawl.lab.papers.accuracy import TrueImportance, among, importance
from evercrawl.simulate.graphs import power_law


@pytest.fixture
def truth():
    return TrueImportance(importance(power_law(2000, 1)))


def test_the_truth_itself_has_no_error(truth):
    found = truth.accuracy(truth.importance * 7)
    assert found == pytest.approx((0, 0, 0, 0, 0, 0, found.top_rank, found.beyond), abs=1e-12)
    assert found.top_rank < 1e-4, "ties among the best are half a pair each"


def test_errors_are_relative_to_the_page_and_the_best_are_a_tenth(truth):
    estimate = truth.importance.copy()
    best = np.argsort(-estimate)[:200]
    estimate[best] *= 1.1
    found = truth.accuracy(estimate)
    whole = estimate.sum()
    assert found.top == pytest.approx(1.1 / whole - 1)
    assert found.mean == pytest.approx((200 * (1.1 / whole - 1) + 1800 * (1 - 1 / whole)) / 2000)
    assert found.top_variance == pytest.approx(0, abs=1e-15)
    assert found.weighted == pytest.approx(np.abs(estimate / whole - truth.importance).sum())


def test_ranks_are_compared_as_scipy_does(truth):
    noisy = truth.importance * np.random.default_rng(1).lognormal(0, 0.3, 2000)
    found, best = truth.accuracy(noisy), np.argsort(-truth.importance, kind="stable")[:1000]
    assert found.rank == pytest.approx(1 - spearmanr(truth.importance.round(15), noisy).statistic, abs=1e-9)
    tau = kendalltau(truth.importance[best], noisy[best], variant="c").statistic
    assert found.top_rank == pytest.approx((1 - tau) / 2, abs=0.01)


def test_ranks_may_be_left_out():
    found = TrueImportance(np.array([0.5, 0.3, 0.2]), ranks=False).accuracy(np.array([0.5, 0.3, 0.2]))
    assert np.isnan(found.rank)
    assert found.mean == 0


def test_among_some_pages_the_level_counts_where_it_is_asked_about():
    truth, thought = np.array([0.1, 0.2, 0.05]), np.array([0.2, 0.4, 0.1])
    assert among(truth, thought).mean == pytest.approx(0.0)
    assert among(truth, thought, level=True).mean == pytest.approx(1.0)
    assert among(truth, thought, level=True).weighted == pytest.approx(1.0)


def test_who_says_the_same_of_all_pages_has_no_ranks():
    assert np.isnan(among(np.array([0.1, 0.2]), np.ones(2)).rank)
