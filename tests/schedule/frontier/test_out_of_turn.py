"""Pages taken out of turn: gone from wherever they waited, and everything else is offered as if they had never been."""

import numpy as np
import pytest

from evercrawl.schedule.base import Policy
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.schedule.policies.greedy import Greedy
from evercrawl.schedule.policies.uniform import Uniform
from evercrawl.types import Floats, Slots

COUNT = 60


class World:
    """Pages of a few hosts that were all visited, each at an instant of its own."""

    def __init__(self, policy: Policy, hosts: int = 4, seed: int = 1, without: tuple[int, ...] = ()) -> None:
        draw = np.random.default_rng(seed)
        self.visited_at: Floats = draw.permutation(COUNT).astype(float)
        self.cash: Floats = draw.permutation(COUNT).astype(float) + 1.0
        self.host = np.arange(COUNT) % hosts
        self.frontier = Frontier(
            policy, self.columns, lambda slot: float(self.visited_at[slot]), delay_s=0.0, refresh_after_s=100.0
        )
        for number in range(hosts):
            self.frontier.locate(self.frontier.add_host(f"h{number}"), (f"10.0.0.{number}",), 0.0)
        for slot in range(COUNT):
            if slot not in without:
                self.frontier.add_seen(int(self.host[slot]), slot)

    def columns(self, slots: Slots) -> Pages:
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        return Pages(slots, self.visited_at[slots], one, self.cash[slots], one, 1000 * one, one, none, none)

    def take(self, slot: int) -> bool:
        return self.frontier.take_page(self.frontier.hosts[int(self.host[slot])], slot)

    def rest_of(self, now: float) -> list[int]:
        """Choose everything that is left, one at a time, from an instant at which all pages may be visited."""
        order = list[int]()
        while chosen := self.frontier.choose(now, 1):
            [(host, slot, new)] = chosen
            assert not new
            order.append(slot)
            self.frontier.give_up(host, slot)
        return order


def policies() -> list[Policy]:
    return [Uniform(), Greedy(), BreadthFirst()]


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: type(policy).__name__)
@pytest.mark.parametrize("awake", [False, True])
def test_the_others_come_as_if_it_had_never_waited(policy: Policy, awake: bool) -> None:
    taken = (3, 17, 40, 41, 59)
    world, other = World(policy), World(policy, without=taken)
    if awake:  # some of the pages have been looked at, and one of each host was chosen
        for each in (world, other):
            first = each.frontier.choose(130.0, 4)
            for host, slot, _ in first:
                each.frontier.put_first(host, slot, new=False)
    assert all(world.take(slot) for slot in taken)
    assert world.frontier.seen_count == other.frontier.seen_count == COUNT - len(taken)
    got = world.rest_of(1000.0)
    assert sorted(got) == sorted(set(range(COUNT)) - set(taken))
    if not awake:
        assert got == other.rest_of(1000.0)


def test_what_does_not_wait_cannot_be_taken() -> None:
    world = World(Uniform())
    [(host, slot, _)] = world.frontier.choose(1000.0, 1)
    assert not world.take(slot)
    world.frontier.put_first(host, slot, new=False)
    assert world.take(slot)
    assert not world.take(slot)
    assert world.frontier.seen_count == COUNT - 1
    assert world.frontier.waiting_on()[1][host.number] == COUNT // 4 - 1


def test_a_new_page_is_left_where_it_is() -> None:
    world = World(Uniform(), without=(5,))
    world.frontier.add_new(1, [5])
    assert not world.take(5)
    assert world.frontier.new_count == 1


def test_a_host_of_which_the_last_page_was_taken_is_not_looked_at_again() -> None:
    world = World(Uniform(), hosts=1, without=tuple(range(1, COUNT)))
    assert world.frontier.next_at() == pytest.approx(world.visited_at[0] + 100.0)
    assert world.take(0)
    assert world.frontier.next_at() == np.inf
    assert world.frontier.choose(1000.0, 1) == []


def test_taken_asleep_its_host_waits_for_the_next() -> None:
    world = World(Uniform(), hosts=1)
    first, second = np.argsort(world.visited_at)[:2].tolist()
    assert world.take(first)
    assert world.frontier.next_at() == pytest.approx(world.visited_at[second] + 100.0)


def test_at_random_among_choices_nothing_is_lost_or_doubled() -> None:
    draw = np.random.default_rng(7)
    world, now, out = World(Uniform(), hosts=5), 100.0, set[int]()
    for _ in range(600):
        now += 1.0
        slot = int(draw.integers(COUNT))
        assert world.take(slot) == (slot not in out)
        out.add(slot)
        for host, chosen, _ in world.frontier.choose(now, 2):
            assert chosen not in out
            out.add(chosen)
            world.frontier.give_up(host, chosen)
        for back in draw.permutation(list(out))[: len(out) // 3].tolist():
            world.visited_at[back] = now - draw.uniform(0.0, 200.0)
            world.frontier.add_seen(int(world.host[back]), back)
            out.discard(back)
        assert world.frontier.seen_count == COUNT - len(out)
