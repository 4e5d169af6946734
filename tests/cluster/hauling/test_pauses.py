"""A partition that moves pauses only for the rest: as long as that is much, it is copied while the partition runs."""

import asyncio
import os
from pathlib import Path

import pytest

from evercrawl.cluster.birth import part_directories, read_birth
from evercrawl.cluster.hauling.lending import Lending
from evercrawl.cluster.hauling.remote_files import RemoteFiles
from evercrawl.cluster.moving import transfer
from evercrawl.cluster.moving.order import FILE, PartMove
from evercrawl.cluster.moving.part_moves import PAUSES, PartMoves
from evercrawl.cluster.moving.transfer import LagsError, bring_part
from evercrawl.cluster.wire import FilesAsked, FilesTold
from evercrawl.store.backups import backup
from evercrawl.store.disk.moved import LEAVING
from evercrawl.store.keeping import REMOVED
from evercrawl.store.orders import CrawlOrder, append, named
from tests.cluster.folder_machines import FolderMachines
from tests.cluster.hauling.moved_partitions import Crawling, ids, moves_of, order, over, visits


class Removing(Crawling):
    """A partition from which something is removed whenever its process ends, some times."""

    def __init__(self, machines: FolderMachines, times: int) -> None:
        super().__init__(machines)
        self.times = times

    async def rest(self, number: int) -> None:
        await super().rest(number)
        if self.times:
            self.times -= 1
            (self.machines.directory(0) / "archive").mkdir(exist_ok=True)
            (self.machines.directory(0) / REMOVED).write_bytes(os.urandom(8))


def test_a_pause_in_which_everything_had_to_be_compared_is_broken_off_and_made_up_for(wide, tmp_path):
    directory, machines = wide
    holds, said, marked = Removing(machines, 1), list[str](), list[bool]()
    resume = holds.resume

    async def resumed(number: int) -> None:
        marked.append((machines.directory(0) / LEAVING).exists())
        if len(marked) == 1:
            append(tmp_path / "a" / "part-0", [named(CrawlOrder("pause"), 1.0, "between")])
        await resume(number)

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.resume = resumed
        holds.begin()
        order(directory, 0, "c")
        assert (await over(moves, directory)).error == ""
        await moves.close()

    asyncio.run(run())
    assert holds.order == ["begun on a", "ended", "begun on a", "ended", "begun on c"]
    assert marked == [False, True], "it takes orders again between two pauses"
    assert '"between"' in (tmp_path / "c" / "part-0" / "orders.jsonl").read_text()
    assert visits(tmp_path / "c" / "part-0") == holds.made
    assert (tmp_path / "c" / "part-0" / REMOVED).read_bytes() == (tmp_path / "a" / "part-0" / REMOVED).read_bytes()


def test_a_partition_from_which_things_are_removed_again_and_again_stays(wide):
    directory, machines = wide
    holds, said = Removing(machines, 99), list[str]()

    async def run() -> None:
        moves, _ = moves_of(directory, machines, holds, said)
        holds.begin()
        order(directory, 0, "c")
        assert "again and again; move it later" in (await over(moves, directory)).error
        await moves.close()

    asyncio.run(run())
    assert holds.order == ["begun on a", *(["ended", "begun on a"] * PAUSES)]
    assert read_birth(directory).places[0] == ids(machines)["a"]


@pytest.mark.parametrize(
    ("sizes", "copies"),
    [
        ([50 << 20, 3000, 9], 2),  # little is left
        ([50 << 20, 20 << 20, 9 << 20, 4 << 20, 2 << 20, 5], 6),  # each time less
        ([50 << 20] + [9 << 20] * 9, 5),  # it grows as fast as it is copied
    ],
)
def test_copies_are_made_until_little_is_left_or_it_no_longer_gets_less(wide, sizes, copies):
    directory, machines = wide
    holds, said, made = Crawling(machines), list[str](), list[int]()

    async def run() -> None:
        moves, transfer = moves_of(directory, machines, holds, said)
        holds.begin()
        copy = transfer.copy

        async def counted(move: PartMove, see: object) -> int:
            made.append(await copy(move, lambda: None))
            return sizes[len(made) - 1]

        transfer.copy = counted  # type: ignore[method-assign]
        order(directory, 0, "c")
        assert (await over(moves, directory)).error == ""
        await moves.close()

    asyncio.run(run())
    assert len(made) == copies


def test_after_a_removal_another_machine_is_sent_only_the_pieces_that_differ(wide, tmp_path, monkeypatch):
    monkeypatch.setattr(backup, "PIECE_BYTES", 4096)
    part, goal, sent = tmp_path / "a" / "part-0", tmp_path / "goal", 0
    (part / "archive").mkdir()
    archive = part / "archive" / "evercrawl-1-0.warc.gz"
    archive.write_bytes(os.urandom(200_000))
    (part / "orders.jsonl").write_bytes(os.urandom(50_000))
    lent = Lending(tmp_path / "a", 0)

    def ask(asked: FilesAsked) -> None:
        nonlocal sent
        told = FilesTold(asked.id, lent.told(asked))
        sent += len(told.data)
        files.hear(told)

    files = RemoteFiles(ask)
    bring_part(files, "there", goal, lambda: None)
    assert sent > 250_000
    data = bytearray(archive.read_bytes())
    data[90_000:90_100] = bytes(100)
    archive.write_bytes(data)
    (part / REMOVED).write_bytes(b"1")
    sent = 0
    copied = bring_part(files, "there", goal, lambda: None)
    assert (goal / "archive" / archive.name).read_bytes() == data
    assert 4096 <= copied < 20_000
    assert sent < 100_000, "the piece, and ends of files"
    lent.close()


def test_a_pause_on_one_machine_is_broken_off_and_made_up_for_too(begun_here, tmp_path):
    here = begun_here
    rests, told = list[str](), list[str]()

    class Holding:
        async def rest(self, number: int) -> None:
            rests.append("ended")
            if len(rests) == 1:
                (here / "part-1" / "archive").mkdir(exist_ok=True)
                (here / "part-1" / REMOVED).write_bytes(b"1")

        async def resume(self, number: int) -> None:
            rests.append(f"begun in {part_directories(here)[number].parent.name}")

        def well(self, number: int) -> bool:
            return True

    async def run() -> None:
        moves = PartMoves(here, Holding(), told.append)
        (here / FILE).write_text(f'{{"id": "a", "number": 1, "goal": "{tmp_path / "new"}"}}')
        assert (await over(moves, here)).error == ""
        await moves.close()

    asyncio.run(run())
    assert rests == ["ended", "begun in wide", "ended", f"begun in {tmp_path.name}"]


def test_whoever_moves_a_partition_of_a_stopped_crawl_copies_everything_at_once(begun_here, tmp_path: Path):
    here = begun_here
    goal = tmp_path / "new"
    transfer.prepare(here, 1, goal)
    transfer.copy_part(here / "part-1", goal, lambda: None)
    (here / "part-1" / "archive").mkdir(exist_ok=True)
    (here / "part-1" / REMOVED).write_bytes(b"1")
    with pytest.raises(LagsError):
        transfer.finish(here, 1, goal, lambda: None, soon=True)
    assert part_directories(here)[1] == here / "part-1"
    transfer.finish(here, 1, goal, lambda: None)
    assert part_directories(here)[1] == goal
