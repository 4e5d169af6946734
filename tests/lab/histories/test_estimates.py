"""The numbers that are told of pages, each against the truth or another way to it."""

import math
import warnings

import numpy as np
import pytest
from closed_forms import burstiness
from scipy import stats

from evercrawl.lab.histories.evolution.changed import RecordedChanges
from evercrawl.lab.histories.evolution.clustering import busiest, halves, rank_correlation
from evercrawl.lab.histories.evolution.gaps import anderson_darling
from evercrawl.lab.histories.evolution.linked import link_change, links
from evercrawl.lab.histories.evolution.lives import DAY_S, Lives
from evercrawl.lab.histories.evolution.rate import CLASSES, often
from evercrawl.lab.histories.evolution.regular import normalised, regular
from evercrawl.lab.histories.evolution.survival import survival
from evercrawl.lab.histories.evolution.watched import watch


def of_changes(page, at) -> RecordedChanges:
    n = len(page)
    zeros = np.zeros(n, np.int64)
    at = np.array(at, float)
    return RecordedChanges(np.array(page), np.array(page), at, zeros, zeros * 1.0, zeros > 0, zeros, at, zeros * 1.0)


def test_the_statistic_is_that_of_anderson_and_darling():
    random = np.random.default_rng(1)
    gaps = [random.gamma(2.0, 5_000.0, n) for n in (9, 30, 200)]
    found = anderson_darling(np.repeat([2, 0, 1], [9, 30, 200]), np.concatenate(gaps), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        known = [stats.anderson(each, "expon").statistic * (1 + 0.6 / len(each)) for each in gaps]
    assert found[[2, 0, 1]] == pytest.approx(known)
    assert math.isnan(found[3])


@pytest.mark.parametrize("gaps", [9, 40])
def test_of_pages_that_change_at_random_moments_five_in_a_hundred_are_rejected(gaps):
    random, pages = np.random.default_rng(gaps), 20_000
    at = np.cumsum(random.exponential(1e6, (pages, gaps + 1)) // 1, axis=1)
    found = regular(of_changes(np.repeat(np.arange(pages), gaps + 1), at.ravel()))
    assert found.tested == pages
    assert found.rejected == pytest.approx(0.05, abs=0.006)
    assert found.gap_variation == pytest.approx(1.0, abs=0.12)


@pytest.mark.parametrize(("visits", "even"), [(1, False), (2, True), (2, False), (10, True)])
def test_visits_do_not_make_random_moments_look_otherwise(visits, even):
    """So many visits in the mean time between two changes: taken for the changes, they would show in the gaps."""
    random, pages, changes = np.random.default_rng(visits), 300, 40
    rows = []
    for page in range(pages):
        made_at = np.cumsum(random.exponential(1e6, 4 * changes))
        intervals = np.ones(6 * visits * changes) if even else random.exponential(1.0, 6 * visits * changes)
        looks = np.cumsum(intervals * 1e6 / visits)
        found = np.unique(np.searchsorted(looks, made_at[made_at < looks[-1]]))[1 : changes + 1]
        rows += [(page, looks[i], looks[i] - looks[i - 1]) for i in found]
    page, at, unseen_s = (np.array(column) for column in zip(*rows, strict=True))
    found = regular(of_changes(page, at)._replace(unseen_s=unseen_s))
    assert found.tested > 133
    assert found.rejected == pytest.approx(0.05, abs=0.045)
    assert found.gap_variation == pytest.approx(0.95, abs=0.06)
    assert regular(of_changes(page, at)).rejected > (0.5 if visits < 10 else 0.08)


def test_bursts_are_found_by_visits_too():
    at = np.cumsum(np.where(np.arange(40) % 8, 20.0, 1e3)) * 1e3
    assert regular(of_changes([0] * 40, at)._replace(unseen_s=np.full(40, 5e3))).rejected == 1.0
    always = of_changes([0] * 40, at)._replace(unseen_s=np.diff(at, prepend=0.0))
    assert regular(always).tested == 0, "where each visit finds a change nobody knows the gaps"


def test_clocks_and_bursts_are_found_out():
    clock = regular(of_changes([0] * 30, np.arange(30) * 3600.0))
    assert (clock.gap_variation, clock.rejected) == (0.0, 1.0)
    burst = np.cumsum(np.where(np.arange(40) % 8, 60.0, 1e6))
    assert regular(of_changes([0] * 40, burst)).gap_variation == pytest.approx(burstiness(np.diff(burst))[0])
    assert regular(of_changes([0] * 40, burst)).rejected == 1.0


def test_only_gaps_within_one_life_count_and_few_changes_are_not_tested():
    changes = of_changes([0] * 10 + [1] * 9, [*range(10), *range(9)])._replace(life=np.array([0] * 10 + [1] * 9))
    assert regular(changes).tested == 1
    assert regular(changes._replace(life=np.arange(19) // 5)).tested == 0
    at_once = of_changes([0] * 12, [*range(9), 8, 8, 8])
    assert regular(at_once).tested == 0, "changes at one instant are one"
    two = of_changes([0] * 10 + [1] * 11, [0, *range(2, 20, 2), *range(0, 20, 2), 30])
    assert normalised(two) == pytest.approx([2 / 3] * 9 + [1.0] * 9 + [4.0])


def test_survival_is_that_of_kaplan_and_meier_with_and_without_late_entry():
    random = np.random.default_rng(2)
    lived, censored = random.exponential(10.0, 4_000), random.exponential(15.0, 4_000)
    left, ended = np.minimum(lived, censored), lived <= censored
    known = stats.ecdf(stats.CensoredData.right_censored(left, ~ended)).sf
    found = survival(np.zeros(len(left)), left, ended)
    assert [found.at(age) for age in (1.0, 7.0, 20.0)] == pytest.approx([float(known.evaluate(x)) for x in (1, 7, 20)])
    assert found.median_s() == pytest.approx(10 * math.log(2), rel=0.06)
    entered = np.maximum(random.uniform(-5.0, 15.0, 4_000), 0.0)  # some from the beginning, or the first to die are all
    late = left > entered
    assert survival(entered[late], left[late], ended[late]).at(20.0) == pytest.approx(math.exp(-2), abs=0.025)


def test_survival_knows_nothing_beyond_the_oldest():
    found = survival(np.zeros(2), np.array([3.0, 5.0]), np.array([True, False]))
    assert (found.at(4.0), found.at(5.0)) == (0.5, 0.5)
    assert math.isnan(found.at(6.0))
    assert (found.median_s(), found.at(3.0)) == (3.0, 0.5)
    late = survival(np.array([0.0, 3.0]), np.array([3.0, 5.0]), np.array([True, False]))
    assert late.at(3.0) == 0.0, "what was not watched yet when the other ended says nothing of that"
    assert survival(np.zeros(1), np.array([5.0]), np.array([False])).median_s() == math.inf
    assert math.isnan(survival(np.zeros(0), np.zeros(0), np.zeros(0, bool)).median_s())


def test_rates_and_classes():
    watched_s = np.full(7, 1_000 * DAY_S)
    changes = np.array([1_000.0, 143.0, 40.0, 9.0, 1.0, 0.0, 5.0])
    watched_s[6] = 10 * DAY_S  # too short a time to be put into a class
    found = often(changes, watched_s, np.full(7, np.nan))
    assert found.rate_per_day == pytest.approx(1198 / 6010)
    assert dict(zip(CLASSES, found.classes, strict=True)) == {name: pytest.approx(1 / 6) for name in CLASSES}
    assert (found.classed, found.estimator) == (6, "changes over time")


def test_of_visits_the_rate_is_corrected_for_what_they_miss():
    random = np.random.default_rng(3)
    rate, visits, pages = 1.5, 40, 2_000
    changes = random.binomial(visits, -math.expm1(-rate), pages).astype(float)
    found = often(changes, np.full(pages, visits * DAY_S), np.full(pages, float(visits)))
    assert found.estimator == "log-corrected"
    assert found.rate_per_day == pytest.approx(rate, rel=0.02)
    brief = often(np.array([1.0, 0.0, 0.0]), DAY_S * np.array([8.0, 4.0, 3.9]), np.full(3, np.nan))
    assert (brief.classed, brief.median_rate_per_day) == (2, pytest.approx(1 / 16)), "half of the longest, and no less"
    long = often(np.zeros(3), DAY_S * np.array([1_000.0, 122.0, 121.0]), np.full(3, np.nan))
    assert long.classed == 2, "four months are enough"
    both = often(changes[:2], np.full(2, visits * DAY_S), np.array([visits, np.nan]))
    assert both.estimator == "changes over time and log-corrected"
    assert often(np.zeros(1), np.full(1, DAY_S), np.zeros(1)).estimator == "none", "a page seen once tells nothing"


def test_the_busiest_tenth_and_the_order_of_the_halves():
    assert busiest(np.array([9.0] + [0.0] * 8 + [1.0])) == 0.9
    assert math.isnan(busiest(np.zeros(5)))
    a, b = np.array([3, 1, 1, 5, 2]), np.array([2, 2, 1, 9, 0])
    assert rank_correlation(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
    assert math.isnan(rank_correlation(a, np.ones(5)))
    pages, length = np.arange(3), np.full(3, 200 * DAY_S)
    lives = Lives(pages, length * 0, length * 0, length, pages > 5, pages > 5)
    same = of_changes([0, 0, 1, 1, 1, 1], DAY_S * np.array([10, 150, 20, 30, 160, 170]))
    assert halves(lives, same) == pytest.approx(1.0)
    short = lives._replace(ended_at=np.array([200.0, 200.0, 55.9]) * DAY_S)
    more = of_changes([0, 0, 1, 1, 2], DAY_S * np.array([10.0, 20, 20, 150, 50]))
    assert halves(short, more) == pytest.approx(-1.0), "eight weeks are too short for halves"
    assert halves(short._replace(ended_at=np.array([200.0, 200.0, 56.0]) * DAY_S), more) == pytest.approx(-(0.75**0.5))
    born = lives._replace(began_at=np.full(3, 100 * DAY_S))
    assert halves(born, same._replace(at=DAY_S * np.array([110.0, 190, 120, 130, 160, 170]))) == pytest.approx(1.0)
    assert halves(lives, same._replace(at=DAY_S * np.array([150.0, 160, 1, 2, 3, 4]))) < 0.0


def test_links_new_lost_and_half_gone(made_up):
    log = [(0, 0, 1, True), (0, 0, 2, True), (7, 0, 3, True), (14, 0, 1, False), (21, 0, 3, False)]
    history = made_up([(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0), (28, 0, 1)], links=log)
    found = link_change(links(history, watch(history)), page_weeks=16.0)
    assert (found.links, found.new_links_a_week) == (1, 1 / 16)
    assert found.new_link_share_a_week == pytest.approx(1 / 8), "one new in 4 + 2 + 2 weeks of links"
    assert found.lost_link_share_a_week == pytest.approx(2 / 8)
    assert found.link_half_life_days == 14.0, "of those at first nobody knows since when"
