"""A partition brings its second copy up to date, whatever that has, and refuses to go on where it has less itself."""

import asyncio
import contextlib
import errno
import os
import random
from pathlib import Path

import pytest

from evercrawl.clock import SystemClock
from evercrawl.cluster.copies.folder_keeper import FolderKeeper
from evercrawl.crawl.posting.second_copy import SecondCopy
from evercrawl.crawl.removing.forgetting import forget
from evercrawl.crawl.storing import Storing
from evercrawl.errors import ConfigError, StoreError
from evercrawl.parse.sites import site_rules
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import Noted
from evercrawl.store.keeper.copy import KeeperCopy, state_of
from evercrawl.store.keeper.folder import is_held
from evercrawl.store.keeper.messages import KeeperRefusal, KeeperStep
from evercrawl.store.orders import FILE as ORDERS
from evercrawl.store.partition import Partition
from evercrawl.store.post.ownership import Share

SHARE = Share(1, 2, "crawl", 0)


class Line:
    """Leads to a keeper in this process."""

    place = "elsewhere"

    def __init__(self, disk) -> None:
        self.copy, self.steps = KeeperCopy(disk), list[KeeperStep]()

    async def ask(self, question) -> object:
        self.steps += [question] if isinstance(question, KeeperStep) else []
        return self.copy.answer(question)


async def offload(function, *arguments: object) -> object:
    return function(*arguments)


@pytest.fixture
def kept():
    return VirtualDisk(random.Random(1))


@pytest.fixture
def partition(tmp_path):
    one = Partition(tmp_path, os.urandom, now=1.0, share=SHARE)
    yield one
    one.close()


def write(partition, count: int = 1) -> None:
    for number in range(count):
        partition.journal.append(Noted(float(number), {"note": number * 1.7}))
    partition.journal.write(partition.journal.seal())


def held(partition, disk, incarnation: int = 3, place: str = "elsewhere") -> Line:
    line = Line(disk)
    line.place = place
    second = SecondCopy(partition.disk, SHARE, incarnation, line, SystemClock(), offload)
    assert asyncio.run(second.hold(partition.journal.durable))
    return line


def same(partition, disk) -> bool:
    names = [*partition.disk.names("journal-"), "crawl.json", *partition.disk.names(ORDERS)]
    return all(partition.disk.read(name, 0, 1 << 20) == disk.read(name, 0, 1 << 20) for name in names)


def test_a_copy_has_the_same_bytes_and_later_only_what_is_new(partition, kept):
    write(partition, 300)
    held(partition, kept)
    assert same(partition, kept)
    assert state_of(kept).whole
    write(partition)
    partition.disk.append(ORDERS, b"{}\n")
    (step,) = held(partition, kept, 4).steps
    assert same(partition, kept)
    assert (ORDERS, 0) in [(each.name, each.at) for each in step.writes]
    assert sum(len(each.data) for each in step.writes if each.at >= 0) < 200


def test_files_that_grow_are_sent_in_pieces_and_then_only_what_is_new(partition, kept, monkeypatch):
    """However large they are; else a frame would be too large for the line at last, and the process end for ever."""
    monkeypatch.setattr("evercrawl.store.keeper.copy.PIECE_BYTES", 100)
    monkeypatch.setattr("evercrawl.crawl.posting.second_copy.PIECE_BYTES", 100)
    write(partition)
    lines = b"".join(b'{"id":"%05d"}\n' % number for number in range(30))

    def sent(line: Line) -> list[tuple[int, int]]:
        return [(each.at, len(each.data)) for step in line.steps for each in step.writes if each.name == ORDERS]

    partition.disk.append(ORDERS, lines)
    line = held(partition, kept)
    assert sent(line) == [(at, min(100, 450 - at)) for at in range(0, 450, 100)]
    assert [step.whole for step in line.steps].count(True) == 1
    partition.disk.append(ORDERS, lines[:15])
    second = SecondCopy(partition.disk, SHARE, 4, line, SystemClock(), offload)

    def hold() -> list[tuple[int, int]]:
        line.steps.clear()
        write(partition)
        assert asyncio.run(second.hold(partition.journal.durable))
        assert same(partition, kept)
        assert state_of(kept).whole
        return sent(line)

    assert hold() == [(450, 15)]
    assert hold() == []
    partition.disk.append(ORDERS, lines[:30])
    assert hold() == [(465, 30)]
    partition.disk.replace(ORDERS, [lines[15:] + lines])  # another file
    assert hold()[0] == (0, 100)
    partition.disk.replace(ORDERS, [lines[:150]])  # a shorter one
    assert hold() == [(0, 100), (100, 50)]
    partition.disk.replace(ORDERS, [lines[:115] + b"~~~" + lines[118:150]])  # as something is forgotten
    assert sent(held(partition, kept, 5)) == [(100, 50)]
    partition.disk.replace(ORDERS, [lines[:100]])
    assert sent(held(partition, kept, 6)) == [(100, 0)]
    assert kept.size(ORDERS) == 100
    partition.disk.remove(ORDERS)
    held(partition, kept, 7)
    assert same(partition, kept)
    assert not kept.size(ORDERS)


def test_what_was_forgotten_is_written_anew_and_what_is_gone_here_goes_there(partition, kept):
    write(partition, 300)
    held(partition, kept)
    (name,) = partition.disk.names("journal-")
    kept.flip(name, 3000)  # as if it were otherwise here
    kept.replace("forgotten.bin", [b"old"])
    held(partition, kept, 4)
    assert same(partition, kept)
    assert kept.size("forgotten.bin") == 0
    assert state_of(kept).whole


def test_a_damaged_journal_does_not_take_the_place_of_its_copy(partition, kept, tmp_path):
    write(partition, 3000)
    write(partition)
    held(partition, kept)
    (name,) = kept.names("journal-")
    before = kept.read(name, 0, 1 << 20)
    with (tmp_path / name).open("r+b") as file:
        file.seek(300)
        file.write(b"rot")
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"journal is damaged.*move the partition's directory away, and its"):
            held(partition, kept, 4)
    assert kept.read(name, 0, 1 << 20) == before
    assert state_of(kept).whole
    kept.flip(name, 300)
    with pytest.raises(ConfigError, match="cannot be opened either"):
        held(partition, kept, 5)


def test_another_history_does_not_take_the_place_of_a_copy(partition, kept, tmp_path):
    write(partition, 30)
    held(partition, kept)
    (name,) = kept.names("journal-")
    before = kept.read(name, 0, 1 << 20)
    (tmp_path / "other").mkdir()
    other = Partition(tmp_path / "other", os.urandom, now=1.0, share=SHARE)
    write(other, 300)
    with pytest.raises(ConfigError, match="another history of this partition"):
        held(other, kept, 4)
    for birth in ("crawl.json", "crawl-copy.json"):  # one crawl, but two journals
        other.disk.replace(birth, [partition.disk.read(birth, 0, 1 << 20)])
    with pytest.raises(ConfigError, match="both are sound, and nothing was forgotten"):
        held(other, kept, 5)
    assert kept.read(name, 0, 1 << 20) == before
    assert state_of(kept).whole
    other.disk.replace("forgotten.bin", [b"told"])
    held(other, kept, 6)
    assert same(other, kept)
    other.close()


def test_a_directory_that_lacks_what_its_copy_has_is_not_crawled(partition, kept):
    write(partition, 300)
    (name,) = partition.disk.names("journal-")
    size = partition.disk.size(name)
    write(partition)
    held(partition, kept)
    partition.disk.truncate(name, size)
    with pytest.raises(ConfigError, match="acknowledged data is missing here"):
        held(partition, kept, 4)


def test_what_is_forgotten_does_not_come_back_from_the_copy(tmp_path):
    """Forgotten while the crawl does not run: the copy is not opened before it has forgotten too."""
    (tmp_path / "part").mkdir()
    (tmp_path / "copy").mkdir()
    share = Share(1, 2, "crawl", site_rules())
    with contextlib.closing(Partition(tmp_path / "part", os.urandom, now=1.0, share=share)) as partition:
        write(partition, 3)
        with contextlib.closing(RealDisk(tmp_path / "copy")) as disk:
            held(partition, disk, place=str(tmp_path / "copy"))
    assert is_held(tmp_path / "copy", 3)
    told = forget(tmp_path / "part", ["https://private.example/"]).beyond
    assert f"the second copy in {tmp_path / 'copy'} holds it until the crawl has run again with it" in told[-1]
    assert not is_held(tmp_path / "copy", 3)
    partition, disk = Partition(tmp_path / "part", os.urandom, now=2.0), RealDisk(tmp_path / "copy")
    with contextlib.closing(partition), contextlib.closing(disk):
        held(partition, disk, 4, place=str(tmp_path / "copy"))
        assert same(partition, disk)
    assert is_held(tmp_path / "copy", 4)
    (tmp_path / "copy").rename(tmp_path / "away")
    assert "cannot be found" in forget(tmp_path / "part", ["https://other.example/"]).beyond[-1]


def test_what_another_machine_holds_is_said_and_not_looked_for_here(tmp_path):
    place = f"the disk ab12 ({tmp_path / 'copy'})"
    (tmp_path / "part").mkdir()
    share = Share(1, 2, "crawl", site_rules())
    with contextlib.closing(Partition(tmp_path / "part", os.urandom, now=1.0, share=share)) as partition:
        write(partition, 3)
        held(partition, VirtualDisk(random.Random(1)), place=place)
    assert f"the second copy at {place} holds it" in forget(tmp_path / "part", ["https://one.example/"]).beyond[-1]


def test_before_a_running_partition_forgets_its_copy_is_opened_by_nobody(partition, kept):
    write(partition, 30)
    line = Line(kept)
    second = SecondCopy(partition.disk, SHARE, 3, line, SystemClock(), offload)
    storing = Storing(partition, SystemClock(), offload, lambda: None, disk_wait_s=1.0, snapshot_every_s=1e9,
                      second=second)  # fmt: skip
    asyncio.run(storing.commit())
    assert state_of(kept).whole
    assert not storing.distrusts()
    asyncio.run(storing.commit())  # though there is nothing new
    assert storing.distrusts()
    assert not state_of(kept).whole
    write(partition)  # visits that were under way
    asyncio.run(storing.commit())
    assert same(partition, kept)
    assert not state_of(kept).whole
    held(partition, kept, 3)  # the run after it
    assert state_of(kept).whole


class Clock:
    """Goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.at, self.during = 100.0, list[tuple[float, object]]()

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        while self.during and self.during[0][0] <= self.at:
            self.during.pop(0)[1]()


class FullLine(Line):
    """Leads to a keeper that has no room for steps."""

    def __init__(self, disk, clock) -> None:
        super().__init__(disk)
        self.clock, self.full, self.asked_at = clock, True, list[float]()

    async def ask(self, question) -> object:
        if isinstance(question, KeeperStep):
            self.asked_at.append(self.clock.at)
            if self.full:
                return KeeperRefusal("no room")
        return await super().ask(question)


def test_a_keeper_without_room_is_asked_ever_less_often_until_the_end(partition, kept):
    write(partition)
    clock = Clock()
    line = FullLine(kept, clock)
    second = SecondCopy(partition.disk, SHARE, 3, line, clock, offload)
    said = list[str]()
    clock.during = [(150.0, lambda: said.append(second.message)), (200.0, second.end)]
    assert not asyncio.run(second.hold(partition.journal.durable))
    assert [at - 100 for at in line.asked_at] == [0, 1, 3, 7, 15, 31, 61, 91]
    assert "cannot be written (no room)" in said[0]
    assert clock.at <= 204.0


def test_at_the_end_a_keeper_that_does_not_answer_is_not_waited_for(partition, kept, monkeypatch):
    """Else the process would be killed before it has stored what it has."""
    write(partition)
    monkeypatch.setattr("evercrawl.crawl.posting.second_copy.LAST_S", 0.01)

    class Mute(Line):
        async def ask(self, question) -> object:
            return await asyncio.get_running_loop().create_future()

    async def run() -> None:
        second = SecondCopy(partition.disk, SHARE, 3, Mute(kept), SystemClock(), offload)
        holding = asyncio.ensure_future(second.hold(partition.journal.durable))
        await asyncio.sleep(0.01)
        second.end()
        async with asyncio.timeout(5):
            assert not await holding
            assert not await second.hold(partition.journal.durable)

    asyncio.run(run())


def test_a_copy_that_is_brought_up_to_date_is_not_said_to_fail(partition, kept, monkeypatch):
    write(partition, 300)
    monkeypatch.setattr("evercrawl.crawl.posting.second_copy.PIECE_BYTES", 500)
    clock, said = Clock(), list[str]()

    class Slow(Line):
        async def ask(self, question) -> object:
            await clock.sleep(0.5)
            said.append(second.message)
            return await super().ask(question)

    second = SecondCopy(partition.disk, SHARE, 3, Slow(kept), clock, offload)
    assert asyncio.run(second.hold(partition.journal.durable))
    assert said[-1] == "the second copy at elsewhere is being brought up to date; the crawl waits for it"
    assert not any("cannot be written" in each for each in said)
    assert second.message == ""


def test_a_process_that_came_before_is_told_so(partition, kept):
    write(partition)
    held(partition, kept, 9)
    with pytest.raises(StoreError, match="later process"):
        held(partition, kept, 8)


@pytest.mark.parametrize("seed", range(4))
def test_a_copy_whose_disk_is_full_at_any_step_catches_up_once_there_is_room(partition, tmp_path, seed):
    """Whatever was written of a step before it met the full disk; meanwhile the partition says why it waits."""
    draw, room, said = random.Random(seed), [1 << 30], list[str]()

    def before(operation: str, name: str) -> None:
        if operation in ("write", "rename"):
            room[0] -= 1
            if room[0] < 0:
                raise OSError(errno.ENOSPC, "full")

    place = tmp_path / "second"
    place.mkdir()
    for life in range(3, 12):
        write(partition, draw.randrange(1, 400))
        partition.disk.append(ORDERS, b"{}\n" * draw.randrange(1, 9))
        room[0], clock = draw.randrange(0, 6), Clock()
        keeper = FolderKeeper(place)
        with pytest.MonkeyPatch.context() as patched, contextlib.closing(keeper):
            begin = RealDisk.__init__

            def begun(disk: RealDisk, directory: Path, begin=begin, **named: object) -> None:
                begin(disk, directory, **named, before=before if directory == place else None)

            patched.setattr(RealDisk, "__init__", begun)
            second = SecondCopy(partition.disk, SHARE, life, keeper, clock, offload)
            clock.during = [
                (110.0, lambda one=second: said.append(one.message)),
                (120.0, lambda: room.__setitem__(0, 1 << 30)),
            ]
            assert asyncio.run(second.hold(partition.journal.durable))
            assert second.message == ""
        with contextlib.closing(RealDisk(place, read_only=True)) as disk:
            assert same(partition, disk)
            assert state_of(disk).whole
    assert any("cannot be written" in sentence and "no room" in sentence for sentence in said), said
