"""Second copies on the disks of other machines: folders stand for these, and the keepers' side is the shipped one."""

import asyncio
import errno
import shutil
import socket
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from evercrawl.cluster import coordinator, part, wire
from evercrawl.cluster.birth import ClusterBirth, WholeCopy, read_birth, write_birth
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.copies import keeper_main, keeper_process, node_copies, restoring_part
from evercrawl.cluster.copies.node_copies import NodeCopies
from evercrawl.cluster.copies.node_keeper import NodeKeeper
from evercrawl.cluster.copies.restoring_part import PartGoneError, settle_lost
from evercrawl.cluster.plan import PartPlan
from evercrawl.cluster.wire import CopyAnswered, CopyAsked, CopyWhole, Frame
from evercrawl.config import Config
from evercrawl.crawl.posting.membership import Membership
from evercrawl.errors import ConfigError, NoRoomError, StoreError
from evercrawl.progress import Limits, Progress
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.keeper import restoring
from evercrawl.store.keeper.copy import KeeperCopy
from evercrawl.store.keeper.messages import (
    CopyOwner,
    FileWrite,
    KeeperAnswer,
    KeeperAsk,
    KeeperDone,
    KeeperHolds,
    KeeperRefusal,
    KeeperStep,
)
from evercrawl.store.keeper.restoring import LINE_FILE
from tests.cluster.folder_machines import FolderMachines
from tests.cluster.played import Played, seen

KEPT, DISK = Config(durable="keeper", lost_after_s=10.0), Config(lost_after_s=10.0)


def a_plan(launcher: FolderMachines, number: int, life: int) -> PartPlan:
    return PartPlan(launcher.directory(number), launcher.birth.share(number), b"", life, Config(), ())


def a_partition(directory: Path, line: int = 0) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "crawl.json").write_text("{}")
    if line:
        (directory / LINE_FILE).write_text(str(line))


def test_a_question_goes_through_the_coordinator_to_another_disk_and_the_answer_comes_back(machines):
    directory, launcher = machines

    async def run() -> None:
        copies = NodeCopies(directory, launcher.birth, launcher, print)
        assert copies.missing(0, "", KEPT) == ""
        plan = copies.planned(a_plan(launcher, 0, 3), KEPT)
        other = launcher.birth.places[1]
        assert other in plan.keeper
        frames = list[Frame]()

        def write(frame: Frame) -> None:
            frames.append(frame)
            if isinstance(frame, CopyAsked):
                copies.ask(0, frame)

        keeper = NodeKeeper(0, 3, plan.keeper, write)
        copies.say = lambda number, frame: keeper.hear(frame)
        copies.turn(KEPT)
        await seen(lambda: len(launcher.kept) == 1)
        await asyncio.sleep(0.02)
        owner = CopyOwner("c", 0, 0, 3)
        copies.ask(0, CopyAsked(1, 9, b""))  # of another partition
        keeper.hear(CopyAnswered(0, 77, b"late"))
        holds = await keeper.ask(KeeperAsk(owner))
        assert isinstance(holds, KeeperHolds)
        step = KeeperStep(owner, holds.session, 1, [FileWrite("journal-0000000000000000.log", 0, b"abc")], [], True)
        assert (await keeper.ask(step), keeper.whole) == (KeeperDone(holds.session, 1), True)
        assert (launcher.there[other].copy(0) / "journal-0000000000000000.log").read_bytes() == b"abc"
        assert frames[-1] == CopyWhole()
        copies.caught_up(0)
        assert read_birth(directory).copies == {0: WholeCopy(other, 3)}
        launcher.kept[0].kill()  # another process takes its place
        await seen(lambda: len(launcher.kept) == 2 or copies.turn(KEPT) != [])
        await copies.close()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(keeper_process, "AGAIN_S", 0.0)
        asyncio.run(run())


def a_copy(place: Path, number: int, life: int) -> None:
    """Let a life write a whole copy."""
    place.mkdir(parents=True, exist_ok=True)
    keeper, owner = KeeperCopy(RealDisk(place)), CopyOwner("c", number, 0, life)
    assert isinstance(keeper.answer(KeeperAsk(owner)), KeeperHolds)
    keeper.answer(KeeperStep(owner, 1, 1, [FileWrite("crawl.json", -1, b"x")], whole=True))


@pytest.fixture
def kept(machines):
    """Return a crawl whose partition 0 has a whole copy on the other disk, of life 3."""
    directory, launcher = machines
    other = launcher.birth.places[1]
    a_copy(launcher.there[other].copy(0), 0, 3)
    now = msgspec.structs.replace(
        read_birth(directory), lives=8, begun=[0, 1], keepers={0: other}, copies={0: WholeCopy(other, 3)}
    )
    write_birth(directory, now)
    launcher.birth = read_birth(directory)
    return directory, launcher


async def looked(copies: NodeCopies, settings: Config, said: str = "it waits") -> str:
    """Return why partition 0 cannot be begun, once its second copy was looked at."""
    async with asyncio.timeout(5):
        while (why := copies.missing(0, said, settings)).endswith("is being checked"):
            copies.turn(settings)
            await asyncio.sleep(0.01)
    return why


def test_a_partition_whose_disk_is_lost_goes_on_where_its_copy_is_and_gets_another_keeper(kept, tmp_path):
    directory, launcher = kept
    birth, told, (mine, other) = launcher.birth, list[str](), list(launcher.birth.places)
    now = 0.0

    async def run() -> None:
        nonlocal now
        copies = NodeCopies(directory, birth, launcher, told.append, lambda: now)
        gone = launcher.there.pop(mine)
        assert copies.missing(0, "it waits", KEPT) == "it waits"  # it may come back
        now += 10.0
        assert "waits for another machine that can hold its second copy" in await looked(copies, KEPT)
        assert "is lost with the disk" in told[0]
        assert (birth.places, read_birth(directory).places) == ([other, other], [mine, other])
        third = launcher.add(tmp_path / "third")
        assert copies.missing(0, "", KEPT) == ""
        plan = copies.planned(a_plan(launcher, 0, 10), KEPT)  # life 9 is a keeper's
        assert (plan.kept, plan.since, plan.line, plan.begun) == (launcher.there[other].copy(0), 3, 10, True)
        assert third in plan.keeper
        assert copies.planned(a_plan(launcher, 1, 9), Config()).keeper == ""
        copies.caught_up(0)
        assert (read_birth(directory).places, read_birth(directory).lines) == ([other, other], {0: 10})
        launcher.there[mine] = gone  # too late
        assert copies.missing(0, "", KEPT) == ""
        assert copies.planned(a_plan(launcher, 0, 11), KEPT).kept is None
        del launcher.there[third]
        assert copies.turn(KEPT) == []
        now += 10.0
        assert copies.turn(KEPT) == [0]
        assert copies.missing(0, "", KEPT) == ""
        assert read_birth(directory).keepers[0] == mine
        assert read_birth(directory).copies == {0: WholeCopy(third, 10)}  # nothing counts before another is whole
        await copies.close()

    asyncio.run(run())


def test_a_partition_stays_where_it_was_until_it_is_heard_from_its_copy(kept, tmp_path):
    """The disk comes back: before anything was begun elsewhere, and after the process there has failed."""
    directory, launcher = kept
    birth, told, (mine, other) = launcher.birth, list[str](), list(launcher.birth.places)
    now = 0.0

    async def run() -> None:
        nonlocal now
        copies = NodeCopies(directory, birth, launcher, told.append, lambda: now)
        copies.caught_up(1)  # of another partition, which has no keeper
        for planned in (False, True):
            gone = launcher.there.pop(mine)
            copies.missing(0, "it waits", DISK)
            now += 10.0
            assert await looked(copies, DISK) == ""
            assert birth.places == [other, other]
            assert read_birth(directory).places == [mine, other]
            if planned:
                assert copies.planned(a_plan(launcher, 0, 10), DISK).line == 10
                assert copies.lost(0)  # it could not be opened there: the copy is looked at anew
                assert copies.missing(0, "", DISK).endswith("is being checked")
                assert await looked(copies, DISK, "") == ""
            launcher.there[mine] = gone
            copies.turn(DISK)
            assert copies.missing(0, "", DISK) == ""
            assert "which is back" in told[-1]
            assert birth.places == [mine, other]
            assert copies.planned(a_plan(launcher, 0, 10), DISK).line == 0
        assert read_birth(directory).lines == {}
        assert copies.lost(0)  # its directory is gone, and the disk is there
        assert await looked(copies, DISK, "") == ""
        assert copies.missing(0, "", DISK) == ""
        assert birth.places == [other, other]
        copies.planned(a_plan(launcher, 0, 11), DISK)
        copies.begun(0)
        assert read_birth(directory).places == [other, other]
        assert copies.missing(0, "", DISK) == ""
        await copies.close()

    asyncio.run(run())


def test_a_partition_whose_copy_cannot_be_opened_is_where_it_was_and_that_is_said(kept, monkeypatch):
    directory, launcher = kept
    now, (mine, other) = 0.0, list(launcher.birth.places)
    place = launcher.there[other].copy(0)
    place.rename(place.with_name("away"))
    reads = list[Path]()

    def hindrance(place: Path, directory: Path, life: int) -> str:
        reads.append(place)
        time.sleep(0.05)
        return restoring.hindrance(place, directory, life)

    monkeypatch.setattr(keeper_main, "hindrance", hindrance)

    async def run() -> None:
        nonlocal now
        copies = NodeCopies(directory, launcher.birth, launcher, print, lambda: now)
        del launcher.there[mine]
        copies.missing(0, "it waits", DISK)
        now += 10.0
        copies.missing(0, "it waits", DISK)
        copies.turn(DISK)
        await seen(lambda: copies.missing(0, "it waits", DISK) == "" or bool(reads))
        now += node_copies.ASK_AGAIN_S  # it is asked again, and looks once
        assert "cannot continue from its second copy" in (why := await looked(copies, DISK))
        assert why.endswith("it is missing")
        assert (launcher.birth.places, read_birth(directory).places) == ([mine, other], [mine, other])
        place.with_name("away").rename(place)
        now += node_copies.LOOK_AGAIN_S
        assert await looked(copies, DISK) == ""
        assert reads == [place, place]
        await copies.close()

    asyncio.run(run())


def test_what_fails_while_a_copy_is_opened_is_tried_elsewhere_or_again(kept, monkeypatch):
    _, launcher = kept
    place = launcher.there[launcher.birth.places[1]].copy(0)

    def full(*_: object) -> int:
        raise NoRoomError("the disk is full")

    monkeypatch.setattr(restoring_part, "restore_copy", full)
    with pytest.raises(PartGoneError, match=r"cannot be restored from its second copy .* the disk is full"):
        settle_lost(replace(a_plan(launcher, 0, 9), kept=place, since=3), print)


def beside(launcher: FolderMachines, disk: str) -> ClusterBirth | None:
    """Return what is beside the copies on a disk."""
    copies = launcher.there[disk].root / "copies"
    return read_birth(copies) if (copies / "cluster.json").is_file() else None


def test_keepers_hold_what_a_crawl_needs_to_go_on_without_the_disk_of_its_directory(kept):
    directory, launcher = kept
    other = launcher.birth.places[1]
    (directory / "crawl.toml").write_text("delay_s = 2.0\n")

    async def run() -> None:
        copies = NodeCopies(directory, launcher.birth, launcher, print)
        assert copies.missing(0, "", KEPT) == ""
        copies.planned(a_plan(launcher, 0, 9), KEPT)
        copies.turn(KEPT)
        await seen(lambda: beside(launcher, other) == read_birth(directory))
        held = launcher.there[other].root / "copies"
        assert [(held / name).stat().st_mode & 0o77 for name in ("cluster.json", "crawl.toml")] == [0, 0]
        assert (held / "crawl.toml").read_text() == "delay_s = 2.0\n"
        copies.caught_up(0)  # at once: letters leave now
        await seen(lambda: beside(launcher, other).copies == {0: WholeCopy(other, 9)})
        write_birth(directory, msgspec.structs.replace(read_birth(directory), lives=40))
        copies.ask(0, CopyAsked(0, 1, msgspec.msgpack.encode(KeeperAsk(CopyOwner("c", 0, 0, 40)))))
        await seen(lambda: b"0,40]" in (held / "part-0" / "keeper.json").read_bytes())
        assert beside(launcher, other).lives == 40  # before: no life has written that is not known there
        (directory / "crawl.toml").unlink()
        (directory / "crawl.toml").write_text("delay_s = 3.0\n")
        copies.turn(KEPT)
        await seen(lambda: (held / "crawl.toml").read_text() == "delay_s = 3.0\n")
        await copies.close()
        again = NodeCopies(held, read_birth(held), launcher, print)
        assert again.planned(a_plan(launcher, 0, 41), DISK).since is None  # the copy is elsewhere
        assert beside(launcher, other).copies == {0: WholeCopy(other, 9)}

    asyncio.run(run())


def test_a_crawl_does_not_go_on_from_less_than_keepers_hold(kept):
    directory, launcher = kept
    other = launcher.birth.places[1]
    held = launcher.there[other].root / "copies"
    write_birth(held, msgspec.structs.replace(read_birth(directory), lives=90))

    async def run() -> None:
        copies = NodeCopies(directory, launcher.birth, launcher, print)
        copies.planned(a_plan(launcher, 0, 9), KEPT)

        def refused() -> bool:
            try:
                copies.turn(KEPT)
            except StoreError as error:
                return "is older than the one beside the second copies" in str(error)
            return False

        await seen(refused)
        assert read_birth(held).lives == 90
        await copies.close()

    asyncio.run(run())


def test_what_a_keeper_cannot_write_beside_its_copies_is_written_later(kept):
    directory, launcher = kept
    other = launcher.birth.places[1]
    held = launcher.there[other].root / "copies"
    (held / "cluster.json").mkdir()

    async def run() -> None:
        copies = NodeCopies(directory, launcher.birth, launcher, print)
        copies.planned(a_plan(launcher, 0, 9), KEPT)
        ask = CopyAsked(0, 1, msgspec.msgpack.encode(KeeperAsk(CopyOwner("c", 0, 0, 9))))
        answers = list[CopyAnswered]()
        copies.say = lambda number, frame: answers.append(frame)
        copies.turn(KEPT)
        await seen(lambda: copies.ask(0, ask) or bool(answers))
        refusal = msgspec.msgpack.decode(answers[0].data, type=KeeperAnswer)
        assert isinstance(refusal, KeeperRefusal), "no life is held that cluster.json beside the copies does not know"
        assert "cluster.json cannot be written" in refusal.why
        (held / "cluster.json").rmdir()
        copies.ask(0, ask)
        await seen(lambda: beside(launcher, other) == read_birth(directory))
        await copies.close()

    asyncio.run(run())


def test_without_second_copies_one_counts_until_the_process_of_the_partition_says_something(kept):
    """So that a partition that is being opened from it can be opened again."""
    directory, launcher = kept
    now, (mine, other) = 0.0, list(launcher.birth.places)

    async def run() -> None:
        nonlocal now
        copies = NodeCopies(directory, launcher.birth, launcher, print, lambda: now)
        del launcher.there[mine]
        assert copies.missing(0, "it waits", DISK) == "it waits"
        now += 10.0
        assert await looked(copies, DISK) == ""
        for life in (9, 10):  # the first one was killed
            plan = copies.planned(a_plan(launcher, 0, life), DISK)
            assert (plan.kept, plan.since, plan.keeper) == (launcher.there[other].copy(0), 3, "")
            assert read_birth(directory).copies == {0: WholeCopy(other, 3)}
        copies.caught_up(1)  # it has none
        copies.begun(0)
        assert read_birth(directory).copies == {}  # it lacks what counts from now on
        copies.turn(DISK)
        await seen(lambda: beside(launcher, other) == read_birth(directory))
        assert copies.planned(a_plan(launcher, 0, 11), DISK).kept is None
        await copies.close()

    asyncio.run(run())


def test_a_process_without_second_copies_writes_none(tmp_path, monkeypatch):
    keepers = list[object]()

    async def no_crawl(*_: object, member: Membership, **__: object) -> None:
        keepers.append(member.keeper)

    async def run(settings: Config) -> None:
        ours, theirs = socket.socketpair()
        with ours:
            share = ClusterBirth(1, "c", 2, "00" * 16, 0).share(0)
            await part.attend(PartPlan(tmp_path, share, b"", 3, settings, (), kept=tmp_path / "copy"), theirs)

    monkeypatch.setattr(part, "crawl", no_crawl)
    asyncio.run(run(DISK))
    asyncio.run(run(KEPT))
    assert [keeper is None for keeper in keepers] == [True, False]


def test_a_disk_that_was_away_twice_for_a_moment_is_not_lost(machines):
    directory, launcher = machines
    now, mine = 0.0, launcher.birth.places[0]
    launcher.birth.copies[0] = WholeCopy(launcher.birth.places[1], 3)
    copies = NodeCopies(directory, launcher.birth, launcher, print, lambda: now)
    for _ in range(3):
        disk = launcher.there.pop(mine)
        assert copies.missing(0, "it waits", DISK) == "it waits"
        now += 6.0
        launcher.there[mine] = disk
        copies.turn(DISK)


@pytest.mark.parametrize("first", ["mail", "report"])
def test_what_a_process_says_has_no_effect_before_it_is_noted_that_it_said_something(machines, monkeypatch, first):
    directory, launcher = machines
    order = list[str]()

    class Noting(NodeCopies):
        def begun(self, number: int) -> None:
            order.append(f"noted {number}")

    def packed(frame: wire.Frame) -> bytes:
        order.append(f"{type(frame).__name__}")
        return wire.packed(frame)

    def prepare(process: Played) -> None:
        process.mails = 1 if process.number == 0 and first == "mail" else None
        process.reports = process.mails is None

    async def run() -> None:
        stop = asyncio.Event()
        copies = Noting(directory, launcher.birth, launcher, print)
        one = Coordinator(directory, launcher.birth, Config(), (), Limits(), lambda _: None, launcher, copies)
        running = asyncio.ensure_future(one.run(stop))
        what = "Mailed" if first == "mail" else "LeaveGiven"
        await seen(lambda: what in order)
        assert launcher.looks
        assert "noted 0" in order[: order.index(what)] or "noted 1" in order[: order.index(what)]
        stop.set()
        for process in launcher.processes:
            process.kill()
        await running

    monkeypatch.setattr(coordinator, "packed", packed)
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    launcher.prepare = prepare
    asyncio.run(run())


def test_what_is_on_its_disk_no_more_is_not_begun_anew_and_an_old_directory_is_set_aside(machines):
    _, launcher = machines
    plan, said = a_plan(launcher, 0, 7), list[str]()
    settle_lost(plan, said.append)  # a new one
    with pytest.raises(PartGoneError, match="is its disk mounted"):
        settle_lost(replace(plan, begun=True), said.append)
    a_partition(plan.directory, 6)
    settle_lost(replace(plan, begun=True, line=6), said.append)
    with pytest.raises(PartGoneError):
        settle_lost(replace(plan, begun=True, line=7), said.append)
    assert "was older than the second copy" in said[0]
    assert plan.directory.with_name("part-0-before-7").is_dir()


def test_a_coordinator_begins_a_lost_partition_elsewhere(machines, monkeypatch):
    """Two machines; one is gone with its disk, and a third comes."""
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)
    monkeypatch.setattr(coordinator, "LAST_WORDS_S", 0.05)
    monkeypatch.setattr(coordinator, "AGAIN_MOST_S", 0.02)
    directory, launcher = machines
    told, sentences = list[Progress](), list[str]()
    copies = NodeCopies(directory, launcher.birth, launcher, sentences.append, lambda: 200 * time.monotonic())

    async def run() -> None:
        stop = asyncio.Event()
        one = Coordinator(directory, launcher.birth, KEPT, (), Limits(), told.append, launcher, copies)
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(launcher.processes) == 2 and len(launcher.kept) == 2)
        for process in launcher.processes:
            process.kept = True
        await seen(lambda: len(read_birth(directory).copies) == 2)
        a_copy(launcher.there[launcher.birth.places[1]].copy(0), 0, 99)
        mine = launcher.birth.places[0]
        root = launcher.there.pop(mine).root
        launcher.processes[0].kill()
        while root.exists():  # its keeper may write there meanwhile
            shutil.rmtree(root, ignore_errors=True)
        await seen(lambda: launcher.birth.places[0] == launcher.birth.places[1])
        assert len(launcher.processes) <= 3
        launcher.add(directory.parent / "third")
        await seen(lambda: len({process.number for process in launcher.processes[2:]}) == 2)
        stop.set()
        await running

    asyncio.run(run())
    assert any("it continues from its second copy" in said for said in sentences)


def test_an_older_directory_that_cannot_be_set_aside_is_told(machines, monkeypatch):
    _, launcher = machines
    a_partition(launcher.directory(0))

    def busy(self: Path, target: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(Path, "rename", busy)
    with pytest.raises(ConfigError, match=r"cannot be set aside: .*busy; move it away"):
        restoring_part.settle_lost(replace(a_plan(launcher, 0, 9), line=5), print)
