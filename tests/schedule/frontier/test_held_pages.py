"""Pages that wait behind the other pages of their hosts."""

import numpy as np
import pytest

from evercrawl.schedule.frontier.held_pages import EVERY, HeldPages


def test_sites_take_turns_and_each_has_its_pages_in_order():
    held = HeldPages()
    for slot in range(100):
        held.hold(1, slot, 8)
    held.hold(1, 100, 3)
    held.hold(1, 101, 3)
    held.hold(2, 102, 8)
    assert [held.release(1) for _ in range(6)] == [0, 100, 1, 101, 2, 3]
    assert held.of(1), held.of(2) == (96, 1)
    assert held.count == 97


def test_a_turn_comes_after_so_many_of_the_host():
    held = HeldPages()
    held.hold(1, 5, 0)
    held.hold(1, 6, 0)
    assert [held.turn(1) for _ in range(EVERY)] == [False] * (EVERY - 1) + [True]
    held.release(1)
    assert not held.turn(1)


def test_what_is_removed_or_dropped_is_held_no_longer():
    held, bits, dropped = HeldPages(), np.zeros(2, np.uint8), np.zeros(2, np.uint8)
    for slot in range(10):
        held.hold(1, slot, 0)
    assert held.remove(1, 4)
    assert not held.remove(1, 4)
    bits[:] = 0b11110000, 0b1  # slots 4 to 8
    assert held.drop(range(3), bits, dropped) == 4
    assert dropped.tolist() == [0b11100000, 0b1]
    assert held.among(np.arange(12, dtype=np.uint32)) == [0, 1, 2, 3, 9]
    assert [held.release(1) for _ in range(6)] == [0, 1, 2, 3, 9, None]
    assert not held


@pytest.mark.parametrize("hosts", [1, 1000])
def test_its_memory_is_counted(hosts):
    held = HeldPages()
    assert held.size_bytes() == 0
    for slot in range(4000):
        held.hold(slot % hosts, slot, 7)
    assert held.size_bytes() >= 8 * 4000 + 100 * hosts
