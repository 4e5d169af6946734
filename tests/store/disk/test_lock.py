"""One writer a directory; a lock never outlives its process."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
import time

import pytest

from evercrawl.errors import StoreError
from evercrawl.store.disk.lock import FILE, Lock, holder

SINCE = 1_750_000_000.0
HOLD = """
import sys, time
from pathlib import Path
from evercrawl.store.disk.lock import Lock
lock = Lock.take(Path(sys.argv[1]), "evercrawl crawl", 1_750_000_000.0)
print("taken", flush=True)
time.sleep(60)
"""


@pytest.fixture
def other(tmp_path):
    """Start another process that holds the lock of `tmp_path`."""
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "taken\n"
        yield process
        process.kill()


def test_second_process_is_told_who_has_it(tmp_path, other):
    began = time.monotonic()
    with pytest.raises(StoreError) as caught:
        Lock.take(tmp_path, "test", SINCE)
    assert time.monotonic() - began < 1
    assert str(caught.value) == (
        f"{tmp_path} is in use by process {other.pid} on {os.uname().nodename} "
        "(evercrawl crawl, since 2025-06-15 15:06:40 UTC); stop it first, or use another --dir"
    )


def test_holder_says_who_has_it(tmp_path, other):
    expected = {
        "pid": other.pid,
        "host": os.uname().nodename,
        "since": SINCE,
        "purpose": "evercrawl crawl",
        "socket": "",
    }
    assert holder(tmp_path) == expected


def test_killed_process_leaves_a_file_but_no_lock(tmp_path, other):
    other.kill()
    other.wait()
    assert (tmp_path / FILE).stat().st_size > 0
    assert holder(tmp_path) is None
    with Lock.take(tmp_path, "test", SINCE):
        told = holder(tmp_path)
        assert told is not None
        assert told["pid"] == os.getpid()


def test_released_lock_can_be_taken_again(tmp_path):
    lock = Lock.take(tmp_path, "a rather long purpose", SINCE)
    lock.release()
    lock.release()
    assert holder(tmp_path) is None
    with Lock.take(tmp_path, "short", SINCE):
        told = holder(tmp_path)
        assert told is not None
        assert told["purpose"] == "short"
    assert holder(tmp_path) is None


def test_same_process_cannot_take_it_twice(tmp_path):
    with Lock.take(tmp_path, "first", SINCE), pytest.raises(StoreError, match=r"\(first, since"):
        Lock.take(tmp_path, "second", SINCE)


def test_no_lock_where_there_never_was_one(tmp_path):
    assert holder(tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_children_do_not_keep_it(tmp_path):
    """A program started, and a process forked, while the lock is held must not hold it on."""
    lock = Lock.take(tmp_path, "parent", SINCE)
    reading, writing = os.pipe()
    forked = os.fork()
    if forked == 0:  # waits until the parent closes its end
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    with subprocess.Popen(["sleep", "60"], close_fds=False) as started:
        try:
            lock.release()
            Lock.take(tmp_path, "again", SINCE).release()
        finally:
            started.kill()
            os.close(reading)
            os.close(writing)
            os.waitpid(forked, 0)


def test_the_directory_stays_locked_if_the_file_is_removed(tmp_path, other):
    (tmp_path / FILE).unlink()
    assert holder(tmp_path) == {}
    with pytest.raises(StoreError, match="in use by another process, whose lock file was removed; stop it first"):
        Lock.take(tmp_path, "second", SINCE)
    assert holder(tmp_path) == {}
    other.kill()
    other.wait()
    assert holder(tmp_path) is None
    Lock.take(tmp_path, "second", SINCE).release()


def test_where_directories_cannot_be_locked_the_file_is_the_lock(tmp_path, monkeypatch):
    lock_file = fcntl.flock

    def refuses(fd: int, kind: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        lock_file(fd, kind)

    monkeypatch.setattr(fcntl, "flock", refuses)
    with Lock.take(tmp_path, "first", SINCE):
        assert (holder(tmp_path) or {})["purpose"] == "first"
        with pytest.raises(StoreError, match=r"\(first, since"):
            Lock.take(tmp_path, "second", SINCE)
    assert holder(tmp_path) is None


def test_garbage_in_the_file_blocks_nobody(tmp_path):
    (tmp_path / FILE).write_bytes(b'{"pid": "x"}' * 1000)
    with Lock.take(tmp_path, "test", SINCE) as lock:
        assert isinstance(lock, Lock)
        (tmp_path / FILE).write_bytes(b"\xff")
        assert holder(tmp_path) == {}
        with pytest.raises(StoreError, match="in use by another process; stop it first"):
            Lock.take(tmp_path, "second", SINCE)


def test_missing_directory_is_a_sentence(tmp_path):
    with pytest.raises(
        StoreError, match=r"cannot write .*nowhere/lock: No such file or directory; the crawl directory is"
    ):
        Lock.take(tmp_path / "nowhere", "test", SINCE)
