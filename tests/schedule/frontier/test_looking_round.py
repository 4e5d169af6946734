"""What is asked of all hosts is right, and takes no longer for a million hosts than for some thousands."""

import math
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest

from evercrawl.schedule.frontier import looking_round
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.frontier.host_queues import HostQueues
from evercrawl.schedule.pages import Pages
from evercrawl.schedule.policies.breadth_first import BreadthFirst
from evercrawl.types import Ints, Slots

HOSTS = 100


def columns(slots: Slots) -> Pages:
    one, none = np.ones(len(slots)), np.zeros(len(slots))
    return Pages(slots, np.nan * one, one, none, one, one, one, none, none)


def frontier(hosts: int = HOSTS) -> Frontier:
    """Return one with a new page on every host."""
    made = Frontier(BreadthFirst(), columns, lambda slot: math.nan, delay_s=1.0)
    made.add_hosts([f"h{number}" for number in range(hosts)])
    made.fill(np.arange(hosts, dtype=np.uint32), np.arange(hosts, dtype=np.uint32), new=True)
    return made


@pytest.fixture(params=[7, 1 << 15])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(looking_round, "PIECE", request.param)
    return int(request.param)


def test_hosts_are_counted_by_why_they_wait(piece: int) -> None:
    ours, draw = frontier(), np.random.default_rng(piece)
    expected: Counter[str] = Counter()
    for host in ours.hosts:
        kind = int(draw.integers(5))
        if kind == 0:
            host.held = "name look-up"
        elif kind == 1:
            host.stay_away(100.0, "back-off")
        elif kind == 2:
            host.ready_at = 0.5
        elif kind == 3:
            host.ready_at, host.in_flight = 5.0, 1
        expected[{0: "name look-up", 1: "back-off", 2: "resting"}.get(kind, "")] += 1
    del expected[""]
    rounds = HOSTS // piece + 1
    assert [ours.waiting(0.0) for _ in range(rounds)][-1] == expected
    del expected["resting"]
    assert [ours.waiting(1.0) for _ in range(rounds)][-1] == expected


def test_idle_is_said_once_every_host_with_new_pages_is_away_and_not_before(piece: int) -> None:
    ours, draw = frontier(), np.random.default_rng(piece)
    for number in draw.permutation(HOSTS).tolist():
        assert not ours.idle(0.0)
        ours.hosts[number].stay_away(1000.0 + number, "back-off")
    rounds = HOSTS // piece + 2
    assert [ours.idle(0.0) for _ in range(rounds)][-1]
    assert ours.idle(969.0)
    assert not ours.idle(970.0)
    ours.hosts[0].stay_away(2000.0, "back-off")
    assert [ours.idle(970.5) for _ in range(rounds)][-1]
    assert not ours.idle(971.0)


def test_a_new_page_of_a_host_that_is_not_away_ends_idleness_at_once(piece: int) -> None:
    ours = frontier()
    ours.add_host("free")
    for host in list(ours.hosts)[:HOSTS]:
        host.stay_away(1000.0, "back-off")
    rounds = HOSTS // piece + 2
    assert [ours.idle(0.0) for _ in range(rounds)][-1]
    ours.add_new(3, [HOSTS])  # of one that is away
    assert ours.idle(0.0)
    ours.add_new(HOSTS, [HOSTS + 1])
    assert not ours.idle(0.0)
    [(host, slot, new)] = ours.choose(0.0, 1)
    assert (host.number, slot, new) == (HOSTS, HOSTS + 1, True)
    assert [ours.idle(0.0) for _ in range(rounds)][-1]
    ours.put_first(host, slot, new=True)
    assert not ours.idle(0.0)


@pytest.mark.parametrize("hosts", [1_000, 200_000])
def test_no_question_looks_at_more_hosts_than_a_piece(hosts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, looked = frontier(hosts), list[int]()
    waiting = HostQueues.waiting

    def counted(self: HostQueues, *part: Any) -> tuple[Ints, Ints]:
        found = waiting(self, *part)
        looked.append(len(found[0]))
        return found

    monkeypatch.setattr(HostQueues, "waiting", counted)
    for now in range(100):
        ours.idle(float(now))
        for host, slot, _ in ours.choose(float(now), 10):
            ours.began(host, float(now))
            ours.ended(host, float(now))
            ours.add_seen(host.number, slot, visited_at=float(now))
    assert sum(looked) < 100 * 300
    assert max(looked) < 1_000
    del looked[:]
    for now in range(100):
        ours.waiting(float(now))
    assert max(looked) <= min(hosts, looking_round.PIECE)
    list(map(partial(host_away, ours), range(hosts)))
    del looked[:]
    while not ours.idle(200.0):
        assert sum(looked) <= 2 * hosts + looking_round.PIECE
    del looked[:]
    assert all(ours.idle(200.0 + i) for i in range(100))
    assert not looked


def host_away(of: Frontier, number: int) -> None:
    of.hosts[number].stay_away(1000.0, "back-off")
