"""What a partition leaves on the machine that it was moved from is set aside, once it runs elsewhere."""

import asyncio

import msgspec
import pytest

from evercrawl.cluster.birth import read_birth, write_birth
from evercrawl.cluster.copies.restoring_part import settle_lost
from evercrawl.cluster.old_directory import set_aside
from evercrawl.cluster.plan import PartPlan
from evercrawl.config import Config
from evercrawl.errors import StoreError
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.moved import MOVED
from evercrawl.store.keeper.restoring import LINE_FILE
from tests.cluster.folder_machines import ProcessHere
from tests.cluster.hauling.moved_partitions import Crawling, ids, moves_of, settled
from tests.cluster.played import seen


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
