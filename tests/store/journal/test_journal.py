"""What goes into a journal comes out, in whatever files and from whatever position it is read."""

import random
from itertools import pairwise

import pytest
from journals import FIRST, append, event, events, replayed

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import Found, Visit
from evercrawl.store.journal.frame import EVENTS
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.segment import segment_name, segments
from evercrawl.types import Outcome


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


def test_a_glance_tells_what_each_event_is_and_whose(disk):
    journal, made = Journal.open(disk), events(EVENTS + 30)
    append(journal, made[: EVENTS + 20])
    for one in made[EVENTS + 20 :]:
        journal.append(one)
    glances = [(glance.kind, glance.first) for glance in journal.glances()]
    firsts = [one.at if isinstance(one, Found) else one.slot for one in made]
    assert glances == [(one.__struct_config__.tag, first) for one, first in zip(made, firsts, strict=True)]


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
    with pytest.raises(StoreError, match=f"{FIRST}, byte 100 .*no valid frame is there"):
        replayed(journal, 100)


def test_a_pointer_to_nothing(disk):
    journal = Journal.open(disk)
    pointers = append(journal, events(3))
    with pytest.raises(StoreError, match="has 3 events, none has number 3"):
        journal.read(pointers[-1] + 1)
    with pytest.raises(StoreError, match="no valid frame"):
        journal.read(journal.position << 8)
    with pytest.raises(StoreError, match="no valid frame"):
        Journal.open(disk, writable=False).read(12345 << 8)


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
