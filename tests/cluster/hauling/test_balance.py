"""A machine that joins gets its share of the partitions, one after the other; none moves to and fro."""

import asyncio
import json
import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from evercrawl.cli.main import main
from evercrawl.cluster.birth import ClusterBirth, read_birth, write_birth
from evercrawl.cluster.disks import PartDisk
from evercrawl.cluster.hauling import balance, machine_orders
from evercrawl.cluster.hauling.balance import STEADY_S, TRIES, Balancing, next_step, steps
from evercrawl.cluster.moving.order import BALANCE, PartMove
from evercrawl.errors import ConfigError
from evercrawl.store.disk.lock import Lock
from tests.cluster.hauling.moved_partitions import coordinated, ids
from tests.cluster.played import seen


def test_moves_make_machines_more_equal_and_end():
    """A drawn cluster: each move lowers the sum of the squared loads, so there are few, and none returns."""
    draw = random.Random(5)
    for _ in range(200):
        cpus = {str(disk): draw.choice([1.0, 2.0, 4.0, 16.0]) for disk in range(draw.randint(1, 6))}
        places = [draw.choice(list(cpus)) for _ in range(draw.choice([2, 4, 16, 64]))]
        goals = set(draw.sample(list(cpus), draw.randint(0, len(cpus))))
        uneven, made = float("inf"), 0
        while (step := next_step(places, cpus, goals)) is not None:
            has = Counter(places)
            now = sum(has[disk] ** 2 / cpus[disk] for disk in cpus)
            assert now < uneven
            uneven, made = now, made + 1
            places[places.index(step[0])] = step[1]
            assert step[1] in goals
        assert made <= len(places)
        has = Counter(places)
        if len(set(cpus.values())) == 1 and goals == set(cpus):
            assert max(has[disk] for disk in cpus) - min(has[disk] for disk in cpus) <= 1


def test_an_imbalance_of_one_is_none_and_a_machine_without_processors_gets_nothing():
    equal = {"a": 1.0, "b": 1.0}
    assert next_step("aab", equal, {"b"}) is None
    assert next_step("aaab", equal, {"b"}) == ("a", "b")
    assert next_step("aaaa", {"a": 4.0, "head": 0.0}, {"head"}) is None
    assert steps("aaaa", equal, {"a"}) == 0


class Cluster:
    """Machines of equal size, on which each move that is due succeeds at once."""

    def __init__(self, directory: Path, places: str, *, by_itself: bool = True) -> None:
        self.directory, self.now, self.healthy, self.works = directory, 0.0, True, True
        self.birth = ClusterBirth(1, "c", len(places), "00" * 16, 0, places=list(places))
        write_birth(directory, self.birth)
        self.there, self.by_itself = dict[str, PartDisk](), by_itself
        self.restart()

    def restart(self) -> None:
        """Start the coordinator."""
        self.balancing = Balancing(
            self.directory, self.birth, lambda: self.there, lambda: self.now, by_itself=self.by_itself
        )

    def join(self, names: str) -> None:
        self.there |= {name: PartDisk(name, self.directory) for name in names}

    def well(self, number: int) -> bool:
        return self.healthy

    async def rest(self, number: int) -> None:
        raise NotImplementedError

    async def resume(self, number: int) -> None:
        raise NotImplementedError

    def turns(self, seconds: float) -> str:
        """Let time pass; return where partitions moved to."""
        goals = ""
        for _ in range(int(seconds)):
            self.now += 1.0
            move = self.balancing.due(self)
            if move is None:
                continue
            goals += move.goal
            if self.works:
                self.birth.places[move.number] = move.goal
                write_birth(
                    self.directory, msgspec.structs.replace(read_birth(self.directory), places=self.birth.places)
                )
                self.balancing.succeeded(move.goal)
        return goals


def test_a_machine_that_joins_gets_its_share_once_it_has_been_there_for_a_while(tmp_path):
    cluster = Cluster(tmp_path, "aaaabbbb")
    cluster.join("ab")
    assert cluster.turns(2 * STEADY_S) == ""
    cluster.join("c")
    assert cluster.turns(STEADY_S) == ""
    assert cluster.turns(60) == "cc"
    assert Counter(cluster.birth.places) == {"a": 3, "b": 3, "c": 2}
    assert read_birth(tmp_path).shared == ["a", "b", "c"]


def test_a_machine_that_leaves_and_comes_back_moves_nothing(tmp_path):
    cluster = Cluster(tmp_path, "aaaabbbb")
    cluster.join("ab")
    assert cluster.turns(10) == ""
    cluster.join("c")
    for _ in range(5):  # it never stays for long
        assert cluster.turns(STEADY_S - 1) == ""
        del cluster.there["c"]
        assert cluster.turns(10) == ""
        cluster.join("c")
    assert cluster.turns(2 * STEADY_S) == "cc"
    before = list(cluster.birth.places)
    for _ in range(3):
        del cluster.there["c"]
        assert cluster.turns(2 * STEADY_S) == ""
        cluster.join("c")
        assert cluster.turns(2 * STEADY_S) == ""
    assert cluster.birth.places == before
    cluster.birth.places[:] = list("aaaabbbb")  # a person moves its partitions away
    write_birth(tmp_path, msgspec.structs.replace(read_birth(tmp_path), places=cluster.birth.places))
    assert cluster.turns(2 * STEADY_S) == ""


def test_nothing_moves_while_a_machine_is_missing_or_a_partition_is_not_well_or_an_earlier_move_has_not_ended(tmp_path):
    cluster = Cluster(tmp_path, "aabb")
    cluster.join("ac")
    assert cluster.turns(2 * STEADY_S) == "", "b is missing"
    cluster.join("b")
    cluster.healthy = False
    assert cluster.turns(10) == ""
    cluster.healthy = True
    for more in ({"vacated": {0: {"a": 1}}}, {"untried": {0: "a"}}):
        write_birth(tmp_path, msgspec.structs.replace(read_birth(tmp_path), places=list("aaab"), **more))
        cluster.birth.places[:] = list("aaab")
        assert cluster.turns(10) == ""
        write_birth(tmp_path, msgspec.structs.replace(read_birth(tmp_path), vacated={}, untried={}))
    cluster.birth.drained.append("c")
    assert cluster.turns(10) == ""
    cluster.birth.drained.clear()
    assert cluster.turns(10) == "c"


def test_a_machine_to_which_moves_fail_is_given_up_in_this_run(tmp_path):
    cluster = Cluster(tmp_path, "aaaa")
    cluster.join("abc")
    cluster.works = False
    assert sorted(cluster.turns(2 * STEADY_S)) == ["b"] * TRIES + ["c"] * TRIES
    again = Cluster(tmp_path, "aaaa")
    again.join("abc")
    assert sorted(again.turns(2 * STEADY_S)) == ["b", "c"]


def test_an_order_gives_every_machine_its_share_at_once_also_where_none_moves_by_itself(tmp_path):
    cluster = Cluster(tmp_path, "aaaaaabb", by_itself=False)
    cluster.join("abc")
    assert cluster.turns(2 * STEADY_S) == ""
    assert cluster.balancing.order() == 3
    assert cluster.turns(1) == "c"
    assert sorted(cluster.turns(10)) == ["b", "c"]
    assert cluster.balancing.order() == 0
    cluster.join("d")
    assert cluster.turns(1) == "d", "it was there before the order was carried out"
    assert cluster.turns(2) == "d"
    cluster.turns(5)
    cluster.join("e")
    assert cluster.turns(2 * STEADY_S) == ""


def test_an_order_is_carried_out_although_the_coordinator_restarts(tmp_path):
    cluster = Cluster(tmp_path, "aaaaaaaa", by_itself=False)
    cluster.join("ab")
    assert cluster.balancing.order() == 4
    assert cluster.turns(1) == "b"
    del cluster.there["b"]
    cluster.restart()
    assert cluster.turns(10) == "", "a machine is missing"
    cluster.join("b")
    assert cluster.turns(1) == "b"
    cluster.restart()
    assert cluster.turns(10) == "bb"
    cluster.restart()
    cluster.join("c")
    assert cluster.turns(2 * STEADY_S) == "", "the order was carried out"


def test_the_partition_whose_second_copy_is_on_the_new_machine_is_the_last_to_move_there(tmp_path):
    cluster = Cluster(tmp_path, "aaaa")
    cluster.join("ab")
    write_birth(tmp_path, msgspec.structs.replace(read_birth(tmp_path), keepers={0: "b", 1: "b", 3: "b"}))
    cluster.works = False
    cluster.turns(STEADY_S)
    cluster.now += 1.0
    move = cluster.balancing.due(cluster)
    assert move is not None
    assert move.number == 2


def test_a_running_crawl_moves_a_partition_to_a_machine_that_joins(wide, tmp_path, monkeypatch):
    directory, machines = wide
    monkeypatch.setattr(balance, "STEADY_S", 0.0)
    disks, told = ids(machines), list[str]()
    machines.birth.places[:] = [disks["a"]] * 2
    (tmp_path / "a" / "part-1").mkdir()
    del machines.there[disks["b"]], machines.there[disks["c"]]
    write_birth(directory, msgspec.structs.replace(read_birth(directory), places=list(machines.birth.places)))

    async def run() -> None:
        async with coordinated(directory, machines, told.append):
            await seen(lambda: read_birth(directory).shared == [disks["a"]])
            new = machines.add(tmp_path / "d")
            moved = PartDisk(new, tmp_path / "d")
            await seen(lambda: new in read_birth(directory).places and not read_birth(directory).vacated)
            await seen(lambda: new in (read_birth(directory).shared or []))
            assert sorted(read_birth(directory).places) == sorted([disks["a"], moved.id])

    asyncio.run(run())
    assert sum(said.startswith("partition") and "paused" in said for said in told) == 1


def test_the_command_line_has_partitions_moved_and_says_how_many(wide, monkeypatch, capsys):
    directory, _ = wide
    asked, count = list[PartMove](), 3

    def ordered(directory: Path, move: PartMove, tell: object) -> PartMove:
        asked.append(move)
        return msgspec.structs.replace(move, done=True, steps=count)

    monkeypatch.setattr(machine_orders, "ordered", ordered)
    with pytest.raises(ConfigError, match="only while the crawl runs"):
        machine_orders.rebalance(directory)
    with Lock.take(directory, "evercrawl crawl", 1e9):
        assert main(["rebalance", "--dir", str(directory), "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"event": "rebalanced", "partitions": 3}
        assert asked[-1].number == BALANCE
        assert main(["rebalance", "--dir", str(directory)]) == 0
        assert "3 partitions will move, one after the other" in capsys.readouterr().out
        count = 0
        assert main(["rebalance", "--dir", str(directory)]) == 0
        assert "nothing has to move" in capsys.readouterr().out
