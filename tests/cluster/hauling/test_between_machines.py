"""Partitions move between machines: folders stand for these, and what copies the files is the shipped code."""

import asyncio
import contextlib
import os
import shutil
import sqlite3

import msgspec
import pytest

from evercrawl.cluster.birth import read_birth
from evercrawl.cluster.hauling import haul_main, lending, remote_files
from evercrawl.cluster.hauling.lending import Lending
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.moving.order import DRAIN, PartMove
from evercrawl.cluster.moving.part_moves import PartMoves
from evercrawl.cluster.moving.transfer import within
from evercrawl.cluster.wire import FilesAsked, FilesTold
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.store.backups.backup import MOVING
from evercrawl.store.disk.leaving import LeavingError
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.moved import LEAVING, MOVED
from evercrawl.store.orders import CrawlOrder, append, named
from tests.cluster.hauling.moved_partitions import Crawling, fill, ids, moves_of, order, over, settled, visits


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
    assert (new / LEAVING).is_file(), "it takes no orders before its process has leave to request pages"
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


def test_nothing_outside_of_a_partition_is_shown_to_another_machine(wide, tmp_path):
    (tmp_path / "a" / "secret").write_text("x")
    lent = Lending(tmp_path / "a", 0)
    for asked in (
        FilesAsked(1, "read", "../secret", 0, 9),
        FilesAsked(1, "piece", "search/../../secret", 0, 9),
        FilesAsked(1, "piece", "/etc/passwd", 0, 9),
        FilesAsked(1, "image", "../secret"),
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
    (tmp_path / "copy.sqlite").touch()
    assert files.copy_database("requisites.sqlite", tmp_path / "copy.sqlite", tmp_path / "none") > 0
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


def test_an_answer_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(remote_files, "TOLD_S", 0.01)
    files = remote_files.RemoteFiles(lambda asked: None)
    with pytest.raises(StoreError, match="has not answered"):
        files.size("x")
    files.end()
    with pytest.raises(StoreError, match="is gone"):
        files.size("x")
