"""A journal and other processes: readers beside its writer, and whoever cuts its files or kills it."""

import os
import subprocess
import sys
import threading

import pytest
from journals import FIRST, append, event, events, replayed

from evercrawl.errors import StoreError
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.journal import Journal
from evercrawl.store.journal.segment import segments


@pytest.fixture
def disk(tmp_path):
    return RealDisk(tmp_path)


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
        seen += [found for _, _, found in reader.replay(reader.position, follow=True)]
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
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.events import Lost
from evercrawl.store.journal.journal import Journal
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
