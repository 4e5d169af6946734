"""Pages are compared once per choice, unless pages that awoke in it are worth a visit."""

import pytest

from evercrawl.schedule.policies.greedy import Greedy
from tests.helpers.frontier_world import World


@pytest.fixture
def world() -> World:
    """Return a world of four hosts with a visited page each that is worth 3, and with one that will awake."""
    world = World(hosts=5, policy=Greedy(), refresh_after_s=4.0)
    world.cash[:4] = 3.0
    for slot in range(4):
        world.visit(slot, slot, 0.0)
    assert not world.frontier.choose(5.0, 1, least=99.0), "they awake, and wait by their values"
    world.visit(4, 4, 6.0)
    return world


@pytest.mark.parametrize(("worth", "chosen", "asked"), [(0.5, [0, 1, 2, 3], 1), (2.0, [0, 1, 2, 3, 4], 2)])
def test_pages_are_compared_again_only_if_one_that_awoke_is_worth_a_visit(
    world: World, worth: float, chosen: list[int], asked: int
) -> None:
    world.cash[4], world.asked = worth, 0
    assert [slot for _, slot, _ in world.frontier.choose(10.5, 32, least=1.0)] == chosen
    assert world.asked == asked
