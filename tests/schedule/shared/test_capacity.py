"""What a crawl could visit is told by the time in which it had something to do, and by visits that others followed."""

import numpy as np
import pytest

from evercrawl.schedule.shared.capacity import Capacity

DAY = 86_400.0


@pytest.mark.parametrize("every_s", [0.1, 600.0, 5 * DAY])
@pytest.mark.parametrize("work", [23, 40, 161])
def test_the_pace_is_that_of_ticks_that_were_full_however_long_they_are(every_s, work):
    """Of each ten ticks some are full, then one takes what is left, and then there is nothing to do."""
    capacity = Capacity()
    for cycle in range(12):
        begun_at = cycle * 30 * every_s
        capacity.begin(begun_at)
        for tick, left in enumerate(range(work, 0, -10)):
            capacity.made(min(left, 10), begun_at + tick * every_s)
        capacity.rest(begun_at + tick * every_s)
    assert capacity.per_s == pytest.approx(10 / every_s)


def test_one_by_one_it_is_as_in_batches():
    batches, single = Capacity(), Capacity()
    for each in (batches, single):
        each.begin(0.0)
    for now in range(200):
        batches.made(4, float(now))
        for _ in range(4):
            single.made(1, float(now))
    assert batches.per_s == pytest.approx(single.per_s)
    assert batches.per_s == pytest.approx(4.0)


def test_another_pace_is_noticed_within_days():
    capacity = Capacity()
    capacity.begin(0.0)
    for now in np.arange(0.0, 3 * DAY, 10.0):
        capacity.made(5, float(now))
    for now in np.arange(3 * DAY, 6 * DAY, 10.0):
        capacity.made(1, float(now))
    assert capacity.per_s == pytest.approx(0.1, rel=0.3)


@pytest.mark.parametrize("every_s", [0.05, 300.0])
def test_without_a_note_of_it_the_pace_is_that_of_the_visits_there_were(every_s):
    capacity = Capacity()
    assert not capacity.known
    for run in range(3):  # each after a week in which nobody crawled
        capacity.told(run * 7 * DAY + np.arange(500) * every_s)
    assert capacity.known
    assert capacity.per_s == pytest.approx(1 / every_s, rel=0.01)
    for now in range(80):
        capacity.begin(0.0)
        capacity.made(1, 30 * DAY + now)
        capacity.told(30 * DAY + now + np.zeros(9))  # what this run makes is counted when it is made
    assert capacity.per_s == pytest.approx(1.0)


def test_a_single_moment_tells_no_pace():
    capacity = Capacity()
    capacity.told(np.full(9, 5 * DAY))
    assert not capacity.known


def test_what_an_earlier_run_found_holds_until_this_one_knows_more():
    capacity = Capacity()
    assert capacity.per_s == 1.0
    capacity.resume(3.0)
    capacity.begin(0.0)
    told = list[float]()
    for now in range(20):
        capacity.made(5, float(now))
        told.append(capacity.per_s)
    assert told == pytest.approx([3.0] * 12 + [5.0] * 8), "64 visits are enough"
