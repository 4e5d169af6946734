"""How many slots a site, a network and slow hosts have."""

import pytest

from evercrawl.crawl.visit.lanes import QUICK_LANE, REMEMBERED_S, SLOW_LANE, SLOW_S, Lanes

EVIL, GOOD = ("evil.example", "8.8.8.0/24"), ("good.example", "8.8.8.0/24")


@pytest.mark.parametrize("slow", [False, True])
def test_a_group_has_its_share_of_each_lane(slow):
    lanes, now = Lanes[int](quick=8, slow=8, of_group=2), 0.0
    if slow:  # a site that had a slow request
        for site in ("evil.example", "good.example", "other.example"):
            lanes.began(99, (site,), now)
            lanes.look({99: now}.__getitem__, now + SLOW_S)
            lanes.ended(99)
        now += SLOW_S
    for number in range(2):
        assert lanes.obstacle(EVIL, now) == ""
        lanes.began(number, EVIL, now)
    assert lanes.obstacle(EVIL, now) == "evil.example"
    assert lanes.obstacle(GOOD, now) == "8.8.8.0/24"
    assert lanes.obstacle(("other.example", "9.9.9.0/24"), now) == ""
    assert lanes.obstacle(EVIL, now, share=False) == "", "what nobody else wants is not left unused"
    lanes.ended(0)
    assert lanes.obstacle(EVIL, now) == ""
    assert lanes.quick == (0 if slow else 1)


def test_slow_requests_move_to_their_lane_up_to_the_share_of_a_group():
    lanes, began = Lanes[int](quick=8, slow=4, of_group=2), dict.fromkeys(range(8), 0.0)
    for number in range(8):
        lanes.began(number, ("evil.example" if number < 4 else f"slow{number}.example",), 0.0)
    assert lanes.obstacle(("good.example",), 1.0) == QUICK_LANE
    assert lanes.look(began.__getitem__, SLOW_S - 0.1) == []
    assert lanes.look(began.__getitem__, SLOW_S) == [2, 3, 6, 7], "two of the site, and four in all"
    assert lanes.obstacle(("good.example",), SLOW_S) == ""
    assert lanes.obstacle(("evil.example",), SLOW_S) == "evil.example"
    assert lanes.obstacle(("slow6.example",), SLOW_S) == SLOW_LANE
    assert not lanes.slow_site("evil.example", SLOW_S + REMEMBERED_S)
