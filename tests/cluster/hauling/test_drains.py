"""Machines are emptied, by orders that the command line gives to the running crawl."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from evercrawl.cli.main import main
from evercrawl.cluster.birth import ClusterBirth, WholeCopy, read_birth, write_birth
from evercrawl.cluster.copies.node_copies import NodeCopies
from evercrawl.cluster.hauling import machine_orders
from evercrawl.cluster.hauling.machine_orders import OnDisk, drain, emptied, move_to, on_disk
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.moving.order import DRAIN, FILE, LIFT, PartMove
from evercrawl.cluster.plan import PartPlan
from evercrawl.config import Config
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.disk.lock import Lock
from evercrawl.store.partition import Partition
from tests.cluster.hauling.moved_partitions import Crawling, ids, moves_of, order, over, settled, visit


def test_a_machine_that_is_drained_is_emptied_and_gets_nothing_until_that_is_lifted(wide, tmp_path):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()
    (tmp_path / "c").joinpath("part-1").mkdir()  # what an earlier move left
    machines.birth.places[1] = disks["a"]
    (tmp_path / "a" / "part-1").mkdir()
    visit(tmp_path / "a" / "part-1")
    write_birth(directory, msgspec.structs.replace(read_birth(directory), places=[disks["a"], disks["a"]]))

    async def run() -> None:
        moves, transfer = moves_of(directory, machines, holds, said)
        holds.begin()
        order(directory, DRAIN, "a")
        assert (await over(moves, directory)).goal == disks["a"]
        assert read_birth(directory).drained == [disks["a"]]
        async with asyncio.timeout(10):
            while not on_disk(directory, disks["a"]).empty:
                moves.turn()
                await asyncio.sleep(0.002)
        assert sorted(read_birth(directory).places) == sorted([disks["b"], disks["c"]]), "one on each"
        assert transfer.turn(holds, lambda: None) is None
        order(directory, LIFT, "a")
        assert (await over(moves, directory)).error == ""
        assert read_birth(directory).drained == machines.birth.drained == []
        await moves.close()

    asyncio.run(run())
    assert sum(said_.startswith("partition") for said_ in said) == 2


def test_second_copies_leave_a_drained_disk_one_after_the_other(wide, tmp_path):
    directory, machines = wide
    disks, settings = ids(machines), Config(durable="keeper", lost_after_s=10.0)
    whole = {0: WholeCopy(disks["c"], 3), 1: WholeCopy(disks["c"], 4)}
    birth = msgspec.structs.replace(read_birth(directory), keepers={0: disks["c"], 1: disks["c"]}, copies=whole)
    write_birth(directory, birth)
    machines.birth = read_birth(directory)
    assert on_disk(directory, disks["c"]) == OnDisk([], [0, 1], [])
    assert str(on_disk(directory, disks["c"])) == "second copies of 0, 1"

    async def run() -> None:
        copies = NodeCopies(directory, machines.birth, machines, print)
        assert copies.turn(settings) == []
        machines.birth.drained.append(disks["c"])
        for number, other in ((0, "b"), (1, "a")):
            assert copies.turn(settings) == [number]
            assert copies.missing(number, "", settings) == ""
            assert read_birth(directory).keepers[number] == disks[other]
            assert copies.turn(settings) == [], "it has no whole copy yet"
            plan = PartPlan(machines.directory(number), birth.share(number), b"", 20 + number, settings, ())
            copies.planned(plan, settings)
            copies.caught_up(number)
        assert copies.turn(settings) == []
        await copies.close()

    asyncio.run(run())
    assert on_disk(directory, disks["c"]).empty


def test_a_drain_that_would_leave_no_room_for_second_copies_is_refused_and_stale_ones_do_not_count(wide):
    directory, machines = wide
    disks = ids(machines)
    write_birth(directory, msgspec.structs.replace(read_birth(directory), keepers={0: disks["c"]}))

    async def run() -> None:
        given = directory, machines.birth, machines, print
        third = machines.there.pop(disks["c"])
        with pytest.raises(ConfigError, match=r"needs 2 other machines, and second copies .* 1 can be used now"):
            NodeMoves(*given, kept=True).placed(PartMove("a", DRAIN, "a"))
        machines.there[disks["c"]] = third
        NodeMoves(*given, kept=True).placed(PartMove("a", DRAIN, "c"))
        assert on_disk(directory, disks["c"]) == OnDisk([], [0], [])
        NodeMoves(*given).placed(PartMove("a", DRAIN, "c"))  # in a run without second copies
        assert on_disk(directory, disks["c"]).empty

    asyncio.run(run())


def test_the_keeper_of_a_partition_is_its_goal_only_where_there_is_no_other(wide):
    directory, machines = wide
    disks = ids(machines)
    write_birth(directory, msgspec.structs.replace(read_birth(directory), keepers={0: disks["b"]}))
    machines.birth.drained.append(disks["a"])

    async def run() -> None:
        _, transfer = moves_of(directory, machines, Crawling(machines), [])
        move = transfer.turn(Crawling(machines), lambda: None)
        assert isinstance(move, PartMove)
        assert move.goal == disks["c"]
        del machines.there[disks["c"]]
        move = transfer.turn(Crawling(machines), lambda: None)
        assert isinstance(move, PartMove)
        assert move.goal == disks["b"]

    asyncio.run(run())


def test_what_cannot_leave_a_drained_disk_does_not_hold_up_the_rest_and_tries_other_machines(wide):
    directory, machines = wide
    disks = ids(machines)
    machines.birth.places[:] = [disks["a"]] * 2
    machines.birth.drained.append(disks["a"])
    _, transfer = moves_of(directory, machines, Crawling(machines), [])
    tried = [transfer.turn(Crawling(machines), lambda: None) for _ in range(4)]  # each fails
    assert [move.number for move in tried if isinstance(move, PartMove)] == [0, 1, 0, 1]
    for number in (0, 1):
        goals = {move.goal for move in tried if isinstance(move, PartMove) and move.number == number}
        assert goals == {disks["b"], disks["c"]}


def test_a_partition_that_has_left_a_drained_disk_gets_the_best_goal_again(wide):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()
    write_birth(directory, msgspec.structs.replace(read_birth(directory), keepers={0: disks["b"]}))
    goals = list[str]()

    async def run() -> None:
        moves, transfer = moves_of(directory, machines, holds, said)
        holds.begin()
        for name, drained in (("c", "a"), ("a", "c")):
            machines.birth.drained[:] = [disks[drained]]
            move = transfer.turn(holds, lambda: None)
            assert isinstance(move, PartMove)
            goals.append(move.goal)
            machines.birth.drained.clear()
            order(directory, 0, name)
            assert (await over(moves, directory)).error == ""
            await settled(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert goals == [disks["c"], disks["a"]], "not its keeper"


def test_an_order_about_a_machine_needs_a_crawl_that_runs_on_machines(wide, tmp_path):
    directory, _ = wide
    for ask in (lambda: move_to(directory, 0, "c", print), lambda: drain(directory, "a")):
        with pytest.raises(ConfigError, match="only while the crawl runs; start it"):
            ask()
    with Lock.take(directory, "evercrawl crawl", 1e9), pytest.raises(ConfigError, match="the last is 1"):
        move_to(directory, 2, "c", print)
    write_birth(directory, msgspec.structs.replace(read_birth(directory), places=[]))
    with pytest.raises(ConfigError, match="evercrawl move PARTITION DIRECTORY"):
        drain(directory, "a")
    assert not (directory / FILE).exists()


def answered(monkeypatch: pytest.MonkeyPatch, asked: list[PartMove]) -> None:
    """Have orders carried out at once."""

    def ordered(directory: Path, move: PartMove, tell: Callable[[str], None]) -> PartMove:
        asked.append(move)
        return msgspec.structs.replace(move, done=True, goal="c0ffee", source="a", copied_bytes=7, pause_s=0.25)

    monkeypatch.setattr(machine_orders, "ordered", ordered)


def test_the_command_line_moves_partitions_and_empties_machines(wide, monkeypatch, capsys):
    directory, machines = wide
    asked, disks = list[PartMove](), ids(machines)
    answered(monkeypatch, asked)

    def said(*words: str) -> str:
        assert main([*words, "--dir", str(directory)]) == 0
        return capsys.readouterr().out

    with Lock.take(directory, "evercrawl crawl", 1e9):
        moved = json.loads(said("move", "0", "10.0.0.7", "--json"))
        assert (asked[-1].number, asked[-1].goal) == (0, "10.0.0.7")
        assert moved == {
            "event": "moved", "number": 0, "from": "a", "to": "c0ffee", "copied_bytes": 7, "pause_s": 0.25,
        }  # fmt: skip
        assert "partition 0 is on the disk c0ffee" in said("move", "0", "10.0.0.7")
        assert "can be taken away" in said("drain", "10.0.0.7")
        assert asked[-1].number == DRAIN
        found = json.loads(said("drain", "10.0.0.7", "--json"))
        assert found == {
            "event": "drained", "disk": "c0ffee", "empty": True, "lifted": False, "partitions": [], "copies": [],
            "old": [],
        }  # fmt: skip
        assert "again" in said("drain", "10.0.0.7", "--lift")
        assert asked[-1].number == LIFT
        drained = msgspec.structs.replace(read_birth(directory), drained=[disks["a"]])
        write_birth(directory, drained)
        told = list[OnDisk]()

        def tell(left: OnDisk) -> None:
            told.append(left)
            write_birth(directory, msgspec.structs.replace(drained, drained=[]))  # somebody lifts it

        assert emptied(directory, disks["a"], tell) == OnDisk([0], [], [])
        assert told == [OnDisk([0], [], [])]
        write_birth(directory, drained)
    with pytest.raises(StoreError, match=r"it still has partitions 0\. The next start"):
        emptied(directory, disks["a"], told.append)


def test_a_crawl_on_one_machine_has_none_to_drain(tmp_path, capsys):
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, 0))
    assert main(["drain", "a", "--dir", str(tmp_path)]) != 0
    assert "all partitions of this crawl are on this machine" in capsys.readouterr().err
    (tmp_path / "cluster.json").unlink()
    for verb in (["move", "0", "a"], ["drain", "a"], ["rebalance"], ["backup", "a"]):
        assert main([*verb, "--dir", str(tmp_path)]) != 0
        assert "there is no crawl" in capsys.readouterr().err
    Partition(tmp_path, os.urandom, now=1e9).close()
    assert main(["drain", "a", "--dir", str(tmp_path)]) != 0
    assert "only a crawl on a cluster has machines" in capsys.readouterr().err
