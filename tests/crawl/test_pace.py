"""Ceilings on the whole crawl."""

import pytest

from evercrawl.crawl.pace import Pace


def test_without_ceilings_nothing_waits():
    pace = Pace(0.0, 0)
    for _ in range(100):
        pace.started(1.0)
        pace.received(1.0, 1 << 30)
    assert pace.free(1.0)
    assert not pace.bounded


def test_pages_are_spread_one_by_one():
    pace = Pace(4.0, 0)
    assert pace.bounded
    starts, now = [], 100.0
    for _ in range(5):
        now = max(now, pace.next_at)
        assert pace.free(now)
        pace.started(now)
        assert not pace.free(now)
        starts.append(now)
    assert starts == [100.0, 100.25, 100.5, 100.75, 101.0]


def test_a_pause_is_not_made_up_for():
    pace = Pace(1.0, 0)
    pace.started(10.0)
    assert pace.free(500.0)
    pace.started(500.0)
    assert not pace.free(500.9)


def test_a_late_start_is_made_up_for():
    pace = Pace(10.0, 0)
    pace.started(100.0)
    pace.started(100.25)
    assert pace.free(100.25)
    pace.started(100.25)
    assert pace.next_at == pytest.approx(100.3)


def test_bytes_are_paid_for_with_time():
    pace = Pace(0.0, 1000)
    pace.received(10.0, 500)
    pace.received(10.1, 2500)
    assert pace.next_at == pytest.approx(13.0)
    assert not pace.free(12.9)


def test_both_ceilings_hold():
    pace = Pace(2.0, 1000)
    pace.started(10.0)
    pace.received(10.1, 100)
    assert pace.next_at == pytest.approx(10.6)


def test_a_part_of_the_ceiling_on_bytes_takes_longer_and_what_is_owed_goes_with_it():
    pace = Pace(0.0, 1000)
    pace.share(0.5, 10.0)
    pace.received(10.0, 1000)
    assert (pace.next_at, pace.seconds_of(1000)) == (12.0, 2.0)
    pace.share(2.0, 10.0)
    assert pace.next_at == 10.5
    pace.share(0.1, 10.25)
    assert pace.next_at == 15.25


def test_bytes_are_still_owed_after_a_time_without_a_part():
    pace = Pace(0.0, 1000)
    pace.received(10.0, 2000)
    pace.share(0.0, 11.0)
    pace.received(11.5, 500)
    assert not pace.free(99.0)
    pace.share(0.5, 20.0)
    assert pace.next_at == pytest.approx(23.0)
    pace.share(0.0, 30.0)
    pace.share(1.0, 40.0)
    assert pace.free(40.0)


def test_who_waits_for_the_ceiling_on_bytes_uses_all_of_its_part():
    pace, starts = Pace(100.0, 1000), 0
    for half in range(120):
        now = half / 2
        if pace.free(now):
            starts += 1
            pace.started(now)
            pace.received(now, 20_000)
        pace.observed(now, starts)
        assert pace.used(now) == pytest.approx(1.0, abs=0.1) or not half
    assert starts == 3


def test_the_rate_is_of_the_last_ten_seconds():
    pace = Pace(0.0, 0)
    assert pace.rate_per_s(5.0, 0) == 0.0
    for half in range(200):
        visits = half if half < 100 else 100 + 5 * (half - 100)
        pace.observed(half / 2, visits)
    assert pace.rate_per_s(99.5, 595) == pytest.approx(10.0)
    assert pace.rate_per_s(109.5, 595) == pytest.approx(100 / 20)
