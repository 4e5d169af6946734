"""What is said of replays follows from their sums, and can be worked out by hand."""

import json
import math

import numpy as np
import pytest

from evercrawl.change.calibration import Calibration
from evercrawl.errors import ConfigError
from evercrawl.lab.backtest.calibrations import Calibrations
from evercrawl.lab.backtest.replayed import Replayed
from evercrawl.lab.backtest.report import means, of_site, part, sites_of
from evercrawl.lab.backtest.rows import as_object

DAY_S = 86_400.0


def made(policy, fresh_s, budget=0.1, **given: object):
    """Return a replay of pages that were there for ten seconds each, all alike but for what is said."""
    fresh_s = np.array(fresh_s, np.float64)
    n = len(fresh_s)
    usual = {
        "site": "example", "policy": policy, "budget": budget, "weight": np.ones(n), "alive_s": np.full(n, 10.0),
        "fresh_s": fresh_s, "content_fresh_s": fresh_s, "stale_s2": np.zeros(n), "polls": np.full(n, 5),
        "unchanged": np.full(n, 2), "first_sight_s": np.full(n, np.nan), "unseen": np.zeros(n, np.bool_),
        "calibration": Calibration(), "elapsed_s": 0.1, "calibrations": Calibrations(np.zeros(n, np.int64)),
    }  # fmt: skip
    return Replayed(**(usual | given))


def said(*runs: Replayed, cluster=None):
    return of_site(runs, np.arange(len(runs[0].weight)) if cluster is None else cluster, seed=1)


def parts(runs, site):
    names = ["a", "b", "none", "d"]
    return [part(runs, np.arange(len(site)), site, number, names[number], seed=1) for number in sites_of(runs[0], site)]


def test_means_are_by_worth_and_by_time_alive():
    run = made("price", [10, 2, 0], weight=np.array([1.0, 3.0, 5.0]), alive_s=np.array([10.0, 4.0, 0.0]),
               content_fresh_s=np.array([10.0, 4.0, 0.0]), stale_s2=np.array([0.0, 11.0, 0.0]))  # fmt: skip
    row = said(run).rows[0]
    assert row.freshness == pytest.approx((10 + 3 * 2) / (10 + 3 * 4))
    assert (row.content_freshness, row.age_s) == (1.0, pytest.approx(33 / 22))
    assert (row.polls, row.unchanged, row.pages) == (15, 6, 2)


def test_the_gap_lies_between_uniform_and_notices_at_the_same_budget():
    runs = [
        made(policy, np.full(4, fresh), budget)
        for budget, all_fresh in ((0.1, (6, 5, 9)), (0.2, (7, 8, 9)))
        for policy, fresh in zip(("price", "uniform", "notices"), all_fresh, strict=True)
    ]
    rows = said(*runs).rows
    assert [row.gap_closed for row in rows] == pytest.approx([0.25, 0.0, 1.0, -1.0, 0.0, 1.0])
    assert [row.difference for row in rows] == pytest.approx([0.0, -0.1, 0.3, 0.0, 0.1, 0.2])
    assert all(math.isnan(row.gap_closed) for row in said(*runs[:2]).rows)


def test_without_a_gap_none_is_closed():
    rows = said(made("uniform", [5, 5]), made("notices", [5, 5])).rows
    assert all(math.isnan(row.gap_closed) for row in rows)
    assert as_object(rows[0])["gap_closed"] is None


def test_a_difference_is_sure_where_intervals_overlap():
    of_page = np.random.default_rng(1).random(200) * 9.0
    first, second = said(made("price", of_page), made("uniform", of_page + 0.5)).rows
    assert first.low < second.low < first.high < second.high
    assert second.difference == pytest.approx(0.05)
    assert 0.0 < second.difference_low == pytest.approx(second.difference_high) == pytest.approx(0.05)


def test_all_that_is_told_has_an_interval_and_they_are_drawn_together():
    draw = np.random.default_rng(1)
    n = 60
    sights = np.where(np.arange(n) % 2 == 0, draw.exponential(100.0, n), np.nan)
    sights[:4] = np.nan
    unseen = np.arange(n) < 4
    run = made("price", draw.uniform(0, 10, n), content_fresh_s=draw.uniform(5, 10, n), stale_s2=draw.exponential(9, n),
               unchanged=draw.integers(0, 5, n), first_sight_s=sights, unseen=unseen)  # fmt: skip
    found = said(run)
    row = found.rows[0]
    waited = np.sort(np.r_[sights[~np.isnan(sights)], [np.inf] * 4])
    assert row.wasted == run.unchanged.sum() / run.polls.sum()
    assert row.first_sight_s == waited[len(waited) // 2]
    for low, at, high in (
        (row.content_low, row.content_freshness, row.content_high), (row.age_low_s, row.age_s, row.age_high_s),
        (row.wasted_low, row.wasted, row.wasted_high),
        (row.first_sight_low_s, row.first_sight_s, row.first_sight_high_s),
    ):  # fmt: skip
        assert low < at < high
    error = run.content_fresh_s.std() / 10 / np.sqrt(n)
    assert row.content_high - row.content_low == pytest.approx(2 * 1.96 * error, rel=0.1)
    error = run.stale_s2.std() / 10 / np.sqrt(n)
    assert row.age_high_s - row.age_low_s == pytest.approx(2 * 1.96 * error, rel=0.1)
    mean = means([found, found], seed=1)[0]
    assert (mean.wasted, mean.content_freshness) == pytest.approx((row.wasted, row.content_freshness))
    assert mean.wasted_low < mean.wasted < mean.wasted_high
    assert mean.age_low_s < mean.age_s < mean.age_high_s


def test_without_polls_nothing_is_wasted_and_without_births_nothing_is_seen_first():
    row = said(made("price", [1, 2], polls=np.zeros(2, int), unchanged=np.zeros(2, int))).rows[0]
    found = as_object(row)
    names = ("wasted", "wasted_low", "wasted_high", "first_sight_s", "first_sight_low_s", "first_sight_high_s")
    assert [found[name] for name in names] == [None] * 6


def test_pages_that_were_never_there_are_not_drawn():
    run = made("price", np.full(30, 5.0), alive_s=np.r_[np.full(10, 10.0), np.zeros(20)])
    row = said(run, cluster=np.arange(30) // 2).rows[0]
    assert (row.pages, row.drawn) == (10, 5)
    assert row.low == row.high == 0.5


def test_where_no_page_is_measured_that_is_told():
    with pytest.raises(ConfigError, match="no page of example exists in the measured part"):
        said(made("price", [0, 0], alive_s=np.zeros(2)))


def test_each_site_of_a_history_has_rows_of_its_own_pages():
    fresh = np.array([[1.0, 9.0, 3.0, 5.0, 7.0], [2.0, 9.0, 4.0, 5.0, 6.0]])
    site = np.array([3, 0, 3, 1, 3])
    runs = [made(policy, each, polls=np.arange(5)) for policy, each in zip(("price", "uniform"), fresh, strict=True)]
    found = parts(runs, site)
    assert [[(row.site, row.policy, row.pages) for row in each.rows] for each in found] == [
        [(name, policy, pages) for policy in ("price", "uniform")] for name, pages in (("d", 3), ("a", 1), ("b", 1))
    ]
    of_d = [row.freshness for row in found[0].rows]
    assert of_d == pytest.approx([11 / 30, 12 / 30])
    assert found[0].rows[1].difference == pytest.approx(1 / 30)
    assert [each.rows[0].polls for each in found] == [6, 1, 3]
    whole = said(*runs).rows[0]
    assert sum(each.rows[0].freshness * each.rows[0].pages for each in found) == pytest.approx(5 * whole.freshness)


def test_what_is_believed_of_a_site_is_judged_by_its_own_copies():
    site = np.array([3, 0, 3])
    seen = Calibrations(site)
    seen.add(np.array([0, 1, 2]), np.array([0.9, 0.2, 0.8]), np.array([True, True, False]))
    run = made("price", [1, 2, 3], calibration=seen.whole(), calibrations=seen)
    rows = [each.rows[0] for each in parts([run], site)]
    assert [(row.site, row.calibration.count) for row in rows] == [("d", 2), ("a", 1)]
    assert [row.expected_calibration_error for row in rows] == pytest.approx([0.45, 0.8])
    assert [row.brier for row in rows] == pytest.approx([(0.01 + 0.64) / 2, 0.64])
    assert [len(as_object(row)["bins"]) for row in rows] == [20, 20]


def test_a_page_that_is_never_seen_waits_for_ever():
    sights = np.array([1.0, 2.0, np.nan, np.nan])
    assert (
        said(made("price", [1, 1, 1, 1], first_sight_s=sights, unseen=np.arange(4) == 3)).rows[0].first_sight_s == 2.0
    )
    sights[1] = np.nan
    never = said(made("price", [1, 1, 1, 1], first_sight_s=sights, unseen=np.isnan(sights))).rows[0]
    assert never.unseen == 3
    assert never.first_sight_s == math.inf
    assert as_object(never)["first_sight_s"] is None
    assert math.isnan(said(made("price", [1, 1, 1, 1])).rows[0].first_sight_s)


def test_beliefs_are_judged():
    seen = Calibration()
    seen.add([0.9] * 4, [True, True, True, False])
    row = said(made("price", [1, 1], calibration=seen)).rows[0]
    assert (row.expected_calibration_error, row.brier) == (pytest.approx(0.15), pytest.approx((3 * 0.01 + 0.81) / 4))
    assert as_object(said(made("price", [1, 1])).rows[0])["brier"] is None


def test_an_object_begins_with_what_was_promised_and_is_json():
    found = as_object(said(made("price", [1, 2])).rows[0])
    promised = "site policy budget freshness content_freshness age_s polls unchanged low high"
    assert list(found)[:10] == promised.split()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_mean_over_sites_is_of_their_figures():
    names = ("price", "uniform", "notices")
    sites = [
        said(*(made(name, np.full(5, fresh)) for name, fresh in zip(names, all_fresh, strict=True)))
        for all_fresh in ((6, 4, 8), (5, 6, 7))
    ]
    price, uniform, _ = means(sites, seed=1)
    assert (price.freshness, uniform.freshness) == (pytest.approx(0.55), pytest.approx(0.5))
    assert (price.gap_closed, price.gap_low, price.gap_high) == pytest.approx((-0.25, -1.0, 0.5))
    assert (uniform.difference, uniform.better, uniform.sites) == (pytest.approx(-0.05), 1, 2)


def test_a_site_without_a_gap_does_not_count_in_the_mean_of_gaps():
    names = ("price", "uniform", "notices")
    sites = [
        said(*(made(name, np.full(5, fresh)) for name, fresh in zip(names, all_fresh, strict=True)))
        for all_fresh in ((6, 4, 8), (9, 9, 9))
    ]
    price = means(sites, seed=1)[0]
    assert price.gap_closed == pytest.approx(0.5)
    assert (price.gap_low, price.gap_high) == pytest.approx((0.5, 0.5))
