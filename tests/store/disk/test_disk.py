"""Files that are whole or untouched, and trouble said in sentences."""

import errno
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evercrawl.errors import NoRoomError, StoreError
from evercrawl.store.disk.disk import OPEN_FILES, RealDisk
from evercrawl.store.disk.trouble import free_bytes


@pytest.fixture
def disk(tmp_path):
    return RealDisk(tmp_path)


class Trouble:
    """Fails the n-th operation of a kind, and notes all that were announced."""

    def __init__(self, operation, turn, number=errno.ENOSPC) -> None:
        self.operation, self.turn, self.number = operation, turn, number
        self.seen = []

    def __call__(self, operation, name) -> None:
        self.seen.append((operation, name))
        if operation == self.operation:
            self.turn -= 1
            if self.turn == 0:
                raise OSError(self.number, os.strerror(self.number))


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_append_says_where_it_starts(disk):
    assert [disk.append("a.log", b"12345"), disk.append("a.log", b""), disk.append("a.log", b"67")] == [0, 5, 5]
    assert disk.size("a.log") == 7
    assert disk.read("a.log", 3, 100) == b"4567"
    assert disk.read("a.log", 3, 2) == b"45"
    assert disk.read("a.log", 7, 1) == b""


def test_an_absent_file_reads_as_an_empty_one(disk, tmp_path):
    assert disk.size("none") == 0
    assert disk.read("none", 0, 10) == b""
    disk.remove("none")
    assert list(tmp_path.iterdir()) == []


def test_append_goes_on_after_truncate_replace_and_remove(disk):
    disk.append("f", b"abcdef")
    disk.truncate("f", 2)
    assert disk.append("f", b"X") == 2
    disk.replace("f", [b"new ", b"content"])
    assert disk.append("f", b"!") == 11
    assert disk.read("f", 0, 99) == b"new content!"
    disk.remove("f")
    assert disk.append("f", b"fresh") == 0
    assert RealDisk(disk.directory).append("f", b"+") == 5


def test_names_are_sorted_and_know_folders(disk):
    for name in ("journal-2", "journal-1", "archive/b.gz", "archive/a.gz", "archives"):
        disk.append(name, b".")
    (disk.directory / "left.tmp").write_bytes(b"")
    assert disk.names() == ["archive/a.gz", "archive/b.gz", "archives", "journal-1", "journal-2"]
    assert disk.names("journal-") == ["journal-1", "journal-2"]
    assert disk.names("archive/") == ["archive/a.gz", "archive/b.gz"]
    assert disk.names("arch") == ["archive/a.gz", "archive/b.gz", "archives"]
    assert disk.names("nothing/") == disk.names("journal-1/") == []


@pytest.mark.parametrize("name", ["", "/etc/x", "../x", "a/../x", "a/b/c", "a/", ".hidden", "a//b"])
def test_names_outside_are_refused(disk, name):
    with pytest.raises(StoreError, match="no crawl has such"):
        disk.append(name, b"x")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_room_to_append_leaves_the_file_as_it_was(tmp_path, number):
    disk = RealDisk(tmp_path, before=Trouble("write", 2, number))
    disk.append("j.log", b"first")
    with pytest.raises(NoRoomError) as caught:
        disk.append("j.log", b"x" * 1234)
    assert re.match(rf"no room to write 1234 bytes to {tmp_path}/j.log, \d+ bytes are free: ", str(caught.value))
    assert disk.append("j.log", b"second") == 5
    assert disk.read("j.log", 0, 99) == b"firstsecond"


LIMITED = """
import resource, sys
from pathlib import Path
from evercrawl.errors import NoRoomError
from evercrawl.store.disk.disk import RealDisk
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, -1))
disk = RealDisk(Path(sys.argv[1]))
disk.append("f", b"a" * 900)
for write in (lambda: disk.append("f", b"b" * 900), lambda: disk.replace("f", [b"c" * 900] * 2)):
    try:
        write()
    except NoRoomError as error:
        print(error)
    print(disk.names(), disk.read("f", 0, 2000) == b"a" * 900, disk.size("f"))
print(disk.append("f", b"d" * 100))
"""


def test_a_write_cut_short_by_the_system_is_taken_back(tmp_path):
    """The system writes 100 of the 900 bytes before it refuses the rest."""
    run = subprocess.run([sys.executable, "-c", LIMITED, tmp_path], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert "no room to write 900 bytes" in lines[0]
    assert lines[0].endswith("the file size limit is reached (ulimit -f); raise it and start again")
    assert lines[1] == lines[3] == "['f'] True 900"
    assert lines[4] == "900"


def test_an_interrupted_append_is_taken_back(tmp_path):
    def interrupt(operation, name) -> None:
        raise KeyboardInterrupt

    RealDisk(tmp_path).append("f", b"123")
    disk = RealDisk(tmp_path, before=interrupt)
    with pytest.raises(KeyboardInterrupt):
        disk.append("f", b"456")
    assert disk.size("f") == 3


@pytest.mark.parametrize(("operation", "turn"), [("write", 1), ("write", 2), ("sync", 1), ("rename", 1)])
def test_replace_that_fails_leaves_the_old_file(tmp_path, operation, turn):
    RealDisk(tmp_path).replace("s/x.bin", [b"old"])
    disk = RealDisk(tmp_path, before=Trouble(operation, turn))
    with pytest.raises(NoRoomError):
        disk.replace("s/x.bin", [b"new", b"er"])
    assert disk.read("s/x.bin", 0, 9) == b"old"
    assert [path.name for path in (tmp_path / "s").iterdir()] == ["x.bin"]
    disk.replace("s/x.bin", [b"new", b"er"])
    assert disk.read("s/x.bin", 0, 9) == b"newer"


KILLED = """
import os, sys
from pathlib import Path
from evercrawl.store.disk.disk import RealDisk
def kill(operation, name):
    if operation == "rename":
        os.kill(os.getpid(), 9)
RealDisk(Path(sys.argv[1]), before=kill).replace("x.bin", [b"new"])
"""


def test_replace_killed_midway_leaves_the_old_file_and_is_swept_up_later(disk, tmp_path):
    disk.replace("x.bin", [b"old"])
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False).returncode == -9
    again = RealDisk(tmp_path)
    assert again.read("x.bin", 0, 9) == b"old"
    assert again.names() == ["x.bin"]
    assert len(list(tmp_path.iterdir())) == 2
    again.replace("y.bin", [b"y"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.bin", "y.bin"]


def test_operations_are_announced(tmp_path):
    notes = Trouble("never", 1)
    disk = RealDisk(tmp_path, before=notes)
    disk.append("f", b"abc")
    disk.sync("f")
    disk.truncate("f", 1)
    disk.replace("g", [b"1", b"2"])
    disk.remove("g")
    assert [operation for operation, _ in notes.seen] == [
        "write", "sync", "truncate", "write", "write", "sync", "rename", "remove",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("sync", lambda disk: disk.sync("f")),
        ("truncate", lambda disk: disk.truncate("f", 0)),
        ("remove", lambda disk: disk.remove("f")),
    ],
)
def test_a_failing_disk_is_a_sentence(tmp_path, operation, call):
    RealDisk(tmp_path).append("f", b"abc")
    disk = RealDisk(tmp_path, before=Trouble(operation, 1, errno.EIO))
    with pytest.raises(
        StoreError, match=rf"cannot {operation} {tmp_path}/f: Input/output error; the disk reports a fault"
    ):
        call(disk)
    assert disk.read("f", 0, 9) == b"abc"


def test_longer_than_it_is_cannot_be_cut(disk):
    disk.append("f", b"abc")
    with pytest.raises(AssertionError, match="holds 3 bytes, not 4"):
        disk.truncate("f", 4)


def test_a_file_where_a_folder_belongs(disk):
    disk.append("archive", b"")
    with pytest.raises(StoreError, match=r"cannot write .*/archive/x: .*; a file stands where a folder belongs"):
        disk.append("archive/x", b"")


def test_missing_directory_is_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="the crawl directory is gone; see that its disk is mounted"):
        RealDisk(tmp_path / "none").append("f", b"")


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
def test_read_only_writes_nothing(disk, tmp_path, call):
    disk.append("f", b"abc")
    with pytest.raises(StoreError, match="was opened for reading only, so f cannot be changed"):
        call(RealDisk(tmp_path, read_only=True))
    assert (tmp_path / "f").read_bytes() == b"abc"


def test_a_reader_sees_what_another_writes_replaces_and_removes(disk, tmp_path):
    reader = RealDisk(tmp_path, read_only=True)
    disk.append("f", b"abc")
    assert reader.read("f", 0, 9) == b"abc"
    disk.append("f", b"def")
    assert reader.read("f", 0, 9) == b"abcdef"
    disk.replace("f", [b"new"])
    assert (reader.read("f", 0, 9), reader.size("f")) == (b"new", 3)
    disk.remove("f")
    assert reader.read("f", 0, 9) == b""


def test_more_files_than_descriptors(disk):
    """Files that gave up their descriptor are opened again where they ended."""
    before = open_files()
    for turn in range(2):
        for number in range(OPEN_FILES + 20):
            assert disk.append(f"d/{number}", b"ab") == 2 * turn
    assert open_files() < before + OPEN_FILES + 2
    assert disk.read("d/0", 0, 9) == b"abab"


def test_close_gives_descriptors_back(disk):
    disk.append("f", b"abc")
    before = open_files()
    disk.close()
    assert open_files() == before - 1
    assert disk.append("f", b"d") == 3


def test_one_thread_appends_while_another_syncs_and_reads(disk):
    done = threading.Event()
    troubles = []

    def sync() -> None:
        while not done.is_set():
            disk.sync("f")
            data = disk.read("f", 0, disk.size("f"))
            if data.strip(b"0123456789"):
                troubles.append(data)

    thread = threading.Thread(target=sync)
    thread.start()
    offsets = [disk.append("f", b"0123456789") for _ in range(2000)]
    done.set()
    thread.join()
    assert offsets == list(range(0, 20_000, 10))
    assert disk.read("f", 0, 99_999) == b"0123456789" * 2000
    assert not troubles


def test_free_bytes_is_asked_of_the_file_system(tmp_path):
    assert free_bytes(tmp_path / "not" / "there") > 0
