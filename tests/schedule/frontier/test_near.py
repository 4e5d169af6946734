"""Whose turn is near can be asked without a look at all hosts, so that it can be prepared."""

import math

import numpy as np

from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.greedy import Greedy
from evercrawl.types import Slots

HOSTS = 500


def frontier() -> Frontier:
    """Return one with a page on each host, that of number i worth i."""

    def columns(slots: Slots) -> Pages:
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        return Pages(slots, np.nan * one, one, slots.astype(float), one, one, one, none, none)

    made = Frontier(Greedy(), columns, lambda slot: math.nan, delay_s=1.0)
    for number in range(HOSTS):
        made.add_host(f"h{number}").ready_at = float(number)
    made.fill(np.arange(HOSTS, dtype=np.uint32), np.arange(HOSTS, dtype=np.uint32), new=True)
    return made


def test_hosts_that_come_to_rest_soon_are_near_and_no_others() -> None:
    ours = frontier()
    assert sorted(ours.near(0.0, 10.0, 100)) == list(range(11))
    assert sorted(ours.near(400.0, 1e9, HOSTS)) == list(range(HOSTS))


def test_no_more_than_asked_for_and_the_next_of_all_among_them() -> None:
    near = frontier().near(0.0, 1e9, 20)
    assert len(near) == 20
    assert 0 in near


def test_hosts_that_have_rested_are_near_by_their_best_pages() -> None:
    ours = frontier()
    while (chosen := ours.choose(40.0, 1))[0][0].number != 40:  # all are ranked by then
        ours.put_first(chosen[0][0], chosen[0][1], new=True)
    near = ours.near(40.0, 1.0, 8)
    assert {39, 41} <= set(near)  # the best that has rested, and the next that will have
    assert 40 not in near  # it is being asked


def test_whoever_is_held_is_not_near() -> None:
    ours = frontier()
    [(host, slot, new)] = ours.choose(0.0, 1)
    host.held = "name look-up"
    ours.put_first(host, slot, new=new)
    assert host.number not in ours.near(0.0, 10.0, 100)
    host.held = ""
    ours.release(host)
    assert host.number in ours.near(0.0, 10.0, 100)
