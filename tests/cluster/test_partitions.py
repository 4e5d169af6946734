"""`evercrawl crawl --partitions`: real processes on this machine."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from evercrawl.cluster.birth import part_directories, read_birth
from evercrawl.model.stored.reader import opened
from evercrawl.simulate.parted.merged import together
from evercrawl.simulate.parted.reached import reached


def read(directory: Path):
    partitions = [opened(part) for part in part_directories(directory)]
    try:
        return together(partitions)
    finally:
        for partition in partitions:
            partition.close()


def children(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
            line = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(rest.split()[1]) == pid and b"spawn_main" in line:
            found.append(int(name.split()[0]))
    return sorted(found)


def test_a_crawl_is_divided_and_nothing_is_lost_when_processes_are_killed(served):
    crawl = served.start("--partitions", "4", "--until-idle", "--quiet")
    draw = random.Random(1)
    for _ in range(3):
        time.sleep(1.5)
        if crawl.poll() is None and (there := children(crawl.pid)):
            os.kill(draw.choice(there), signal.SIGKILL)
    out, err = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, out + err
    found = read(served.directory)
    assert found.wrong == []
    assert found.under_way == 0.0
    assert reached(served.server.web, served.server.seed) == set(found.visited)
    assert len({number for parts in found.visited.values() for number in parts}) > 1


def test_a_killed_coordinator_leaves_nothing_behind_and_the_crawl_resumes(served):
    crawl = served.start("--partitions", "2", "--quiet")
    while not (there := children(crawl.pid)) or len(served.server.asked) < 30:
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
    crawl.kill()
    crawl.communicate()
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() and b"spawn" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in there):
        assert time.monotonic() < until, "the processes of partitions end with their coordinator"
        time.sleep(0.1)
    assert read(served.directory).wrong == []
    again = served.start("--until-idle", "--quiet", seed=False)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, out + err
    assert read(served.directory).wrong == []
    assert read_birth(served.directory).lives >= 4


def test_no_more_pages_are_visited_than_were_asked_for(served):
    crawl = served.start("--partitions", "2", "--pages", "25", "--quiet")
    out, err = crawl.communicate(timeout=120)
    assert crawl.returncode == 0, out + err
    found = read(served.directory)
    assert found.wrong == []
    assert 15 <= len(found.visited) <= 25


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--partitions", "3"], "power of two"),
        (["--partitions", "2", "--importance", "aopic"], "one partition"),
        (["--partitions", "2", "--policy", "webfountain"], "plans over all pages"),
    ],
)
def test_what_cannot_be_gets_a_sentence_and_nothing_is_written(served, given, said):
    done = subprocess.run(served.crawling(*given), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert not served.directory.exists() or not list(served.directory.iterdir())


def test_the_number_of_partitions_is_for_good_and_two_crawls_do_not_share_a_directory(served):
    crawl = served.start("--partitions", "2", "--quiet")
    while len(served.server.asked) < 10:
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
    other = subprocess.run(served.crawling("--partitions", "4"), capture_output=True, text=True, check=False)
    assert (other.returncode, "2 partitions, for good" in other.stderr) == (2, True), other.stderr
    second = subprocess.run(served.crawling(), capture_output=True, text=True, check=False)
    assert (second.returncode, "evercrawl crawl" in second.stderr) == (3, True), second.stderr
    crawl.send_signal(signal.SIGTERM)
    out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, out + err
    alone = served.run("crawl", "--dir", str(served.directory / "part-1"), code=2)
    assert "one of 2 partitions" in alone.stderr
