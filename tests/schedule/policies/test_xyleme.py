"""The xyleme policy: its formula, and one visit in five for whichever page has waited longest."""

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.schedule import Pages
from evercrawl.schedule.base import Context
from evercrawl.schedule.formulas.index import survival
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.policies.xyleme import CYCLE, OVERDUE, Xyleme
from evercrawl.types import Floats, Slots

BEGAN_AT = 1000.0


class Counting(Xyleme):
    """The policy, and how many visits were the cycle's of how many."""

    cycled = visits = 0

    def chosen(self, values: Floats, context: Context, new: int = 0) -> None:
        self.cycled += int((values > OVERDUE).sum())
        self.visits += len(values)
        super().chosen(values, context, new)


class World:
    """Pages that earn cash evenly, some next to none, on hosts that rest for a second."""

    def __init__(self, hosts: int, pages: int, most: int, seed: int = 1) -> None:
        draw = np.random.default_rng(seed)
        self.earns = np.where(draw.random(pages) < 0.5, 1e-6, draw.pareto(1.1, pages))
        self.host = draw.permutation(np.arange(pages) % hosts).astype(np.uint32)
        self.visited_at, self.most, self.now = np.full(pages, BEGAN_AT), most, BEGAN_AT
        self.policy = Counting()
        self.frontier = Frontier(
            self.policy, self.columns, lambda slot: float(self.visited_at[slot]), delay_s=1.0, refresh_after_s=0.0
        )
        for number in range(hosts):
            self.frontier.locate(self.frontier.add_host(f"h{number}"), (f"10.0.{number >> 8}.{number & 255}",), 0.0)
        self.frontier.fill(self.host, np.arange(pages, dtype=np.uint32), new=False)
        self.order: list[int] = []

    def columns(self, slots: Slots) -> Pages:
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        cash = self.earns[slots] * (self.now - self.visited_at[slots])
        return Pages(slots, self.visited_at[slots], one, cash, one, 1e6 * one, one, none, none)

    def run(self, visits: int) -> None:
        until = len(self.order) + visits
        while len(self.order) < until:
            for host, slot, _ in self.frontier.choose(self.now, self.most):
                self.frontier.began(host, self.now)
                self.frontier.ended(host, self.now)
                self.visited_at[slot] = self.now
                self.frontier.add_seen(host.number, slot)
                self.order.append(slot)
            self.now += 0.1


def test_value_is_cash_times_half_and_the_probability_of_a_change():
    visited_at, cash = np.array([0.0, 0.0, 0.0, np.nan]), np.array([1.0, -2.0, 3.0, 4.0])
    shape, scale_s, notice = np.full(4, 0.7), np.array([10.0, 500.0, 500.0, 1.0]), np.array([0.0, 0.0, 2.0, 0.0])
    one = np.ones(4)
    pages = Pages(np.arange(4, dtype=np.uint32), visited_at, one, cash, shape, scale_s, one, 0 * one, notice)
    changed = np.where(np.isnan(visited_at), 1.0, 1 - survival(shape, scale_s, 100.0) * np.exp(-notice))
    assert Xyleme().value(pages, Context(100.0)) == pytest.approx(np.abs(cash) * (0.5 + changed))


@pytest.mark.parametrize(("hosts", "most"), [(1, 1), (8, 8), (100, 10)])
def test_one_visit_in_five_goes_to_who_has_waited_longest(hosts, most):
    world = World(hosts, 400, most)
    world.run(3000)
    world.policy.cycled = world.policy.visits = 0
    world.run(4000)
    assert world.policy.cycled / world.policy.visits == pytest.approx(CYCLE, abs=0.02)


def test_no_page_starves_and_the_rich_are_visited_more_often():
    world = World(20, 400, 4)
    world.run(8000)
    visits = np.bincount(world.order[4000:], minlength=400)
    assert visits.min() >= 1, f"one waits for {(world.now - world.visited_at).max()} s"
    rich = world.earns >= np.quantile(world.earns, 0.9)
    assert visits[rich].mean() > 5 * visits[world.earns < 1e-3].mean()


def test_nothing_is_drawn_by_lot():
    worlds = [World(10, 200, 3) for _ in range(2)]
    for world in worlds:
        world.run(2000)
    assert worlds[0].order == worlds[1].order


def test_who_is_the_cycles_comes_first_the_longest_waiting_before_all():
    policy = Xyleme()
    policy.resume({"xyleme_cycle_s": 50.0})
    one = np.ones(3)
    pages = Pages(
        np.arange(3, dtype=np.uint32), np.array([60.0, 40.0, 20.0]), one, np.array([1e9, 0, 0]), one, one, one, one,
        0 * one,
    )  # fmt: skip
    value = policy.value(pages, Context(100.0))
    assert value.argsort()[::-1].tolist() == [2, 1, 0]
    assert (value > OVERDUE).tolist() == [False, True, True]
    assert policy.notes() == {"xyleme_cycle_s": 50.0}


@pytest.mark.parametrize("cycle", [0, -1, 2, float("nan")])
def test_a_share_that_makes_no_sense_is_refused(cycle):
    with pytest.raises(ConfigError, match=r"xyleme: cycle must be from 0\.001 to 1"):
        Xyleme(cycle)
