"""Which pages the frontier offers, by what their policy says that they are worth, and when it looks again."""

import numpy as np
import pytest

from evercrawl.schedule.abilities import Follows
from evercrawl.schedule.base import Context, Policy
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.schedule.policies.greedy import Greedy
from evercrawl.schedule.policies.price.price import Price
from tests.helpers.frontier_world import World


class Dearest(Policy):
    """The most important page first, new ones included."""

    def value(self, pages: Pages, context: Context) -> np.ndarray:
        return pages.importance


def visit_all(world: World, times: int, step_s: float = 1.0) -> list[int]:
    order = []
    for i in range(times):
        for host, slot, _ in world.frontier.choose(200.0 + i * step_s, 1):
            world.visit(host.number, slot, 200.0 + i * step_s)
            order.append(slot)
    return order


def test_within_a_host_the_policy_decides_among_new_pages_and_those_to_be_refreshed() -> None:
    world = World(1, Dearest())
    world.importance[:6] = 3, 9, 1, 7, 5, 8
    world.visited[:3] = 0.0
    for slot in range(3):
        world.frontier.add_seen(0, slot)
    world.frontier.add_new(0, [3, 4, 5])
    assert visit_all(world, 6) == [1, 5, 3, 4, 0, 2]


def test_the_best_of_many_new_pages_is_found_although_few_are_ranked() -> None:
    world = World(1, Dearest())
    world.importance[:] = np.random.default_rng(1).permutation(100)
    world.frontier.fill(np.zeros(100, np.uint32), np.arange(100, dtype=np.uint32), new=True)
    assert visit_all(world, 100) == np.argsort(-world.importance).tolist()


def test_new_pages_that_become_important_later_come_forward() -> None:
    world = World(1, Dearest())
    world.importance[:] = np.arange(100)
    world.frontier.fill(np.zeros(100, np.uint32), np.arange(100, dtype=np.uint32), new=True)
    visit_all(world, 1)
    world.importance[3] = 1000.0
    assert 3 in visit_all(world, 50)[:40]


def test_a_page_is_not_offered_before_the_instant_that_was_asked_for() -> None:
    world = World(1, Dearest())
    world.visited[7] = 0.0
    world.frontier.add_seen(0, 7, 500.0)
    assert world.slots(499.0) == []
    assert world.frontier.next_at() == 500.0
    assert world.slots(500.0) == [7]


def test_filling_with_instants_keeps_them() -> None:
    world = World(1)
    world.visited[[1, 2]] = 0.0
    slots = np.array([1, 2], np.uint32)
    world.frontier.fill(np.zeros(2, np.uint32), slots, new=False, not_before=np.array([300.0, 0.0]))
    assert world.slots(200.0) == [2]
    world.frontier.release(world.frontier.hosts[0])
    assert world.slots(299.0) == []
    assert world.slots(300.0) == [1]


def test_of_rested_hosts_the_most_valuable_page_is_chosen_first() -> None:
    world = World(40, Dearest())
    world.importance[:40] = np.random.default_rng(2).permutation(40)
    for slot in range(40):
        world.frontier.add_new(slot, [slot])
    best = np.argsort(-world.importance[:40]).tolist()
    assert world.slots(0.0, most=3) == best[:3]
    assert world.slots(0.0, most=50) == best[3:]


def test_the_page_to_give_up_is_a_new_one_if_there_is_one() -> None:
    world = World(1)
    world.visited[7] = 0.0
    world.frontier.add_seen(0, 7)
    world.frontier.add_new(0, [8, 9])
    host = world.frontier.hosts[0]
    assert [world.frontier.take_first(host) for _ in range(4)] == [(8, True), (9, True), (7, False), None]
    assert world.frontier.new_count == world.frontier.seen_count == 0
    assert world.frontier.waiting_on() == (0, 0)


def test_unread_pages_take_little_memory() -> None:
    frontier = World(50).frontier
    before = frontier.size_bytes()
    draw = np.random.default_rng(3)
    frontier.fill(draw.integers(0, 50, 200_000).astype(np.uint32), np.arange(200_000, dtype=np.uint32), new=True)
    assert (frontier.size_bytes() - before) / 200_000 < 5


def test_a_host_with_more_new_pages_than_are_ranked_at_once() -> None:
    count = 100_000
    world = World(1, Dearest())
    world.visited = np.full(count, np.nan)
    world.importance = np.random.default_rng(4).random(count)
    world.cash = np.zeros(count)
    world.frontier.fill(np.zeros(count, np.uint32), np.arange(count, dtype=np.uint32), new=True)
    order = visit_all(world, 300, step_s=1.0)
    assert len(order) == 300
    assert len(set(order[:100])) == 100, "none is due again before"
    ranks = np.argsort(np.argsort(-world.importance))[order[:300]]
    assert np.median(ranks) < count / 50


def test_what_is_worth_less_than_asked_for_waits() -> None:
    world = World(policy=Greedy())
    world.cash[[1, 2, 3]] = 4.0, 2.0, 0.5
    for number in range(3):
        world.frontier.add_new(number, [number + 1])
    chosen = world.frontier.choose(0.0, 10, 1.0)
    assert [slot for _, slot, _ in chosen] == [1, 2]
    assert world.frontier.choose(0.0, 10, 1.0) == []
    assert world.slots(0.0) == [3]


class Patient(Policy):
    """A policy that leaves a page alone for 500 s, and new pages until 700."""

    min_value = 0.0

    def value(self, pages: Pages, context: Context) -> np.ndarray:
        return np.where(np.isnan(pages.visited_at), context.now - 700.0, context.now - pages.visited_at - 500.0)

    def due(self, pages: Pages, context: Context) -> np.ndarray:
        return pages.visited_at + 500.0


def test_what_a_policy_leaves_alone_waits_until_it_says_and_the_frontier_with_it() -> None:
    world = World(2, Patient())
    world.visit(0, 7, 0.0)
    world.visit(1, 8, 30.0)
    assert world.slots(200.0) == []
    assert world.frontier.next_at() == 260.0, "it looks again after a minute at the latest"
    assert world.slots(470.0) == []
    assert world.frontier.next_at() == 500.0
    assert world.slots(500.0) == [7]
    assert world.slots(500.0) == []
    assert world.frontier.next_at() == 530.0
    assert world.slots(530.0) == [8]
    assert world.frontier.next_at() == np.inf


def test_what_awakes_meanwhile_is_not_held_up_by_what_is_left_alone() -> None:
    world = World(1, Patient())
    world.visit(0, 7, 400.0)
    world.visit(0, 8, 450.0)
    assert world.slots(510.0) == []
    assert world.frontier.next_at() == 550.0, "page 8 may be refreshed, so it is looked at"
    assert world.slots(550.0) == []
    assert world.frontier.next_at() == 610.0


def test_new_pages_that_are_left_alone_are_looked_at_again_soon_and_at_once_when_more_come() -> None:
    world = World(2, Patient())
    world.frontier.add_new(0, [1])
    assert world.slots(600.0) == []
    assert world.frontier.next_at() == 601.0
    world.frontier.add_new(1, [2])
    assert world.frontier.next_at() <= 600.0
    assert world.slots(600.5) == []
    assert sorted(world.slots(700.0)) == [1, 2]


class Told(Follows, BreadthFirst):
    """Remembers which visits it was told of: values, instant, and how many were new."""

    def __init__(self) -> None:
        self.told: list[tuple[list[float], float, int]] = []

    def chosen(self, values, context, new=0) -> None:
        self.told.append((values.tolist(), context.now, new))


def test_the_policy_is_told_of_visits_and_not_of_what_was_put_back_or_given_up() -> None:
    policy = Told()
    world = World(policy=policy)
    for number, slot in enumerate((7, 8, 9)):
        world.frontier.add_new(number, [slot])
    chosen = world.frontier.choose(0.0, 3)
    (first, _, _), (second, _, _), _ = chosen
    world.frontier.put_first(first, 7, new=True)
    world.frontier.give_up(second, 8)
    assert policy.told == []
    world.visit(2, 9, 0.0)
    assert world.slots(0.5) == [7]
    [(values, now, new)] = policy.told
    assert (len(values), now, new) == (1, 0.0, 1)
    world.visit(0, 7, 0.5)
    assert world.slots(101.0, most=1) == [9]
    assert world.slots(102.0) == [7]
    assert [(len(values), now, new) for values, now, new in policy.told[1:]] == [(1, 0.5, 1), (1, 101.0, 0)]


@pytest.mark.parametrize(("pause_s", "dear"), [(10.0, True), (40.0, False)])
def test_only_a_host_that_is_asked_as_often_as_it_allows_has_a_price_of_its_own(pause_s, dear) -> None:
    world = World(1, Price(), delay_s=10.0, refresh_after_s=0.0)
    world.frontier.add_new(0, range(30))
    for k in range(60):
        for slot in world.slots(k * pause_s, most=1):
            world.visit(0, slot, k * pause_s)
    assert (world.frontier._queues._lots["dear"][0] != 0.0) == dear
