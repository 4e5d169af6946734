"""The usual level of sites: what a minority, and those that share a vote, can do to it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.change.levels import MEAN, SPAN, Levels
from evercrawl.change.prior import SitePriors

DAY = 86_400.0
LEVELS = st.lists(st.floats(-14, 18), min_size=1, max_size=30)


def votes(levels, *, shared=False, weight=1.0) -> Levels:
    found = Levels()
    for level in levels:
        found.add(weight, weight * level, shared=shared)
    return found


@given(st.floats(-8, 10), st.floats(-20, 20), st.integers(1, 40), st.data())
def test_a_minority_moves_the_level_by_its_ratio_to_the_others_of_the_span(honest, hostile, count, data):
    few = data.draw(st.integers(0, count * 3 // 4))
    found = votes([honest] * count).plus(votes([hostile] * few)).mean(0.0)
    assert abs(found - honest) <= few / count * (SPAN + MEAN * abs(hostile - honest)) + 1e-9


def test_halves_that_disagree_meet_in_the_middle():
    assert votes([2.0] * 9).plus(votes([-6.0] * 9)).mean(0.0) == pytest.approx(-2.0)


@given(LEVELS, st.floats(-20, 20), st.integers(1, 10_000))
def test_any_number_that_share_a_vote_are_as_one_site(levels, hostile, count):
    many = votes(levels)
    many.add(float(count), count * hostile, shared=True)
    assert many.mean(0.5) == pytest.approx(votes([*levels, hostile]).mean(0.5), abs=1e-9)


@given(LEVELS)
def test_levels_near_each_other_count_as_their_mean(levels):
    near = [2.0 + level / 100 for level in levels]
    assert votes(near).mean(0.0) == pytest.approx(np.mean(near))
    assert votes(near).mean(0.5) == pytest.approx(sum(near) / (len(near) + 0.5))


@given(LEVELS, LEVELS, st.booleans())
def test_what_was_added_can_be_removed_and_sums_can_be_sent(levels, others, shared):
    whole = votes(levels, weight=0.7).plus(votes(others, shared=shared))
    assert Levels.from_sums(whole.sums()).mean(0.5) == pytest.approx(whole.mean(0.5))
    weights = np.array([0.7] * len(levels) + [1.0] * len(others))
    kinds = np.array([False] * len(levels) + [shared] * len(others))
    at_once = Levels.of_many(weights, weights * np.array([*levels, *others]), kinds)
    assert at_once.mean(0.5) == pytest.approx(whole.mean(0.5))
    for level in others:
        whole.remove(1.0, level, shared=shared)
    assert whole.mean(0.5) == pytest.approx(votes(levels, weight=0.7).mean(0.5))
    assert whole.minus(votes(levels, weight=0.7)).mean(0.5) == Levels().mean(0.5) == 0.0


def beside_honest(farm: int, kind: str, *, shared: bool) -> float:
    """Return by what factor a farm changes the interval in which a page of a new site is believed to change."""
    priors = SitePriors(20 + farm, lambda site: shared and site >= 20)
    for site in range(20):
        for _ in range(5):
            priors.learn(site, None, (5.0, 5 * DAY))
    before_s = priors.crawl_scale_s
    for site in range(20, 20 + farm):
        for _ in range(20):
            priors.learn(site, None, (0.0, 40 * DAY) if kind == "still" else (40.0, 40 * 600.0))
    return priors.crawl_scale_s / before_s


@pytest.mark.parametrize("kind", ["still", "restless"])
def test_free_names_change_little_however_many_there_are(kind):
    factors = [beside_honest(farm, kind, shared=True) for farm in (20, 1000)]
    assert factors[0] == pytest.approx(factors[1])
    assert abs(math.log(factors[1])) < math.log(1.15)  # it was 22 with 20 names, and 126 with 100
    assert 1.1 < max(beside_honest(5, kind, shared=False) ** sign for sign in (1, -1)) < 1.5  # 3.8


def test_a_site_can_get_a_vote_of_its_own_later():
    one, other = (SitePriors(30, lambda site, of=of: site in of) for of in ({3, 4, 5}, {4, 5}))
    for priors in (one, other):
        for site in range(6):
            for _ in range(9):
                priors.learn(site, None, (site, DAY))
    assert one.crawl_scale_s != other.crawl_scale_s
    one.vote_alone(3)
    one.vote_alone(3)
    assert not one.shares_vote(3)
    assert one.crawl_scale_s == pytest.approx(other.crawl_scale_s)
    one.learn(3, (3, DAY), (9, DAY))
    other.learn(3, (3, DAY), (9, DAY))
    assert one.crawl_scale_s == pytest.approx(other.crawl_scale_s)
