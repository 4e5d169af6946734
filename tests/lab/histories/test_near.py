"""Whether neighbours change together: what there is is found, and strangers show nothing."""

import math

import numpy as np
import pytest

from evercrawl.lab.histories import CrawlSeen
from evercrawl.lab.histories.evolution.report import evolution

WEEKS = 200


def history(made_up, changes, folders, sites=1, day=lambda week, page: 7 * week + 1 + page % 5, seen=None):
    """Return a history of eight weeks and more: `changes[week, page]`; pages dealt out to folders, these to sites."""
    weeks, pages = changes.shape
    rows = [(0, page, 0) for page in range(pages)]
    rows += [
        (day(week, page), page, 1, week, week + 1)
        for week in range(weeks) for page in range(pages) if changes[week, page]
    ]  # fmt: skip
    rows.sort(key=lambda row: row[0])
    rows.append((7 * weeks, 0, 3))
    of = [page * folders // pages for page in range(pages)]
    names = [f"http://s{folder * sites // folders}.example/f{folder}/{page}.html" for page, folder in enumerate(of)]
    return made_up(rows, names, sites=tuple(f"s{i}.example" for i in range(sites)),
                   site=[folder * sites // folders for folder in of], seen=seen)  # fmt: skip


def test_strangers_show_nothing(made_up):
    draw = np.random.default_rng(3)
    (found,) = evolution([history(made_up, draw.random((WEEKS, 40)) < 0.3, 8)])
    near = found.near
    assert near.near_days == 7
    assert (near.site_correlation, near.folder_correlation) == pytest.approx((0, 0), abs=0.02)
    assert (near.site_lift, near.folder_lift) == pytest.approx((1, 1), abs=0.05)
    assert max(abs(near.site_errors), abs(near.folder_errors)) < 3


def test_folders_that_change_as_one_are_told_from_a_site_that_does(made_up):
    draw = np.random.default_rng(4)
    by_folder = np.repeat(draw.random((WEEKS, 8)) < 0.2, 5, axis=1)
    (found,) = evolution([history(made_up, by_folder, 8)])
    assert found.near.folder_correlation == pytest.approx(1)
    assert found.near.folder_lift == pytest.approx(5, rel=0.2), "of five pairs one would be by chance"
    assert found.near.folder_errors > 114
    assert found.near.site_correlation < 0.116, "the pages of seven folders are as strangers"
    whole = np.repeat(draw.random((WEEKS, 1)) < 0.2, 40, axis=1)
    (found,) = evolution([history(made_up, whole, 8)])
    assert (found.near.site_correlation, found.near.folder_correlation) == pytest.approx((1, 1))


def test_sites_of_all_pages_are_told_apart_from_each_other(made_up):
    draw = np.random.default_rng(5)
    by_site = np.repeat(draw.random((WEEKS, 2)) < 0.2, 20, axis=1)
    one, other, both = evolution([history(made_up, by_site, 8, sites=2)])
    assert [each.near.site_correlation for each in (one, other, both)] == pytest.approx([1, 1, 1])
    assert both.near.site_lift == pytest.approx(5, rel=0.2)


def test_a_page_alone_in_its_folder_has_no_neighbours(made_up):
    (found,) = evolution([history(made_up, np.eye(10, 4, dtype=bool), 4)])
    assert math.isnan(found.near.folder_correlation)
    assert not math.isnan(found.near.site_correlation)
    (alone,) = evolution([history(made_up, np.ones((10, 1), bool), 1)])
    assert math.isnan(alone.near.near_days)


def test_a_page_that_changes_twice_in_a_week_changed_in_it_once(made_up):
    rows = [(0, 0, 0), (0, 1, 0), (1, 0, 1, 1, 1), (2, 0, 1, 2, 2), (16, 1, 1, 1, 1), (21, 1, 3)]
    (found,) = evolution([made_up(rows)])
    assert found.near.site_correlation == pytest.approx(-1 / 3), "one of two changed in two of three weeks"
    assert found.near.site_lift == 0


def test_of_a_crawl_a_week_is_as_long_as_two_visits_and_pages_that_get_fewer_are_left_out(made_up):
    """Two pages of a folder are visited each hour and change together every sixth; a third is visited once again."""
    hours = np.arange(0, 601)
    seen = CrawlSeen(
        np.full(3, 600 * 3600), np.zeros(3, bool), ("",) * 3, ("",) * 3,
        np.concatenate([np.zeros(601, int), np.ones(601, int), [2, 2]]),
        np.concatenate([hours, hours, [0, 600]]) * 3600,
    )  # fmt: skip
    rows = [(0, page, 0) for page in range(3)]
    rows += [(hour / 24, page, 1, hour, hour) for hour in range(3, 600, 6) for page in (0, 1)]
    rows.append((300 / 24, 2, 1, 1, 1))
    (found,) = evolution([made_up(sorted(rows), seen=seen)])
    assert found.near.near_days == pytest.approx(2 / 24)
    assert found.near.site_correlation == pytest.approx(1)
    assert found.near.site_lift == pytest.approx(3, rel=0.02), "they change in every third of these times"
