"""Second copies on the disks of other machines: folders stand for these, and the keepers' side is the shipped one."""

import asyncio
import shutil
import socket
import time
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from evercrawl.cluster import coordinator, node_copies, part, wire
from evercrawl.cluster.birth import ClusterBirth, WholeCopy, read_birth, write_birth
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.disks import PartDisk, disk_here
from evercrawl.cluster.lost_part import PartGoneError, settle_lost
from evercrawl.cluster.node_copies import NodeCopies
from evercrawl.cluster.node_keeper import NodeKeeper, keep_copies
from evercrawl.cluster.plan import PartPlan
from evercrawl.cluster.wire import CopyAnswered, CopyAsked
from evercrawl.config import Config
from evercrawl.crawl.posting.membership import Membership
from evercrawl.progress import Limits, Progress
from evercrawl.store.keeper.messages import CopyOwner, FileWrite, KeeperAsk, KeeperDone, KeeperHolds, KeeperStep
from evercrawl.store.keeper.restoring import LINE_FILE
from tests.cluster.played import Played, PlayedLauncher, seen

KEPT, DISK = Config(durable="keeper", lost_after_s=10.0), Config(lost_after_s=10.0)


class KeepingProcess:
    """A process that holds copies, in this one."""

    gone = True

    def __init__(self, copies: Path) -> None:
        self.ours, theirs = socket.socketpair()
        copies.parent.mkdir(exist_ok=True)
        self.task = asyncio.ensure_future(keep_copies(copies, theirs))

    async def connected(self):
        return await asyncio.open_connection(sock=self.ours)

    async def ended(self) -> str:
        await asyncio.wait([self.task])
        return "ended"

    def kill(self) -> None:
        self.task.cancel()


class FolderMachines(PlayedLauncher):
    """Machines that are folders, of which some are there."""

    def __init__(self, folder: Path, birth: ClusterBirth, names: str) -> None:
        super().__init__(folder)
        self.birth, self.there, self.kept = birth, dict[str, PartDisk](), list[KeepingProcess]()
        for name in names:
            self.add(folder / name)

    def add(self, root: Path) -> str:
        root.mkdir()
        disk = disk_here(root, "c")
        self.there[disk.id] = disk
        return disk.id

    def missing(self, number: int) -> str:
        return "" if self.birth.places[number] in self.there else f"partition {number} waits"

    def directory(self, number: int) -> Path:
        return self.there[self.birth.places[number]].part(number)

    def disks(self) -> dict[str, PartDisk]:
        return self.there

    def keep(self, disk: str, life: int) -> KeepingProcess:
        self.kept.append(KeepingProcess(self.there[disk].copy(0).parent))
        return self.kept[-1]


@pytest.fixture
def machines(tmp_path):
    directory = tmp_path / "wide"
    directory.mkdir()
    birth = ClusterBirth(1, "c", 2, "00" * 16, 0, places=["", ""])
    launcher = FolderMachines(tmp_path, birth, "ab")
    birth.places[:] = sorted(launcher.there)
    write_birth(directory, birth)
    return directory, launcher


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
        keeper = NodeKeeper(0, plan.keeper, lambda frame: copies.ask(0, frame))
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
        copies.caught_up(0)
        assert read_birth(directory).copies == {0: WholeCopy(other, 3)}
        launcher.kept[0].kill()  # another process takes its place
        await seen(lambda: len(launcher.kept) == 2 or copies.turn(KEPT) != [])
        await copies.close()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(node_copies, "AGAIN_S", 0.0)
        asyncio.run(run())


def test_a_keeper_that_does_not_answer_is_asked_again(monkeypatch):
    monkeypatch.setattr("evercrawl.cluster.node_keeper.ANSWERED_S", 0.01)
    keeper = NodeKeeper(0, "there", lambda frame: None)
    assert asyncio.run(keeper.ask(KeeperAsk(CopyOwner("c", 0, 0, 3)))) is None


def test_a_partition_whose_disk_is_lost_goes_on_where_its_copy_is_and_gets_another_keeper(machines, tmp_path):
    directory, launcher = machines
    now, told, (mine, other) = 0.0, list[str](), launcher.birth.places
    write_birth(
        directory,
        msgspec.structs.replace(
            read_birth(directory), lives=8, begun=[0, 1], keepers={0: other}, copies={0: WholeCopy(other, 3)}
        ),
    )
    launcher.birth = birth = read_birth(directory)
    copies = NodeCopies(directory, birth, launcher, told.append, lambda: now)
    gone = launcher.there.pop(mine)
    assert copies.missing(0, "it waits", KEPT) == "it waits"  # it may come back
    now += 10.0
    assert "waits for another machine, which is to hold its second copy" in copies.missing(0, "it waits", KEPT)
    assert read_birth(directory).places == [other, other]
    assert "is lost with the disk" in told[0]
    third = launcher.add(tmp_path / "third")
    assert copies.missing(0, "", KEPT) == ""
    plan = copies.planned(a_plan(launcher, 0, 9), KEPT)
    assert (plan.kept, plan.since, plan.line, plan.begun) == (launcher.there[other].copy(0), 3, 9, True)
    assert third in plan.keeper
    assert copies.planned(a_plan(launcher, 1, 9), Config()).keeper == ""
    launcher.there[mine] = gone  # too late
    assert copies.missing(0, "", KEPT) == ""
    copies.caught_up(0)
    assert copies.planned(a_plan(launcher, 0, 10), KEPT).kept is None
    del launcher.there[third]
    assert copies.turn(KEPT) == []
    now += 10.0
    assert copies.turn(KEPT) == [0]
    assert copies.missing(0, "", KEPT) == ""
    assert read_birth(directory).keepers[0] == mine
    assert read_birth(directory).copies == {0: WholeCopy(third, 9)}  # nothing counts before another is whole


def test_without_second_copies_one_counts_until_the_process_of_the_partition_says_something(machines):
    """So that a partition that is being opened from it can be opened again."""
    directory, launcher = machines
    mine, other = launcher.birth.places
    write_birth(
        directory, msgspec.structs.replace(read_birth(directory), lives=8, begun=[0], copies={0: WholeCopy(other, 3)})
    )
    launcher.birth, now = read_birth(directory), 0.0
    copies = NodeCopies(directory, launcher.birth, launcher, print, lambda: now)
    del launcher.there[mine]
    assert copies.missing(0, "it waits", DISK) == "it waits"
    now += 10.0
    assert copies.missing(0, "it waits", DISK) == ""
    for life in (9, 10):  # the first one was killed
        plan = copies.planned(a_plan(launcher, 0, life), DISK)
        assert (plan.kept, plan.since, plan.keeper) == (launcher.there[other].copy(0), 3, "")
        assert read_birth(directory).copies == {0: WholeCopy(other, 3)}
    copies.caught_up(0)  # it has none
    copies.begun(0)
    assert read_birth(directory).copies == {}  # it lacks what counts from now on
    assert copies.planned(a_plan(launcher, 0, 11), DISK).kept is None


def test_a_process_without_second_copies_writes_none(tmp_path, monkeypatch):
    keepers = list[object]()

    async def no_crawl(*_: object, member: Membership) -> None:
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
    assert "is older than the second copy" in said[0]
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
        mine = launcher.birth.places[0]
        root = launcher.there.pop(mine).root
        launcher.processes[0].kill()
        shutil.rmtree(root)
        await seen(lambda: launcher.birth.places[0] == launcher.birth.places[1])
        assert len(launcher.processes) <= 3
        launcher.add(directory.parent / "third")
        await seen(lambda: len({process.number for process in launcher.processes[2:]}) == 2)
        stop.set()
        await running

    asyncio.run(run())
    assert any("it goes on from its second copy" in said for said in sentences)
