"""What unread pages turned out to be: by folder and depth, with what is not known taken from wider groups."""

import numpy as np
import pytest

from evercrawl.schedule.shared._ends import FREE, SHOWN
from evercrawl.schedule.shared.host_times import HostTimes
from evercrawl.schedule.shared.prospects import Prospects


def of(prospects, folder, depth, host=0):
    one = np.array([host], np.uint32)
    return prospects.of(one, one, np.array([folder], np.uint32), np.array([depth], np.uint32))


def read(prospects, folder, depth, found, *, own=True, times=1, visits=0):
    for _ in range(times):
        prospects.read(0, 0, folder, depth, visits=visits, own=own, found=found)


def test_a_folder_of_copies_is_expected_to_hold_copies():
    prospects = Prospects()
    read(prospects, 1, 2, 0, times=30)
    read(prospects, 2, 2, 0, own=False, times=30)
    good, copies, unknown = (float(of(prospects, folder, 2).own[0]) for folder in (1, 2, 3))
    assert good > 0.9
    assert copies < 0.1
    assert copies < unknown < good


def test_copies_on_other_sites_leave_unread_sites_a_third_of_what_they_are_usually_worth():
    prospects = Prospects()
    unknown = np.array([9], np.uint32)
    before = prospects.of(unknown, unknown, unknown, unknown).own[0]
    for site in range(3):
        for _ in range(1000):
            prospects.read(site, site, 1, 2, visits=0, own=False, found=0)
    assert prospects.of(unknown, unknown, unknown, unknown).own[0] == pytest.approx(before / 3)  # it was 0.0005


def test_doubt_falls_with_what_was_read():
    prospects = Prospects()
    read(prospects, 1, 2, 0, times=20)
    assert of(prospects, 1, 2).doubt[0] < of(prospects, 1, 3).doubt[0]


def test_a_tree_ends_where_leaves_are_found_and_a_calendar_never_does():
    prospects = Prospects()
    for depth in range(1, 5):
        read(prospects, 1, depth, 3)
    assert not of(prospects, 1, 5).ends[0]
    read(prospects, 1, 5, 0, times=2)
    assert of(prospects, 1, 5).ends[0]
    for depth in range(1, 20):
        read(prospects, 2, depth, 1)
    assert not of(prospects, 2, 20).ends[0]


def deeper(prospects, folder, *, links=0, met=0) -> int:
    """Read a page of a kind at each depth while that is wanted; return how many."""
    depth = 1
    while of(prospects, folder, depth).tries[0]:
        prospects.read(0, 0, folder, depth, visits=depth, own=True, found=1, links=links, met=met)
        depth += 1
    return depth - 1


def test_only_so_many_pages_show_whether_there_is_an_end():
    assert SHOWN <= deeper(Prospects(), 1) <= SHOWN + FREE


@pytest.mark.parametrize("links", [1, 10])
def test_it_is_as_many_however_much_each_makes_known(links):
    prospects = Prospects()
    assert deeper(prospects, 1, links=links) == deeper(Prospects(), 1)
    assert of(prospects, 1, 20).endless[0]
    assert of(prospects, 1, 20).left[0] < 0.01


def test_a_kind_whose_links_lead_to_what_was_known_is_believed_to_end_while_it_is_broad():
    prospects = Prospects()
    for depth in range(1, 5):
        for _ in range(3):
            prospects.read(0, 0, 1, depth, visits=9, own=True, found=4, links=6, met=2)
    assert of(prospects, 1, 5).ends[0]
    assert not of(prospects, 1, 12).ends[0]  # twelve links deep after twelve pages: it goes on in one direction
    assert not of(prospects, 2, 5).ends[0]


@pytest.mark.parametrize(("links", "met", "ends"), [(4, 4, True), (4, 1, False), (0, 0, False)])
def test_beyond_32_links_only_what_was_nearly_all_met_is_believed_to_end(links, met, ends):
    """Of a site of 20,000 pages some became known by ways of 33 links and more, and 44 were never read."""
    prospects = Prospects()
    for depth in range(1, 34):
        prospects.read(0, 0, 1, depth, visits=0, own=True, found=1, links=links, met=met)
        for _ in range(20):
            prospects.read(0, 0, 1, depth, visits=0, own=True, found=0, links=links, met=met)
    assert of(prospects, 1, 32).ends[0]
    assert bool(of(prospects, 1, 34).ends[0]) == ends
    few = Prospects()
    for depth in range(1, 34):
        for _ in range(4):
            few.read(0, 0, 1, depth, visits=0, own=True, found=0, links=links, met=met)
    assert not of(few, 1, 34).ends[0]


def test_levels_of_leaves_that_link_to_each_other_without_end_are_held_back():
    """Each level has 17 leaves and the next level: nearly all links were met, whatever was read."""
    prospects = Prospects()
    for depth in range(1, 100):
        prospects.read(0, 0, 1, depth, visits=0, own=True, found=18, links=18, met=0)
        for _ in range(17):
            prospects.read(0, 0, 1, depth + 1, visits=0, own=True, found=0, links=16, met=16)
    assert of(prospects, 1, 30).ends[0]
    assert not of(prospects, 1, 60).ends[0]


def test_hosts_are_told_of_whose_pages_are_judged_otherwise():
    prospects = Prospects()
    read(prospects, 1, 1, 3, times=2)
    assert not prospects.turned
    read(prospects, 1, 2, 0, times=2)
    assert prospects.turned == {0}


def test_what_was_learned_is_kept():
    prospects = Prospects()
    read(prospects, 1, 2, 0, times=5)
    prospects.times.visited(0, 7, 10.0, 0.2, 1.0)
    again = Prospects()
    again.restore(prospects.state())
    for mine, theirs in zip(of(prospects, 1, 2), of(again, 1, 2), strict=True):
        assert np.array_equal(mine, theirs)
    assert again.times.visits(0) == 1
    with pytest.raises(KeyError):
        again.restore({})


def test_a_host_that_is_asked_now_and_then_is_not_busy():
    times, one = HostTimes(), np.zeros(1, np.uint32)
    for i in range(50):
        times.visited(0, i, 100.0 * i, 0.1, 1.0)
        times.visited(1, i, 1.2 * i, 0.1, 1.0)
    assert times.of(one, one, 1.0)[0][0] < 0.01
    assert times.of(one + np.uint32(1), one, 1.0)[0][0] > 0.9
