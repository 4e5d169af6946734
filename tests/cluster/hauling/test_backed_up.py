"""`evercrawl backup` of partitions on other machines: folders stand for these, and their files go over the lines."""

import asyncio
import contextlib
import shutil

import pytest

from evercrawl import __version__
from evercrawl.ask.parts_line import FILES, PartsAsked, PartsDialogue
from evercrawl.cli.main import main
from evercrawl.cluster.birth import read_birth, write_birth
from evercrawl.cluster.hauling.lent_files import FilesAfar
from evercrawl.cluster.hauling.node_moves import NodeMoves
from evercrawl.cluster.moving.order import PartMove
from evercrawl.cluster.parted_backup import backup_parted
from evercrawl.cluster.wire import FilesAsked
from evercrawl.errors import StoreError
from evercrawl.store.birth import UNFINISHED
from evercrawl.store.disk.lock import PURPOSE, Lock
from evercrawl.store.disk.moved import MOVED
from tests.cluster.hauling.lending_line import LendingLine
from tests.cluster.hauling.moved_partitions import fill, ids, visit, visits


class Holds:
    def well(self, number: int) -> bool:
        return True


@pytest.fixture
def crawled(wide, tmp_path):
    """Return the crawl, and its machines, of which the first two have a partition each."""
    directory, machines = wide
    (tmp_path / "b" / "part-1").mkdir()
    visit(tmp_path / "b" / "part-1")
    (directory / "crawl.toml").write_text("# the usual settings\n")
    return directory, machines


def test_partitions_of_other_machines_are_copied_and_then_only_what_is_new(crawled, tmp_path):
    directory, machines = crawled
    fill(tmp_path / "a" / "part-0")
    copy, asked = tmp_path / "copy", list[tuple[int, str]]()
    with LendingLine(directory, machines, lambda number, what: asked.append((number, what.what))):
        first = backup_parted(directory, copy, 1.0)
        assert {number for number, _ in asked} == {0, 1}
        assert len(machines.hauls) == 2, "one process for each machine, whose files are read twice"
        for number, there in enumerate("ab"):
            visit(tmp_path / there / f"part-{number}")
        second = backup_parted(directory, copy, 2.0)
        assert not any(process.task.done() and process.task.exception() for process in machines.hauls)
    assert (first.partitions, first.events, second.events) == (2, 2, 4)
    assert second.copied_bytes < first.copied_bytes
    assert [visits(copy / f"part-{number}") for number in (0, 1)] == [2, 2]
    assert (copy / "part-0" / "requisites.sqlite").is_file()
    assert (read_birth(copy).places, read_birth(copy).begun) == ([], [0, 1])
    assert all(process.task.done() for process in machines.hauls)


def test_a_partition_of_this_machine_is_read_without_help_and_what_one_left_there_is_not_copied(crawled, tmp_path):
    """Both are beside `cluster.json`: one is on this disk, and the other moved away and is not set aside yet."""
    directory, machines = crawled
    here = machines.add(tmp_path / "here")
    (directory / "disk-id").write_text(here)
    shutil.move(tmp_path / "a" / "part-0", directory / "part-0")
    shutil.copytree(tmp_path / "b" / "part-1", directory / "part-1")
    visit(tmp_path / "b" / "part-1")
    machines.birth.places[0] = here
    write_birth(directory, machines.birth)
    asked = set[int]()
    with LendingLine(directory, machines, lambda number, _: asked.add(number)):
        backup_parted(directory, tmp_path / "copy", 1.0)
    assert asked == {1}
    assert [visits(tmp_path / "copy" / f"part-{number}") for number in (0, 1)] == [1, 2]


def test_a_machine_that_is_away_is_named_before_anything_is_written_and_so_is_what_to_do(crawled, tmp_path, capsys):
    directory, machines = crawled
    disk = ids(machines)["b"]
    backup = ["backup", str(tmp_path / "copy"), "--dir", str(directory)]
    assert main(backup) == 3
    said = capsys.readouterr().err
    assert f"partition 0 is on the disk {ids(machines)['a']}" in said
    assert f"start the crawl (evercrawl crawl --dir {directory} --cluster ADDRESS)" in said
    away = machines.there.pop(disk)
    with Lock.take(directory, PURPOSE, 1.0), LendingLine(directory, machines):
        assert main(backup) == 3
        said = capsys.readouterr().err
        assert f"partition 1 is on the disk {disk}" in said
        assert "bring its machine back, or wait until" in said
        assert not (tmp_path / "copy").exists()
        with pytest.raises(StoreError, match="not there"):
            FilesAfar(directory, 1)
        machines.there[disk] = away
        assert main(backup) == 0


@pytest.mark.parametrize("how", ["the machine is lost", "the crawl ends"])
def test_a_backup_that_breaks_off_is_completed_by_the_next_one(crawled, tmp_path, how, monkeypatch):
    directory, machines = crawled
    copy, times = tmp_path / "copy", list[int]()

    def asked(number: int, what: FilesAsked) -> None:
        times.append(number)
        if times.count(1) == 12:
            if how == "the crawl ends":
                line.end()
            else:
                asyncio.ensure_future(machines.hauls[-1].cut())  # noqa: RUF006 - the loop ends after it

    with LendingLine(directory, machines, asked) as line:
        with pytest.raises(StoreError, match="ended") as error:
            backup_parted(directory, copy, 1.0)
        assert ("the crawl ended" in str(error.value)) == (how == "the crawl ends")
    assert (copy / UNFINISHED).is_file()
    with LendingLine(directory, machines):
        backup_parted(directory, copy, 2.0)
    assert [visits(copy / f"part-{number}") for number in (0, 1)] == [1, 1]


def test_the_directory_that_a_partition_leaves_is_not_set_aside_while_it_is_read(crawled, tmp_path):
    """And what says that it has been left is not in the backup, which is read from the new place then."""
    directory, machines = crawled
    disks, old = ids(machines), tmp_path / "a" / "part-0"

    def asked(number: int, what: FilesAsked) -> None:
        if number != 0 or machines.birth.places[0] != disks["a"]:
            return
        shutil.copytree(old, tmp_path / "c" / "part-0")
        visit(tmp_path / "c" / "part-0")
        (old / MOVED).write_bytes(b"{}")
        machines.birth.places[0] = disks["c"]
        birth = read_birth(directory)
        birth.places[:], birth.vacated[0] = machines.birth.places, {disks["a"]: birth.lives}
        write_birth(directory, birth)
        assert line.moves.turn(Holds(), lambda: None) is None
        with pytest.raises(StoreError, match="read for a backup"):
            line.moves.placed(PartMove("b", 0, disks["a"]))

    with LendingLine(directory, machines, asked) as line:
        backup_parted(directory, tmp_path / "copy", 1.0)
        leaves = line.moves.turn(Holds(), lambda: None)
        assert leaves is not None, "now it is"
        leaves.close()
    assert visits(tmp_path / "copy" / "part-0") == 2
    assert not (tmp_path / "copy" / "part-0" / MOVED).exists()


def test_nobody_of_another_version_and_no_partition_that_was_not_crawled_is_lent_files(crawled, tmp_path):
    directory, machines = crawled
    with LendingLine(directory, machines):
        for version, number, why in (("0.0", 0, f"run by evercrawl {__version__}"), (__version__, 1, "is not there")):
            shutil.rmtree(tmp_path / "b" / "part-1", ignore_errors=True)
            line = PartsDialogue(directory, 5.0)
            with contextlib.closing(line), pytest.raises(StoreError, match=why):
                line.ask(PartsAsked(version, number, FILES), int)
    assert len(machines.hauls) == 1


def test_a_process_that_has_not_answered_lends_nothing_else_and_one_that_has_waits_a_minute(crawled, tmp_path):
    """A late answer would be taken for that of a later question with the same number."""
    directory, machines = crawled
    now = [0.0]

    async def run() -> None:
        moves = NodeMoves(directory, machines.birth, machines, print, lambda: now[0])
        first = await moves.lent(0)
        assert (await first.told(FilesAsked(1, "size", "crawl.json"))).trouble == ""
        pending = asyncio.ensure_future(first.told(FilesAsked(2, "names")))
        await asyncio.sleep(0)
        pending.cancel()
        await first.close()
        second = await moves.lent(0)
        assert len(machines.hauls) == 2
        assert (await second.told(FilesAsked(2, "size", "crawl.json"))).trouble == ""
        await second.close()
        assert moves.turn(Holds(), lambda: None) is None
        third = await moves.lent(0)
        assert len(machines.hauls) == 2, "it is the same"
        await third.close()
        now[0] = 61.0
        ending = moves.turn(Holds(), lambda: None)
        assert asyncio.iscoroutine(ending)
        await ending
        assert all(process.task.done() for process in machines.hauls)
        assert moves.turn(Holds(), lambda: None) is None

    asyncio.run(run())
