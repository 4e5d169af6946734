"""A move between machines is broken off at any instant: the partition is on one machine, and nothing is lost."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evercrawl.cluster.birth import ClusterBirth, read_birth
from evercrawl.cluster.hauling import node_moves
from evercrawl.cluster.hauling.haul_process import HaulProcess
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.moving.order import PartMove
from evercrawl.errors import StoreError
from tests.cluster.hauling.moved_partitions import Crawling, ids, moves_of, order, over, settled, visits
from tests.cluster.played import seen


class KilledError(BaseException):
    """The coordinator was killed."""


def instants() -> Iterator[tuple[str, int, bool]]:
    """Yield each order of a move, and whether the kill comes before or after it."""
    for number, what in enumerate(
        ("lend", "prepare", "copy", "lock", "copy the rest", "lock", "write", "finish", "leave")
    ):
        yield what, number, False
        yield what, number, True


@pytest.mark.parametrize(("what", "number", "after"), list(instants()))
def test_a_coordinator_that_is_killed_at_any_instant_leaves_one_owner_and_loses_nothing(
    wide, tmp_path, what, number, after
):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()
    steps, done, write = list[str](), HaulProcess.do, node_moves.write_birth

    def kill(name: str, *, afterwards: bool) -> None:
        if not afterwards:
            steps.append(name)
        if len(steps) == number + 1 and afterwards == after:
            assert name == what
            raise KilledError

    async def do(self: HaulProcess, name: str, *given: Any) -> int:
        kill(name, afterwards=False)
        found = await done(self, name, *given)
        kill(name, afterwards=True)
        return found

    def written(place: Path, birth: ClusterBirth) -> None:
        if "leave" in steps:
            write(place, birth)
            return
        kill("write", afterwards=False)
        write(place, birth)
        kill("write", afterwards=True)

    async def first() -> None:
        _, transfer = moves_of(directory, machines, holds, said)
        holds.begin()
        with contextlib.suppress(KilledError):
            await carried_out(transfer)
        for process in machines.hauls:
            await process.cut()

    async def carried_out(transfer: NodeMoves) -> None:
        """Do what the coordinator does, and nothing once it was killed."""
        placed = transfer.placed(PartMove("a", 0, "c"))
        await transfer.prepare(placed, lambda: None)
        await transfer.copy(placed, lambda: None)
        await holds.rest(0)
        await transfer.finish(placed, lambda: None)
        await transfer.end()
        holds.begin()
        await transfer.turn(holds, lambda: None)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(HaulProcess, "do", do)
        patched.setattr(node_moves, "write_birth", written)
        asyncio.run(first())
    assert len(steps) == number + 1
    if holds.lock is not None:
        holds.lock.release()

    machines.birth = read_birth(directory)  # another coordinator begins
    assert machines.birth.places[0] in (disks["a"], disks["c"])
    assert (machines.birth.places[0] == disks["c"]) == (number > 6 or (number == 6 and after))

    async def again() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()  # which finds everything there
        if machines.birth.places[0] == disks["a"]:
            order(directory, 0, "c")
            assert (await over(moves, directory)).error == ""
        await settled(moves, directory)
        await moves.close()

    asyncio.run(again())
    assert visits(tmp_path / "c" / "part-0") == holds.made
    assert not (tmp_path / "a" / "part-0").exists()


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("number", range(8))
def test_a_machine_that_is_lost_at_any_instant_leaves_one_owner_and_loses_nothing(wide, tmp_path, which, number):
    """The process on the old machine (0) or on the new one is gone as an order is given."""
    directory, machines = wide
    disks, holds, said, done, steps = ids(machines), Crawling(machines), list[str](), HaulProcess.do, list[str]()

    async def do(self: HaulProcess, name: str, *given: Any) -> int:
        steps.append(name)
        if len(steps) == number + 1:
            await machines.hauls[which].cut()
        return await done(self, name, *given)

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        order(directory, 0, "c")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(HaulProcess, "do", do)
            moved = await over(moves, directory)
            if steps[-1] == "finish":  # the old directory is set aside at last
                await settled(moves, directory)
        assert len(steps) > number, "the machine was lost"
        assert holds.order[-1] == f"begun on {'c' if moved.error == '' else 'a'}"
        assert read_birth(directory).places[0] == machines.birth.places[0] == disks["c" if moved.error == "" else "a"]
        if moved.error:
            assert "ended or does not answer" in moved.error or "is gone" in moved.error
            order(directory, 0, "c")
            assert (await over(moves, directory)).error == ""
        await settled(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert visits(tmp_path / "c" / "part-0") == holds.made


def test_a_partition_begins_where_the_file_says_even_if_writing_it_reports_an_error(wide, tmp_path, monkeypatch):
    directory, machines = wide
    disks, holds, said, write = ids(machines), Crawling(machines), list[str](), node_moves.write_birth

    def written(place: Path, birth: ClusterBirth) -> None:
        write(place, birth)  # the file is renamed, and its directory cannot be synced
        monkeypatch.setattr(node_moves, "write_birth", write)
        raise StoreError("Input/output error")

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        monkeypatch.setattr(node_moves, "write_birth", written)
        order(directory, 0, "c")
        assert (await over(moves, directory)).error == ""
        assert read_birth(directory).places[0] == machines.birth.places[0] == disks["c"]
        await settled(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert holds.order == ["begun on a", "ended", "begun on c"]
    assert visits(tmp_path / "c" / "part-0") == holds.made


def test_a_partition_of_which_nobody_can_say_where_it_is_is_not_begun_anywhere(wide, monkeypatch):
    directory, machines = wide
    holds, said, write = Crawling(machines), list[str](), node_moves.write_birth

    def written(place: Path, birth: ClusterBirth) -> None:
        write(place, birth)
        (directory / "cluster.json").write_bytes(b"{")
        raise StoreError("Input/output error")

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        monkeypatch.setattr(node_moves, "write_birth", written)
        order(directory, 0, "c")
        why = (await over(moves, directory)).error
        assert "cluster.json cannot be read" in why
        assert "partition 0 stays stopped, because its place is unknown. Start the crawl again" in why
        moves.stop()
        await moves.close()

    asyncio.run(run())
    assert holds.order == ["begun on a", "ended"]


def test_a_partition_goes_on_after_its_process_could_not_be_ended(wide):
    directory, machines = wide
    holds, said, resumed = Crawling(machines), list[str](), list[int]()

    async def rest(number: int) -> None:
        raise OSError("no such process")

    async def resume(number: int) -> None:
        resumed.append(number)

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.rest, holds.resume = rest, resume
        order(directory, 0, "c")
        assert "no such process" in (await over(moves, directory)).error
        await moves.close()

    asyncio.run(run())
    assert resumed == [0]


def test_what_is_broken_off_as_the_crawl_ends_is_over_at_once(wide, tmp_path):
    directory, machines = wide
    holds, said = Crawling(machines), list[str]()

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        order(directory, 0, "c")
        moves.turn()
        await seen(lambda: len(machines.hauls) == 2)
        await moves.close()

    asyncio.run(run())
    assert said == ["partition 0 was not moved: the crawl ended"]
    assert read_birth(directory).places[0] == ids(machines)["a"]
