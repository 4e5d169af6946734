"""An address is requested by one partition at a time, whatever happens to the messages that say so."""

import random
from itertools import pairwise

import pytest

from evercrawl.crawl.posting import leases as posting_leases
from evercrawl.crawl.posting.landlord import LEASE_S
from evercrawl.crawl.posting.leases import IpLeases
from evercrawl.store.post.messages import LeaseAsk

PARTS, EXCHANGE_S, REST_S = 4, 5.0, 1.0


class Street:
    """Partitions that want one address, and messages between them that fare badly."""

    def __init__(self, seed: int, lost: float, doubled: float, delay_s: float) -> None:
        self.draw, self.lost, self.doubled, self.delay_s = random.Random(seed), lost, doubled, delay_s
        self.now, self.on_way, self.under_way = 0.0, [], dict.fromkeys(range(PARTS), 0.0)
        self.lives = dict.fromkeys(range(PARTS), 0)
        self.leases = {}
        self.used: list[tuple[float, float, int]] = []  # begun, ended, by whom
        for number in range(PARTS):
            self.begin(number)

    def begin(self, number: int) -> None:
        self.lives[number] += 1
        self.under_way[number] = 0.0
        self.leases[number] = IpLeases(
            "c", number, PARTS, self.lives[number], self.send, lambda _: int(self.under_way[number] > self.now),
            exchange_s=EXCHANGE_S, rest_s=REST_S,
        )  # fmt: skip

    def send(self, message) -> None:
        for _ in range(0 if self.draw.random() < self.lost else 2 if self.draw.random() < self.doubled else 1):
            self.on_way.append((self.now + self.draw.uniform(0.0, self.delay_s), message))

    def step(self, key: int) -> None:
        self.now += 0.1
        for at, message in [each for each in self.on_way if each[0] <= self.now]:
            self.on_way.remove((at, message))
            self.leases[message.to].hear(message, self.now)
        for number, leases in self.leases.items():
            leases.turn(self.now)
            if self.under_way[number] <= self.now and self.draw.random() < 0.5 and leases.may(key, self.now):
                ends = self.now + self.draw.uniform(0.0, EXCHANGE_S)
                self.under_way[number] = ends
                self.used.append((self.now, ends, number))


@pytest.mark.parametrize(("lost", "doubled", "delay_s"), [(0.0, 0.0, 0.05), (0.2, 0.2, 0.5), (0.2, 0.1, 8.0)])
def test_two_partitions_never_use_one_address_at_a_time(lost, doubled, delay_s):
    for seed in range(4):
        street = Street(seed, lost, doubled, delay_s)
        for step in range(4000):
            street.step(key=7)
            if step % 700 == 699:
                number = street.draw.randrange(PARTS)
                street.used = [(a, min(b, street.now) if who == number else b, who) for a, b, who in street.used]
                street.begin(number)
        for (_, ended, one), (begun, _, other) in pairwise(street.used):
            assert one == other or begun >= ended + REST_S - 0.1 - 1e-9, (seed, ended, one, begun, other)
        assert len({who for _, _, who in street.used}) == PARTS


def test_no_serial_is_used_twice_although_few_are_remembered(monkeypatch):
    """Otherwise a late message about a lease that was given back would hold for the next one of that address."""
    monkeypatch.setattr(posting_leases, "MOST_SERIALS", 1)
    street, asked = Street(1, 0.0, 0.0, 0.05), list[tuple[int, int]]()
    one = street.leases[2]

    def turns(seconds: float) -> None:
        for _ in range(int(10 * seconds)):
            street.now += 0.1
            for at, message in [each for each in street.on_way if each[0] <= street.now]:
                street.on_way.remove((at, message))
                street.leases[message.to].hear(message, street.now)
            for each in street.leases.values():
                each.turn(street.now)

    turns(3 * LEASE_S)  # the landlord knows by then that nobody has a lease
    for key in (4, 8, 4, 8, 4):
        one.may(key, street.now)
        asked += [(key, message.serial) for _, message in street.on_way if isinstance(message, LeaseAsk)]
        turns(1.0)
        assert one.held == 1
        turns(2 * LEASE_S)
        assert one.held == 0
    assert len(set(asked)) == len(asked) == 5


def test_who_wants_an_address_alone_has_it_without_a_pause():
    street = Street(1, 0.0, 0.0, 0.05)
    street.leases[2].may(7, 0.0)
    free = []
    for _ in range(900):
        street.now += 0.1
        for at, message in [each for each in street.on_way if each[0] <= street.now]:
            street.on_way.remove((at, message))
            street.leases[message.to].hear(message, street.now)
        for leases in street.leases.values():
            leases.turn(street.now)
        free.append(street.leases[2].may(7, street.now))
    assert sum(free) > 870
    assert all(free[200:])


def test_a_lease_that_nobody_uses_goes_to_the_next():
    street = Street(1, 0.0, 0.0, 0.05)
    got = {1: 0.0, 2: 0.0}
    for _ in range(400):
        street.now += 0.1
        for at, message in [each for each in street.on_way if each[0] <= street.now]:
            street.on_way.remove((at, message))
            street.leases[message.to].hear(message, street.now)
        for number, leases in street.leases.items():
            leases.turn(street.now)
            if number in got and not got[number] and leases.may(7, street.now):
                got[number] = street.now
    assert min(got.values()) < 3.0
    assert max(got.values()) < min(got.values()) + LEASE_S + 3 * REST_S
