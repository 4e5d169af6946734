"""Directories of older formats: each part and version has a kept one, is converted or said to be kept, and opens."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main
from evercrawl.crawl.mending.upgrading import FORMATS, STEPS, formats
from evercrawl.errors import StoreError
from evercrawl.store.birth import FORMAT
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.lock import Lock
from evercrawl.store.journal import segment
from evercrawl.store.snapshots import head, snapshot

KEPT = Path(__file__).parents[2] / "store" / "data"
FIXTURES = {("directory", 1): KEPT / "version8", ("snapshot", 8): KEPT / "version8"}
ELSEWHERE = {("lessons", 2), ("lessons", 3)}
"""What the tests of the part itself write as it was written then."""


@pytest.fixture
def older(tmp_path) -> Path:
    return Path(shutil.copytree(KEPT / "version8", tmp_path / "crawl"))


def test_every_older_version_has_a_kept_directory_and_a_way():
    versions = {(part, version) for part, known in FORMATS.items() for version in known.older}
    assert versions == set(FIXTURES) | ELSEWHERE
    for (part, version), folder in FIXTURES.items():
        assert {state.part: state.found for state in formats(folder)}[part] == version
    assert all(known.kept or part in STEPS for part, known in FORMATS.items() if known.older)
    assert (FORMATS["directory"].newest, FORMATS["journal"].newest, FORMATS["snapshot"].newest) == (
        FORMAT, segment.VERSION, head.VERSION,
    )  # fmt: skip


def test_an_older_directory_is_converted_and_then_current(older, capsys):
    assert main(["upgrade", str(older), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "snapshot: format 8, the newest is 9; it would be converted" in said
    assert "directory: format 1, the newest is 2; it would be converted" in said
    before = {path.name: path.read_bytes() for path in older.iterdir()}
    assert before == {path.name: path.read_bytes() for path in (KEPT / "version8").iterdir()}
    assert main(["upgrade", str(older)]) == 0
    assert "done; check it with: evercrawl verify" in capsys.readouterr().out
    disk = RealDisk(older, read_only=True)
    assert [snapshot.version_of(disk, name) for name in snapshot.names(disk)] == [9]
    found = verify(older)
    assert not [sentence for sentence in found.wrong if "snapshot" in sentence], found.wrong
    assert (older / "journal-0000000000000000.log").read_bytes() == before["journal-0000000000000000.log"]
    assert main(["upgrade", "--dir", str(older), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {state["part"]: state["then"] for state in told["formats"]} == {
        "directory": "current", "journal": "current", "snapshot": "current", "lessons": "current",
    }  # fmt: skip


def started(directory, capsys) -> list[str]:
    """Return what a start says of the format, in a crawl that asks for nothing."""
    (directory / "crawl.toml").write_text("# as by default\n")
    assert main(["crawl", "--dir", str(directory), "--seconds", "0", "--json", "--workers", "0", "--no-index"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [each["message"] for each in told if "evercrawl upgrade" in each.get("message", "")]


def test_a_start_goes_on_with_an_older_directory_and_says_how_to_convert_it(older, capsys):
    (said,) = started(older, capsys)
    assert said.endswith(f"run: evercrawl upgrade {older}")
    assert {state.part: state.found for state in formats(older)}["directory"] == 1
    assert main(["upgrade", str(older)]) == 0
    capsys.readouterr()
    assert started(older, capsys) == []
    wrong = verify(older).wrong
    assert all(sentence.startswith("cash:") for sentence in wrong)  # whose amounts were made up


def test_a_current_directory_is_said_to_be(filled, capsys):
    before = {path: path.read_bytes() for path in filled.directory.rglob("*") if path.is_file()}
    assert main(["upgrade", str(filled.directory)]) == 0
    assert capsys.readouterr().out.endswith("already current\n")
    assert before == {path: path.read_bytes() for path in filled.directory.rglob("*") if path.is_file()}


def test_what_is_newer_runs_or_is_no_crawl_is_refused(older, tmp_path, capsys):
    lock = Lock.take(older, "evercrawl crawl", 0.0)
    assert main(["upgrade", str(older)]) == 3
    lock.release()
    for name in ("crawl.json", "crawl-copy.json"):
        path = older / name
        path.write_bytes(msgspec.json.encode(msgspec.json.decode(path.read_bytes()) | {"format": 99}))
    with pytest.raises(StoreError, match="format 99"):
        formats(older)
    assert main(["upgrade", str(tmp_path / "none")]) == 2
    assert "there is no crawl" in capsys.readouterr().err


KILLED_ANYWHERE = """
import contextlib, io, json, os, shutil, signal, sys
from pathlib import Path
from evercrawl.ask.verify.verify import verify
from evercrawl.cli.main import main

def deadly(sound, left):
    def call(*arguments, **named):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return sound(*arguments, **named)
    return call

def upgraded(directory, calls):
    child = os.fork()
    if child == 0:
        left = iter(range(calls))
        for name in ("pwrite", "ftruncate", "fsync", "fdatasync", "unlink", "rename", "replace"):
            setattr(os, name, deadly(getattr(os, name), left))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(main(["upgrade", str(directory)]))
    return os.waitpid(child, 0)[1]

calls, ended = 0, []
with contextlib.redirect_stdout(io.StringIO()):  # whoever is started from here has all modules
    main(["upgrade", str(shutil.copytree(sys.argv[1], Path(sys.argv[2]) / "first"))])
while True:
    directory = Path(shutil.copytree(sys.argv[1], Path(sys.argv[2]) / str(calls)))
    if not os.WIFSIGNALED(upgraded(directory, calls)):
        break
    wrong = [each for each in verify(directory).wrong if not each.startswith("cash:")]  # whose amounts were made up
    ended.append([str(directory), wrong, upgraded(directory, 1 << 30)])
    calls += 2
print(json.dumps(ended))
"""


def test_an_upgrade_that_is_killed_anywhere_is_finished_by_the_next(older, tmp_path):
    asked = [sys.executable, "-c", KILLED_ANYWHERE, str(older), str(tmp_path)]
    ran = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=300)
    ended = json.loads(ran.stdout)
    assert len(ended) > 3
    for directory, wrong, code in ended:
        assert (wrong, code) == ([], 0), ran.stderr
        disk = RealDisk(Path(directory), read_only=True)
        assert [snapshot.version_of(disk, name) for name in snapshot.names(disk)] == [9]
        assert [state.then for state in formats(Path(directory))] == ["current"] * 4
