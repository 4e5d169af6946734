"""What waits on hosts comes out as from plain lists, and what is not needed any more is used again."""

from array import array
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.schedule.frontier._layout import BLOCK, ENTRY, LOT
from evercrawl.schedule.frontier.host_queues import HostQueues

HOSTS = 3
_SLEEP, _APPEND, _PUT_NEW, _PUT_SEEN, _TAKE, _REMOVE = range(6)
_changes = st.lists(
    st.tuples(st.sampled_from([*[_SLEEP] * 5, _APPEND, _PUT_NEW, _PUT_SEEN, _TAKE, _REMOVE]),
              st.integers(0, HOSTS - 1), st.integers(0, 99)),
    max_size=300,
)  # fmt: skip


class Plain:
    """What waits on one host, in lists."""

    def __init__(self) -> None:
        self.short, self.bag = list[int](), deque[int]()
        self.awake, self.asleep = list[int](), list[tuple[float, int]]()

    def take(self) -> tuple[int, bool] | None:
        """Take the first page, as `HostQueues.take` does."""
        if self.short:
            self.short.sort()
            return self.short.pop(0), True
        if self.bag:
            return self.bag.popleft(), True
        if self.awake:
            self.awake.sort()
            return self.awake.pop(0), False
        self.asleep.sort()
        return (self.asleep.pop(0)[1], False) if self.asleep else None

    def remove(self, slot: int) -> bool:
        """Take a visited page out of turn."""
        before = len(self.awake) + len(self.asleep)
        self.awake = [page for page in self.awake if page != slot]
        self.asleep = [page for page in self.asleep if page[1] != slot]
        return len(self.awake) + len(self.asleep) < before


def lots(hosts: int) -> HostQueues:
    made = HostQueues(capacity=1 << 20)
    for _ in range(hosts):
        made.add_hosts()
    return made


def sleep(on: HostQueues, hosts: list[int], slots: list[int], until: list[float]) -> None:
    on.sleep(array("I", hosts), array("I", slots), array("d", until))


@given(_changes)
@settings(max_examples=60, deadline=None)
def test_pages_come_as_from_plain_lists(changes: list[tuple[int, int, int]]) -> None:
    ours, plain = lots(HOSTS), [Plain() for _ in range(HOSTS)]
    for slot, (kind, host, number) in enumerate(changes):
        if kind == _SLEEP:
            sleep(ours, [host], [slot], [number / 7])
            plain[host].asleep.append((number / 7, slot))
        elif kind == _APPEND:
            ours.append(array("I", [host]), array("I", [slot]))
            plain[host].bag.append(slot)
        elif kind in (_PUT_NEW, _PUT_SEEN):
            ours.put_back(host, slot, new=kind == _PUT_NEW)
            (plain[host].short if kind == _PUT_NEW else plain[host].awake).append(slot)
        elif kind == _TAKE:
            assert ours.take(host) == plain[host].take()
        else:
            one = number * slot // 100
            assert ours.remove(host, one) == plain[host].remove(one)
    for host in range(HOSTS):
        while (taken := plain[host].take()) is not None:
            assert ours.take(host) == taken
        assert ours.take(host) is None


@pytest.mark.parametrize("pages", [1, 3, 4, 7, 8, 15, 16, 31, 32, 33, 1000])
def test_a_heap_of_any_size_is_emptied_in_order(pages: int) -> None:
    until = np.random.default_rng(pages).integers(0, 50, pages).astype(float)
    ours = lots(1)
    sleep(ours, [0] * pages, list(range(pages)), until.tolist())
    taken = [ours.take(0) for _ in range(pages)]
    assert taken == [(slot, False) for slot in np.lexsort((np.arange(pages), until)).tolist()]
    assert ours.take(0) is None


@pytest.mark.parametrize("pages", [1, 9, 10, 54, 55, 99, 100, 1000])
def test_new_pages_come_as_they_were_found(pages: int) -> None:
    ours = lots(2)
    for slot in range(pages):
        ours.append(array("I", [0, 1]), array("I", [slot, pages + slot]))
    assert [ours.take(0) for _ in range(pages)] == [(slot, True) for slot in range(pages)]
    assert ours.take(0) is None
    assert [ours.take(1) for _ in range(pages)] == [(pages + slot, True) for slot in range(pages)]


def test_what_new_pages_took_is_there_for_visited_ones() -> None:
    ours, pages = lots(1), 9_000
    ours.append(array("I", [0] * pages), array("I", range(pages)))
    before = ours.size_bytes()
    for slot in range(pages):
        assert ours.take(0) == (slot, True)
        if slot >= pages * 3 // 4:
            sleep(ours, [0], [slot], [float(slot)])
    assert ours.size_bytes() < 1.1 * before  # the tables


def test_a_page_takes_little_more_than_its_entry() -> None:
    ours, hosts, pages = lots(20), 20, 20_000
    rows = np.arange(pages)
    sleep(ours, (rows % hosts).tolist(), rows.tolist(), (rows * 7919 % 1000).astype(float).tolist())
    assert ours.size_bytes() < (ENTRY.itemsize + 1.0) * pages + hosts * (LOT.itemsize + BLOCK * ENTRY.itemsize)


def test_pages_that_wander_between_hosts_use_what_others_left() -> None:
    """Hosts hold all pages in turn: memory is that of the pages there are, not of the most that each ever had."""
    ours, hosts, pages = lots(16), 16, 4_000
    used = list[int]()
    for turn in range(3 * hosts):
        sleep(ours, [turn % hosts] * pages, list(range(pages)), [float(slot % 97) for slot in range(pages)])
        used.append(ours.size_bytes())
        assert sum(ours.take(turn % hosts) is not None for _ in range(pages)) == pages
    assert used[-1] <= used[0] + 2 * hosts * pages // BLOCK * 4  # no more than the tables of all
    assert used[-1] == used[2 * hosts]  # and not forever


def test_memory_follows_pages_that_come_and_go_at_random() -> None:
    draw, ours, hosts = np.random.default_rng(1), lots(30), 30
    where = np.full(3000, -1)
    used = list[int]()
    for _ in range(12):
        for slot in draw.permutation(3000).tolist():
            if where[slot] >= 0:
                assert ours.remove(int(where[slot]), slot)
            where[slot] = int(hosts * draw.random() ** 2)
            sleep(ours, [int(where[slot])], [slot], [float(draw.random())])
        used.append(ours.size_bytes())
    assert used[-1] < 1.02 * used[3]
    assert used[-1] < 15 * 3000 + hosts * (LOT.itemsize + 2 * BLOCK * ENTRY.itemsize)


def chosen(on: HostQueues, values: list[float], price: float, busy: int = 1) -> float:
    """Wake pages of the one host, choose the best of them, and return how dear a visit there is from then on."""
    sleep(on, [0] * len(values), list(range(len(values))), [0.0] * len(values))
    for _ in range(2):  # they awake, and then are compared
        slots, valued, due_from, _ = on.collect(1.0, 1, array("I"), array("I"))
        assert valued == len(values)
        if due_from == 0:
            on.settle(np.zeros(valued), np.zeros(valued), array("q"), array("B"), array("I"), price)
    worth = np.array(values)[slots[:valued].astype(np.int64)]
    (best,) = on.best(worth, -np.inf)
    on.settle(worth, np.zeros(len(slots) - due_from), array("q", [best[1]]), array("B", [busy]), array("I"), price)
    while on.take(0) is not None:
        pass
    on.rest(array("I", [0]), array("d", [0.0]))
    return float(np.exp(on._lots["dear"][0]))


@pytest.mark.parametrize(
    ("values", "goal"),
    [
        ([5.0, 3.0, 0.1], 3.0),  # more than one is worth the price of 1: the second best had to wait
        ([5.0, 0.9, 0.1], 1.0),  # one is: the host allows as many as are worth it
        ([0.5, 0.2], 0.5),  # none is
        ([0.0, 0.0], np.exp(-20.0)),  # and nothing is worth anything
    ],
)
def test_the_price_of_a_host_lies_between_the_visit_that_was_made_and_the_best_that_had_to_wait(values, goal) -> None:
    on = lots(1)
    found = [chosen(on, values, 1.0) for _ in range(300)]
    assert abs(np.log(found[0])) <= 0.1 * min(abs(np.log(goal)), 3.0) + 1e-12
    assert found[-1] == pytest.approx(goal, rel=1e-6)


@pytest.mark.parametrize("values", [[5.0, 3.0, 0.1], [0.5, 0.2]])
def test_a_host_that_allows_more_than_it_gets_has_the_price_of_the_crawl(values) -> None:
    on = lots(1)
    assert chosen(on, values, 1.0, busy=0) == 1.0
    for _ in range(300):
        chosen(on, values, 1.0)
    found = [chosen(on, values, 1.0, busy=0) for _ in range(300)]
    assert found[-1] == pytest.approx(1.0, rel=1e-6)


def test_where_the_crawl_has_no_price_hosts_have_none() -> None:
    assert chosen(lots(1), [5.0, 3.0], float("nan")) == 1.0
