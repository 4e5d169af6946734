"""A frontier over a few hosts, whose pages a test visits."""

import numpy as np

from evercrawl.schedule.base import Policy
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.types import Slots


class World:
    """A frontier over a few hosts, and a table of visits."""

    def __init__(self, hosts: int = 3, policy: Policy | None = None, **settings: float) -> None:
        self.visited = np.full(100, np.nan)
        self.importance, self.cash = np.ones(100), np.zeros(100)
        self.asked = 0  # how often pages were compared
        politeness: dict[str, float] = {"delay_s": 1.0, "refresh_after_s": 100.0} | settings
        self.frontier = Frontier(
            policy or BreadthFirst(),
            self.columns,
            lambda slot: float(self.visited[slot]),
            **politeness,  # type: ignore[arg-type]
        )
        for number in range(hosts):
            host = self.frontier.add_host(f"h{number}")
            self.frontier.locate(host, (f"10.0.0.{number}",), 0.0)

    def columns(self, slots: Slots) -> Pages:
        self.asked += 1
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        importance, cash = self.importance[slots], self.cash[slots]
        return Pages(slots, self.visited[slots], importance, cash, one, 1000 * one, one, none, none)

    def slots(self, now: float, most: int = 10) -> list[int]:
        return [slot for _, slot, _ in self.frontier.choose(now, most)]

    def visit(self, number: int, slot: int, now: float, took_s: float = 0.0) -> None:
        host = self.frontier.hosts[number]
        self.frontier.began(host, now)
        self.visited[slot] = now
        self.frontier.ended(host, now + took_s)
        self.frontier.add_seen(number, slot)
