"""Snapshots as files: written beside what goes on, read back whole or not at all. Crawls start from them in
tests/crawls/disk/test_storing.py."""

import asyncio
import random

import msgspec
import numpy as np
import pytest

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.store.cash.transfers import Moved, pack, pack_numbers
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.stamped import END, packed
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, Discovery, Found, Passed, Switched, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.scheme import Scheme
from evercrawl.store.snapshots import blocklog, snapshot
from evercrawl.store.snapshots.columns import NameColumn
from evercrawl.store.snapshots.frames import file_name
from evercrawl.store.snapshots.head import MAGIC
from evercrawl.store.snapshots.snapshot import COPIED_NAMES
from evercrawl.types import Outcome
from tests.helpers.small_blocks import small_blocks


@pytest.fixture
def partition(tmp_path):
    yield from made_in(tmp_path)


def made_in(tmp_path):
    made = Partition(tmp_path, random.Random(1).randbytes, now=1.7e9)
    state = made.state
    urls = [f"http://a.example/{i}" for i in range(100)]
    fresh = state.hasher.keys(urls)
    state.table.intern(fresh)
    found = Discovery(0, urls, [state.host_number("a.example", new := [])] * 100, 0, ["a.example"])
    assert new == ["a.example"]
    state.admit(found, 1.7e9, fresh)
    made.remember(Found(1.7e9, found))
    for slot in range(40):
        visit(made, slot)
    yield made
    made.close()


def visit(partition, slot: int, visits: int = 1) -> None:
    event = Visit(slot, 0, 1.7e9 + slot, Outcome.OK, 200, HAS_LINKS, visits, digest=slot + 1, simhash=slot)
    partition.remember(event)


def write(partition, between=None) -> str:
    """Write a snapshot; `between` is called whenever slow work is done elsewhere."""

    async def commit() -> None:
        partition.flush()
        partition.journal.write(partition.journal.seal())

    async def offload(function, *arguments: object) -> object:
        if between is not None:
            between(function)
        return function(*arguments)

    return asyncio.run(partition.snapshot(commit, offload))


def test_what_is_written_is_read(partition):
    name = write(partition)
    loaded, troubles = snapshot.load(partition.disk)
    assert (loaded.name, troubles) == (name, [])
    head = loaded.head
    assert (head.sequence, head.known, head.records, head.hosts, head.visits) == (41, 100, 40, 1, 40)
    assert head.tail == [f"http://a.example/{i}" for i in range(96, 100)]
    columns = {"cash", "record", "records", "sites", "site_of", "hosts", "site_names"}
    assert {frame.column for frame in loaded.placed} == columns


def test_between_the_fields_of_a_record_there_is_no_room_for_what_memory_held_before(partition):
    rows = partition.state.records.rows
    inside = sorted(place for name in rows.dtype.names for place in _bytes_of(rows.dtype, name))
    assert inside == list(range(rows.dtype.itemsize))


def _bytes_of(kind, name) -> range:
    field, offset = kind.fields[name][:2]
    return range(offset, offset + field.itemsize)


def test_a_running_mean_takes_no_visit_in_twice(partition):
    """A piece that is copied later has visits in it that the journal tells once more."""
    draw = random.Random(2)
    turn = [1] * 40

    def change(slot: int) -> None:
        turn[slot] += 1
        partition.remember(
            Visit(slot, 0, 1.7e9 + 100, Outcome.OK, 200, HAS_LINKS | CHANGED, turn[slot], changes=turn[slot] - 1,
                  digest=draw.getrandbits(60), simhash=draw.getrandbits(64), words=draw.getrandbits(30))
        )  # fmt: skip

    def between(function: object) -> None:
        for slot in range(0, 40, 3):
            for _ in range(3):
                change(slot)

    for slot in range(40):
        change(slot)
        change(slot)
    name = write(partition, between)
    change(3)
    partition.journal.write(partition.journal.seal())
    loaded = snapshot.read(partition.disk, name)
    assert max(frame.sequence for frame in loaded.placed if frame.column == "records") > loaded.head.sequence
    again = Partition(partition.directory, random.Random(1).randbytes, now=1.7e9, writable=False)
    assert again.repairs == []
    assert again.state.folded is None
    assert (again.state.records.rows[:40] == partition.state.records.rows[:40]).all()
    again.close()


def test_what_a_scheme_keeps_of_pages_is_there_too(partition):
    scheme = Scheme("aopic", True, 0.1, "two_windows", 3, ("a.example",))
    partition.remember(Switched(1.7e9, scheme))
    for slot in range(40):
        kept = pack_numbers((slot, 0.5, -1.0 / (slot + 1)))
        partition.remember(Passed(slot, 1.7e9, 0, pack(Moved(1.0, 2.0, 0.0, 0.0, 0.0)), kept))
    write(partition)
    loaded, _ = snapshot.load(partition.disk)
    assert loaded.head.scheme == scheme
    assert [frame.blocks.tolist() for frame in loaded.placed if frame.column == "kept"] == [[0, 1]]
    again = Partition(partition.directory, random.Random(1).randbytes, now=1.7e9, writable=False)
    assert again.repairs == []
    assert again.scheme == scheme
    assert again.state.records.kept[:40].tolist() == partition.state.records.kept[:40].tolist()
    assert again.state.records.kept[39].tolist() == [39.0, 0.5, -1.0 / 40]
    again.close()


def test_one_of_a_version_that_nobody_reads_any_more_is_passed_over(partition):
    path = partition.directory / write(partition)
    head = snapshot.read(partition.disk, path.name).head
    path.write_bytes(MAGIC + packed(msgspec.msgpack.encode(msgspec.structs.replace(head, version=7))) + END)
    again = Partition(partition.directory, random.Random(1).randbytes, now=1.7e9, writable=False)
    assert "older evercrawl" in again.repairs[0]
    assert again.state.visits == 40
    again.close()


@pytest.fixture
def small(monkeypatch, tmp_path):
    small_blocks(monkeypatch)
    yield from made_in(tmp_path)


def test_frames_say_when_they_were_copied(small):
    slots = iter(range(40, 100))

    def between(function) -> None:
        if function.__name__ == "append":
            visit(small, next(slots))
            visit(small, 3, 2 + small.state.records.count - 41)

    write(small, between)
    loaded, _ = snapshot.load(small.disk)
    assert [frame.column for frame in loaded.placed[:2]] == ["sites", "cash"]
    records = np.concatenate([frame.blocks for frame in loaded.placed if frame.column == "records"])
    assert records.tolist() == list(range(20))  # as many as there were when it began, two each
    sequences = [frame.sequence for frame in loaded.placed]
    assert sequences == sorted(sequences)
    assert sequences[-1] > sequences[0] >= loaded.head.sequence
    restored = Partition(small.directory, random.randbytes, now=0.0, writable=False)
    folded = Partition(small.directory, random.randbytes, now=0.0, writable=False, fold_all=True)
    for one in (restored, folded):
        rows = one.state.records.rows[: one.state.records.count]
        assert (rows == small.state.records.rows[: small.state.records.count]).all()
        assert one.state.outcomes == small.state.outcomes
        assert one.state.visits == small.state.visits
        assert all(one.state.original(digest, 0) == digest - 1 for digest in range(1, 41))
        one.close()


def test_names_are_copied_some_thousand_at_a_time(partition, monkeypatch):
    """With 43,000 at a time, as many as make a mebibyte, a step took 17 ms."""
    state, most, copied = partition.state, 3 * COPIED_NAMES, []
    names = [f"h{number}.example" for number in range(most)]
    urls = [f"http://{name}/" for name in names]
    fresh, new = state.hasher.keys(urls), []
    state.table.intern(fresh)
    found = Discovery(100, urls, [state.host_number(name, new) for name in names], 1, new)
    state.admit(found, 1.7e9, fresh)
    partition.remember(Found(1.7e9, found))
    copy = NameColumn.copied

    def noted(self, blocks) -> bytes:
        copied.append(copy(self, blocks))
        return copied[-1]

    monkeypatch.setattr(NameColumn, "copied", noted)
    write(partition)
    assert {b"a.example", *(name.encode() for name in names)} <= {*b"".join(copied).split()}
    assert max(len(some.split()) for some in copied) <= COPIED_NAMES < most


def test_two_are_kept_the_newest_first(partition):
    written = []
    for slot in range(40, 45):
        visit(partition, slot)
        written.append(write(partition))
    assert snapshot.names(partition.disk) == written[:-3:-1]


def test_blocks_of_a_deleted_snapshot_stay_until_the_next_is_written(small, monkeypatch):
    """A power cut may bring a file back whose deletion was not synced: a snapshot came back without blocks."""
    disk, needed = small.disk, dict[str, set[int]]()  # snapshots that may come back, and the files they name
    remove, replace, gone = disk.remove, disk.replace, list[str]()

    def removed(name) -> None:
        number = next((each for each in needed.values() if name in {file_name("blocks", one) for one in each}), None)
        assert number is None, f"{name} is needed by a snapshot that may come back"
        gone.append(name)
        remove(name)

    def replaced(name, chunks, *, private=False) -> None:
        replace(name, chunks, private=private)
        for old in set(needed) - set(snapshot.names(disk)):
            del needed[old]  # the folder was synced

    monkeypatch.setattr(blocklog, "FEW_SEGMENTS", 0)  # the oldest is always cleaned
    monkeypatch.setattr(disk, "remove", removed)
    monkeypatch.setattr(disk, "replace", replaced)
    for round_ in range(30):
        for slot in range(40):
            visit(small, slot, 2 + round_)
        name = write(small)
        needed[name] = {segment.number for segment in snapshot.newest_head(disk).segments}
    assert sum(name.startswith("blocks") for name in gone) > 3


def test_it_stands_only_for_what_was_acknowledged(partition):
    """Without room for the journal there is no snapshot either: it would be ahead of it."""

    async def commit() -> None:
        raise NoRoomError("full")

    async def offload(function, *arguments: object) -> object:
        return function(*arguments)

    with pytest.raises(NoRoomError):
        asyncio.run(partition.snapshot(commit, offload))
    assert snapshot.names(partition.disk) == []


@pytest.mark.parametrize("at", ["magic", "length", "head", "piece", "end"])
@pytest.mark.parametrize("how", ["flip", "cut"])
def test_damage_anywhere_is_found(partition, at, how):
    path = partition.directory / write(partition)
    data = bytearray(path.read_bytes())
    place = {"magic": 3, "length": 9, "head": 40, "piece": len(data) * 2 // 3, "end": len(data) - 3}[at]
    if how == "flip":
        data[place] ^= 0x40
    else:
        del data[place:]
    path.write_bytes(data)
    loaded, troubles = snapshot.load(RealDisk(partition.directory))
    assert loaded is None
    assert len(troubles) == 1
    assert path.name in troubles[0]
    assert "damaged" in troubles[0]


def test_of_a_newer_version_it_says_what_to_do(partition):
    path = partition.directory / write(partition)
    head = snapshot.read(partition.disk, path.name).head
    newer = msgspec.msgpack.encode(msgspec.structs.replace(head, version=99))
    path.write_bytes(MAGIC + packed(newer) + END)
    with pytest.raises(StoreError, match="upgrade evercrawl"):
        snapshot.load(RealDisk(partition.directory))


def test_an_empty_crawl_has_an_empty_snapshot(tmp_path):
    empty = Partition(tmp_path, random.randbytes, now=1.7e9)
    write(empty)
    loaded, troubles = snapshot.load(empty.disk)
    assert (loaded.head.known, loaded.placed, troubles) == (0, [], [])
    empty.close()
    again = Partition(tmp_path, random.randbytes, now=1.7e9)
    assert again.repairs == []
    again.close()
