"""Keepers on other machines that are slow, silent, gone or full, and what is said of copies that are whole."""

import asyncio
import socket
from pathlib import Path

import msgspec
import pytest

from evercrawl.cluster import coordinator, wire
from evercrawl.cluster.birth import read_birth
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.copies import keeper_process
from evercrawl.cluster.copies.folder_keeper import FolderKeeper
from evercrawl.cluster.copies.keeper_main import keep_copies
from evercrawl.cluster.copies.keeper_process import KeeperProcess
from evercrawl.cluster.copies.node_copies import NodeCopies
from evercrawl.cluster.copies.node_keeper import NodeKeeper
from evercrawl.cluster.part import HubCarrier
from evercrawl.cluster.wire import CopyAnswered, CopyAsked, CopyWhole, Mailed, StopAsked, packed, read_frame
from evercrawl.errors import ConfigError
from evercrawl.progress import Limits
from evercrawl.store.keeper.messages import CopyOwner, KeeperAsk, KeeperDone, KeeperHolds, KeeperStep
from evercrawl.store.post.messages import CommonSums
from tests.cluster.folder_machines import ProcessHere
from tests.cluster.played import seen
from tests.cluster.test_node_copies import KEPT, a_plan


def test_a_keeper_that_does_not_answer_is_asked_again(monkeypatch):
    monkeypatch.setattr("evercrawl.cluster.copies.node_keeper.ANSWERED_S", 0.01)
    keeper = NodeKeeper(0, 3, "there", lambda frame: None)
    assert asyncio.run(keeper.ask(KeeperAsk(CopyOwner("c", 0, 0, 3)))) is None


def test_an_answer_that_is_late_counts_when_the_same_is_asked_again(monkeypatch):
    """Else a copy that takes longer to read than an answer is waited for would be read for ever."""
    monkeypatch.setattr("evercrawl.cluster.copies.node_keeper.ANSWERED_S", 0.01)
    asked, holds, owner = list[CopyAsked](), KeeperHolds(1, {}, {}, "", True, False), CopyOwner("c", 0, 0, 3)

    async def run() -> None:
        keeper = NodeKeeper(0, 3, "there", asked.append)
        for _ in range(2):
            assert await keeper.ask(KeeperAsk(owner)) is None
        assert asked[0] == asked[1]
        keeper.hear(CopyAnswered(0, asked[0].id, msgspec.msgpack.encode(holds)))  # while nobody waits for it
        assert await keeper.ask(KeeperAsk(owner)) == holds
        assert len(asked) == 2
        assert await keeper.ask(KeeperAsk(owner)) is None  # which is another question
        assert asked[2].id != asked[0].id
        step = KeeperStep(owner, 1, 1, [], [], True)
        assert await keeper.ask(step) is None
        keeper.hear(CopyAnswered(0, asked[0].id, msgspec.msgpack.encode(holds)))
        keeper.hear(CopyAnswered(0, asked[3].id, msgspec.msgpack.encode(KeeperDone(7, 1))))
        assert await keeper.ask(step) == KeeperDone(7, 1)
        assert not keeper.whole  # for that was another session
        assert await NodeKeeper(0, 4, "there", asked.append).ask(step) is None
        assert asked[4].id not in {each.id for each in asked[:4]}  # of another life

    asyncio.run(run())


def test_that_a_copy_is_whole_is_said_before_anything_leaves_for_that(tmp_path):
    """Else, if the partition were lost right then, what left would be on no copy that the register knows."""
    said, owner = list[object](), CopyOwner("c", 0, 0, 3)

    async def run() -> None:
        here = FolderKeeper(tmp_path / "copy", lambda: said.append(CopyWhole()))
        there = NodeKeeper(0, 3, "there", said.append)
        holds = await here.ask(KeeperAsk(owner))
        for number, whole in enumerate((False, True, True), 1):
            step = KeeperStep(owner, holds.session, number, [], [], whole)
            asking = asyncio.ensure_future(there.ask(step))
            await asyncio.sleep(0)
            done = msgspec.msgpack.encode(await here.ask(step))
            there.hear(CopyAnswered(0, (3 << 32) + number, done))
            await asking
            said.append(number)

    asyncio.run(run())
    assert [each for each in said if not isinstance(each, CopyAsked)] == [1, CopyWhole(), CopyWhole(), 2, 3]


def test_the_coordinator_writes_down_which_copy_is_whole_as_soon_as_it_is_said(machines, monkeypatch):
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)
    directory, launcher = machines
    copies = NodeCopies(directory, launcher.birth, launcher, print)

    async def run() -> None:
        stop = asyncio.Event()
        one = Coordinator(directory, launcher.birth, KEPT, (), Limits(), print, launcher, copies)
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(launcher.processes) == 2 and bool(launcher.processes[0].heard))
        for process in launcher.processes:
            process.reports = False
        await asyncio.sleep(0.05)
        launcher.processes[0].ours[1].send(packed(CopyWhole()))
        await seen(lambda: list(read_birth(directory).copies) == [0])
        stop.set()
        await running

    asyncio.run(run())


def test_what_a_keeper_is_at_is_not_begun_again_and_it_says_that_it_is_at_it(tmp_path, monkeypatch):
    monkeypatch.setattr("evercrawl.cluster.copies.keeper_main.ALIVE_S", 0.01)
    asked, holds = list[int](), KeeperHolds(1, {}, {}, "", True, False)

    async def run() -> None:
        goes_on = asyncio.Event()

        async def slow(keeper: object, question: KeeperAsk) -> KeeperHolds:
            asked.append(1)
            await goes_on.wait()
            return holds

        monkeypatch.setattr("evercrawl.cluster.copies.keeper_main.FolderKeeper.ask", slow)
        ours, theirs = socket.socketpair()
        keeping = asyncio.ensure_future(keep_copies(tmp_path, theirs))
        reader, writer = await asyncio.open_connection(sock=ours)
        question = packed(CopyAsked(0, 9, msgspec.msgpack.encode(KeeperAsk(CopyOwner("c", 0, 0, 3)))))
        writer.write(question + question)
        assert await read_frame(reader) == CopyAnswered(0, 9, b"")
        writer.write(question)
        goes_on.set()
        while (answered := await read_frame(reader)) == CopyAnswered(0, 9, b""):
            pass
        assert answered == CopyAnswered(0, 9, msgspec.msgpack.encode(holds))
        writer.write(question)
        assert await read_frame(reader) == answered
        writer.write(packed(StopAsked()))
        await keeping
        writer.close()

    asyncio.run(run())
    assert len(asked) == 1


def test_an_answer_of_a_disk_that_has_the_copy_no_more_is_dropped(machines, tmp_path):
    directory, launcher = machines
    said, now = list[CopyAnswered](), [0.0]

    async def run() -> None:
        copies = NodeCopies(directory, launcher.birth, launcher, print, lambda: now[-1])
        copies.say = lambda number, frame: said.append(frame)
        assert copies.missing(0, "", KEPT) == ""
        copies.planned(a_plan(launcher, 0, 3), KEPT)
        copies.turn(KEPT)
        await seen(lambda: len(launcher.kept) == 1)
        root = launcher.there.pop(launcher.birth.places[1]).root
        third = launcher.add(tmp_path / "third")
        await asyncio.sleep(0.02)
        copies.ask(0, CopyAsked(0, 9, msgspec.msgpack.encode(KeeperAsk(CopyOwner("c", 0, 0, 3)))))
        assert "waits for the machine with its second copy" in copies.missing(0, "", KEPT)
        now.append(10.0)
        assert copies.missing(0, "", KEPT) == ""
        assert read_birth(directory).keepers == {0: third}
        state = root / "copies" / "part-0" / "keeper.json"
        await seen(state.exists)
        await asyncio.sleep(0.02)
        await copies.close()

    asyncio.run(run())
    assert said == []


class DeafProcess(ProcessHere):
    """A process that reads nothing, or that has ended while its line is still there."""

    def __init__(self, copies: Path) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.over = asyncio.Event()

    async def ended(self) -> str:
        await self.over.wait()
        return "its machine is gone"

    def kill(self) -> None:
        self.over.set()


async def drained(line: socket.socket) -> int:
    """Return how many bytes come until for a moment none do."""
    line.setblocking(False)
    size, quiet = 0, 0
    while quiet < 20:
        try:
            size, quiet = size + len(line.recv(1 << 20)), 0
        except BlockingIOError:
            quiet += 1
            await asyncio.sleep(0.001)
    return size


def test_a_process_that_says_nothing_or_has_ended_is_followed_by_another(machines, monkeypatch):
    directory, launcher = machines
    monkeypatch.setattr(keeper_process, "AGAIN_S", 0.0)
    monkeypatch.setattr(keeper_process, "SILENT_S", 0.0)
    monkeypatch.setattr("evercrawl.cluster.patience.HUNG_S", 0.0)
    monkeypatch.setattr(wire, "PENDING_BYTES", 4 << 20)
    begun, told, disk = list[DeafProcess](), list[str](), launcher.birth.places[0]

    def keep(disk: str, life: int) -> DeafProcess:
        begun.append(DeafProcess(launcher.there[disk].copy(0).parent))
        return begun[-1]

    monkeypatch.setattr(launcher, "keep", keep)

    async def run() -> None:
        one = KeeperProcess(directory, disk, launcher, lambda disk, frame: None, lambda found: None, told.append)
        one.turn(0.0)
        await asyncio.sleep(0.01)
        one.turn(0.0)
        await asyncio.sleep(0.01)
        assert (len(begun), told) == (1, [])  # it was asked nothing
        for number in range(9):
            one.write(CopyAsked(number, 1, bytes(1 << 20)))
        await asyncio.sleep(0.01)
        assert 3 << 20 < await drained(begun[0].theirs) < 7 << 20  # more of what it does not read is not kept for it
        one.turn(0.0)
        await seen(begun[0].over.is_set)
        assert "has not answered" in told[0]
        await seen(lambda: one.turn(0.0) or len(begun) == 2)
        begun[1].over.set()
        await seen(lambda: one.turn(0.0) or len(begun) == 3)
        assert "its machine is gone" in told[1]
        await one.close()
        await asyncio.sleep(0.01)
        for process in begun:
            process.ours.close()
            process.theirs.close()

    asyncio.run(run())


def test_whoever_asks_an_absent_keeper_in_vain_gets_another_and_not_the_first_alone(machines, monkeypatch):
    directory, launcher = machines
    now, told, (_, other) = [0.0], list[str](), launcher.birth.places
    monkeypatch.setattr(keeper_process, "AGAIN_S", 1e9)

    async def refused(process: object) -> None:
        raise ConfigError("a machine of the cluster has evercrawl 7")

    monkeypatch.setattr(ProcessHere, "connected", refused)

    async def run() -> None:
        process = KeeperProcess(
            directory, other, launcher, lambda *_: None, lambda _: None, told.append, lambda: now[0]
        )
        process.turn(0.0)
        await seen(lambda: told)
        for number in (0, 1):
            assert not process.write(CopyAsked(number, 1, b"?"))
        now[0] += 7.0
        assert [process.failing_s(number) for number in (0, 1, 2)] == [7.0, 7.0, 0.0]
        process.forgive(0)
        assert [process.failing_s(number) for number in (0, 1)] == [0.0, 7.0]
        await process.close()
        for kept in launcher.kept:
            kept.ours.close()

    asyncio.run(run())


@pytest.mark.parametrize("trouble", ["it refuses", "another version"])
def test_a_keeper_that_takes_nothing_is_followed_by_another_if_there_is_one(machines, tmp_path, monkeypatch, trouble):
    directory, launcher = machines
    now, told, (_, other) = [0.0], list[str](), launcher.birth.places
    (launcher.there[other].root / "copies").write_text("no folder")
    monkeypatch.setattr(keeper_process, "AGAIN_S", 0.0)

    async def refused(process: object) -> None:
        raise ConfigError("a machine of the cluster has evercrawl 7")

    if trouble == "another version":
        monkeypatch.setattr(ProcessHere, "connected", refused)

    async def run() -> None:
        answers = list[CopyAnswered]()
        copies = NodeCopies(directory, launcher.birth, launcher, told.append, lambda: now[0])
        copies.say = lambda number, frame: answers.append(frame)
        assert copies.missing(0, "", KEPT) == ""
        copies.planned(a_plan(launcher, 0, 3), KEPT)
        for count in (1, 2):
            assert copies.turn(KEPT) == []
            await asyncio.sleep(0.02)
            copies.ask(0, CopyAsked(0, count, msgspec.msgpack.encode(KeeperAsk(CopyOwner("c", 0, 0, 3)))))
            if trouble == "it refuses":
                await seen(lambda count=count: len(answers) == count)
            now[0] += 5.0 if count == 1 else 0.0
        now[0] += 5.0 if trouble != "it refuses" else 0.0
        if trouble == "it refuses":
            assert copies.turn(KEPT) == []
            now[0] += 5.0
            copies.ask(0, CopyAsked(0, 3, msgspec.msgpack.encode(KeeperAsk(CopyOwner("c", 0, 0, 3)))))
            await seen(lambda: len(answers) == 3)
        assert copies.turn(KEPT) == []  # there is no other
        assert copies.missing(0, "", KEPT) == ""
        third = launcher.add(tmp_path / "third")
        assert copies.turn(KEPT) == [0]
        assert copies.missing(0, "", KEPT) == ""
        assert read_birth(directory).keepers == {0: third}
        assert f"does not accept the second copy of partition 0: {third} gets it" in told[-1]
        assert copies.turn(KEPT) == []
        await copies.close()
        for process in launcher.kept:
            process.ours.close()

    asyncio.run(run())
    assert len([said for said in told if "has evercrawl 7" in said]) == int(trouble == "another version")


def test_messages_that_nobody_takes_in_are_dropped_at_last(monkeypatch):
    monkeypatch.setattr("evercrawl.cluster.part.BOX_BYTES", 100)
    carrier = HubCarrier(1, lambda frame: None)
    sums = CommonSums("c", 1, 1, 0, 1, {})
    frame = Mailed(0, msgspec.msgpack.encode(sums), 1, 1)
    for _ in range(200):
        carrier.hear(frame)
    assert 100 // len(frame.data) <= len(carrier.take()) <= 100 // len(frame.data) + 1
    carrier.hear(frame)
    assert carrier.take() == [sums]
