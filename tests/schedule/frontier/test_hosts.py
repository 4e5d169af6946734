"""A host is a row: whoever looks at it sees the same, and what nobody looks at takes no more than that."""

import gc
import math
import tracemalloc

import numpy as np
import pytest

from evercrawl.schedule.frontier import host_rows
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.frontier.host_rows import HOST, LOCATED_MOST
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.types import Slots


def columns(slots: Slots) -> Pages:
    raise AssertionError("no pages")


def polite(hosts: int) -> Frontier:
    made = Frontier(BreadthFirst(), columns, lambda slot: 0.0, ip_delay_s=0.25)
    made.add_hosts([f"h{number}" for number in range(hosts)])
    return made


def test_what_is_written_to_a_host_is_there_when_it_is_asked_for_again() -> None:
    hosts = polite(10_000).hosts
    host = hosts[7]
    host.held, host.failures, host.delay_s = "robots.txt", 3, 0.1
    host.stay_away(50.0, "back-off")
    del host
    assert len([other for other in hosts if other.number]) == 9_999  # so many that those before are forgotten
    again = hosts[7]
    assert (again.name, again.held, again.failures, again.delay_s) == ("h7", "robots.txt", 3, 0.1)
    assert (again.ready_at, again.away_until, again.reason) == (50.0, 50.0, "back-off")
    again.succeeded()
    assert (again.failures, again.reason) == (0, "resting")


def test_a_host_is_one_object_as_long_as_somebody_has_it() -> None:
    hosts = polite(10_000).hosts
    host = hosts[7]
    for other in hosts:
        assert (other is host) == (other.number == 7)
    assert hosts[7] is host
    assert len(hosts.recent) < 5_000


def test_failures_are_counted_up_to_a_bound_and_the_back_off_too() -> None:
    host = Host(0, "a.example")
    host.failures = 0xFFFF
    assert host.failed(1000.0) == 4600.0
    assert host.failures == 0xFFFF


def test_a_resting_host_takes_no_more_than_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was done with it before: asked, located, and left alone again."""
    monkeypatch.setattr(host_rows, "LOCATED_MOST", 1_000)
    ours, count = polite(20_000), 20_000
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(count):
        host = ours.hosts[number]
        ours.locate(host, (f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",), float(number))
        ours.began(host, float(number))
        ours.ended(host, float(number))
        if number % 1000 == 999:
            assert ours.choose(float(number), 0) == []
            assert ours.next_at() == math.inf
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert used / count < 150, "a few thousand that are active"
    assert HOST.itemsize == 48


def test_addresses_are_kept_of_hosts_that_were_located_lately_and_of_busy_ones() -> None:
    ours = polite(4 * LOCATED_MOST)
    busy, held = ours.hosts[0], ours.hosts[1]
    for number in range(4 * LOCATED_MOST):
        ours.locate(ours.hosts[number], (f"10.0.{number >> 8}.{number & 255}",), float(number))
        if number == 1:
            ours.began(busy, 1.0)
            held.held = "robots.txt"
    assert (busy.addresses, busy.located_until) == (("10.0.0.0",), 0.0)
    assert held.addresses == ("10.0.0.1",)
    assert ours.hosts[2].addresses == ()
    assert ours.hosts[2].located_until < 0.0
    last = 4 * LOCATED_MOST - 1
    assert ours.hosts[last].located_until == last


def test_an_address_that_is_forgotten_had_rested() -> None:
    """So a host of it waits as long as it would have."""
    ours = polite(20_000)
    for number in range(20_000):
        ours.locate(ours.hosts[number], (f"address {number // 2}",), 0.0)
    for now, number in enumerate(range(0, 20_000, 2)):
        ours.began(ours.hosts[number], now / 1e5)
        ours.ended(ours.hosts[number], now / 1e5)
        assert ours.choose(now / 1e5, 0) == []
    waits = [ours.wait_s(ours.hosts[number], 0.1) for number in range(1, 20_000, 2)]
    assert np.allclose(waits, 0.15 + np.arange(10_000) / 1e5)
    assert ours.wait_s(ours.hosts[19_999], 1.0) == 0.0


def test_a_host_with_a_few_pages_takes_no_more_than_its_rest_and_small_queues() -> None:
    ours, draw, count = polite(20_000), np.random.default_rng(2), 20_000
    of = np.repeat(np.arange(count, dtype=np.uint32), draw.integers(2, 11, count))
    draw.shuffle(of)
    ours.fill(of, np.arange(len(of), dtype=np.uint32), new=True)
    assert ours.size_bytes() / count < 260
    assert ours.new_count == len(of)
