"""The frontier offers only pages of rested hosts, each host and address as often as it allows."""

import numpy as np
import pytest

from evercrawl.schedule.policies.greedy import Greedy
from tests.helpers.frontier_world import World


def test_pages_come_in_order_of_discovery_one_of_a_host() -> None:
    world = World()
    for number, slots in ((2, [0, 5]), (0, [1, 4]), (1, [2, 3])):
        world.frontier.add_new(number, slots)
    assert world.slots(0.0, most=2) == [0, 1]
    assert world.slots(0.0, most=2) == [2]


def test_a_host_rests_from_the_end_of_its_visit() -> None:
    world = World()
    world.frontier.add_new(0, [7, 8])
    assert world.slots(0.0) == [7]
    world.visit(0, 7, 0.0, took_s=5.0)
    assert world.slots(5.9) == []
    assert world.frontier.next_at() == pytest.approx(6.0)
    assert world.slots(6.0) == [8]


def test_a_busy_host_offers_nothing_until_its_visit_ends() -> None:
    world = World()
    world.frontier.add_new(0, [7, 8])
    [(host, _, new)] = world.frontier.choose(0.0, 5)
    assert new
    world.frontier.began(host, 0.0)
    assert world.slots(50.0) == []
    world.frontier.ended(host, 50.0)
    assert world.slots(51.0) == [8]


def test_several_connections_a_host_keep_the_gap_between_starts() -> None:
    world = World(connections_per_host=3)
    world.frontier.add_new(0, [1, 2, 3, 4])
    host = world.frontier.hosts[0]
    for now, expected in ((0.0, [1]), (0.5, []), (1.0, [2]), (2.0, [3]), (3.0, [])):
        assert world.slots(now) == expected
        if expected:
            world.frontier.began(host, now)
    world.frontier.ended(host, 3.5)
    assert world.slots(3.5) == [4]


def test_a_host_without_rest_offers_as_many_pages_as_it_has_connections() -> None:
    world = World(policy=Greedy(), delay_s=0.0, connections_per_host=3, connections_per_ip=9)
    world.cash[:8] = 1.0, 8.0, 3.0, 7.0, 2.0, 6.0, 5.0, 4.0
    world.frontier.add_new(0, [0, 1, 2, 3, 4, 5])
    world.frontier.add_new(1, [6, 7])
    assert world.slots(0.0) == [1, 3, 5, 6, 7]
    assert world.frontier.new_count == 3
    host = world.frontier.hosts[0]
    for _ in range(3):
        world.frontier.began(host, 0.0)
    assert world.slots(0.0) == []
    world.frontier.ended(host, 0.0)
    assert world.slots(0.0) == [2]
    world.frontier.began(host, 0.0)
    for _ in range(3):
        world.frontier.ended(host, 0.0)
    assert world.slots(0.0) == [4, 0]


def test_pages_of_a_host_that_are_due_together_are_each_chosen_once() -> None:
    world = World(policy=Greedy(), delay_s=0.0, connections_per_host=16, connections_per_ip=16, refresh_after_s=0.0)
    world.cash[:40] = np.random.default_rng(1).permutation(40) + 1.0
    for slot in range(40):
        world.visit(0, slot, 0.0)
    best = np.argsort(-world.cash[:40]).tolist()
    found: list[int] = []
    for _ in range(3):
        some = world.slots(10.0, most=16)
        for _ in some:
            world.frontier.began(world.frontier.hosts[0], 10.0)
        for _ in some:
            world.frontier.ended(world.frontier.hosts[0], 10.0)
        found += some
    assert sorted(found) == list(range(40))
    assert set(found[:16]) <= set(best[:32])
    assert world.frontier.seen_count == 0


def test_pages_are_compared_once_where_all_hosts_that_have_rested_took_part() -> None:
    world = World(policy=Greedy(), delay_s=0.0, connections_per_host=3, connections_per_ip=9)
    world.cash[:4] = 8.0, 7.0, 1.0, 2.0
    world.frontier.add_new(0, [0, 2])
    world.frontier.add_new(1, [1, 3])
    assert [slot for _, slot, _ in world.frontier.choose(0.0, 10, least=5.0)] == [0, 1]
    assert world.asked == 1
    assert world.frontier.spent
    assert world.slots(0.0, most=0) == []


def test_what_came_back_or_waits_for_its_address_may_be_chosen_at_the_same_instant() -> None:
    world = World(connections_per_ip=2)
    for number in (0, 1):
        world.frontier.locate(world.frontier.hosts[number], ("10.0.0.9",), 0.0)
        world.frontier.add_new(number, [number])
    [(host, slot, new)] = world.frontier.choose(0.0, 5)
    assert (slot, world.frontier.spent) == (0, False)
    world.frontier.began(host, 0.0)
    [(host, slot, new)] = world.frontier.choose(0.0, 5)
    assert (slot, world.frontier.spent) == (1, True)
    world.frontier.put_first(host, slot, new=new)
    assert not world.frontier.spent
    assert world.slots(0.0) == [1]


@pytest.mark.parametrize("settings", [{"delay_s": 0.5}, {"ip_delay_s": 0.5}])
def test_a_host_that_rests_offers_one_page_however_many_connections_it_has(settings: dict[str, float]) -> None:
    world = World(policy=Greedy(), **{"delay_s": 0.0, "connections_per_host": 3, "connections_per_ip": 9} | settings)
    world.frontier.add_new(0, [0, 1, 2])
    assert len(world.slots(0.0)) == 1


def test_a_host_with_a_crawl_delay_of_its_own_offers_one_page_at_a_time() -> None:
    world = World(policy=Greedy(), delay_s=0.0, connections_per_host=3, connections_per_ip=9)
    world.frontier.hosts[0].delay_s = 1.0
    world.frontier.add_new(0, [0, 1, 2])
    assert len(world.slots(0.0)) == 1


def test_an_address_without_rest_is_asked_no_more_often_than_it_has_connections() -> None:
    world = World(policy=Greedy(), delay_s=0.0, connections_per_host=4, connections_per_ip=2)
    world.frontier.add_new(0, [0, 1, 2, 3])
    world.frontier.locate(world.frontier.hosts[1], ("10.0.0.0",), 0.0)
    world.frontier.add_new(1, [4, 5])
    chosen = world.frontier.choose(0.0, 10)
    assert len(chosen) == 2
    assert len({host.number for host, _, _ in chosen}) == 1


def test_names_that_share_an_address_share_its_connections() -> None:
    world = World(connections_per_ip=1)
    first, second = list(world.frontier.hosts)[:2]
    world.frontier.locate(second, ("10.0.0.0",), 0.0)
    world.frontier.add_new(0, [1])
    world.frontier.add_new(1, [2])
    assert world.slots(0.0, most=1) == [1]
    world.frontier.began(first, 0.0)
    assert world.slots(1.0) == []
    world.frontier.ended(first, 2.0)
    assert world.slots(2.0) == [2]


def test_a_page_is_refreshed_when_it_is_due_and_not_before() -> None:
    world = World()
    world.visit(0, 7, 0.0)
    assert world.slots(99.0) == []
    assert world.frontier.next_at() == pytest.approx(100.0)
    assert world.slots(100.0) == [7]


def test_new_pages_go_before_old_ones_and_the_longest_waiting_of_these_first() -> None:
    world = World()
    world.visit(0, 7, 0.0)
    world.visit(1, 8, 50.0)
    world.frontier.add_new(2, [9])
    assert world.slots(500.0) == [9, 7, 8]


def test_a_new_page_is_not_held_up_by_a_refresh_that_is_far_away() -> None:
    world = World()
    world.visit(0, 7, 0.0)
    world.frontier.add_new(0, [9])
    assert world.frontier.next_at() == pytest.approx(1.0)
    assert world.slots(1.0) == [9]


def test_a_page_put_back_first_is_offered_next() -> None:
    world = World()
    world.frontier.add_new(0, [1, 2])
    [(host, slot, new)] = world.frontier.choose(0.0, 1)
    world.frontier.put_first(host, slot, new=new)
    assert world.frontier.new_count == 2
    assert world.slots(0.0) == [1]


def test_failures_make_a_host_rest_twice_as_long_each_time_and_success_forgives() -> None:
    world = World()
    host = world.frontier.hosts[0]
    waits = [host.failed(0.0) for _ in range(14)]
    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == 3600.0
    assert host.away(0.0)
    host.succeeded()
    assert host.failed(10_000.0) == 10_001.0


def test_filling_at_once_is_adding_one_by_one() -> None:
    numbers, slots = np.array([2, 0, 2, 1, 0, 2], np.uint32), np.array([9, 4, 1, 7, 3, 5], np.uint32)
    at_once, one_by_one = World(), World()
    for world in (at_once, one_by_one):
        world.visited[[20, 21]] = 0.0, 5.0
    at_once.frontier.fill(numbers, slots, new=True)
    at_once.frontier.fill(np.array([1, 1], np.uint32), np.array([20, 21], np.uint32), new=False)
    for number, slot in zip(numbers.tolist(), slots.tolist(), strict=True):
        one_by_one.frontier.add_new(number, (slot,))
    one_by_one.frontier.add_seen(1, 20)
    one_by_one.frontier.add_seen(1, 21)
    assert at_once.frontier.new_count == 6
    for now in (0.0, 1.0, 2.0, 200.0, 201.0, 202.0):
        offers = [{slot for _, slot, _ in world.frontier.choose(now, 9)} for world in (at_once, one_by_one)]
        assert offers[0] == offers[1]
        for world in (at_once, one_by_one):
            for host in world.frontier.hosts:
                world.frontier.release(host)


def test_idle_means_nothing_new_but_on_hosts_that_are_away() -> None:
    world = World()
    assert world.frontier.idle(0.0)
    world.frontier.add_new(0, [1])
    assert not world.frontier.idle(0.0)
    world.frontier.hosts[0].stay_away(3600.0, "robots.txt")
    assert world.frontier.idle(0.0)
    assert world.frontier.waiting(0.0) == {"robots.txt": 1}
    assert not world.frontier.idle(3599.0)


def test_many_names_of_one_address_all_get_their_turn_a_few_at_a_time() -> None:
    world = World(60, connections_per_ip=1)
    for number, host in enumerate(world.frontier.hosts):
        world.frontier.locate(host, ("10.9.9.9",), 0.0)
        world.frontier.add_new(number, [number])
    seen, now, idle = list[int](), 0.0, 0
    while len(seen) < 60 and idle < 200:
        chosen = world.frontier.choose(now, 10)
        assert len(chosen) <= 1
        idle += not chosen
        for host, slot, _ in chosen:
            world.visit(host.number, slot, now)
            seen.append(slot)
            assert len(world.frontier._rested) <= 20  # not all that wait
        now = max(now + 0.01, min(world.frontier.next_at(), now + 1.0))
    assert sorted(seen) == list(range(60))
    assert now < 1.75


def test_nobody_is_left_waiting_for_an_address_when_those_offered_again_are_held() -> None:
    world = World(40, connections_per_ip=1)
    for number, host in enumerate(world.frontier.hosts):
        world.frontier.locate(host, ("10.9.9.9",), 0.0)
        world.frontier.add_new(number, [number])
    [(host, slot, _)] = world.frontier.choose(0.0, 10)
    world.frontier.began(host, 0.0)
    assert world.frontier.choose(0.0, 10) == []  # all others wait for the address now
    for other in list(world.frontier.hosts)[1:30]:
        other.held = "robots.txt"
    world.frontier.ended(host, 1.0)
    later = [slot for now in (1.0, 2.1, 3.2, 4.3) for slot in world.slots(now)]
    assert later, "hosts 30 to 39 can be asked"
    assert slot == 0


def test_a_host_that_moves_while_it_is_asked_stays_where_it_is_until_the_end() -> None:
    """Else its next request would go to the new machine, and count for the old one."""
    frontier = World(3, connections_per_host=2, connections_per_ip=1).frontier
    moving, neighbour, (old, new) = frontier.hosts[0], frontier.hosts[1], (("10.0.0.0",), ("10.0.0.1",))
    frontier.began(moving, 1.0)
    frontier.locate(moving, new, 2.0)
    assert (moving.addresses, moving.located_until) == (old, 2.0)
    frontier.locate(frontier.hosts[2], old, 2.0)
    assert frontier.wait_s(neighbour, 2.5) == 0.0
    assert frontier.wait_s(frontier.hosts[2], 2.5) > 0.0, "its address is being asked"
    frontier.ended(moving, 3.0)
    frontier.locate(moving, new, 4.0)
    assert moving.addresses == new
    frontier.began(moving, 5.0)
    assert frontier.wait_s(neighbour, 5.5) > 0.0
    assert frontier.wait_s(frontier.hosts[2], 5.5) == 0.0
