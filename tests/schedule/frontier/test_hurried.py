"""A choice that has found something ends before another round where others wait."""

from evercrawl.schedule.policies.greedy import Greedy
from tests.helpers.frontier_world import World


def test_a_choice_that_others_wait_for_ends_with_what_it_has_found() -> None:
    world = World(hosts=40, policy=Greedy())
    for number in range(40):
        world.frontier.add_new(number, [number])
    assert not world.frontier.choose(0.0, 1, least=1.0), "they are placed by what they are worth"
    world.frontier.hurried, world.asked = lambda: True, 0
    found: list[int] = []
    for asked in (1, 2):
        some = world.slots(0.0, most=20)
        assert 0 < len(some) < 20
        assert not world.frontier.spent
        assert world.asked == asked
        found += some
    world.frontier.hurried = lambda: False
    found += world.slots(0.0, most=20)
    assert len(set(found)) == len(found) == 40
    assert not world.frontier.choose(0.0, 20)
