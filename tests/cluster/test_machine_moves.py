"""Partitions move between machines: folders stand for these, and what copies the files is the shipped code."""

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evercrawl.ask.parts_line import VERB, VerbAnswer, VerbAsked, ask_part
from evercrawl.cli.main import main
from evercrawl.cluster import coordinator, moving
from evercrawl.cluster.birth import ClusterBirth, WholeCopy, next_life, read_birth, write_birth
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.copies.node_copies import NodeCopies
from evercrawl.cluster.copies.restoring_part import settle_lost
from evercrawl.cluster.hauling import haul_main, haul_process, lending, machine_orders, node_moves, remote_files
from evercrawl.cluster.hauling.haul_process import HaulProcess
from evercrawl.cluster.hauling.lending import Lending
from evercrawl.cluster.hauling.machine_orders import OnDisk, drain, emptied, move_to, on_disk
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.hauling.old_directory import set_aside
from evercrawl.cluster.moving import DRAIN, LIFT, PartMove, PartMoves, read_move
from evercrawl.cluster.plan import PartPlan
from evercrawl.cluster.transfer import within
from evercrawl.cluster.wire import FilesAsked, FilesTold, PartQuestion
from evercrawl.config import Config
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.progress import Limits
from evercrawl.store.backup import MOVING
from evercrawl.store.disk.leaving import LeavingError
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.moved import LEAVING, MOVED
from evercrawl.store.journal.events import Discovery, Found
from evercrawl.store.keeper.restoring import LINE_FILE
from evercrawl.store.orders import CrawlOrder, append, named
from evercrawl.store.partition import Partition
from tests.cluster.folder_machines import FolderMachines, ProcessHere
from tests.cluster.played import Played, seen


class KilledError(BaseException):
    """The coordinator was killed."""


def visit(directory: Path) -> None:
    """Let a partition find one more URL."""
    partition = Partition(directory, os.urandom, now=1000.0)
    number = partition.state.known.count
    known = partition.hasher.keys([f"http://{number}.example/"])
    partition.state.table.intern(known)
    found = Discovery(number, [f"http://{number}.example/"], [number], number, [f"{number}.example"])
    partition.state.admit(found, 1000.0, known)
    partition.remember(Found(1000.0, found))
    partition.journal.write(partition.journal.seal())
    partition.close()


def visits(directory: Path) -> int:
    """Return how many URLs a partition knows."""
    with contextlib.closing(opened(directory)) as partition:
        return sum(isinstance(event, Found) for _, _, event in partition.journal.replay())


class Crawling:
    """Holds the processes of partitions, which make a visit whenever they are begun and whenever they end."""

    def __init__(self, machines: FolderMachines) -> None:
        self.machines, self.made, self.runs, self.order = machines, 1, True, list[str]()
        self.reports = True
        self.lock: Lock | None = None

    def begin(self) -> None:
        directory = self.machines.directory(0)
        assert visits(directory) == self.made, "nothing is lost"
        visit(directory)
        self.made += 1
        self.lock = Lock.take(directory, "evercrawl crawl", 1e9)
        self.order.append(f"begun on {directory.parent.name}")

    async def rest(self, number: int) -> None:
        if self.lock is not None:
            self.lock.release()
            self.lock = None
        visit(self.machines.directory(0))
        self.made += 1
        self.order.append("ended")

    async def resume(self, number: int) -> None:
        if self.machines.missing(0) == "":
            self.begin()

    def well(self, number: int) -> bool:
        return self.reports


@pytest.fixture(autouse=True)
def _quick(monkeypatch) -> None:
    monkeypatch.setattr(haul_process, "LOOK_S", 0.005)
    monkeypatch.setattr(haul_process, "END_S", 0.5)
    monkeypatch.setattr(lending, "LOOK_S", 0.005)


@pytest.fixture
def wide(tmp_path):
    """Return a crawl of two partitions on two machines, of which the first has been crawled, and a third machine."""
    directory = tmp_path / "wide"
    directory.mkdir()
    birth = ClusterBirth(1, "c", 2, "00" * 16, 0, lives=8, begun=[0, 1], places=["", ""])
    machines = FolderMachines(tmp_path, birth, "abc")
    by_name = {disk.root.name: disk.id for disk in machines.there.values()}
    birth.places[:] = [by_name["a"], by_name["b"]]
    write_birth(directory, birth)
    (tmp_path / "a" / "part-0").mkdir()
    visit(tmp_path / "a" / "part-0")
    return directory, machines


def fill(part: Path) -> None:
    """Put a file of each kind into a directory."""
    (part / "search" / "pages").mkdir(parents=True)
    (part / "search" / "pages" / ".managed.json").write_text("[1]")
    (part / "derived").mkdir()
    (part / "derived" / "links.bin").write_bytes(b"x" * 3000)
    (part / "cookies.json").write_text("{}")
    (part / "orders.jsonl").write_text("{}\n")
    with contextlib.closing(sqlite3.connect(part / "requisites.sqlite")) as made:
        made.execute("create table one (two)")
        made.execute("insert into one values (3)")
        made.commit()


def ids(machines: FolderMachines) -> dict[str, str]:
    return {disk.root.name: disk.id for disk in machines.there.values()}


def moves_of(
    directory: Path, machines: FolderMachines, holds: Crawling, said: list[str]
) -> tuple[PartMoves, NodeMoves]:
    now = [0.0]

    def clock() -> float:
        now[0] += 100.0
        return now[0]

    transfer = NodeMoves(directory, machines.birth, machines, next_life, said.append, clock)
    return PartMoves(directory, holds, said.append, transfer), transfer


def order(directory: Path, number: int, goal: str) -> None:
    (directory / moving.FILE).write_bytes(msgspec.json.encode(PartMove("a", number, goal)))


async def over(moves: PartMoves, directory: Path) -> PartMove:
    """Return what became of an order."""
    async with asyncio.timeout(10):
        while (move := read_move(directory)) is None or not move.done:
            moves.turn()
            await asyncio.sleep(0.002)
    await asyncio.sleep(0)
    return move


async def settled(moves: PartMoves, directory: Path) -> None:
    """Return once no old directory is to be set aside."""
    async with asyncio.timeout(10):
        while read_birth(directory).vacated:
            moves.turn()
            await asyncio.sleep(0.002)


def test_a_partition_moves_to_another_machine_with_all_its_files_and_the_old_directory_is_set_aside(wide, tmp_path):
    directory, machines = wide
    disks, said, holds = ids(machines), list[str](), Crawling(machines)
    old, new = tmp_path / "a" / "part-0", tmp_path / "c" / "part-0"
    fill(old)

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        append(old, [named(CrawlOrder("pause"), 1.0, "early")])
        holds.reports = False
        order(directory, 0, "c")
        moved = await over(moves, directory)
        assert (moved.error, moved.source, moved.goal) == ("", disks["a"], disks["c"])
        assert moved.copied_bytes > 3000
        assert read_birth(directory).places == machines.birth.places == [disks["c"], disks["b"]]
        moves.turn()
        await asyncio.sleep(0)
        assert (old / "crawl.json").is_file()
        assert not (old / MOVED).exists(), "the new process has not said anything yet"
        with pytest.raises(LeavingError):
            append(old, [named(CrawlOrder("pause"), 1.0, "late")])
        holds.reports = True
        await settled(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert holds.order == ["begun on a", "ended", "begun on c"]
    assert visits(new) == 4
    for name in ("search/pages/.managed.json", "derived/links.bin", "cookies.json", "orders.jsonl"):
        assert (new / name).is_file(), name
    with contextlib.closing(sqlite3.connect(new / "requisites.sqlite")) as copied:
        assert copied.execute("select two from one").fetchall() == [(3,)]
    assert '"early"' in (new / "orders.jsonl").read_text()
    assert not (new / LEAVING).exists()
    assert not (new / MOVING).exists()
    assert not old.exists()
    aside = next(tmp_path.glob("a/part-0-before-*"))
    with pytest.raises(ConfigError, match=f"was moved to the disk {disks['c']}; ask there"):
        opened(aside)
    assert not machines.hauls[-1].task.cancelled()
    assert said == [f"partition 0 is in {disks['c']}; it paused {said[0].split()[-2]} s"]


def test_a_partition_comes_back_to_a_machine_that_it_had_left(wide, tmp_path):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        for goal in ("c", "a", "c"):
            holds.reports = False  # the old directory is there yet
            order(directory, 0, disks[goal][:6])
            assert (await over(moves, directory)).error == ""
        holds.reports = True
        await settled(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert visits(tmp_path / "c" / "part-0") == holds.made == 8
    assert not (tmp_path / "a" / "part-0").exists()
    for machine in "ac":
        assert len(list((tmp_path / machine).glob("part-0*"))) == 2, "nothing was removed"


def instants() -> Iterator[tuple[str, int, bool]]:
    """Yield each order of a move, and whether the kill comes before or after it."""
    for number, what in enumerate(("lend", "prepare", "copy", "lock", "copy", "lock", "write", "finish", "leave")):
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


def test_an_old_directory_stays_where_the_file_and_the_coordinator_differ(wide, tmp_path):
    directory, machines = wide
    disks, said = ids(machines), list[str]()
    now = msgspec.structs.replace(read_birth(directory), places=[disks["c"], disks["b"]], vacated={0: {disks["a"]: 8}})
    write_birth(directory, now)  # while the coordinator believes that it is on a

    async def run() -> None:
        _, transfer = moves_of(directory, machines, Crawling(machines), said)
        work = transfer.turn(Crawling(machines), lambda: None)
        assert asyncio.iscoroutine(work)
        await work

    asyncio.run(run())
    assert read_birth(directory).vacated == now.vacated
    assert (tmp_path / "a" / "part-0" / "crawl.json").is_file()
    assert "cluster.json does not say that the partition is on the disk" in said[0]


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


def test_a_coordinator_moves_a_partition_whose_process_ends_while_it_is_killed(wide, monkeypatch):
    directory, machines = wide
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)
    monkeypatch.setattr(coordinator, "LAST_WORDS_S", 0.05)

    async def run() -> None:
        stop = asyncio.Event()
        moves = NodeMoves(directory, machines.birth, machines, next_life, print)
        one = Coordinator(
            directory, machines.birth, Config(), (), Limits(), lambda _: None, machines,
            NodeCopies(directory, machines.birth, machines, print), moves,
        )  # fmt: skip
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(machines.processes) == 2 and all(each.heard for each in machines.processes))
        mine = next(each for each in machines.processes if each.number == 0)

        def kill() -> None:
            mine.killed.set()
            raise RuntimeError("its actor is gone")

        mine.kill = kill
        order(directory, 0, "c")
        await seen(lambda: len(machines.processes) == 3 and not read_birth(directory).vacated)
        stop.set()
        await running

    asyncio.run(run())
    assert read_birth(directory).places[0] == ids(machines)["c"]


def test_a_machine_without_room_for_a_partition_is_refused_before_anything_is_written(wide, tmp_path, monkeypatch):
    directory, machines = wide
    holds, said, free = Crawling(machines), list[str](), haul_main.SPARE_BYTES + (1 << 20)
    whole = type(shutil.disk_usage(tmp_path))
    fill(tmp_path / "a" / "part-0")
    (tmp_path / "a" / "part-0" / "derived" / "links.bin").write_bytes(os.urandom(1 << 20))
    monkeypatch.setattr(haul_main.shutil, "disk_usage", lambda place: whole(1 << 40, 0, free))

    async def run() -> None:
        nonlocal free
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        order(directory, 0, "c")
        why = (await over(moves, directory)).error
        assert f"the disk of {tmp_path / 'c' / 'part-0'} has no room: {free} bytes are free, and " in why
        assert holds.order == ["begun on a"]
        assert not (tmp_path / "c" / "part-0").exists()
        free += 8 << 20
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(NodeMoves, "finish", None)
            order(directory, 0, "c")
            assert (await over(moves, directory)).error
        free = haul_main.SPARE_BYTES + (1 << 20)  # for what the interrupted copy lacks
        order(directory, 0, "c")
        assert (await over(moves, directory)).error == ""
        await moves.close()

    asyncio.run(run())


def test_an_order_that_cannot_be_carried_out_is_refused_and_nothing_is_written(wide, tmp_path):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()
    before = read_birth(directory)

    async def refused(number: int, goal: str) -> str:
        order(directory, number, goal)
        return (await over(moves, directory)).error

    async def run() -> None:
        nonlocal moves
        moves, transfer = moves_of(directory, machines, holds, said)
        why = await refused(0, "nowhere")
        assert all(f"{disk} ({name})" in why for name, disk in disks.items())
        assert "no machine is called 'nowhere'" in why
        assert "is on the disk" in await refused(0, "a")
        machines.birth.drained.append(disks["c"])
        assert f"evercrawl drain {disks['c']} --lift" in await refused(0, "c")
        machines.birth.drained.clear()
        machines.birth.places[0] = disks["c"]  # as if it went on there, and had not said anything
        assert "goes on from its second copy" in await refused(0, "b")
        machines.birth.places[0] = disks["a"]
        gone = machines.there.pop(disks["a"])
        assert "is not there" in await refused(0, "c")
        with pytest.raises(StoreError, match="is not there"):
            await transfer.prepare(PartMove("a", 0, disks["c"], source=gone.id), lambda: None)
        del machines.there[disks["c"]]
        assert "needs 1 other machine; 0 can be used" in await refused(DRAIN, "b")
        await moves.close()

    moves: PartMoves
    asyncio.run(run())
    assert read_birth(directory) == before
    assert not (tmp_path / "c" / "part-0").exists()


def test_two_machines_with_one_address_are_named_by_their_disks(wide, monkeypatch):
    directory, machines = wide
    monkeypatch.setattr(machines, "address", lambda disk: "127.0.0.1")

    async def run() -> None:
        _, transfer = moves_of(directory, machines, Crawling(machines), [])
        with pytest.raises(ConfigError, match=r"several machines are called '127\.0\.0\.1'"):
            transfer.placed(PartMove("a", 0, "127.0.0.1"))
        goal = ids(machines)["c"]
        assert transfer.placed(PartMove("a", 0, goal[:5])).goal == goal

    asyncio.run(run())


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
        given = directory, machines.birth, machines, next_life, print
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


def test_an_old_directory_is_not_set_aside_where_it_is_the_partition_again(wide, tmp_path):
    part = tmp_path / "a" / "part-0"
    (part / LINE_FILE).write_text("30")
    with pytest.raises(StoreError, match="was opened from a second copy since"):
        set_aside(tmp_path / "a", 0, "the disk x", 20)
    assert not (part / MOVED).exists()
    with Lock.take(part, "evercrawl crawl", 1e9), pytest.raises(StoreError, match="in use by"):
        set_aside(tmp_path / "a", 0, "the disk x", 40)
    set_aside(tmp_path / "a", 0, "the disk x", 40)
    assert (tmp_path / "a" / "part-0-before-40" / MOVED).is_file()
    set_aside(tmp_path / "a", 0, "the disk x", 40)  # a coordinator that was killed has it done again


def test_an_old_directory_that_cannot_be_set_aside_is_told_once_and_tried_again(wide, tmp_path):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        machines.birth.places[0] = disks["c"]
        birth = msgspec.structs.replace(
            read_birth(directory), places=list(machines.birth.places), vacated={0: {disks["a"]: 8}}
        )
        write_birth(directory, birth)
        with Lock.take(tmp_path / "a" / "part-0", "evercrawl backup", 1e9):
            for _ in range(2):
                moves.turn()
                tried = len(machines.hauls)
                while len(machines.hauls) == tried or not machines.hauls[-1].task.done():
                    moves.turn()
                    await asyncio.sleep(0.002)
        await settled(moves, directory)
        await moves.close()

    asyncio.run(run())
    assert [sentence.partition(":")[0] for sentence in said] == [
        f"the old directory of partition 0 on the disk {disks['a']} is not set aside yet"
    ]


def test_nothing_outside_of_a_partition_is_shown_to_another_machine(wide, tmp_path):
    (tmp_path / "a" / "secret").write_text("x")
    lent = Lending(tmp_path / "a", 0)
    for asked in (
        FilesAsked(1, "read", "../secret", 0, 9),
        FilesAsked(1, "piece", "search/../../secret", 0, 9),
        FilesAsked(1, "piece", "/etc/passwd", 0, 9),
        FilesAsked(1, "database", "../secret"),
        FilesAsked(1, "remove", "crawl.json"),
    ):
        with pytest.raises(StoreError):
            lent.told(asked)
    assert msgspec.msgpack.decode(lent.told(FilesAsked(1, "piece", "search/gone", 0, 9))) == b""
    lent.close()
    with pytest.raises(StoreError, match="none has such"):
        within("archive/x")
    with pytest.raises(ConfigError, match="once it was crawled"):
        Lending(tmp_path / "b", 7)


def test_what_is_larger_than_one_answer_comes_in_several(wide, tmp_path, monkeypatch):
    monkeypatch.setattr(lending, "MOST_BYTES", 1000)
    part, data = tmp_path / "a" / "part-0", os.urandom(2500)
    (part / "known.bin").write_bytes(data)
    fill(part)
    lent = Lending(tmp_path / "a", 0)
    files = remote_files.RemoteFiles(lambda asked: files.hear(FilesTold(asked.id, lent.told(asked))))
    assert files.read("known.bin", 0, 4000) == data
    assert files.read("known.bin", 100, 1200) == data[100:1300]
    files.copy_database("requisites.sqlite", tmp_path / "copy.sqlite")
    lent.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "copy.sqlite")) as copied:
        assert copied.execute("select two from one").fetchall() == [(3,)]


def test_a_directory_that_another_process_has_is_not_copied_for_good(wide, tmp_path, monkeypatch):
    directory, machines = wide
    holds, said = Crawling(machines), list[str]()
    monkeypatch.setattr(lending, "LOCKED_S", 0.02)

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        with Lock.take(tmp_path / "a" / "part-0", "evercrawl crawl", 1e9):  # a process that does not end
            holds.rest = holds.resume = nothing
            order(directory, 0, "c")
            assert "in use by process" in (await over(moves, directory)).error
        await moves.close()

    async def nothing(number: int) -> None:
        pass

    asyncio.run(run())
    assert read_birth(directory).places[0] == ids(machines)["a"]


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


def test_an_answer_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(remote_files, "TOLD_S", 0.01)
    files = remote_files.RemoteFiles(lambda asked: None)
    with pytest.raises(StoreError, match="has not answered"):
        files.size("x")
    files.end()
    with pytest.raises(StoreError, match="is gone"):
        files.size("x")


def test_a_coordinator_moves_a_partition_to_another_machine(wide, tmp_path, monkeypatch):
    """The order: the process ends, the rest is copied, that is written down, another begins there.

    A verb that is asked of it meanwhile waits, and goes there.
    """
    directory, machines = wide
    disks, events, asking = ids(machines), list[str](), list[asyncio.Future[None]]()
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)
    monkeypatch.setattr(coordinator, "LAST_WORDS_S", 0.05)
    done = HaulProcess.do

    async def do(self: HaulProcess, name: str, *given: Any) -> int:
        running = sum(each.number == 0 and not each.killed.is_set() for each in machines.processes)
        events.append(f"{name} beside {running}")
        if name == "finish":
            asking.append(asyncio.ensure_future(asyncio.to_thread(ask)))
        return await done(self, name, *given)

    def ask() -> None:
        with pytest.raises(StoreError, match=r"the crawl ended|ended before it answered"):
            ask_part(directory, 0, VerbAnswer, VERB, VerbAsked(["pause"]))

    def began(process: Played) -> None:
        if process.number == 0:
            events.append(f"began on {machines.directory(0).parent.name}")

    async def run() -> None:
        stop = asyncio.Event()
        moves = NodeMoves(directory, machines.birth, machines, next_life, events.append)
        one = Coordinator(
            directory, machines.birth, Config(), (), Limits(), lambda _: None, machines,
            NodeCopies(directory, machines.birth, machines, print), moves,
        )  # fmt: skip
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(machines.processes) == 2 and all(each.heard for each in machines.processes))
        order(directory, 0, "c")
        await seen(lambda: len(machines.processes) == 3 and not read_birth(directory).vacated)
        await seen(lambda: any(isinstance(frame, PartQuestion) for frame in machines.processes[2].heard))
        assert not machines.processes[1].killed.is_set()  # the other goes on
        assert [state.where for state in one.states()] == ["box", "box"]
        stop.set()
        await running
        await asyncio.gather(*asking)

    machines.prepare = began
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(HaulProcess, "do", do)
        asyncio.run(run())
    copies = [event for event in events if event.startswith("copy beside 1")]
    assert [event for event in events if event not in copies] == [
        "began on a", "lend beside 1", "prepare beside 1", "lock beside 0", "copy beside 0", "lock beside 0",
        "finish beside 0", "began on c", "leave beside 1",
    ]  # fmt: skip
    assert copies
    assert read_birth(directory).places[0] == disks["c"]


def test_an_old_directory_stays_until_a_second_copy_is_whole_again(wide, tmp_path, monkeypatch):
    directory, machines = wide
    old = tmp_path / "a" / "part-0"
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)
    monkeypatch.setattr(coordinator, "LAST_WORDS_S", 0.05)

    async def run() -> None:
        stop, settings = asyncio.Event(), Config(durable="keeper")
        moves = NodeMoves(directory, machines.birth, machines, next_life, print, kept=True)
        copies = NodeCopies(directory, machines.birth, machines, print)
        one = Coordinator(
            directory, machines.birth, settings, (), Limits(), lambda _: None, machines, copies, moves
        )  # fmt: skip
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(machines.processes) == 2 and all(each.heard for each in machines.processes))
        order(directory, 0, "c")
        await seen(lambda: len(machines.processes) == 3 and read_move(directory).done)
        hauls, heard = len(machines.hauls), len(machines.processes[2].heard)
        await seen(lambda: len(machines.processes[2].heard) > heard + 3)  # leave was given to it again and again
        assert (one.well(0), len(machines.hauls), old.is_dir()) == (False, hauls, True)
        machines.processes[2].kept = True
        await seen(lambda: not read_birth(directory).vacated)
        assert not old.exists()
        stop.set()
        await running

    asyncio.run(run())


def test_setting_an_old_directory_aside_is_broken_off_as_the_crawl_ends(wide, monkeypatch):
    directory, machines = wide
    disks, said = ids(machines), list[str]()

    async def never(self: ProcessHere) -> None:
        await asyncio.Event().wait()

    async def run() -> None:
        moves, _ = moves_of(directory, machines, Crawling(machines), said)
        machines.birth.places[0] = disks["c"]
        now = msgspec.structs.replace(
            read_birth(directory), places=list(machines.birth.places), vacated={0: {disks["a"]: 8}}
        )
        write_birth(directory, now)
        monkeypatch.setattr(ProcessHere, "connected", never)
        moves.turn()
        await seen(lambda: bool(machines.hauls))
        await moves.close()
        assert read_birth(directory).vacated == {0: {disks["a"]: 8}}

    asyncio.run(run())


def test_a_process_that_is_to_set_an_old_directory_aside_by_itself_still_does(wide, tmp_path):
    """A partition that is lost after a move, and goes on from a copy on the machine that it had left."""
    _, machines = wide
    old = tmp_path / "a" / "part-0"
    plan = PartPlan(old, machines.birth.share(0), b"", 40, Config(), (), line=39)
    said = list[str]()
    settle_lost(plan, said.append)
    assert not old.exists()
    assert (tmp_path / "a" / "part-0-before-40").is_dir()


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
    assert not (directory / moving.FILE).exists()


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
    assert main(["drain", "a", "--dir", str(tmp_path)]) != 0
    assert "has no partitions" in capsys.readouterr().err
