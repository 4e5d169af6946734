"""A partition goes back to its old directory if the new machine is lost before anything of it has counted there."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from evercrawl.cluster import coordinator
from evercrawl.cluster.birth import ClusterBirth, read_birth, write_birth
from evercrawl.cluster.copies.node_copies import NodeCopies
from evercrawl.cluster.hauling import going_back
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.moving.order import PartMove
from evercrawl.cluster.wire import PartEnded
from evercrawl.errors import StoreError
from evercrawl.store.disk.moved import LEAVING, MOVED
from tests.cluster.folder_machines import FolderMachines
from tests.cluster.hauling.moved_partitions import Crawling, coordinated, ids, moves_of, order
from tests.cluster.played import Played, seen


@pytest.fixture(autouse=True)
def _impatient(monkeypatch) -> None:
    monkeypatch.setattr(coordinator, "LASTS_S", 0.1)  # a move that waits for the first report is over then


def silent_from(machines: FolderMachines, first: int, mails: int | None = None) -> None:
    """Let the processes that begin from the number `first` on report nothing; `mails` is whom they write to."""

    def prepare(process: Played) -> None:
        if len(machines.processes) > first:
            process.reports, process.mails = False, mails

    machines.prepare = prepare


async def crashed(machines: FolderMachines, name: str) -> None:
    """Let a machine be gone, with its processes."""
    disk = ids(machines)[name]
    for process in machines.processes:
        if process.number == 0 and machines.birth.places[0] == disk:
            process.kill()
    del machines.there[disk]


def test_a_partition_whose_new_machine_dies_before_its_first_report_goes_back_by_itself(wide, tmp_path):
    directory, machines = wide
    disks, told, lost = ids(machines), list[str](), None
    silent_from(machines, 2)

    async def run() -> None:
        nonlocal lost
        async with coordinated(directory, machines, told.append, lost_after_s=0.2) as one:
            order(directory, 0, "c")
            await seen(lambda: len(machines.processes) == 3)
            await seen(lambda: len(machines.processes[2].heard) > 1)
            assert read_birth(directory).untried == {0: disks["a"]}
            lost = machines.there[disks["c"]]
            machines.prepare = lambda process: None
            await crashed(machines, "c")
            await seen(lambda: len(machines.processes) == 4 and one.well(0))
            birth = read_birth(directory)
            assert (birth.places[0], birth.untried) == (disks["a"], {})
            assert list(birth.vacated[0]) == [disks["c"]]
            assert machines.lives[3] > machines.lives[2]
            assert not (tmp_path / "a" / "part-0" / MOVED).exists()
            machines.there[disks["c"]] = lost  # it comes back
            await seen(lambda: not read_birth(directory).vacated)

    asyncio.run(run())
    assert not (tmp_path / "c" / "part-0").exists()
    assert list((tmp_path / "c").glob("part-0-before-*"))
    assert any("has not reported from the disk" in said and disks["a"] in said for said in told)


@pytest.mark.parametrize("mails", [1, None])
def test_a_partition_of_which_something_has_counted_does_not_go_back(wide, mails):
    """A letter counts as a report does, though nothing else was heard of the process."""
    directory, machines = wide
    disks = ids(machines)
    if mails is not None:
        silent_from(machines, 2, mails)

    async def run() -> None:
        async with coordinated(directory, machines, lost_after_s=0.0):
            order(directory, 0, "c")
            await seen(lambda: len(machines.processes) == 3 and read_birth(directory).untried == {})
            await crashed(machines, "c")
            looks = machines.looks
            await seen(lambda: machines.looks > looks + 5)
            assert read_birth(directory).places[0] == disks["c"]

    asyncio.run(run())


def test_what_counts_is_written_down_before_it_takes_effect(wide, monkeypatch):
    directory, machines = wide
    disks, before, begun = ids(machines), list[dict[int, str]](), NodeCopies.begun

    def begins(self: NodeCopies, number: int) -> None:
        if number == 0 and machines.birth.places[0] == disks["c"]:
            before.append(read_birth(directory).untried)
        begun(self, number)

    monkeypatch.setattr(NodeCopies, "begun", begins)

    async def run() -> None:
        async with coordinated(directory, machines) as one:
            order(directory, 0, "c")
            await seen(lambda: machines.birth.places[0] == disks["c"] and one.well(0))

    asyncio.run(run())
    assert before
    assert not any(before)


def untried(directory: Path, machines: FolderMachines) -> None:
    """Let an earlier run have moved the partition from a to c, where nothing of it has counted."""
    disks = ids(machines)
    birth = read_birth(directory)
    places, vacated = [disks["c"], disks["b"]], {0: {disks["a"]: 8, disks["b"]: 4}}
    write_birth(directory, msgspec.structs.replace(birth, places=places, vacated=vacated, untried={0: disks["a"]}))
    machines.birth = read_birth(directory)


def test_another_run_lets_it_go_back_once_the_machine_has_been_missing_for_long(wide, tmp_path):
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()
    untried(directory, machines)
    gone, holds.reports, now = machines.there.pop(disks["c"]), False, 0.0

    async def run() -> None:
        nonlocal now
        transfer = NodeMoves(directory, machines.birth, machines, said.append, lambda: now, lost_after_s=300.0)

        def waits() -> bool:
            return transfer.turn(holds, lambda: None) is None

        assert waits()
        now = 299.0
        assert waits()
        machines.there[gone.id] = gone
        assert waits()
        del machines.there[gone.id]
        now = 310.0
        assert waits(), "it was there meanwhile"
        now = 609.0
        assert waits()
        now = 610.0
        work = transfer.turn(holds, lambda: None)
        assert asyncio.iscoroutine(work)
        await work

    asyncio.run(run())
    birth = read_birth(directory)
    assert (birth.places[0], machines.birth.places[0], birth.untried) == (disks["a"], disks["a"], {})
    assert birth.vacated == {0: {disks["b"]: 4, disks["c"]: 8}}
    assert holds.order[-1] == "begun on a"


@pytest.mark.parametrize("what", ["the machine is back", "it reports", "it goes on from its copy"])
def test_it_stays_if_something_is_heard_while_its_process_is_ended(wide, what):
    directory, machines = wide
    disks, said, resumed = ids(machines), list[str](), list[int]()
    untried(directory, machines)
    gone = machines.there.pop(disks["c"])

    class Ending(Crawling):
        async def rest(self, number: int) -> None:
            if what == "it reports":
                transfer.counts(number)
            elif what == "the machine is back":
                machines.there[gone.id] = gone
            else:
                machines.birth.places[0] = disks["b"]

        async def resume(self, number: int) -> None:
            resumed.append(number)

    holds = Ending(machines)
    _, transfer = moves_of(directory, machines, holds, said)

    async def run() -> None:
        while (work := transfer.turn(holds, lambda: None)) is None:
            pass
        assert asyncio.iscoroutine(work)
        await work

    asyncio.run(run())
    assert read_birth(directory).places[0] == disks["c"]
    assert said == []


def test_a_new_directory_that_is_gone_is_not_waited_for(wide):
    directory, machines = wide
    disks, told = ids(machines), list[str]()

    def prepare(process: Played) -> None:
        if machines.birth.places[0] == disks["c"] and process.number == 0:
            process.reports = False
            process.says = [PartEnded("it is gone", again=False, lost=True)]

    machines.prepare = prepare

    async def run() -> None:
        async with coordinated(directory, machines, told.append, lost_after_s=1e9):
            order(directory, 0, "c")
            await seen(lambda: machines.birth.places[0] == disks["c"])
            await seen(lambda: any("it is gone; it is restarted" in said for said in told))
            machines.processes[-1].kill()
            await seen(lambda: read_birth(directory).places[0] == disks["a"])

    asyncio.run(run())


def test_a_partition_that_moves_on_to_where_it_came_from_keeps_no_way_back(wide):
    """Its old directory there is set aside, and replaced by a copy that may be broken off."""
    directory, machines = wide
    disks, holds, said = ids(machines), Crawling(machines), list[str]()

    async def run() -> None:
        moves, transfer = moves_of(directory, machines, holds, said)
        holds.begin()
        await holds.rest(0)
        move = transfer.placed(PartMove("", 0, "c"))
        await transfer.prepare(move, lambda: None)
        await transfer.finish(move, lambda: None)
        await transfer.end()
        assert read_birth(directory).untried == {0: disks["a"]}
        assert (machines.there[disks["c"]].part(0) / LEAVING).is_file()
        await transfer.prepare(transfer.placed(PartMove("", 0, "a")), lambda: None)
        assert read_birth(directory).untried == {}
        assert transfer.lost(0) is False
        await transfer.end()
        await moves.close()

    asyncio.run(run())


def test_it_is_begun_where_the_file_says_even_if_writing_it_reports_an_error(wide, monkeypatch):
    directory, machines = wide
    disks, holds, said, write = ids(machines), Crawling(machines), list[str](), write_birth
    untried(directory, machines)
    del machines.there[disks["c"]]

    def written(place: Path, birth: ClusterBirth) -> None:
        write(place, birth)
        raise StoreError("Input/output error")

    async def run() -> None:
        transfer = NodeMoves(directory, machines.birth, machines, said.append, lost_after_s=0.0)
        work = transfer.turn(holds, lambda: None)
        assert asyncio.iscoroutine(work)
        monkeypatch.setattr(going_back, "write_birth", written)
        with pytest.raises(StoreError):
            await work

    asyncio.run(run())
    assert machines.birth.places[0] == read_birth(directory).places[0] == disks["a"]
    assert holds.order == ["ended", "begun on a"]
