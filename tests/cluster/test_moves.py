"""A partition moves to another directory, while the crawl runs and while it does not."""

import asyncio
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

import msgspec
import pytest

from evercrawl.cli.main import main
from evercrawl.cli.verbs.steering import moving as steered
from evercrawl.cluster import coordinator
from evercrawl.cluster.birth import (
    ClusterBirth,
    drop_goal,
    next_life,
    note_goal,
    part_directories,
    read_birth,
    write_birth,
)  # fmt: skip
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.moving import folder_transfer, order, transfer
from evercrawl.cluster.moving.folder_transfer import move_part
from evercrawl.cluster.moving.order import FILE, PartMove, read_move
from evercrawl.cluster.moving.part_moves import PartMoves
from evercrawl.cluster.questions import owner
from evercrawl.config import Config
from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.progress import Limits
from evercrawl.simulate.parted.reached import reached
from evercrawl.store.backups.backup import MOVING, backup
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.leaving import LeavingError
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.moved import MOVED
from evercrawl.store.orders import CrawlOrder, append, named
from evercrawl.store.partition import Partition
from tests.cluster.played import Played, PlayedLauncher, seen


def test_a_partition_moves_while_it_crawls_and_again_when_it_does_not(served):
    goal, elsewhere = served.folder / "disk" / "part-1", served.folder / "part-1"
    goal.parent.mkdir()
    crawl = served.start("--partitions", "2", "--quiet", "--rate", "4")  # so that pages are left after the move
    old = served.directory / "part-1"
    while not (old / "crawl.json").is_file() or len(served.server.asked) < 8:
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
    moved = json.loads(served.run("move", "1", str(goal), "--dir", str(served.directory), "--json").stdout)
    assert (moved["from"], moved["to"]) == (str(old), str(goal))
    assert moved["copied_bytes"] > 0 < moved["pause_s"] < 20
    assert crawl.poll() is None
    shutil.rmtree(old)
    before = set(served.server.asked)

    def of_moved() -> list[str]:
        """Return the pages of the moved partition that were requested since."""
        asked = (url for url in list(served.server.asked) if url not in before and not url.endswith("/robots.txt"))
        return [url for url in asked if owner(served.directory, url) == 1]

    while not of_moved():
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
    crawl.terminate()
    out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, out + err
    assert part_directories(served.directory)[1] == goal

    said = served.run("move", "1", str(elsewhere), "--dir", str(served.directory)).stdout
    assert f"partition 1 is in {elsewhere}" in said
    shutil.rmtree(goal)
    again = served.start("--pages", "10", "--quiet", seed=False)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, out + err
    found = served.read()
    assert found.wrong == []
    assert set(found.visited) <= reached(served.server.web, served.server.seed)
    assert 1 in {number for parts in found.visited.values() for number in parts}, "what was moved has what it visited"
    assert not old.exists()
    served.run("search", "frontier", "--dir", str(served.directory))


def test_what_cannot_be_moved_is_refused_and_nothing_is_written(tmp_path):
    directory = tmp_path / "wide"
    directory.mkdir()
    write_birth(directory, ClusterBirth(1, "crawl", 2, "00" * 16, 0))
    (directory / "part-1").mkdir()

    def refused(number: int, goal: Path) -> str:
        with pytest.raises(ConfigError) as caught:
            move_part(directory, number, goal, lambda said: None)
        return str(caught.value)

    assert "the last is 1" in refused(2, tmp_path / "new")
    assert "is its disk mounted?" in refused(0, tmp_path / "new")
    assert "none is not there; make it first" in refused(1, tmp_path / "none" / "new")
    assert "has a partition of this crawl" in refused(1, directory / "part-0")
    write_birth(directory, ClusterBirth(1, "crawl", 2, "00" * 16, 0, places=["a", "b"]))
    assert "Ray" in refused(1, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert read_birth(directory).homes == {}


@pytest.fixture
def wide(begun_here):
    return begun_here


def test_a_partition_in_which_something_is_being_forgotten_is_not_moved_meanwhile(wide, tmp_path):
    with Lock.take(wide / "part-1", "evercrawl forget", 1e9), pytest.raises(StoreError, match="evercrawl forget"):
        move_part(wide, 1, tmp_path / "new", lambda said: None)
    assert read_birth(wide).homes == {}
    (wide / "part-1" / "cookies.json").write_text("{}")
    move_part(wide, 1, tmp_path / "new", lambda said: None)
    assert part_directories(wide)[1] == tmp_path / "new"
    assert (tmp_path / "new" / "cookies.json").is_file()


def test_an_order_given_during_a_move_goes_along_or_waits_for_the_new_place(wide, tmp_path, monkeypatch, capsys):
    """Given before the last copy it is copied; given later it is written to the new directory, and to no other."""
    old, new, copied, waiting = wide / "part-1", tmp_path / "new", list[str](), threading.Event()
    (wide / "part-0").mkdir()
    Partition(wide / "part-0", os.urandom, now=1e9, secret=bytes(16), share=read_birth(wide).share(0)).close()
    (wide / "crawl.toml").write_text("")
    copy = transfer.copy_part

    def copying(source: Path, goal: Path, see: Callable[[], None]) -> int:
        found = copy(source, goal, see)
        with pytest.raises(LeavingError, match="is being moved"):
            append(source, [named(CrawlOrder("pause"), 1.0, "late")])
        giving = threading.Thread(target=lambda: copied.append(str(main(["boost", "/x/", "--dir", str(wide)]))))
        giving.start()
        assert waiting.wait(60)
        copied.append("moved")
        monkeypatch.setattr(steered, "LOOK_S", 0.0)
        return found

    def said(words: str, stream: TextIO) -> str:
        waiting.set()
        return words

    monkeypatch.setattr(transfer, "copy_part", copying)
    monkeypatch.setattr(steered, "fit", said)
    append(old, [named(CrawlOrder("pause"), 1.0, "early")])
    move_part(wide, 1, new, lambda said: None)
    while len(copied) < 2:
        time.sleep(0.01)
    assert copied == ["moved", "0"]
    assert "waiting: the partition is being moved" in capsys.readouterr().err
    assert '"late"' not in (old / "orders.jsonl").read_text()
    assert "boost" not in (old / "orders.jsonl").read_text()
    given = (new / "orders.jsonl").read_text().splitlines()
    assert ["early" in given[0], "boost" in given[1], len(given)] == [True, True, 2]
    assert "boost" in (wide / "part-0" / "orders.jsonl").read_text()


def test_a_partition_is_moved_to_no_place_that_has_something_already(wide, tmp_path):
    keeper = tmp_path / "keeper"
    (keeper / "crawl").mkdir(parents=True)
    (wide / "crawl.toml").write_text(f'[store]\nkeeper_dir = "{keeper}"')
    (tmp_path / "link").symlink_to(wide / "part-1")
    earlier, empty = tmp_path / "earlier", tmp_path / "empty"
    backup(wide / "part-1", earlier, 1e9)
    empty.mkdir()
    (tmp_path / "above").mkdir()
    write_birth(wide, msgspec.structs.replace(read_birth(wide), homes={0: str(tmp_path / "above" / "part-0")}))
    (tmp_path / "above" / "part-0").mkdir()
    cases = {
        wide / "part-1" / "new": "is in or above",
        tmp_path / "link" / "new": "is in or above",
        wide / "new": "is in or above",
        wide / "part-0": "is in or above",
        tmp_path / "above": "is in or above",
        keeper / "crawl" / "part-1": "second copies",
        earlier: "is not empty",
    }
    for goal, why in cases.items():
        with pytest.raises(ConfigError, match=why):
            move_part(wide, 1, goal, lambda said: None)
    assert list(read_birth(wide).homes) == [0]
    move_part(wide, 1, empty, lambda said: None)
    assert not (empty / MOVING).exists()
    shutil.rmtree(wide / "part-1")
    move_part(wide, 1, wide / "part-1", lambda said: None)
    assert part_directories(wide)[1] == wide / "part-1"


def test_a_move_that_was_broken_off_is_gone_on_with_and_no_other(wide, tmp_path, monkeypatch):
    def fail(*whatever: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(transfer, "write_birth", fail)
        with pytest.raises(StoreError, match="full"):
            move_part(wide, 1, tmp_path / "new", lambda said: None)
    (wide / "part-0").mkdir()
    with pytest.raises(ConfigError, match="not empty"):
        move_part(wide, 0, tmp_path / "new", lambda said: None)
    move_part(wide, 1, tmp_path / "new", lambda said: None)
    assert part_directories(wide)[1] == tmp_path / "new"


def test_the_directory_from_which_a_partition_was_moved_opens_no_more_and_names_the_new_one(wide, tmp_path, capsys):
    old, new, before = wide / "part-1", tmp_path / "new", read_birth(wide)
    move_part(wide, 1, new, lambda said: None)
    for verb in (["status"], ["forget", "http://a.example/"], ["pause"], ["crawl", "http://a.example/"]):
        assert main([*verb, "--dir", str(old)]) != 0
        assert f"was moved to {new}" in capsys.readouterr().err
    write_birth(wide, before)  # as of an old copy of it
    for opening in (lambda: opened(old), lambda: Partition(old, os.urandom, now=1e9), lambda: backup(old, new, 1e9)):
        with pytest.raises(ConfigError, match=f"was moved to {new}"):
            opening()
    opened(new).close()


def test_where_the_old_directory_cannot_be_marked_that_is_told(wide, tmp_path, monkeypatch):
    replace, told = RealDisk.replace, list[str]()

    def full(self, name, chunks, *, private=False) -> None:
        if name == MOVED:
            raise NoRoomError("no room")
        replace(self, name, chunks, private=private)

    monkeypatch.setattr(RealDisk, "replace", full)
    assert move_part(wide, 1, tmp_path / "new", told.append).done
    assert any("could not be marked" in said and "remove it" in said for said in told)


@pytest.mark.parametrize("left", ["nothing", "what was asked", "an error"])
def test_who_waits_for_a_move_looks_where_the_partition_is(wide, tmp_path, left):
    goal = tmp_path / "new"

    def looked(directory: Path) -> PartMove | None:
        move = read_move(directory)
        if move is not None:
            write_birth(directory, msgspec.structs.replace(read_birth(directory), homes={1: move.goal}))
            lock.release()
            move = msgspec.structs.replace(move, error="disk", done=True) if left == "an error" else move
        return None if left == "nothing" else move

    with pytest.MonkeyPatch.context() as patched, Lock.take(wide, "evercrawl crawl", 1e9) as lock:
        patched.setattr(order, "read_move", looked)
        moved = move_part(wide, 1, goal, lambda said: None)
    assert moved.done
    assert not moved.error


def test_who_is_killed_before_the_old_directory_is_marked_has_it_marked_by_whoever_comes_next(
    wide, tmp_path, monkeypatch
):
    old, new, said = wide / "part-1", tmp_path / "new", list[str]()

    def killed(directory: Path) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(transfer, "mark_left", killed)
        with pytest.raises(KeyboardInterrupt):
            move_part(wide, 1, new, said.append)
    assert part_directories(wide)[1] == new
    assert not (old / MOVED).exists()
    PartMoves(wide, Nobody(), said.append)
    with pytest.raises(ConfigError, match=f"was moved to {new}"):
        opened(old)
    assert read_birth(wide).left == {}
    opened(new).close()
    write_birth(wide, msgspec.structs.replace(read_birth(wide), left={str(old): 1, str(tmp_path / "removed"): 1}))
    PartMoves(wide, Nobody(), said.append)  # it says so already
    assert read_birth(wide).left == {str(tmp_path / "removed"): 1}
    assert said == []


def test_a_move_that_was_killed_once_the_partition_was_in_its_new_place_is_ended_by_the_same_command(
    wide, tmp_path, monkeypatch, capsys
):
    old, new = wide / "part-1", tmp_path / "new"

    def killed(directory: Path) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(transfer, "mark_left", killed)
        with pytest.raises(KeyboardInterrupt):
            move_part(wide, 1, new, lambda said: None)
    for _ in range(2):
        assert main(["move", "1", str(new), "--dir", str(wide)]) == 0
        assert capsys.readouterr().out == f"partition 1 is in {new} already\n"
        with pytest.raises(ConfigError, match=f"was moved to {new}"):
            opened(old)
    opened(new).close()
    with Lock.take(wide, "evercrawl crawl", 1e9):
        assert move_part(wide, 1, new, lambda said: None).done
    assert main(["move", "0", str(new), "--dir", str(wide)]) == 2


def test_nothing_is_marked_that_is_of_another_crawl(wide, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    Partition(other, os.urandom, now=1e9).close()
    write_birth(wide, msgspec.structs.replace(read_birth(wide), left={str(other): 1}))
    PartMoves(wide, Nobody(), print)
    opened(other).close()


def test_who_waits_for_a_move_does_not_wait_for_a_process_that_hangs(wide, tmp_path, monkeypatch):
    def silent(directory: Path) -> None:
        raise StoreError("the process that runs the crawl (7) has not answered for 7 s")

    monkeypatch.setattr(order, "part_states", silent)
    monkeypatch.setattr(order, "ASKED_S", 0.02)
    monkeypatch.setattr(order, "HUNG_S", 0.05)
    monkeypatch.setattr(order, "LOOK_S", 0.01)
    with Lock.take(wide, "evercrawl crawl", 1e9), pytest.raises(StoreError, match=r"has not answered.*move it again"):
        move_part(wide, 1, tmp_path / "new", lambda said: None)


def test_an_error_that_nobody_foresaw_ends_the_move_and_another_can_be_made(wide, tmp_path, monkeypatch):
    said = list[str]()

    async def go() -> None:
        moves = PartMoves(wide, Nobody(), said.append)
        for patch in (True, False):
            with pytest.MonkeyPatch.context() as patched:
                if patch:
                    patched.setattr(folder_transfer, "prepare", lambda *_: 1 / 0)
                ask(wide, tmp_path / "new")
                moves.turn()
                async with asyncio.timeout(5):
                    while not read_move(wide).done:  # noqa: ASYNC110 - it is the task beside that changes it
                        await asyncio.sleep(0.01)
                await asyncio.sleep(0)
        await moves.close()

    asyncio.run(go())
    assert said[0] == "partition 1 was not moved: ZeroDivisionError: division by zero"
    assert f"is in {tmp_path / 'new'}" in said[1]


def test_while_the_rest_is_copied_no_process_is_there_and_the_next_begins_in_the_new_place(wide, tmp_path, monkeypatch):
    """The order at the end of a move: the process ends, the rest is copied, that is written down, another begins."""
    new, order = tmp_path / "new", list[str]()
    launcher = PlayedLauncher(wide)
    whole, write = transfer.copy_part, transfer.write_birth

    def processes() -> int:
        return sum(each.number == 1 and not each.killed.is_set() for each in launcher.processes)

    def copied(source: Path, goal: Path, see: Callable[[], None]) -> int:
        order.append(f"copied beside {processes()}")
        return whole(source, goal, see)

    def written(directory: Path, birth: ClusterBirth) -> None:
        if birth.homes and "written" not in order:
            assert processes() == 0
            order.append("written")
        write(directory, birth)

    def began(process: Played) -> None:
        if process.number == 1:
            order.append(f"began in {part_directories(wide)[1].name}")

    async def run() -> None:
        stop = asyncio.Event()
        one = Coordinator(wide, read_birth(wide), Config(), (), Limits(), lambda _: None, launcher)
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(launcher.processes) == 2 and all(each.heard for each in launcher.processes))
        ask(wide, new)
        await seen(lambda: len(launcher.processes) == 3 and read_move(wide).done)
        assert not launcher.processes[0].killed.is_set()  # the other goes on
        assert launcher.lives == [1, 2, 3]
        stop.set()
        await running

    launcher.prepare = began
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)
    monkeypatch.setattr(coordinator, "LAST_WORDS_S", 0.05)
    monkeypatch.setattr(transfer, "copy_part", copied)
    monkeypatch.setattr(folder_transfer, "copy_part", copied)
    monkeypatch.setattr(transfer, "write_birth", written)
    asyncio.run(run())
    assert order == ["began in part-1", "copied beside 1", "copied beside 0", "written", "began in new"]


class Nobody:
    """Holds no processes."""

    async def rest(self, number: int) -> None:
        pass

    async def resume(self, number: int) -> None:
        pass

    def well(self, number: int) -> bool:
        return True


def ask(wide: Path, goal: Path) -> None:
    (wide / FILE).write_bytes(msgspec.json.encode(PartMove("a", 1, str(goal))))


def test_who_stops_the_crawl_breaks_a_move_off_within_a_round(wide, tmp_path, monkeypatch):
    said, copied, whole = list[str](), list[str](), transfer.bring

    def watched(files: object, where: str, goal: Path, now: float, watch: Callable[[str, int, int], None]) -> object:
        def seen(name: str, done: int, total: int) -> None:
            copied.append(name)
            watch(name, done, total)

        return whole(files, where, goal, now, seen)

    async def go() -> None:
        moves = PartMoves(wide, Nobody(), said.append)
        ask(wide, tmp_path / "new")
        moves.turn()
        await moves.close()

    monkeypatch.setattr(transfer, "bring", watched)
    asyncio.run(go())
    assert len(copied) == 1
    assert said == ["partition 1 was not moved: the crawl ended"]
    assert read_birth(wide).homes == {}


def test_no_room_for_what_became_of_a_move_ends_the_move_and_not_the_crawl(wide, tmp_path, monkeypatch):
    said, replace = list[str](), RealDisk.replace

    def full(disk: RealDisk, name: str, chunks: Iterable[bytes], *, private: bool = False) -> None:
        if name == FILE:
            raise NoRoomError("the disk is full")
        replace(disk, name, chunks, private=private)

    async def go() -> None:
        over = asyncio.Event()

        def tell(sentence: str) -> None:
            said.append(sentence)
            if len(said) == 2:
                over.set()

        moves = PartMoves(wide, Nobody(), tell)
        ask(wide, tmp_path / "new")
        moves.turn()
        await over.wait()
        await moves.close()

    monkeypatch.setattr(RealDisk, "replace", full)
    asyncio.run(go())
    assert "cannot be saved: the disk is full" in said[0]
    assert f"is in {tmp_path / 'new'}" in said[1]
    assert not (wide / FILE).exists()


def test_what_threads_change_in_one_description_is_never_lost(wide):
    def goals() -> None:
        for number in range(20):
            note_goal(wide, 0, f"{number}")
            drop_goal(wide, 0, f"{number}")

    thread = threading.Thread(target=goals)
    thread.start()
    lives = [next_life(wide) for _ in range(40)]
    thread.join()
    assert lives == list(range(1, 41))
    assert read_birth(wide).goals == {}
