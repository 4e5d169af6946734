"""A disk that fills up loses nothing of a journal."""

import errno
import os

import pytest
from journals import append, events, replayed

from evercrawl.errors import NoRoomError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.journal import Journal


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
