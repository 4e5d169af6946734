"""After a policy has looked at all pages it is asked anew when they fall due, even where nothing is chosen."""

import numpy as np
import pytest

from evercrawl.schedule import Pages, Policy
from evercrawl.schedule.base import Context
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.types import Floats, Slots

PAGES = 5000


class OneOfMany(Policy):
    """A policy that has one page visited, of its choice, and says so of no other."""

    min_value = 1.0
    wanted = -1

    def value(self, pages: Pages, context: Context) -> Floats:
        return np.where(pages.slot == self.wanted, 1.0, 0.0)

    def due(self, pages: Pages, context: Context) -> Floats:
        return np.where(pages.slot == self.wanted, 0.0, 1e6 + pages.slot)


def columns(slots: Slots) -> Pages:
    one = np.ones(len(slots))
    return Pages(slots, one, one, one, one, one, one, one, 0 * one)


@pytest.mark.parametrize("hosts", [1, 40])
def test_a_page_is_found_behind_many_others_once_a_plan_wants_it(hosts: int) -> None:
    policy, now = OneOfMany(), 100.0
    frontier = Frontier(policy, columns, lambda _: 1.0, refresh_after_s=0.0)
    for number in range(hosts):
        frontier.locate(frontier.add_host(f"h{number}"), (f"10.0.0.{number}",), now)
    frontier.fill(np.arange(PAGES, dtype=np.uint32) % hosts, np.arange(PAGES, dtype=np.uint32), new=False)
    while frontier.next_at() <= now:
        assert frontier.choose(now, 1) == []
    policy.wanted = PAGES - 1
    assert frontier.choose(now + 70.0, 1) == [], "nobody has said that there is anything new"
    frontier.planned()
    chosen, looks = list[int](), 0
    while not chosen and frontier.next_at() <= now + 70.0:
        chosen, looks = [slot for _, slot, _ in frontier.choose(now + 70.0, 1)], looks + 1
    assert chosen == [PAGES - 1]
    assert looks < 3
