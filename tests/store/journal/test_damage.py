"""What is torn is cut, what is damaged is said, and no byte that flips makes a wrong event."""

import random
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import FIRST, append, events, replayed

from evercrawl.errors import StoreError
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.simulate.surroundings.platter import Odds
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.segment import HEADER_BYTES, segments


@pytest.fixture
def disk(tmp_path):
    return RealDisk(tmp_path)


def overwrite(path, content):
    """Give a file other content; emptying it first would make some file systems wait for the disk."""
    with path.open("r+b") as file:
        file.write(content)
        file.truncate(len(content))


class Unsynced(RealDisk):
    """Leaves it to the operating system when to write: quick, where nothing depends on it."""

    def sync(self, name) -> None:
        pass


COUNT = 40


@pytest.mark.parametrize("segment_bytes", [2500, 10**9])
def test_crash_at_every_byte(tmp_path, segment_bytes):
    """However little of the journal reached the disk, what there is of it is a beginning, and it goes on from there."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    disk = RealDisk(source)
    journal = Journal.open(disk, segment_bytes=segment_bytes)
    append(journal, events(COUNT), batch=9)
    files = segments(disk)
    last = files[-1]
    content = (source / last.name).read_bytes()
    seen, written = set(), events(COUNT)
    shutil.copytree(source, target)
    for size in range(len(content) + 1):
        overwrite(target / last.name, content[:size])
        cut = Journal.open(Unsynced(target), segment_bytes=segment_bytes)
        survivors = replayed(cut)
        assert survivors == written[: len(survivors)]
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
    assert COUNT in seen
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
    assert journal.repaired.endswith("bytes of an interrupted write were skipped")
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
        == f"{FIRST}: from byte {hole} on, {len(content) - hole} bytes of an interrupted write were cut off"
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
    with pytest.raises(StoreError, match=f"{FIRST}, byte {HEADER_BYTES} .*: no valid frame is there"):
        replayed(journal)
    with pytest.raises(StoreError, match=f"no valid frame at {FIRST}, byte {HEADER_BYTES} "):
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
