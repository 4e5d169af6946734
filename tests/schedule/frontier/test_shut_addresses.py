"""Addresses that somebody else has for a while: nobody asks them, and nobody spins."""

import numpy as np

from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.breadth_first import BreadthFirst


def frontier(hosts: int, ip_delay_s: float = 0.0) -> Frontier:
    def columns(slots: np.ndarray) -> Pages:
        ones = np.ones(len(slots))
        return Pages(slots, np.full(len(slots), np.nan), ones, ones, ones, ones, ones, ones, ones)

    one = Frontier(BreadthFirst(), columns, lambda slot: 0.0, delay_s=0.0, ip_delay_s=ip_delay_s, connections_per_ip=8)
    one.add_hosts([f"{number}.example" for number in range(hosts)])
    for number in range(hosts):
        one.locate(one.hosts[number], ("192.0.2.1",), 1e12)
        one.add_new(number, [number])
    return one


def test_hosts_of_a_shut_address_wait_until_it_is_opened():
    one = frontier(4)
    key = one.address_key(one.hosts[0])
    one.shut(key, 20.0)
    assert one.choose(10.0, 4) == []
    assert one.choose(19.0, 4) == []
    one.open_address(key, 12.0)
    assert one.next_at() <= 12.0
    assert one.choose(11.9, 4) == []
    assert len(one.choose(12.0, 4)) == 1


def test_a_shut_address_opens_by_itself_when_its_time_is_over():
    one = frontier(2)
    one.shut(one.address_key(one.hosts[0]), 20.0)
    assert one.choose(10.0, 2) == []
    assert one.next_at() <= 20.0
    assert len(one.choose(20.0, 2)) == 1


def test_opening_does_not_shorten_the_rest_of_an_address():
    one = frontier(3, ip_delay_s=5.0)
    ((host, _, _),) = one.choose(10.0, 3)
    one.began(host, 10.0)
    one.ended(host, 10.1)
    key = one.address_key(host)
    one.shut(key, 30.0)
    one.open_address(key, 11.0)
    assert one.choose(14.9, 3) == []
    assert len(one.choose(15.0, 3)) == 1
