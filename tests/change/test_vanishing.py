"""A page vanishes once, is watched while it is there, and is awaited while it is gone."""

import math

import numpy as np
import pytest

from evercrawl.change.comebacks import Comebacks
from evercrawl.change.vanishing import VanishingRates

DAY_S = 86_400.0


def learn(rates, since_s, missing_s, interval_s, *, gone=False, read=True, back=True):
    rates.learn(0, since_s, missing_s, interval_s, read=read and not gone, gone=gone, back=back and not gone)


def test_a_page_that_is_gone_vanishes_once_and_is_not_watched_until_it_is_back():
    rates, expected = VanishingRates(), Comebacks()
    learn(rates, 3 * DAY_S, math.nan, 3 * DAY_S, gone=True)
    learn(rates, 5 * DAY_S, 3 * DAY_S, 2 * DAY_S, gone=True)
    learn(rates, 9 * DAY_S, 5 * DAY_S, 4 * DAY_S)
    expected.learn(3 * DAY_S, 2 * DAY_S, back=0)
    expected.learn(5 * DAY_S, 4 * DAY_S, back=1)
    assert (rates.deaths.gone, rates.deaths.watched_s) == (1, 3 * DAY_S)
    assert (rates.comebacks.back, rates.comebacks.watched_s) == (1, pytest.approx(expected.watched_s))


def test_who_was_never_read_does_not_vanish_but_may_come():
    rates = VanishingRates()
    learn(rates, math.nan, math.nan, math.nan, gone=True)
    assert (rates.deaths.gone, rates.deaths.watched_s) == (0, 0.0)
    learn(rates, math.nan, 0.0, DAY_S, read=False)
    assert rates.comebacks.back == 1, "a redirect brought it back"
    assert rates.deaths.watched_s == 0.0


def test_a_visit_that_neither_read_a_page_nor_found_it_gone_is_no_time_watched():
    rates = VanishingRates()
    learn(rates, DAY_S, math.nan, DAY_S, read=False)
    assert rates.deaths.watched_s == 0.0


def test_many_visits_at_once_teach_what_they_teach_one_by_one():
    draw = np.random.default_rng(1)
    since_s, missing_s, interval_s = draw.exponential(DAY_S, (3, 400))
    since_s[draw.random(400) < 0.2] = missing_s[draw.random(400) < 0.7] = math.nan
    gone, site = draw.random(400) < 0.05, draw.integers(3, size=400)
    many, single = VanishingRates(), VanishingRates()
    many.learn_many(site, since_s, missing_s, interval_s, gone)
    order = np.argsort(gone | ~np.isnan(missing_s), kind="stable")
    for i in order.tolist():
        back = not gone[i]
        single.learn(int(site[i]), since_s[i], missing_s[i], interval_s[i], read=back, gone=not back, back=back)
    assert many.deaths.gone == single.deaths.gone >= 3
    assert many.deaths.watched_s == pytest.approx(single.deaths.watched_s)
    assert many.comebacks.back == single.comebacks.back >= 3
    assert many.comebacks.watched_s == pytest.approx(single.comebacks.watched_s)
