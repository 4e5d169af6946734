"""The log of a run: what it says, when it is begun anew, and where it cannot be written."""

import argparse
import errno
import io
import os
import signal
import stat
import sys
from datetime import datetime
from pathlib import Path

import pytest

from evercrawl.cli.main import main
from evercrawl.cli.show.lines import Watcher
from evercrawl.cli.watching import rotating
from evercrawl.cli.watching.rotating import KEPT, RotatingFile
from evercrawl.cli.watching.watching import Watching, add_watching
from evercrawl.progress import Progress
from evercrawl.simulate.surroundings.loopback import NETWORK
from tests.helpers.watched import log_of

FLAGS = ["--delay", "0", "--allow-net", NETWORK, "--until-idle", "--seconds", "600", "--quiet"]
DEAD = "http://127.0.0.2:9/"


def test_a_log_has_a_dated_line_for_each_visit_that_failed_and_why(site, tmp_path):
    log = tmp_path / "run.log"
    asked = ["crawl", *site.seeds, DEAD, "--dir", str(tmp_path / "crawl"), *FLAGS, "--log", str(log)]
    assert main(asked) == 0
    lines = log_of(log)
    assert [lines[0]["event"], lines[-1]["event"]] == ["start", "end"]
    assert lines[-1]["reason"] == "idle"
    visits = [line for line in lines if line["event"] == "visit"]
    assert {line["url"] for line in visits} >= {DEAD}
    for line in lines:
        assert datetime.fromisoformat(line["at"]).timestamp() == pytest.approx(line["at_s"], abs=0.002)
    assert all(line["reason"] and line["outcome"] in ("error", "refused", "gone", "truncated") for line in visits)
    assert [line["reason"] for line in visits if line["url"] == DEAD] == [
        "refused_address: port 9 is not one that web servers use"
    ]
    assert any(line["event"] == "message" for line in lines)
    assert stat.S_IMODE(log.stat().st_mode) & 0o007 == 0


def test_a_log_of_text_may_have_all_visits_and_is_appended_to(site, tmp_path):
    log = tmp_path / "run.log"
    log.write_text("before\n")
    more = ["--log", str(log), "--log-format", "text", "--log-visits", "all"]
    assert main(["crawl", *site.seeds, "--dir", str(tmp_path / "crawl"), *FLAGS, *more]) == 0
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "before"
    visits = [line.split() for line in lines if line.split()[1:2] == ["visit"]]
    assert len(visits) > 10
    assert all(datetime.fromisoformat(words[0]) and words[2].startswith("url=http://") for words in visits)
    assert any("outcome=ok" in words and "status=200" in words for words in visits)


def test_files_are_begun_anew_when_full_and_few_are_kept(tmp_path):
    file = RotatingFile(tmp_path / "a.log", 1000)
    for number in range(400):
        file.write(f"{number:099d}")
    file.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.log", *(f"a.log.{n + 1}" for n in range(KEPT))]
    assert all(path.stat().st_size == 1000 for path in tmp_path.iterdir())
    assert (tmp_path / "a.log").read_text().endswith("399\n")


@pytest.fixture
def refusing(monkeypatch):
    """Refuse to rename files in these folders, as a file system does where the user may not write."""
    folders, replace = set[Path](), Path.replace

    def see(path: Path, target: Path) -> Path:
        if path.parent in folders:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", see)
    return folders


def test_a_log_that_cannot_be_renamed_goes_on_in_its_file_and_says_so_once(tmp_path, refusing):
    said = list[str]()
    refusing.add(tmp_path)
    file = RotatingFile(tmp_path / "a.log", 1000, said.append)
    for number in range(100):
        file.write(f"{number:099d}")
    assert [len(said), "cannot be renamed" in said[0], "Permission denied" in said[0]] == [1, True, True]
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]
    refusing.clear()
    for number in range(100, 120):
        file.write(f"{number:099d}")
    file.close()
    files = sorted(tmp_path.iterdir(), key=lambda path: path.read_text()[:99])
    lines = "".join(path.read_text() for path in files).splitlines()
    assert lines == [f"{number:099d}" for number in range(120)]
    assert [len(files) > 1, file.dropped, len(said)] == [True, 0, 1]


def test_a_log_of_which_no_new_file_can_be_opened_loses_no_line(tmp_path, monkeypatch):
    said, opened, refused = list[str](), os.open, True

    def see(path: Path, *args: int, **more: int) -> int:
        if refused and path == tmp_path / "a.log":
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(path))
        return opened(path, *args, **more)

    file = RotatingFile(tmp_path / "a.log", 1000, said.append)
    monkeypatch.setattr(os, "open", see)
    for number in range(40):
        file.write(f"{number:099d}")
    refused = False
    for number in range(40, 50):
        file.write(f"{number:099d}")
    file.close()
    text = "".join((tmp_path / name).read_text() for name in ("a.log.1", "a.log"))
    assert text.splitlines() == [f"{number:099d}" for number in range(50)]
    assert len(said) == 1


def test_what_is_no_file_is_never_renamed(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    file = RotatingFile(pipe, 10)
    for _ in range(5):
        file.write("a line")
    file.close()
    assert os.read(reader, 1000) == b"a line\n" * 5
    os.close(reader)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_log_behind_a_link_leaves_the_link(tmp_path):
    (tmp_path / "a.log").touch()
    link = tmp_path / "link"
    link.symlink_to("a.log")
    file = RotatingFile(link, 10)
    for line in ("one", "two", "three"):
        file.write(line)
    file.close()
    assert link.is_symlink()
    assert [link.read_text(), (tmp_path / "a.log.1").read_text()] == ["three\n", "one\ntwo\n"]


def test_a_hangup_reopens_the_log_and_the_run_goes_on(tmp_path):
    """As logrotate asks for, which renames the file and then sends the signal."""
    log, args = tmp_path / "a.log", argparse.ArgumentParser()
    add_watching(args)
    before = signal.getsignal(signal.SIGHUP)
    with Watching(args.parse_args(["--log", str(log)]), tmp_path, Watcher()) as watch:
        log.rename(tmp_path / "old")
        os.kill(os.getpid(), signal.SIGHUP)
        watch(Progress(at=1.0, elapsed_s=1.0))
        assert log.exists(), "even before the next line"
        watch(Progress(at=2.0, elapsed_s=2.0, message="news"))
    assert [line["event"] for line in log_of(tmp_path / "old")] == ["start"]
    assert [line["message"] for line in log_of(log) if line["event"] == "message"] == ["news"]
    assert signal.getsignal(signal.SIGHUP) is before


def test_a_log_that_cannot_be_written_is_refused_and_one_that_cannot_go_on_ends_no_crawl(tmp_path, capsys):
    asked = ["crawl", "http://a.example/", "--dir", str(tmp_path / "crawl"), "--seconds", "0", "--quiet"]
    assert main([*asked, "--log", str(tmp_path / "no" / "a.log")]) == 2
    assert "name another file" in capsys.readouterr().err
    said = list[str]()
    file = RotatingFile(Path("/dev/full"), 1000, said.append)
    file.write("line")
    file.write("line")
    assert file.dropped == 2
    assert said == ["the log /dev/full loses lines: No space left on device"]


def test_a_line_of_which_a_part_was_written_spoils_no_other(tmp_path, monkeypatch):
    said, write = list[str](), os.write
    file = RotatingFile(tmp_path / "a.log", 1000, said.append)
    monkeypatch.setattr(rotating.os, "write", lambda fd, data: write(fd, data[:4]))
    file.write('{"a": 1}')
    monkeypatch.undo()
    file.write('{"b": 2}')
    file.write('{"c": 3}')
    assert file.path.read_text().splitlines() == ['{"a"', '{"b": 2}', '{"c": 3}']
    assert (file.dropped, len(said)) == (1, 1)
    file.close()


class Closed(io.StringIO):
    """An output that fails: its reader, or its terminal, is gone."""

    failure: OSError = BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def write(self, _: str) -> int:
        raise self.failure


@pytest.mark.parametrize("failure", [Closed.failure, OSError(errno.EIO, os.strerror(errno.EIO))], ids=["pipe", "tty"])
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
def test_a_run_whose_output_is_closed_ends_as_a_failure_or_goes_on_with_a_log(
    site, tmp_path, monkeypatch, capsys, failure, form
):
    out, log = Closed(), tmp_path / "run.log"
    out.failure = failure
    monkeypatch.setattr(sys, "stdout", out)
    asked = ["crawl", *site.seeds, "--dir", str(tmp_path / "crawl"), *FLAGS[:-1], *form]
    assert main(asked) == 1
    assert "the run ended: output closed; with --log" in capsys.readouterr().err
    assert main([*asked, "--log", str(log)]) == 0
    assert [line["reason"] for line in log_of(log) if line["event"] == "end"] == ["idle"]
