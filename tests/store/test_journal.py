"""What is acknowledged survives; what is torn is cut; what is damaged is said."""

import errno
import functools
import os
import random
import shutil
import subprocess
import sys
import threading
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.simulate.disk import VirtualDisk
from evercrawl.simulate.platter import Odds
from evercrawl.store.disk import RealDisk
from evercrawl.store.events import HAS_LINKS, Discovery, Found, Lost, Visit
from evercrawl.store.frame import EVENTS
from evercrawl.store.journal import Journal
from evercrawl.store.segment import HEADER_BYTES, segment_name, segments
from evercrawl.types import NO_SLOT, Outcome

FIRST = segment_name(0)


@functools.cache
def event(number):
    """Return one of three kinds of event, each different from all others."""
    chance = random.Random(number)
    urls = [f"http://site{number % 7}.example/page/{number}/{i}" for i in range(number % 4)]
    found = Discovery(3 * number, urls, [number % 7] * len(urls), 9, [], source=number, depth=2)
    if number % 10 == 3:
        return Found(1.7e9 + number, found)
    if number % 10 == 7:
        return Lost(number, 1, 1.7e9 + number, (0, 77 * number, 1000), "the segment ends before it")
    return Visit(
        number, number % 7, 1.7e9 + number / 8, Outcome.OK, 200, flags=HAS_LINKS, visits=1, size_bytes=number * 100,
        digest=chance.getrandbits(64), simhash=chance.getrandbits(64), alias=NO_SLOT, archive=(0, number * 1000, 999),
        changed_at=chance.random(), targets=chance.randbytes(chance.randrange(60)), title=f"Page {number}",
        found=found if urls else None,
    )  # fmt: skip


def events(count, first=0):
    return [event(number) for number in range(first, first + count)]


def append(journal, new, batch=None):
    """Append events and write them, `batch` at a time (all at once without it); return the pointers."""
    pointers = []
    for number, one in enumerate(new, 1):
        pointers.append(journal.append(one))
        if batch and number % batch == 0:
            journal.write(journal.seal())
    journal.write(journal.seal())
    return pointers


def replayed(journal, start=0):
    return [one for _, _, one in journal.replay(start)]


def overwrite(path, content):
    """Give a file other content; emptying it first would make some file systems wait for the disk."""
    with path.open("r+b") as file:
        file.write(content)
        file.truncate(len(content))


class Unsynced(RealDisk):
    """Leaves it to the operating system when to write: quick, where nothing depends on it."""

    def sync(self, name) -> None:
        pass


@pytest.fixture
def disk(tmp_path):
    return RealDisk(tmp_path)


@pytest.mark.parametrize("written", [True, False])
def test_what_went_in_comes_out(disk, written):
    journal = Journal.open(disk)
    pointers = [journal.append(one) for one in events(100)]
    if written:
        journal.write(journal.seal())
    assert [journal.read(pointer) for pointer in pointers] == events(100)
    assert list(journal.replay()) == list(zip(pointers, range(100), events(100), strict=True))
    assert max(pointers) < 2**64
    assert 0 not in pointers
    assert (journal.sequence, journal.written) == (100, 100 if written else 0)


def test_half_sealed_half_open_half_written(disk):
    """Events are read wherever they are on their way to the disk."""
    journal = Journal.open(disk)
    pointers = append(journal, events(EVENTS + 3))
    pointers += [journal.append(one) for one in events(EVENTS + 5, EVENTS + 3)]
    batch = journal.seal()
    total = 2 * EVENTS + 8 + 2
    pointers += [journal.append(one) for one in events(2, 2 * EVENTS + 8)]
    for write in (False, True):
        if write:
            journal.write(batch)
        assert list(journal.replay()) == list(zip(pointers, range(total), events(total), strict=True))
        assert [journal.read(pointer) for pointer in reversed(pointers)] == events(total)[::-1]


def test_a_new_journal_writes_nothing_before_it_has_to(disk, tmp_path):
    journal = Journal.open(disk)
    assert (journal.sequence, journal.repaired, replayed(journal)) == (0, "", [])
    assert list(tmp_path.iterdir()) == []


def test_goes_on_where_it_ended(disk, tmp_path):
    expected = []
    for round_ in range(5):
        journal = Journal.open(RealDisk(tmp_path))
        assert (journal.sequence, journal.repaired) == (len(expected), "")
        append(journal, events(7, 7 * round_), batch=3)
        expected += events(7, 7 * round_)
    assert replayed(Journal.open(disk)) == expected


def test_nothing_to_write_is_an_empty_batch(disk):
    journal = Journal.open(disk)
    append(journal, events(1))
    batch = journal.seal()
    assert not batch
    journal.write(batch)
    assert journal.written == 1


def test_position_divides_past_from_future(disk):
    journal = Journal.open(disk)
    for one in events(5):
        journal.append(one)
    position = journal.position
    assert replayed(journal, position) == []
    append(journal, events(40, 5))
    assert replayed(journal, position) == events(40, 5)
    assert replayed(Journal.open(disk, writable=False), position) == events(40, 5)


def test_batches_go_in_order(disk):
    journal = Journal.open(disk)
    first = (journal.append(event(0)), journal.seal())[1]
    second = (journal.append(event(1)), journal.seal())[1]
    with pytest.raises(AssertionError, match="in the order in which they were sealed"):
        journal.write(second)
    journal.write(first)
    journal.write(second)
    assert replayed(Journal.open(disk)) == events(2)


def test_files_are_full_at_their_size(disk, tmp_path):
    journal = Journal.open(disk, segment_bytes=3000)
    pointers = append(journal, events(300), batch=50)
    files = segments(disk)
    assert len(files) > 5
    assert disk.names("journal-") == [segment_name(segment.start) for segment in files]
    assert all(before.end == after.start for before, after in pairwise(files))
    assert all(segment.end - segment.start < 3000 + 20 * 200 for segment in files)
    for again in (journal, Journal.open(disk, segment_bytes=3000), Journal.open(disk, writable=False)):
        assert list(again.replay()) == list(zip(pointers, range(300), events(300), strict=True))
        assert [again.read(pointer) for pointer in pointers[::-1]] == events(300)[::-1]


@pytest.mark.parametrize("segment_bytes", [2500, 10**9])
def test_crash_at_every_byte(tmp_path, segment_bytes):
    """However little of the journal reached the disk, what there is of it is a beginning, and it goes on from there."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    disk = RealDisk(source)
    journal = Journal.open(disk, segment_bytes=segment_bytes)
    append(journal, events(100), batch=9)
    files = segments(disk)
    last = files[-1]
    content = (source / last.name).read_bytes()
    seen = set()
    shutil.copytree(source, target)
    for size in range(len(content) + 1):
        overwrite(target / last.name, content[:size])
        cut = Journal.open(Unsynced(target), segment_bytes=segment_bytes)
        survivors = replayed(cut)
        assert survivors == events(100)[: len(survivors)]
        assert cut.sequence == len(survivors)
        kept = (target / last.name).stat().st_size
        assert bool(cut.repaired) == (kept < size)
        if cut.repaired:
            assert f"{last.name}: from byte {kept} on, {size - kept} bytes" in cut.repaired
        if len(survivors) not in seen or size % 97 == 0:
            seen.add(len(survivors))
            append(cut, events(3, len(survivors)))
            assert replayed(Journal.open(Unsynced(target))) == events(len(survivors) + 3)
            for path in target.iterdir():
                if not (source / path.name).exists():
                    path.unlink()
    assert 100 in seen
    assert len(seen) > 1


def test_what_a_killed_process_wrote_and_did_not_sync_lasts_once_it_was_read():
    disk = VirtualDisk(random.Random(1), odds=Odds(lose=1.0))
    append(Journal.open(disk), events(3))
    disk.sync = lambda name: None  # it is killed first
    append(Journal.open(disk), events(2, 3))
    disk.kill()
    disk = disk.reopen()
    assert replayed(Journal.open(disk)) == events(5)
    disk.crash()
    assert replayed(Journal.open(disk.reopen())) == events(5)


def test_a_reader_looks_past_a_torn_end(disk, tmp_path):
    append(Journal.open(disk), events(60), batch=20)
    path = tmp_path / FIRST
    path.write_bytes(path.read_bytes()[:-3])
    size = path.stat().st_size
    journal = Journal.open(RealDisk(tmp_path, read_only=True), writable=False)
    assert replayed(journal) == events(60)[: journal.sequence]
    assert 40 <= journal.sequence < 60
    assert journal.repaired.endswith("bytes of a write that never ended were looked past")
    assert path.stat().st_size == size


def test_a_hole_in_the_last_batch_is_a_torn_write(disk, tmp_path):
    """A power cut may keep the later pages of one write and lose the earlier: none of it had been acknowledged."""
    journal = Journal.open(disk)
    append(journal, events(30))
    hole = journal.position
    append(journal, events(100, 30))
    path = tmp_path / FIRST
    content = bytearray(path.read_bytes())
    content[hole + 100 : hole + 200] = bytes(100)
    path.write_bytes(content)
    again = Journal.open(RealDisk(tmp_path))
    assert (
        again.repaired
        == f"{FIRST}: from byte {hole} on, {len(content) - hole} bytes of a write that never ended were cut off"
    )
    assert replayed(again) == events(30)
    assert path.stat().st_size == hole


def open_or_say(directory):
    """Return what opening says, and the events there are when it succeeds."""
    try:
        journal = Journal.open(RealDisk(directory))
    except StoreError as error:
        return str(error), []
    return journal.repaired, replayed(journal)


@given(place=st.floats(0, 1), seed=st.integers(0, 2**32), one_batch=st.booleans())
@settings(deadline=None, max_examples=150)
def test_flipped_bytes_never_make_a_wrong_event(tmp_path_factory, place, seed, one_batch):
    directory = tmp_path_factory.mktemp("flip")
    append(Journal.open(RealDisk(directory)), events(100), batch=None if one_batch else 10)
    path = directory / FIRST
    content = bytearray(path.read_bytes())
    at = int(place * (len(content) - 16))
    for index, mask in enumerate(random.Random(seed).randbytes(16)):
        content[at + index] ^= mask
    if content == path.read_bytes():
        return
    path.write_bytes(content)
    said, survivors = open_or_say(directory)
    assert FIRST in said
    assert "byte" in said or "newer evercrawl" in said
    assert survivors == events(100)[: len(survivors)]
    assert one_batch or len(survivors) in (0, 80, 90)  # the flips may reach from the last frame but one into the last


def test_damage_to_what_was_acknowledged_is_an_error(disk, tmp_path):
    journal = Journal.open(disk)
    append(journal, events(10))
    middle = journal.position
    append(journal, events(10, 10))
    append(journal, events(10, 20))
    content = bytearray((tmp_path / FIRST).read_bytes())
    content[middle + 50] ^= 1
    (tmp_path / FIRST).write_bytes(content)
    for writable in (True, False):
        with pytest.raises(
            StoreError, match=rf"{FIRST}, byte {middle} \(journal offset {middle}\): .*restore the file"
        ):
            Journal.open(disk, writable=writable)
    assert (tmp_path / FIRST).read_bytes() == content


def test_damage_found_while_reading_is_an_error(disk, tmp_path):
    journal = Journal.open(disk)
    pointers = append(journal, events(200), batch=20)
    other = Journal.open(disk, writable=False)
    content = bytearray((tmp_path / FIRST).read_bytes())
    content[HEADER_BYTES + 50] ^= 1
    (tmp_path / FIRST).write_bytes(content)
    with pytest.raises(StoreError, match=f"{FIRST}, byte {HEADER_BYTES} .*: no sound frame is there"):
        replayed(journal)
    with pytest.raises(StoreError, match=f"no sound frame at {FIRST}, byte {HEADER_BYTES} "):
        other.read(pointers[0])


@pytest.mark.parametrize("what", ["cut", "grown", "flipped", "missing", "first missing"])
def test_damage_to_an_earlier_file_is_an_error(disk, tmp_path, what):
    append(Journal.open(disk, segment_bytes=2000), events(100), batch=20)
    files = segments(disk)
    victim = files[0 if what == "first missing" else 1]
    path = tmp_path / victim.name
    content = path.read_bytes()
    changed = {"cut": content[:-1], "grown": content + b"x", "flipped": content[:-1] + bytes([content[-1] ^ 1])}
    path.write_bytes(changed[what]) if what in changed else path.unlink()
    with pytest.raises(StoreError, match=r"the journal is damaged: journal-[0-9a-f]{16}.log, byte \d+"):
        Journal.open(RealDisk(tmp_path))


def test_a_newer_format_is_refused(disk, tmp_path):
    append(Journal.open(disk), events(3))
    content = bytearray((tmp_path / FIRST).read_bytes())
    content[8] = 2
    (tmp_path / FIRST).write_bytes(content)
    with pytest.raises(
        StoreError, match=rf"{FIRST} was made by a newer evercrawl \(journal format 2, this one reads 1\)"
    ):
        Journal.open(RealDisk(tmp_path))
    assert (tmp_path / FIRST).read_bytes() == content


@pytest.mark.parametrize("segment_bytes", [1500, 10**9])
def test_every_good_position_finds_the_same_end(disk, segment_bytes):
    journal = Journal.open(disk, segment_bytes=segment_bytes)
    marks = []
    for number in range(60):
        marks.append((journal.position, journal.sequence))
        append(journal, [event(number)])
    marks.append((journal.position, journal.sequence))
    for position, sequence in marks:
        again = Journal.open(disk, good=position, segment_bytes=segment_bytes)
        assert (again.position, again.sequence) == (journal.position, 60)
        assert replayed(again, position) == events(60)[sequence:]


@pytest.mark.parametrize("good", [1, 23, 25, 1000, 10**12])
def test_a_good_position_that_does_not_fit_is_not_believed(disk, good):
    journal = Journal.open(disk)
    append(journal, events(60), batch=7)
    again = Journal.open(disk, good=good)
    assert (again.position, again.sequence, again.repaired) == (journal.position, 60, "")


def test_only_the_end_is_read_when_a_good_position_is_given(disk, tmp_path):
    journal = Journal.open(disk, segment_bytes=5000)
    append(journal, events(500), batch=20)
    good = journal.position
    append(journal, events(20, 500))
    read = []

    class Counting(RealDisk):
        def read(self, name, offset, size) -> bytes:
            data = super().read(name, offset, size)
            read.append(len(data))
            return data

    again = Journal.open(Counting(tmp_path), good=good, segment_bytes=5000)
    assert again.sequence == 520
    assert sum(read) < segments(disk)[-1].end / 2


def test_replay_from_where_no_frame_starts(disk):
    journal = Journal.open(disk)
    append(journal, events(60), batch=7)
    with pytest.raises(StoreError, match=f"{FIRST}, byte 100 .*no sound frame is there"):
        replayed(journal, 100)


def test_a_pointer_to_nothing(disk):
    journal = Journal.open(disk)
    pointers = append(journal, events(3))
    with pytest.raises(StoreError, match="has 3 events, none has number 3"):
        journal.read(pointers[-1] + 1)
    with pytest.raises(StoreError, match="no sound frame"):
        journal.read(journal.position << 8)
    with pytest.raises(StoreError, match="no sound frame"):
        Journal.open(disk, writable=False).read(12345 << 8)


class Full:
    """Lets some operations fail for want of room, while they are in `refuse`."""

    def __init__(self) -> None:
        self.refuse = set()

    def __call__(self, operation, name) -> None:
        if operation in self.refuse:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("operation", ["write", "sync"])
@pytest.mark.parametrize("written", [0, 30])
def test_a_full_disk_loses_nothing(tmp_path, operation, written):
    full = Full()
    journal = Journal.open(RealDisk(tmp_path, before=full))
    if written:
        append(journal, events(written))
    pointers = [journal.append(one) for one in events(50, written)]
    batch = journal.seal()
    full.refuse = {operation}
    for _ in range(3):
        with pytest.raises(NoRoomError):
            journal.write(batch)
        assert journal.written == written
        assert [journal.read(pointer) for pointer in pointers] == events(50, written)
    pointers += [journal.append(one) for one in events(5, written + 50)]
    full.refuse = set()
    journal.write(batch)
    journal.write(journal.seal())
    assert journal.written == written + 55
    again = Journal.open(RealDisk(tmp_path))
    assert (replayed(again), again.repaired) == (events(written + 55), "")


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("operation", ["write", "sync"])
def test_a_disk_that_fills_up_between_files(tmp_path, operation, turn):
    """The batch spans several files; a try that gave up midway leaves a journal that opens; the next one ends it."""
    left = turn

    def fail(seen, name) -> None:
        nonlocal left
        left -= seen == operation
        if seen == operation and left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    journal = Journal.open(RealDisk(tmp_path, before=fail), segment_bytes=1000)
    for one in events(80):
        journal.append(one)
    batch = journal.seal()
    assert len(batch.parts) >= 4
    failed = 0
    while not journal.written:
        try:
            journal.write(batch)
        except NoRoomError:
            failed += 1
            survivors = replayed(Journal.open(RealDisk(tmp_path, read_only=True), writable=False))
            assert survivors == events(len(survivors))
    assert failed == (turn <= len(batch.parts))
    assert replayed(Journal.open(RealDisk(tmp_path), segment_bytes=1000)) == events(80)


def test_another_process_that_cut_the_file_is_noticed(disk, tmp_path):
    journal = Journal.open(disk)
    append(journal, events(30))
    os.truncate(tmp_path / FIRST, 100)
    journal.append(event(30))
    with pytest.raises(StoreError, match="another process cut it"):
        journal.write(journal.seal())


def test_a_reader_follows_a_writer(disk, tmp_path):
    """A reader sees a clean prefix after each write, over the ends of files, and goes on where it stopped."""
    reader = Journal.open(RealDisk(tmp_path, read_only=True), writable=False)
    assert replayed(reader) == []
    writer = Journal.open(disk, segment_bytes=1500)
    seen = []
    for round_ in range(30):
        pointers = append(writer, events(5, 5 * round_))
        seen += replayed(reader, reader.position)
        assert seen == events(5 * round_ + 5)
        assert reader.sequence == writer.sequence
        assert reader.read(pointers[2]) == event(5 * round_ + 2)
    assert len(segments(disk)) > 3


def test_a_reader_never_trips_over_a_write_under_way(disk, tmp_path):
    """Readers open and replay while a thread writes as fast as it can."""
    done = threading.Event()

    def write() -> None:
        journal = Journal.open(disk, segment_bytes=20_000)
        for number in range(0, 3000, 30):
            append(journal, events(30, number))
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    lengths = []
    while not done.is_set():
        journal = Journal.open(RealDisk(tmp_path, read_only=True), writable=False)
        seen = replayed(journal)
        assert [one.at for one in seen] == [event(number).at for number in range(len(seen))]
        lengths.append(len(seen))
    thread.join()
    assert lengths == sorted(lengths)
    assert replayed(Journal.open(disk, writable=False)) == events(3000)


WRITER = """
import sys
from pathlib import Path
from evercrawl.store.disk import RealDisk
from evercrawl.store.events import Lost
from evercrawl.store.journal import Journal
journal = Journal.open(RealDisk(Path(sys.argv[1])), segment_bytes=4000)
while True:
    for _ in range(20):
        journal.append(Lost(journal.sequence, 0, 0.0, (0, 0, 0), "x" * (journal.sequence % 50)))
    journal.write(journal.seal())
    print(journal.written, flush=True)
"""


def test_kill_loses_nothing_acknowledged(tmp_path):
    acknowledged = 0
    for round_ in range(4):
        with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(10 + 7 * round_):
                acknowledged = int(process.stdout.readline())
            process.kill()
            acknowledged = max([acknowledged, *(int(line) for line in process.stdout if line.endswith("\n"))])
        seen = replayed(Journal.open(RealDisk(tmp_path, read_only=True), writable=False))
        assert len(seen) >= acknowledged
        assert [one.slot for one in seen] == list(range(len(seen)))


def test_only_the_open_journal_is_written_to(disk):
    with pytest.raises(AssertionError, match="opened for reading"):
        Journal.open(disk, writable=False).append(event(0))


def test_a_huge_event_has_a_frame_of_its_own(disk):
    """A page with a hundred thousand links, larger than what the journal reads ahead."""
    journal = Journal.open(disk)
    big = Visit(1, 1, 1.0, Outcome.OK, 200, targets=random.Random(1).randbytes(3 << 20))
    pointers = append(journal, [event(0), big, event(2)])
    again = Journal.open(disk)
    assert [again.read(pointer) for pointer in pointers] == [event(0), big, event(2)]
    assert replayed(again) == [event(0), big, event(2)]
    assert pointers[2] >> 8 != pointers[1] >> 8
