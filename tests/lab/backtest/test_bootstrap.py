"""Intervals hold what they promise, for pages that change alone and for folders that change as one."""

import numpy as np
import pytest

from evercrawl.lab.backtest.bootstrap import clusters, interval, over_sites, resampled

SITES, PAGES, DRAWS = 120, 300, 200


def covered(draw, cluster, folder_s):
    """Return on how many made-up sites the interval of the ratio holds its true value, 0.5."""
    held = 0
    for _ in range(SITES):
        weight = draw.exponential(1.0, PAGES)
        of_folder = draw.normal(0.0, folder_s, PAGES // 10)[np.arange(PAGES) // 10]
        part = 0.5 + of_folder + draw.normal(0.0, 0.1, PAGES)
        drawn = resampled(np.stack([weight, weight * part], 1), cluster, int(draw.integers(1 << 30)), DRAWS)
        low, high = interval(drawn[:, 1] / drawn[:, 0])
        held += low <= 0.5 <= high
    return held / SITES


def test_pages_that_are_alone_are_drawn_alone():
    assert 0.88 <= covered(np.random.default_rng(1), np.arange(PAGES), 0.0) <= 1.0


def test_folders_that_change_as_one_are_drawn_whole():
    folder = np.arange(PAGES) // 10
    assert covered(np.random.default_rng(2), clusters(np.zeros(PAGES), folder), 0.2) >= 0.88
    assert covered(np.random.default_rng(2), np.arange(PAGES), 0.2) < 0.62, "else there was no need for folders"


def test_the_spread_is_that_of_the_mean():
    values = np.random.default_rng(3).normal(5.0, 2.0, 400)
    drawn = resampled(np.stack([np.ones(400), values], 1), np.arange(400), seed=4)
    assert (drawn[:, 1] / drawn[:, 0]).std() == pytest.approx(values.std() / 20, rel=0.1)
    assert (drawn[:, 0] == 400).all()


def test_a_seed_gives_the_same_draws_for_every_column():
    sums = np.random.default_rng(5).random((50, 2))
    both, one = (resampled(each, np.arange(50), 7) for each in (sums, sums[:, :1]))
    np.testing.assert_allclose(both[:, 0], one[:, 0])
    assert not np.allclose(one, resampled(sums[:, :1], np.arange(50), 8))


def test_a_site_of_few_folders_is_drawn_page_by_page_beside_one_of_many():
    site = np.repeat([0, 1, 2], 40)
    folder = np.concatenate([np.arange(40) // 2, 20 + np.arange(40) // 4, np.r_[np.full(21, 30), np.arange(31, 50)]])
    number = clusters(site, folder)
    assert [len(np.unique(number[site == each])) for each in range(3)] == [20, 40, 40]
    assert len(np.unique(number)) == 100 == number.max() + 1


def test_sites_are_drawn_too():
    rng = np.random.default_rng(6)
    of_sites = rng.normal(0.0, 0.01, (9, 500, 1)) + np.linspace(0.1, 0.9, 9)[:, None, None]
    spread = over_sites(of_sites, seed=1).std()
    assert spread == pytest.approx(np.linspace(0.1, 0.9, 9).std() / 3, rel=0.15)


def test_no_draw_that_is_a_number_is_no_interval():
    assert np.isnan(interval(np.array([np.nan, np.nan]))).all()
    assert interval(np.array([np.nan, 2.0, 2.0])) == (2.0, 2.0)
