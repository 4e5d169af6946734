"""A keeper writes each step once, in order, for the last life alone; what it holds can be opened."""

import os
import random
import shutil
from types import SimpleNamespace

import pytest

from evercrawl.errors import ConfigError, StoreError
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.store.birth import FILE
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.journal import Journal
from evercrawl.store.keeper import restoring
from evercrawl.store.keeper.copy import KeeperCopy, state_of
from evercrawl.store.keeper.messages import (
    CopyOwner,
    FileWrite,
    KeeperAsk,
    KeeperDone,
    KeeperHolds,
    KeeperRefusal,
    KeeperStep,
)
from evercrawl.store.keeper.restoring import LINE_FILE, hindrance, lacks_all, line_of, restore_copy
from evercrawl.store.partition import Partition
from evercrawl.store.post.ownership import Share

NAME = "journal-0000000000000000.log"


def life(incarnation: int, line: int = 0, number: int = 1) -> CopyOwner:
    return CopyOwner("crawl", number, line, incarnation)


def begun(keeper: KeeperCopy, owner: CopyOwner) -> KeeperHolds:
    held = keeper.answer(KeeperAsk(owner))
    assert isinstance(held, KeeperHolds)
    return held


@pytest.fixture
def disk():
    return VirtualDisk(random.Random(1))


def test_a_step_is_written_once_and_in_order(disk):
    keeper, owner = KeeperCopy(disk), life(3)
    session = begun(keeper, owner).session
    one = KeeperStep(owner, session, 1, [FileWrite(NAME, 0, b"abc"), FileWrite("small", -1, b"x")])
    two = KeeperStep(owner, session, 2, [FileWrite(NAME, 3, b"de")], gone=["small"], whole=True)
    assert keeper.answer(two) == KeeperDone(session, 0)  # a gap: it says what it has
    assert disk.size(NAME) == 0
    assert [keeper.answer(step) for step in (one, one, two, one)] == [
        KeeperDone(session, upto) for upto in (1, 1, 2, 2)
    ]
    assert disk.read(NAME, 0, 9) == b"abcde"
    assert disk.synced(NAME) == 5
    assert disk.size("small") == 0
    assert state_of(disk).whole


def test_an_earlier_life_is_refused_and_so_is_a_step_of_an_earlier_session(disk):
    keeper = KeeperCopy(disk)
    before = begun(keeper, life(3)).session
    session = begun(keeper, life(4)).session
    old = keeper.answer(KeeperStep(life(3), before, 1, [FileWrite(NAME, 0, b"old")]))
    assert isinstance(old, KeeperRefusal)
    assert old.over
    late = keeper.answer(KeeperStep(life(4), before, 1, [FileWrite(NAME, 0, b"late")]))
    assert isinstance(late, KeeperRefusal)
    assert not late.over
    assert isinstance(keeper.answer(KeeperAsk(life(9, number=2))), KeeperRefusal)
    assert disk.size(NAME) == 0
    other = KeeperCopy(disk)  # the keeper was begun anew: it is to be asked first
    assert isinstance(other.answer(KeeperStep(life(4), session, 1, [])), KeeperRefusal)


def test_what_is_written_anew_makes_a_copy_less_than_whole_until_it_is_done(disk):
    keeper, owner = KeeperCopy(disk), life(3)
    session = begun(keeper, owner).session
    keeper.answer(KeeperStep(owner, session, 1, [FileWrite(NAME, 0, b"abcdef")], whole=True))
    keeper.answer(KeeperStep(owner, session, 2, [FileWrite(NAME, 2, b"xy")]))
    assert not state_of(disk).whole
    with pytest.raises(ConfigError, match="incomplete"):
        restore_copy(disk, VirtualDisk(random.Random(2)), 9)
    keeper.answer(KeeperStep(owner, session, 3, [FileWrite(NAME, 4, b"z")], whole=True))
    assert disk.read(NAME, 0, 9) == b"abxyz"
    assert state_of(disk).whole


def kept_partition(tmp_path):
    """Return a partition's directory and a copy of it, made by steps."""
    here, there = tmp_path / "part-1", tmp_path / "kept"
    here.mkdir()
    there.mkdir()
    share = Share(1, 2, "crawl", 0)
    with_journal = Partition(here, os.urandom, now=1.0, share=share)
    with_journal.journal.write(with_journal.journal.seal())
    with_journal.close()
    source, kept = RealDisk(here, read_only=True), RealDisk(there)
    keeper, owner = KeeperCopy(kept), life(3)
    session = begun(keeper, owner).session
    journal = source.names("journal-")
    writes = [FileWrite(name, 0, source.read(name, 0, 1 << 20)) for name in journal]
    writes += [FileWrite(name, -1, source.read(name, 0, 1 << 20)) for name in (FILE, "crawl-copy.json", "crawl.key")]
    assert keeper.answer(KeeperStep(owner, session, 1, writes, whole=True)) == KeeperDone(session, 1)
    return here, kept


def test_a_copy_is_opened_and_whoever_wrote_it_before_is_refused(tmp_path):
    _, kept = kept_partition(tmp_path)
    goal = tmp_path / "new"
    goal.mkdir()
    target = RealDisk(goal)
    assert lacks_all(target)
    assert restore_copy(kept, target, 9) > 0
    assert not lacks_all(target)
    assert line_of(target) == 9
    old = KeeperCopy(kept).answer(KeeperAsk(life(12)))  # a later process, in the directory of before
    assert isinstance(old, KeeperRefusal)
    assert "restored from this copy since" in old.why
    assert isinstance(KeeperCopy(kept).answer(KeeperAsk(life(9, line=9))), KeeperHolds)
    Partition(goal, os.urandom, now=2.0).close()
    with pytest.raises(ConfigError, match="later process"):
        restore_copy(kept, target, 9)


def test_an_opening_that_was_broken_off_is_done_again(tmp_path):
    _, kept = kept_partition(tmp_path)
    goal = tmp_path / "new"
    goal.mkdir()
    left = iter(range(4))

    def before(operation: str, name: str) -> None:
        if next(left, None) is None:
            raise OSError(5, "broken off")

    with pytest.raises(StoreError):
        restore_copy(kept, RealDisk(goal, before=before), 9)
    target = RealDisk(goal)
    assert lacks_all(target)
    restore_copy(kept, target, 10)
    assert not lacks_all(target)
    Partition(goal, os.urandom, now=2.0).close()


def test_until_a_copy_is_opened_whoever_goes_on_with_the_directory_of_before_may_write_it(tmp_path):
    """An opening that failed has not changed which of the two is the partition."""
    _, kept = kept_partition(tmp_path)
    goal = tmp_path / "new"
    goal.mkdir()

    def before(operation: str, name: str) -> None:
        if name.startswith(LINE_FILE):
            raise OSError(28, "no room")

    with pytest.raises(StoreError):
        restore_copy(kept, RealDisk(goal, before=before), 9)
    assert isinstance(KeeperCopy(kept).answer(KeeperAsk(life(8))), KeeperRefusal)  # it may still run
    assert begun(KeeperCopy(kept), life(10)).whole
    assert restore_copy(kept, RealDisk(goal), 11) > 0
    assert isinstance(KeeperCopy(kept).answer(KeeperAsk(life(12))), KeeperRefusal)


def test_why_a_copy_cannot_be_opened(tmp_path, monkeypatch):
    _, kept = kept_partition(tmp_path)
    place, goal = tmp_path / "kept", tmp_path / "new"
    assert hindrance(place, goal, 3) == ""
    assert hindrance(tmp_path / "none", goal, 3) == "it is missing"
    assert hindrance(place, goal, 4) == "it is outdated"
    size, room = sum(kept.size(name) for name in kept.names()), restoring.SPARE_BYTES
    usage = SimpleNamespace(free=size + room - 5)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert "no room" in hindrance(place, goal, 3)
    goal.mkdir()
    (goal / "journal-0000000000000000.log").write_bytes(b"12345")
    assert "no room" in hindrance(place, goal, 3)
    (goal / "restoring").write_bytes(b"x")  # a copying that was broken off left this
    assert hindrance(place, goal, 3) == ""
    usage.free += 1 << 20
    name = kept.names("journal-")[0]
    data = kept.read(name, 0, kept.size(name))
    kept.replace("journal-0000000000000999.log", [data])
    assert hindrance(place, goal, 3)  # a part of it is missing
    kept.remove("journal-0000000000000999.log")
    begun(KeeperCopy(kept), life(5, line=5))
    assert "incomplete" in hindrance(place, goal, 3)
    kept.replace("keeper.json", [b"{"])
    assert "damaged" in hindrance(place, goal, 3)


def test_a_torn_end_is_cut_off_before_it_is_said_what_is_held(tmp_path):
    _, kept = kept_partition(tmp_path)
    name = kept.names("journal-")[-1]
    size = kept.size(name)
    kept.append(name, b"torn")
    held = begun(KeeperCopy(kept), life(4))
    assert held.files[name].size == size
    assert Journal.open(kept, writable=False).sequence == 0
