"""Pages that are to wait no more leave every queue of their host; all others stay, in their order."""

import random
from array import array

import numpy as np
import pytest

from evercrawl.schedule.frontier.host_queues import HostQueues


def bits(slots, size):
    flags = np.zeros(size, np.bool_)
    flags[list(slots)] = True
    return np.packbits(flags, bitorder="little")


def left_on(number, queues):
    return [*iter(lambda: queues.take(number), None)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("in_order", [False, True])
def test_what_is_dropped_is_gone_and_the_rest_comes_as_before(seed, in_order):
    draw = random.Random(seed)
    hosts, size = draw.randrange(1, 5), 8 * draw.randrange(1, 60)
    queues, other = (HostQueues(in_order=in_order, capacity=1 << 10) for _ in range(2))
    unwanted = set(draw.sample(range(size), draw.randrange(size + 1)))
    counts = [0, 0]
    for each in (queues, other):
        each.add_hosts(hosts)
        again = random.Random(seed)
        for slot in again.sample(range(size), size):
            number, kind, until = again.randrange(hosts), again.randrange(4), again.random()
            if each is other and slot in unwanted:
                counts[kind != 0 and kind != 1] += 1
                continue
            if kind == 0:
                each.append(array("I", [number]), array("I", [slot]))
            elif kind in (1, 2):
                each.put_back(number, slot, new=kind == 1)
            else:
                each.sleep(array("I", [number]), array("I", [slot]), array("d", [until]))
    dropped = np.zeros(size // 8, np.uint8)
    most, gone = draw.choice([1, 7, size]), np.zeros(2, np.int64)
    for _ in range(-(-size // most)):
        gone += queues.drop(0, hosts, bits(unwanted, size), dropped, most)
    assert gone.tolist() == counts
    assert set(np.flatnonzero(np.unpackbits(dropped, bitorder="little")).tolist()) == unwanted
    for number in range(hosts):
        taken, expected = (
            [*iter(lambda each=each, number=number: each.take(number), None)] for each in (queues, other)
        )
        assert sorted(taken) == sorted(expected)
        if most == size:
            assert taken == expected
        assert queues.waiting(number, number + 1)[0][0] == queues.waiting(number, number + 1)[1][0] == 0


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("in_order", [False, True])
def test_new_pages_are_taken_of_one_host_and_the_rest_comes_as_before(seed, in_order):
    draw = random.Random(seed)
    size = 8 * draw.randrange(1, 60)
    queues, other = (HostQueues(in_order=in_order, capacity=1 << 10) for _ in range(2))
    wanted, taken = set(draw.sample(range(size), draw.randrange(size + 1))), []
    for each in (queues, other):
        each.add_hosts(2)
        again = random.Random(seed)
        for slot in again.sample(range(size), size):
            number, kind, until = again.randrange(2), again.randrange(4), again.random()
            if each is other and slot in wanted and number == 1 and kind < 2:
                taken.append(slot)
            elif kind == 0:
                each.append(array("I", [number]), array("I", [slot]))
            elif kind in (1, 2):
                each.put_back(number, slot, new=kind == 1)
            else:
                each.sleep(array("I", [number]), array("I", [slot]), array("d", [until]))
    assert queues.take_new(1, bits(wanted, size)) == sorted(taken)
    assert [each.tolist() for each in queues.waiting()] == [each.tolist() for each in other.waiting()]
    for number in range(2):
        assert left_on(number, queues) == left_on(number, other)
