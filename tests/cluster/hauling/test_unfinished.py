"""Copies that moves have begun and not completed are removed, unless the move is given again; nothing else is."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from evercrawl.cluster.birth import note_goal, part_directories, read_birth, write_birth
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.moving import folder_transfer, transfer, unfinished
from evercrawl.cluster.moving.folder_transfer import move_part
from evercrawl.cluster.moving.order import PartMove
from evercrawl.cluster.moving.part_moves import PartMoves
from evercrawl.cluster.moving.unfinished import remove_goal
from evercrawl.errors import StoreError
from evercrawl.store.backups.backup import MOVING
from evercrawl.store.disk.lock import Lock
from tests.cluster.hauling.moved_partitions import Crawling, ids, moves_of, order, over, settled, visits


async def broken_off(moves: PartMoves, directory: Path, goal: str) -> None:
    """Have a move broken off, once nearly all is copied."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(NodeMoves, "finish", None)
        order(directory, 0, goal)
        assert (await over(moves, directory)).error


async def cleaned(moves: PartMoves, directory: Path) -> None:
    """Return once no incomplete copy is recorded."""
    async with asyncio.timeout(10):
        while read_birth(directory).goals:
            moves.turn()
            await asyncio.sleep(0.002)


def test_an_incomplete_copy_on_a_machine_is_removed_after_a_while_also_by_another_run(wide, tmp_path):
    directory, machines = wide
    disks, holds, said, partial = ids(machines), Crawling(machines), list[str](), tmp_path / "c" / "part-0"

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        await broken_off(moves, directory, "c")
        await moves.close()
        assert (partial / MOVING).is_file()
        assert read_birth(directory).goals == {0: [disks["c"]]}
        there = machines.there.pop(disks["c"])
        moves, transfer = moves_of(directory, machines, holds, said)
        for _ in range(20):
            assert transfer.turn(holds, lambda: None) is None, "its machine is away"
        machines.there[there.id] = there
        await cleaned(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert not partial.exists()
    assert visits(tmp_path / "a" / "part-0") == holds.made
    assert f"the incomplete copy of partition 0 on the disk {disks['c']} was removed" in said


def test_an_incomplete_copy_is_kept_for_a_while(wide, monkeypatch):
    directory, _ = wide
    monkeypatch.setattr(unfinished, "KEPT_S", 600.0)
    note_goal(directory, 0, "there")
    now = [0.0]
    copies = unfinished.UnfinishedGoals(directory, lambda: now[0])
    found = []
    for now[0] in (0.0, 599.0, 600.0):
        found.append(copies.due())
    assert found == [None, None, (0, "there")]


def test_a_move_that_is_given_again_goes_on_with_the_copy_and_one_to_elsewhere_removes_it(wide, tmp_path, monkeypatch):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()
    monkeypatch.setattr(unfinished, "KEPT_S", 1e9)
    (tmp_path / "a" / "part-0" / "derived").mkdir()
    (tmp_path / "a" / "part-0" / "derived" / "links.bin").write_bytes(bytes(100_000))

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        await broken_off(moves, directory, "c")
        order(directory, 0, "c")
        moved = await over(moves, directory)
        assert (moved.error, moved.copied_bytes < 100_000) == ("", True)
        assert read_birth(directory).goals == {}
        await settled(moves, directory)
        await broken_off(moves, directory, "a")
        assert (tmp_path / "a" / "part-0" / MOVING).is_file()
        order(directory, 0, "b")
        assert (await over(moves, directory)).error == ""
        await cleaned(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert not (tmp_path / "a" / "part-0").exists()
    assert visits(tmp_path / "b" / "part-0") == holds.made
    assert read_birth(directory).places[0] == disks["b"]


def test_a_copy_in_place_of_an_old_directory_is_removed_and_the_old_one_is_aside(wide, tmp_path):
    """The partition was to go back before the directory that it had left was set aside."""
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        holds.reports = False
        order(directory, 0, "c")
        assert (await over(moves, directory)).error == ""
        await broken_off(moves, directory, "a")
        assert read_birth(directory).vacated == {0: {disks["a"]: 10}}
        holds.reports = True
        await settled(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert not (tmp_path / "a" / "part-0").exists()
    assert len(list((tmp_path / "a").glob("part-0-before-*"))) == 1
    assert read_birth(directory).goals == {}


def test_what_does_not_say_that_it_is_an_incomplete_copy_is_left_alone(wide, tmp_path):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()
    other = tmp_path / "c" / "part-0"
    other.mkdir()
    (other / "mine").write_text("x")
    goals = {0: [disks["c"], disks["a"]]}  # the latter is where the partition is
    (tmp_path / "a" / "part-0" / MOVING).write_bytes(msgspec.json.encode(["c", "0", "x", "0"]))
    write_birth(directory, msgspec.structs.replace(read_birth(directory), goals=goals))

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        await cleaned(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert (other / "mine").is_file()
    assert visits(tmp_path / "a" / "part-0") == holds.made
    assert said == []


def test_a_copy_that_is_in_use_is_not_removed_and_a_kill_leaves_its_mark(tmp_path, monkeypatch):
    goal = tmp_path / "part-0"
    (goal / "archive").mkdir(parents=True)
    (goal / "archive" / "x").write_text("x")
    (goal / MOVING).write_bytes(msgspec.json.encode(["c", "0", "x", "0"]))
    assert remove_goal(goal, "d", 0) is False
    assert remove_goal(goal, "c", 1) is False
    with Lock.take(goal, "evercrawl backup", 1.0), pytest.raises(StoreError, match="in use"):
        remove_goal(goal, "c", 0)
    with monkeypatch.context() as patched:
        patched.setattr(unfinished.shutil, "rmtree", lambda path: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            remove_goal(goal, "c", 0)
    assert (goal / MOVING).is_file()
    assert remove_goal(goal, "c", 0) is True
    assert not goal.exists()
    assert remove_goal(goal, "c", 0) is False


@pytest.fixture
def here(begun_here, tmp_path):
    """A crawl of two partitions on this machine, of which one has been begun, and whose move was broken off."""
    directory = begun_here
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(transfer, "finish", None)
        patched.setattr(folder_transfer, "finish", broken)
        with pytest.raises(StoreError, match="broken off"):
            move_part(directory, 1, tmp_path / "new", lambda said: None)
    assert read_birth(directory).goals == {1: [str(tmp_path / "new")]}
    return directory


def broken(directory: Path, number: int, goal: Path, see: object) -> None:
    transfer.copy_part(part_directories(directory)[number], goal, lambda: None)
    raise StoreError("broken off")


def test_a_move_to_another_directory_removes_an_incomplete_copy_and_the_same_move_goes_on_with_it(here, tmp_path):
    told = list[str]()
    move_part(here, 1, tmp_path / "other", told.append)
    assert not (tmp_path / "new").exists()
    assert told == [f"{tmp_path / 'new'}, an incomplete copy of partition 1, was removed"]
    assert read_birth(here).goals == {}
    assert part_directories(here)[1] == tmp_path / "other"


def test_a_running_crawl_removes_an_incomplete_copy(here, tmp_path, monkeypatch):
    monkeypatch.setattr(unfinished, "KEPT_S", 0.0)
    told = list[str]()

    async def run() -> None:
        moves = PartMoves(here, Crawling(None), told.append)  # type: ignore[arg-type] - it holds no process
        await cleaned(moves, here)
        await moves.close()

    asyncio.run(run())
    assert told == [f"{tmp_path / 'new'}, an incomplete copy of partition 1, was removed"]
    assert not (tmp_path / "new").exists()


def test_a_directory_that_a_stranger_names_is_not_removed(here, tmp_path):
    """Its mark may be guessed; the secret of the crawl that is there is not."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("x")
    (mine / MOVING).write_bytes(msgspec.json.encode(["crawl", "1", "x"]))
    (tmp_path / "new" / MOVING).rename(tmp_path / "new" / "renamed")
    goals = {1: [str(mine), str(tmp_path / "new"), str(tmp_path / "gone" / "x"), str(tmp_path / "none")]}
    write_birth(here, msgspec.structs.replace(read_birth(here), goals=goals))
    told = list[str]()
    move_part(here, 1, tmp_path / "other", told.append)
    assert (mine / "thesis.tex").is_file()
    assert (tmp_path / "new" / "renamed").is_file()
    assert told == []
    assert read_birth(here).goals == {1: [str(tmp_path / "gone" / "x")]}, "its disk may be mounted again"


def test_an_order_to_move_is_not_taken_for_a_copy(wide):
    directory, machines = wide

    async def run() -> None:
        _, transfer = moves_of(directory, machines, Crawling(machines), [])
        with pytest.raises(StoreError):
            await transfer.prepare(PartMove("a", 1, ids(machines)["c"], source=ids(machines)["b"]), lambda: None)
        await transfer.end()

    asyncio.run(run())
    assert read_birth(directory).goals == {}, "there is nothing to copy, so nothing was begun"
