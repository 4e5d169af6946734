"""The steps of CONTRIBUTING.md that add an event, followed to the letter in a copy of the package."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "CONTRIBUTING.md"
MOST_FILES = 4

WRITE = """
import os, signal, sys
from pathlib import Path
from evercrawl.crawl.sparing import spare
from evercrawl.store.journal.events import Discovery, Found
from evercrawl.store.partition import Partition

partition = Partition(Path(sys.argv[1]), os.urandom, now=1000.0)
urls = ["http://a.example/", "http://b.example/"]
known = partition.hasher.keys(urls)
partition.state.table.intern(known)
found = Discovery(0, urls, [0, 1], 0, ["a.example", "b.example"])
partition.state.admit(found, 1000.0, known)
partition.remember(Found(1000.0, found))
spare(partition, 1, 1001.0, 5000.0)
partition.journal.write(partition.journal.seal())
spare(partition, 0, 1002.0, 6000.0)
os.kill(os.getpid(), signal.SIGKILL)
"""
READ = """
import os, sys
from pathlib import Path
from evercrawl.store.partition import Partition

partition = Partition(Path(sys.argv[1]), os.urandom, now=1003.0)
events = [type(event).__name__ for _, _, event in partition.journal.replay()]
print(partition.state.hosts, partition.state.away, *events)
"""


def edits() -> list[tuple[str, str, str]]:
    """Return what the guide says to do: file, text that is there, and what to put in its place."""
    found, file = list[tuple[str, str, str]](), ""
    for named, diff in re.findall(
        r"^ *`(evercrawl/\S+\.py)`$|^ *```diff\n(.*?)^ *```$", GUIDE.read_text(), re.M | re.S
    ):
        file = named or file
        lines = dedent(diff).splitlines()
        if lines:
            old, new = ("".join(f"{line[1:]}\n" for line in lines if line[0] == sign) for sign in "-+")
            found.append((file, old, new))
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Return a folder with a copy of the package in which the guide was followed."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "evercrawl", folder / "evercrawl")
    for name, old, new in edits():
        path = folder / name
        if not old:
            path.write_text(new)
            continue
        text = path.read_text()
        assert text.count(old) == 1, f"{name}: the guide changes what is not there, or is there twice: {old}"
        path.write_text(text.replace(old, new))
    return folder


def run(package, *arguments: object):
    return subprocess.run(
        [sys.executable, *map(str, arguments)], env={**os.environ, "PYTHONPATH": str(package)}, cwd=package,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_a_kind_of_event_touches_four_files_at_most():
    assert 1 < len({file for file, _, _ in edits()}) <= MOST_FILES


def test_an_event_that_was_added_by_the_guide_survives_a_kill(package, tmp_path):
    killed = run(package, "-c", WRITE, tmp_path)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    again = run(package, "-c", READ, tmp_path)
    assert again.stdout == "['a.example', 'b.example'] {1: 5000.0} Found Spared\n", again.stderr
    verified = run(package, "-m", "evercrawl", "verify", "--dir", tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "checked 2 events" in verified.stdout


def test_verify_blames_an_event_that_cannot_be(package, tmp_path):
    run(package, "-c", WRITE.replace("spare(partition, 1", "spare(partition, 2"), tmp_path)
    verified = run(package, "-m", "evercrawl", "verify", "--dir", tmp_path)
    assert verified.returncode == 1
    assert "it spares host 2 of 2" in verified.stdout + verified.stderr
