"""What stays of the words of pages, and what flickers."""

import math

import numpy as np
import pytest

from evercrawl.lab.histories.evolution.staying import staying, texts
from evercrawl.lab.histories.versions import Version

DAY_S = 86_400.0


def told(*versions: tuple[int, set[int]], until):
    """Return what versions show that were seen first on some days, the last of them until a day."""
    found = [Version(day * DAY_S, np.array(sorted(runs), np.uint64)) for day, runs in versions]
    return texts([*found, found[-1]._replace(at=until * DAY_S)])


def test_an_article_stays_and_an_advertisement_flickers():
    article = told(*((day, {1, 2, *range(10, 11 + day)}) for day in range(10)), until=20)
    advertisement = told(*((day, {1, 2, 10 + day % 2}) for day in range(10)), until=20)
    stays, flickers = staying([article]), staying([advertisement])
    assert (stays.texts, stays.text_changes) == (flickers.texts, flickers.text_changes) == (1, 9)
    assert (stays.new_stayed, stays.flicker, stays.flip_flops, stays.there_after_week) == (1.0, 0.0, 0.0, 1.0)
    assert stays.text_half_gone_days == math.inf
    assert (flickers.new_stayed, flickers.there_after_day) == (0.0, 0.0)
    assert flickers.flicker == pytest.approx(8 / 9), "all that comes but the second state for the first time"
    assert flickers.flip_flops == pytest.approx(8 / 9)
    assert flickers.text_new == pytest.approx(1 / 3)
    assert flickers.text_half_gone_days == 1.0
    both = staying([article, advertisement])
    assert both.text_changes == 18
    assert 0 < both.new_stayed < 1
    assert both.there_after_week == pytest.approx(9 / 10), "of nine pieces of an article and one advertisement"


def test_what_is_there_at_the_last_look_lived_until_then_at_least():
    found = told((0, {1}), (1, {1, 2}), (3, {1, 3}), until=10)
    assert (found.ended_s / DAY_S).tolist() == [2]
    assert (found.going_on_s / DAY_S).tolist() == [7]
    assert staying([found]).there_after_day == 1.0
    assert staying([found]).there_after_week == 0.5
    assert staying([told((0, {1}), (1, {1, 2}), until=2)]).there_after_week != staying([found]).there_after_week


def test_a_copy_of_an_article_ages_and_one_of_an_advertisement_is_wrong_at_once():
    article = told(*((day, {*range(day, 10 + day)}) for day in range(30)), until=30)
    advertisement = told(*((day, {*range(9), 100 + day}) for day in range(30)), until=30)
    new, flickering = staying([article]), staying([advertisement])
    assert (new.other_after_day, new.other_after_week) == (pytest.approx(0.1), pytest.approx(0.7))
    assert (flickering.other_after_day, flickering.other_after_week) == (pytest.approx(0.1), pytest.approx(0.1))
    short = told((0, {1}), (1, {2}), until=3)  # of three days, two have a page seen a day before, all in one of two
    assert short.told_s.tolist() == [2 * DAY_S, 0]
    assert math.isnan(staying([short]).other_after_week)
    both = staying([advertisement, short])
    assert both.other_after_day == pytest.approx((0.1 * 29 + 1) / (29 + 2))
    assert both.other_after_week == pytest.approx(0.1)


def test_of_no_texts_nothing_is_told():
    nothing = staying([])
    assert (nothing.texts, nothing.text_changes) == (0, 0)
    assert all(math.isnan(value) for value in nothing[2:])
    one = staying([told((0, {1}), (1, {2}), until=1)])
    assert math.isnan(one.new_stayed), "no version came after"
    assert one.text_new == 1.0
