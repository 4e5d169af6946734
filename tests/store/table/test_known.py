"""The file of what never changes about a URL."""

import errno

import numpy as np
import pytest

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.table.known import FILE, KNOWN, KnownLog
from evercrawl.types import NO_SLOT


def add(log: KnownLog, count: int, *, depth: int = 1, source: int = 0, hops: int = 0) -> None:
    first = log.count
    keys = np.arange(first, first + count, dtype=np.uint64) * np.uint64(7)
    log.append(keys, [slot % 3 for slot in range(first, first + count)], 100 + first, source, depth, hops)


@pytest.mark.parametrize("flushed", [0, 1, 2, 3])
def test_rows_are_there_written_or_not(tmp_path, flushed):
    log = KnownLog(RealDisk(tmp_path), 0)
    for part in range(3):
        add(log, 5)
        if part < flushed:
            log.flush()
    rows = log.rows()
    assert len(rows) == log.count == 15
    assert rows["key"].tolist() == [7 * slot for slot in range(15)]
    assert rows["host"].tolist() == [slot % 3 for slot in range(15)]
    assert rows["found"].tolist() == [100] * 5 + [105] * 5 + [110] * 5
    for start in range(16):
        for stop in range(start, 17):
            assert log.rows(start, stop)["key"].tolist() == [7 * slot for slot in range(start, min(stop, 15))]
    assert int(log.row(14)["key"]) == 98


def test_it_is_found_again_as_long_as_it_was(tmp_path):
    log = KnownLog(RealDisk(tmp_path), 0)
    add(log, 10)
    log.flush()
    log.sync()
    add(log, 3)
    assert RealDisk(tmp_path).size(FILE) == 10 * KNOWN.itemsize
    again = KnownLog(RealDisk(tmp_path), 8)
    assert (again.count, RealDisk(tmp_path).size(FILE)) == (8, 8 * KNOWN.itemsize)
    add(again, 1)
    again.flush()
    assert again.rows()["key"].tolist() == [7 * slot for slot in range(9)]


def test_a_reader_cuts_and_writes_nothing(tmp_path):
    log = KnownLog(RealDisk(tmp_path), 0)
    add(log, 10)
    log.flush()
    reader = KnownLog(RealDisk(tmp_path, read_only=True), 4, writable=False)
    add(reader, 2)
    reader.flush()
    assert reader.count == 6
    assert reader.rows()["key"].tolist() == [7 * slot for slot in range(6)]
    assert RealDisk(tmp_path).size(FILE) == 10 * KNOWN.itemsize


def test_one_that_is_too_short_is_said(tmp_path):
    log = KnownLog(RealDisk(tmp_path), 0)
    add(log, 3)
    log.flush()
    with pytest.raises(StoreError, match="holds 3 URLs, but the snapshot says 4"):
        KnownLog(RealDisk(tmp_path), 4)


def test_without_room_rows_wait(tmp_path):
    room = [False]

    def hook(operation, name) -> None:
        if operation == "write" and not room[0]:
            raise OSError(errno.ENOSPC, "full")

    log = KnownLog(RealDisk(tmp_path, before=hook), 0)
    add(log, 3)
    for _ in range(2):
        with pytest.raises(NoRoomError):
            log.flush()
    assert log.rows()["key"].tolist() == [0, 7, 14]
    room[0] = True
    add(log, 1)
    log.flush()
    assert KnownLog(RealDisk(tmp_path), 4).rows()["key"].tolist() == [0, 7, 14, 21]


def test_depth_and_hops_are_capped_and_seeds_are_found(tmp_path):
    log = KnownLog(RealDisk(tmp_path), 0)
    add(log, 2, depth=0, source=NO_SLOT)
    add(log, 1, depth=0, source=1, hops=3)  # where a seed redirects to
    add(log, 1, depth=300, hops=999)
    assert log.seeds().tolist() == [0, 1]
    assert (int(log.row(2)["hops"]), int(log.row(3)["depth"]), int(log.row(3)["hops"])) == (3, 255, 255)


def test_none_is_none(tmp_path):
    log = KnownLog(RealDisk(tmp_path), 0)
    log.flush()
    log.sync()
    assert len(log.rows()) == len(log.seeds()) == 0
    assert not (tmp_path / FILE).exists()


def test_the_digest_is_of_what_was_added_written_or_not(tmp_path):
    log = KnownLog(RealDisk(tmp_path), 0)
    digests = [log.digest()]
    for _ in range(3):
        add(log, 2)
        digests.append(log.digest())
    log.flush()
    assert log.digest() == digests[3]
    assert [KnownLog(RealDisk(tmp_path), count, writable=False).digest() for count in (0, 2, 4, 6)] == digests
    assert len(set(digests)) == 4


class CountingDisk(RealDisk):
    """Counts the bytes read, and notes the largest read."""

    def __init__(self, directory) -> None:
        super().__init__(directory)
        self.read_bytes = self.largest = 0

    def read(self, name: str, offset: int, size: int) -> bytes:
        self.read_bytes += size
        self.largest = max(self.largest, size)
        return super().read(name, offset, size)


@pytest.mark.parametrize("released", [False, True])
def test_hosts_of_some_urls_are_read_near_them(tmp_path, released):
    log = KnownLog(disk := CountingDisk(tmp_path), 0)
    hosts = np.random.default_rng(1).integers(0, 1000, 150_000)
    log.append(np.arange(1, 150_001, dtype=np.uint64), hosts.tolist(), 5, 0, 1, 0)
    log.flush()
    log.append(np.arange(150_001, 150_011, dtype=np.uint64), list(range(10)), 5, 0, 0, 0)
    hosts = np.concatenate((hosts, np.arange(10)))
    if released:
        log.release()
    else:
        log.columns()
    disk.read_bytes = disk.largest = 0
    few = np.array([149_999, 7, 65_535, 65_536, 7, 150_009, 9], np.uint32)
    assert log.hosts_of(few).tolist() == hosts[few].tolist()
    assert log.hosts_of(few[:0]).tolist() == []
    assert disk.read_bytes < 1000
    assert log.hosts_of(np.arange(0, 150_010, 3)).tolist() == hosts[::3].tolist()
    assert log.hosts().tolist() == log.columns().host.tolist() == hosts.tolist()
    assert np.flatnonzero(log.columns().depth == 0).tolist() == list(range(150_000, 150_010))
    assert disk.largest < 1 << 21, "never all at once"
    assert log.held == (not released)
