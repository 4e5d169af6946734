"""A site whose visits cost far more than those of others gets a bounded part of the time and of a ceiling on bytes."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from evercrawl.crawl.pace import Leisure, Pace
from evercrawl.crawl.visit.site_costs import MOST_REST_S, PART, SiteCosts

RATE = 1_000_000.0
GOOD, EVIL, OTHER = 0, 1, 2  # hosts; each is a site, but host 3, which is of the site of host 1


class Machine:
    """A process that serves one visit after another, each of which takes its time or its bytes."""

    def __init__(self, rate: float = 0.0, hosts: int = 0) -> None:
        self.now, self.pace, self.leisure = 1e9, Pace(0.0, rate), Leisure(1e9, 0.0)
        sites = np.arange(hosts, dtype=np.uint32) if hosts else np.array([0, 1, 2, 1], np.uint32)
        clock = SimpleNamespace(now=lambda: self.now)
        self.costs = SiteCosts(sites, cast("Any", clock), self.pace, self.leisure)
        self.visits, self.bytes, self.spent = [0] * len(sites), [0] * len(sites), [0.0] * len(sites)
        self.idle_s = 0.0

    def run(self, seconds: float, cost: dict[int, float], size: dict[int, int], delay_s: float = 0.05) -> None:
        """Visit hosts in turn, as soon as they have rested; a unit of cost takes a millisecond."""
        until, ready = self.now + seconds, dict.fromkeys(cost, self.now)
        while self.now < until:
            free = self.pace.free(self.now)
            able = [host for host in cost if free and ready[host] <= self.now >= self.costs.until(host, self.now)]
            if not able:
                self.now, self.idle_s = self.now + 0.001, self.idle_s + 0.001
                self.leisure.observe(self.now, self.idle_s)
                continue
            host = min(able, key=lambda host: ready[host])
            self.now += cost[host] / 1000
            self.leisure.observe(self.now, self.idle_s)
            self.costs.received(host, size[host], self.now)
            self.costs.took(host, cost[host])
            self.visits[host], self.bytes[host] = self.visits[host] + 1, self.bytes[host] + size[host]
            self.spent[host] += cost[host] / 1000
            ready[host] = self.now + delay_s


def test_a_costly_site_takes_a_part_of_the_time():
    alone, both = Machine(), Machine()
    alone.run(60.0, {GOOD: 1.0}, {GOOD: 1000})
    both.run(60.0, {GOOD: 1.0, EVIL: 200.0}, {GOOD: 1000, EVIL: 1000})
    assert both.spent[EVIL] < 1.1 * PART * 60
    assert both.spent[EVIL] > 0.8 * PART * 60
    assert both.visits[GOOD] > 0.7 * alone.visits[GOOD]


def test_a_second_host_of_the_site_has_no_part_of_its_own():
    machine = Machine()
    machine.run(60.0, {GOOD: 1.0, EVIL: 200.0, 3: 200.0}, dict.fromkeys((GOOD, EVIL, 3), 1000))
    assert machine.spent[EVIL] + machine.spent[3] < 1.2 * PART * 60


@pytest.mark.parametrize("cost", [1.0, 200.0])
def test_a_site_alone_or_among_its_like_is_not_held_up(cost):
    machine = Machine()
    machine.run(20.0, {EVIL: cost}, {EVIL: 1000}, delay_s=0.0)
    assert machine.visits[EVIL] >= 0.99 * 20_000 / cost
    machine = Machine()
    machine.run(20.0, {EVIL: cost, OTHER: cost}, {EVIL: 1000, OTHER: 1000}, delay_s=0.0)
    assert sum(machine.visits) >= 0.99 * 20_000 / cost


def test_a_site_that_was_costly_goes_on_once_the_others_are_done():
    machine = Machine()
    machine.run(10.0, {GOOD: 1.0, EVIL: 100.0}, {GOOD: 1000, EVIL: 1000})
    before = machine.visits[EVIL]
    machine.run(10.0, {EVIL: 100.0}, {EVIL: 1000}, delay_s=0.0)
    assert machine.visits[EVIL] - before > 75


def test_large_bodies_leave_the_others_most_of_the_time():
    alone, both = Machine(RATE), Machine(RATE)
    alone.run(300.0, {GOOD: 1.0}, {GOOD: 10_000})
    both.run(300.0, {GOOD: 1.0, EVIL: 1.0}, {GOOD: 10_000, EVIL: 5_000_000})
    assert both.visits[GOOD] > 0.7 * alone.visits[GOOD]
    assert both.visits[EVIL] >= 8
    assert sum(both.bytes) <= 300 * RATE + 5_000_000


def test_without_a_ceiling_bytes_have_nobody_rest():
    machine = Machine()
    machine.run(10.0, {GOOD: 1.0, EVIL: 1.0}, {GOOD: 1000, EVIL: 10_000_000})
    assert machine.visits[EVIL] >= machine.visits[GOOD] - 1


def test_another_ceiling_ends_rests():
    machine = Machine(RATE)
    machine.run(20.0, {GOOD: 1.0, EVIL: 1.0}, {GOOD: 10_000, EVIL: 10_000_000})
    assert machine.costs.until(EVIL, machine.now) > machine.now
    machine.costs.change()
    assert machine.costs.until(EVIL, machine.now) < machine.now


def test_a_stall_does_not_have_a_site_rest_for_long():
    machine = Machine()
    machine.run(1.0, {GOOD: 1.0, OTHER: 1.0}, {GOOD: 1000, OTHER: 1000})
    machine.now += 600.0  # counted as busy: nothing was idle
    machine.leisure.observe(machine.now, machine.idle_s)
    machine.costs.took(OTHER, 1.0)
    machine.costs.took(EVIL, 100.0)
    assert machine.now < machine.costs.until(EVIL, machine.now) <= machine.now + MOST_REST_S
