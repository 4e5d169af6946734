"""A made-up disk keeps the real one's contract, and loses no more than a power cut may take."""

import errno
import os
import random
from collections import Counter

import pytest

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.simulate.surroundings.clock import Crash
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.simulate.surroundings.platter import BLOCK_BYTES, Odds
from evercrawl.store.disk.disk import RealDisk

# The contract, of both


class Real:
    def __init__(self, directory) -> None:
        self.directory = directory

    def disk(self, before=None):
        return RealDisk(self.directory, before=before)

    def reader(self):
        return RealDisk(self.directory, read_only=True)


class Virtual:
    def __init__(self, directory) -> None:
        self.first = VirtualDisk(random.Random(1), directory=directory)
        self.directory = directory

    def disk(self, before=None):
        self.first = self.first.reopen(before)
        return self.first

    def reader(self):
        return self.first.reader()


@pytest.fixture(params=[Real, Virtual])
def place(request, tmp_path):
    return request.param(tmp_path)


class Trouble:
    """Fails the n-th operation of a kind, and notes all that were announced."""

    def __init__(self, operation, turn, error=None) -> None:
        self.operation, self.turn = operation, turn
        self.error = error or OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.seen = []

    def __call__(self, operation, name) -> None:
        self.seen.append((operation, name))
        if operation == self.operation:
            self.turn -= 1
            if self.turn == 0:
                raise self.error


def test_append_says_where_it_starts(place):
    disk = place.disk()
    assert [disk.append("a.log", b"12345"), disk.append("a.log", b""), disk.append("a.log", b"67")] == [0, 5, 5]
    assert disk.size("a.log") == 7
    assert disk.read("a.log", 3, 100) == b"4567"
    assert disk.read("a.log", 3, 2) == b"45"
    assert disk.read("a.log", 7, 1) == disk.read("a.log", 9, 1) == b""


def test_an_absent_file_reads_as_an_empty_one(place):
    disk = place.disk()
    assert (disk.size("none"), disk.read("none", 0, 10)) == (0, b"")
    disk.remove("none")
    assert disk.names() == []


def test_syncing_or_cutting_makes_an_absent_file(place):
    disk = place.disk()
    disk.sync("a")
    disk.truncate("b", 0)
    assert disk.names() == ["a", "b"]


def test_append_goes_on_after_truncate_replace_and_remove(place):
    disk = place.disk()
    disk.append("f", b"abcdef")
    disk.truncate("f", 2)
    assert disk.append("f", b"X") == 2
    disk.replace("f", [b"new ", b"content"])
    assert disk.append("f", b"!") == 11
    assert disk.read("f", 0, 99) == b"new content!"
    disk.remove("f")
    assert disk.append("f", b"fresh") == 0
    assert place.disk().append("f", b"+") == 5


def test_names_are_sorted_and_know_folders(place):
    disk = place.disk()
    for name in ("journal-2", "journal-1", "archive/b.gz", "archive/a.gz", "archives"):
        disk.append(name, b".")
    disk.append("left.tmp", b".")
    assert disk.names() == ["archive/a.gz", "archive/b.gz", "archives", "journal-1", "journal-2"]
    assert disk.names("archive/") == disk.names("archive/")[:2] == ["archive/a.gz", "archive/b.gz"]
    assert disk.names("archive/b") == ["archive/b.gz"]
    assert disk.names("journal-") == ["journal-1", "journal-2"]
    assert disk.names("none/") == []


def test_a_file_where_a_folder_belongs(place):
    disk = place.disk()
    disk.append("archive", b"")
    with pytest.raises(StoreError, match=r"cannot write .*/archive/x: .*; a file stands where a folder belongs"):
        disk.append("archive/x", b"")
    for ask in (lambda: disk.read("archive/x", 0, 1), lambda: disk.size("archive/x")):
        with pytest.raises(StoreError, match=r"cannot read .*/archive/x: Not a directory"):
            ask()


@pytest.mark.parametrize("name", ["a/b/c", "", ".", "../f", "/f", "d/", "d/.hidden"])
def test_names_have_one_folder_at_most(place, name):
    with pytest.raises((AssertionError, StoreError)):  # a real directory may be from a stranger
        place.disk().append(name, b"x")


def test_longer_than_it_is_cannot_be_cut(place):
    disk = place.disk()
    disk.append("f", b"abc")
    with pytest.raises(AssertionError, match="holds 3 bytes, not 4"):
        disk.truncate("f", 4)


def test_operations_are_announced(place):
    notes = Trouble("never", 1)
    disk = place.disk(notes)
    disk.append("f", b"abc")
    disk.sync("f")
    disk.truncate("f", 1)
    disk.replace("g", [b"1", b"2"])
    disk.remove("g")
    assert notes.seen == [
        ("write", "f"), ("sync", "f"), ("truncate", "f"), ("write", "g"), ("write", "g"), ("sync", "g"),
        ("rename", "g"), ("remove", "g"),
    ]  # fmt: skip


@pytest.mark.parametrize(("operation", "turn"), [("write", 1), ("write", 2), ("sync", 1), ("rename", 1)])
def test_replace_that_fails_leaves_the_old_file(place, operation, turn):
    place.disk().replace("s/x.bin", [b"old"])
    disk = place.disk(Trouble(operation, turn))
    with pytest.raises(NoRoomError):
        disk.replace("s/x.bin", [b"new", b"er"])
    assert disk.read("s/x.bin", 0, 9) == b"old"
    disk.replace("s/x.bin", [b"new", b"er"])
    assert disk.read("s/x.bin", 0, 9) == b"newer"


@pytest.mark.parametrize("error", [None, KeyboardInterrupt()])
def test_an_append_that_fails_is_taken_back(place, error):
    place.disk().append("f", b"123")
    disk = place.disk(Trouble("write", 1, error))
    with pytest.raises(type(error) if error else NoRoomError):
        disk.append("f", b"456")
    assert disk.read("f", 0, 9) == b"123"
    assert disk.append("f", b"7") == 3


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("sync", lambda disk: disk.sync("f")),
        ("truncate", lambda disk: disk.truncate("f", 0)),
        ("remove", lambda disk: disk.remove("f")),
    ],
)
def test_a_failing_disk_is_a_sentence(place, operation, call):
    place.disk().append("f", b"abc")
    disk = place.disk(Trouble(operation, 1, OSError(errno.EIO, os.strerror(errno.EIO))))
    said = rf"cannot {operation} {place.directory}/f: Input/output error; the disk reports a fault"
    with pytest.raises(StoreError, match=said):
        call(disk)
    assert disk.read("f", 0, 9) == b"abc"


@pytest.mark.parametrize(
    "call",
    [
        lambda disk: disk.append("f", b"x"),
        lambda disk: disk.sync("f"),
        lambda disk: disk.truncate("f", 0),
        lambda disk: disk.replace("f", [b"x"]),
        lambda disk: disk.remove("f"),
    ],
)
def test_a_reader_writes_nothing_and_sees_everything(place, call):
    disk = place.disk()
    reader = place.reader()
    disk.append("f", b"abc")
    assert reader.read("f", 0, 9) == b"abc"
    with pytest.raises(StoreError, match="was opened for reading only, so f cannot be changed"):
        call(reader)
    disk.replace("f", [b"new"])
    assert (reader.read("f", 0, 9), reader.size("f")) == (b"new", 3)
    disk.remove("f")
    assert reader.read("f", 0, 9) == b""


# Room


def test_a_full_disk_takes_all_or_nothing():
    disk = VirtualDisk(random.Random(1), capacity_bytes=10)
    disk.append("f", b"1234567")
    said = "no room to write 4 bytes to /made-up/f, 3 bytes are free: No space left on device; make room"
    with pytest.raises(NoRoomError, match=said):
        disk.append("f", b"abcd")
    assert (disk.read("f", 0, 99), disk.room()) == (b"1234567", 3)
    assert disk.append("f", b"abc") == 7
    disk.truncate("f", 2)
    assert disk.room() == 8


def test_replacing_needs_room_for_both():
    disk = VirtualDisk(random.Random(1), capacity_bytes=10)
    disk.replace("f", [b"123456"])
    with pytest.raises(NoRoomError):
        disk.replace("f", [b"12", b"345"])
    assert (disk.read("f", 0, 99), disk.room()) == (b"123456", 4)
    disk.capacity_bytes = 11
    disk.replace("f", [b"12", b"345"])
    assert (disk.read("f", 0, 99), disk.room()) == (b"12345", 6)
    disk.capacity_bytes = 3
    assert disk.room() == 0


# What a power cut leaves

KEEP, LOSE = Odds(lose=0.0, tear=0.0, scatter=0.0), Odds(lose=1.0)


def fates(make, ask, odds=None, count=200):
    """Return what became of a disk in many power cuts."""
    found = Counter()
    for seed in range(count):
        disk = VirtualDisk(random.Random(seed), odds=odds)
        make(disk)
        disk.crash()
        found[ask(disk.reopen())] += 1
    return found


def content(disk):
    return disk.read("f", 0, 1 << 20) if "f" in disk.names() else None


def test_what_was_synced_survives():
    def make(disk) -> None:
        disk.append("f", b"a" * 5000)
        disk.sync("f")
        assert (disk.synced("f"), disk.unsynced()) == (5000, [])
        disk.append("f", b"b" * 5000)
        assert (disk.synced("f"), disk.unsynced()) == (5000, ["f"])

    found = fates(make, content)
    assert all(data.startswith(b"a" * 5000) for data in found)
    assert {b"a" * 5000, b"a" * 5000 + b"b" * 5000} < set(found)
    assert len({len(data) for data in found}) > 20
    holes = [data for data in found if data[5000:].strip(b"b")]
    assert any(not data[5000:].strip(b"b\0") for data in holes)
    assert any(data[5000:].strip(b"b\0") for data in holes)
    assert all(len(set(data[BLOCK_BYTES * 2 :])) < 2 or data[BLOCK_BYTES * 2 :].strip(b"b\0") for data in holes)


def test_a_file_that_was_never_synced_may_vanish():
    found = fates(lambda disk: disk.append("f", b"ab"), content)
    assert {None, b"", b"a", b"ab"} <= set(found)
    assert set(fates(lambda disk: disk.append("f", b"ab"), content, LOSE)) == {None}
    assert set(fates(lambda disk: disk.append("f", b"ab"), content, KEEP)) == {b"ab"}


def test_a_cut_that_was_not_synced_may_be_undone():
    def make(disk) -> None:
        disk.append("f", b"12345678")
        disk.sync("f")
        disk.truncate("f", 5)
        disk.truncate("f", 2)
        disk.append("f", b"abc")
        assert disk.synced("f") == 2

    found = set(fates(make, content))
    assert {b"12345678", b"12abc\0\0\0", b"12", b"12a", b"12ab", b"12abc"} <= found
    assert all(data.startswith(b"12") for data in found)
    assert set(fates(lambda disk: (make(disk), disk.sync("f")), content)) == {b"12abc"}


def test_a_replaced_file_is_old_or_new_and_new_once_the_call_has_returned():
    def make(disk) -> None:
        disk.replace("f", [b"old"])
        disk.before = Trouble("rename", 1, Crash())
        with pytest.raises(Crash):
            disk.replace("f", [b"new", b"er"])

    assert set(fates(make, content)) == {b"old", b"newer"}
    assert set(fates(lambda disk: disk.replace("f", [b"new"]), content)) == {b"new"}


def test_a_removed_file_may_come_back():
    def make(disk) -> None:
        disk.replace("f", [b"old"])
        disk.remove("f")

    assert set(fates(make, content)) == {b"old", None}

    def again(disk) -> None:
        make(disk)
        disk.append("f", b"x")

    found = set(fates(again, content))
    assert {b"old", None, b"", b"x"} < found
    assert all(len(data) == 1 for data in found - {b"old", None, b""})
    assert set(fates(lambda disk: (make(disk), disk.sync("g")), content)) == {None}  # g is in the same directory


def test_syncing_in_a_folder_says_nothing_of_other_folders():
    def make(disk) -> None:
        for name in ("a/x", "b/x", "b/y"):
            disk.append(name, b"")
        disk.sync("b/x")

    found = fates(make, lambda disk: tuple(disk.names()))
    assert set(found) == {("a/x", "b/x", "b/y"), ("b/x", "b/y")}


# Dying


def test_kill_leaves_what_was_written_and_cuts_the_call_short():
    left = set()
    for seed in range(60):
        disk = VirtualDisk(random.Random(seed))
        disk.append("f", b"whole")
        disk.before = Trouble("write", 1, Crash("struck"))
        with pytest.raises(Crash):
            disk.append("f", b"-cut")
        disk.kill()
        left.add(disk.reopen().read("f", 0, 99))
    assert left == {b"whole", b"whole-", b"whole-c", b"whole-cu", b"whole-cut"}


@pytest.mark.parametrize("operation", ["sync", "truncate", "remove", "rename"])
def test_other_calls_are_cut_short_before_or_after_they_took_effect(operation):
    left = set()
    for seed in range(60):
        disk = VirtualDisk(random.Random(seed))
        disk.append("f", b"1234")
        disk.before = Trouble(operation, 1, Crash("struck"))
        with pytest.raises(Crash):
            {
                "sync": lambda: disk.sync("f"),  # noqa: B023
                "truncate": lambda: disk.truncate("f", 2),  # noqa: B023
                "remove": lambda: disk.remove("f"),  # noqa: B023
                "rename": lambda: disk.replace("f", [b"5"]),  # noqa: B023
            }[operation]()
        disk.kill()
        after = disk.reopen()
        left.add((content(after), after.synced("f")))
    some = {
        "sync": {(b"1234", 0), (b"1234", 4)},
        "truncate": {(b"1234", 0), (b"12", 0)},
        "remove": {(b"1234", 0), (None, 0)},
        "rename": {(b"1234", 0), (b"5", 0)},  # renamed, and the directory not synced
    }
    assert left == some[operation]


def test_the_dead_do_nothing_more():
    disk = VirtualDisk(random.Random(1), before=Trouble("sync", 1, Crash("struck")))
    disk.append("f", b"ab")
    with pytest.raises(Crash, match="struck"):
        disk.sync("f")
    assert disk.dead
    for call in (lambda: disk.append("f", b"x"), lambda: disk.names(), lambda: disk.size("f")):
        with pytest.raises(Crash, match="struck"):
            call()
    disk.close()
    disk.kill()
    after = disk.reopen()
    assert (after.dead, after.read("f", 0, 9)) == (False, b"ab")
    after.kill()
    with pytest.raises(Crash, match="the process that had this disk is gone"):
        after.append("f", b"x")


def test_what_a_killed_replace_left_is_swept_up_later():
    disk = VirtualDisk(random.Random(1), capacity_bytes=10, before=Trouble("sync", 1, Crash()))
    with pytest.raises(Crash):
        disk.replace("f", [b"12345"])
    disk.kill()
    after = disk.reopen()
    assert (after.names(), after.room()) == ([], 5)
    after.replace("g", [b"1"])
    assert after.room() == 9


def test_a_flipped_bit_stays():
    disk = VirtualDisk(random.Random(1))
    disk.append("f", b"aaa")
    disk.flip("f", 1, 1)
    assert disk.read("f", 0, 9) == b"aca"


def test_the_same_seed_leaves_the_same_files():
    def left(seed: int) -> list[tuple[str, bytes]]:
        draw = random.Random(seed)
        disk = VirtualDisk(draw)
        for number in range(200):
            name = f"f{draw.randrange(9)}"
            disk.append(name, draw.randbytes(draw.randrange(9000)))
            if number % 7 == 0:
                disk.sync(name)
            if number % 11 == 0:
                disk.remove(f"f{draw.randrange(9)}")
            if number % 13 == 0:
                disk.truncate(name, draw.randrange(disk.size(name) + 1))
        disk.crash()
        after = disk.reopen()
        return [(name, after.read(name, 0, 1 << 30)) for name in after.names()]

    assert left(5) == left(5)
    assert left(5) != left(6)
