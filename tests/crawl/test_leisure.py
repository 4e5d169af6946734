"""Whether there is time to spare, and what follows from that."""

import math

import pytest

from evercrawl.crawl.pace import LATELY_S, LESS, Leisure


def busy() -> Leisure:
    leisure = Leisure(0.0, 0.0)
    leisure.observe(100 * LATELY_S, 0.0)
    return leisure


def test_a_crawl_begins_with_time_to_spare():
    assert not Leisure(0.0, 0.0).busy


def test_only_what_was_lately_counts():
    leisure = busy()
    assert leisure.share == pytest.approx(0.0)
    leisure.observe(110 * LATELY_S, 9 * LATELY_S)
    assert leisure.share == pytest.approx(0.9, abs=0.001)
    assert not leisure.busy


def test_a_clock_set_back_says_nothing():
    leisure = busy()
    leisure.observe(1.0 * LATELY_S, 5.0)
    assert leisure.share == pytest.approx(0.0)


def test_who_is_busy_asks_for_a_part_of_what_visits_were_worth():
    assert busy().least(2.0) == 2.0 * LESS
    assert Leisure(0.0, 0.0).least(2.0) == -math.inf
    assert busy().least(math.nan) == busy().least(0.0) == -math.inf
