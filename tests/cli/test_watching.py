"""The log of a run, and alerts: to a real command and a real server, once in a while, and never in the crawl's way."""

import argparse
import contextlib
import errno
import http.server
import io
import json
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from evercrawl.cli.main import main
from evercrawl.cli.show.lines import Watcher
from evercrawl.cli.watching import hook as hooks
from evercrawl.cli.watching import rotating
from evercrawl.cli.watching.alerts import Alerts
from evercrawl.cli.watching.hook import AlertHook
from evercrawl.cli.watching.rotating import KEPT, RotatingFile
from evercrawl.cli.watching.watching import Watching, add_watching
from evercrawl.errors import ConfigError, NoRoomError
from evercrawl.progress import PartHealth, Progress, Summary
from evercrawl.simulate.surroundings.loopback import NETWORK

FLAGS = ["--delay", "0", "--allow-net", NETWORK, "--until-idle", "--seconds", "600", "--quiet"]
DEAD = "http://127.0.0.2:9/"


def log_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


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
        watch(running(1.0))
        assert log.exists(), "even before the next line"
        watch(running(2.0, message="news"))
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


class Received(http.server.ThreadingHTTPServer):
    """Keeps what is posted; answers with `status`, after `wait`."""

    status, wait = 204, threading.Event()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict] = []
        self.wait.set()
        self.came = threading.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    def wait_for(self, count: int) -> list[dict]:
        with self.came:
            assert self.came.wait_for(lambda: len(self.bodies) >= count, timeout=20.0), self.bodies
        return self.bodies


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Received

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["Content-Type"] == "application/json"
        self.server.wait.wait(20.0)
        with self.server.came:
            self.server.bodies.append(body)
            self.server.came.notify_all()
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def received() -> Iterator[Received]:
    server = Received()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.wait.set()
    server.shutdown()
    thread.join(10)
    server.server_close()


def test_a_run_tells_a_command_and_a_server_that_it_ended(site, tmp_path, received):
    got = tmp_path / "got.json"
    command = f"{sys.executable} -c \"import sys; open('{got}', 'a').write(sys.stdin.read() + chr(10))\""
    more = ["--alert-command", command, "--alert-url", received.url]
    assert main(["crawl", *site.seeds, "--dir", str(tmp_path / "crawl"), *FLAGS, *more]) == 0
    (alert,) = received.bodies
    assert alert == log_of(got)[0]
    assert (alert["event"], alert["kind"], alert["state"]) == ("alert", "ended", "raised")
    assert alert["message"] == "the run ended: idle"
    assert alert["visits"] > 10


def test_a_run_that_fails_tells_why(site, tmp_path, received, monkeypatch, capsys):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("by http://me:secret@proxy.example/")

    monkeypatch.setattr("evercrawl.crawl.session.assemble", broken)
    log = tmp_path / "run.log"
    more = ["--log", str(log), "--alert-url", received.url]
    with pytest.raises(RuntimeError):
        main(["crawl", *site.seeds, "--dir", str(tmp_path / "crawl"), *FLAGS, *more])
    assert received.bodies[0]["kind"] == "failed"
    assert received.bodies[0]["message"] == "RuntimeError: by http://***@proxy.example/"
    assert log_of(log)[-1]["message"] == received.bodies[0]["message"]


class Told:
    """A hook that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[dict] = []

    def __call__(self, line: str) -> None:
        self.lines.append(json.loads(line))


def running(at: float, **more: object) -> Progress:
    return Progress(at=at, elapsed_s=at, **more)  # type: ignore[arg-type]


def test_each_trouble_is_raised_once_cleared_once_and_not_too_often():
    told = Told()
    alerts = Alerts(told, "/crawl", every_s=100.0, min_fresh=0.5, clock=lambda: 0.0)
    troubles = {
        "disk_full": {"disk_full": True, "message": "full"},
        "memory_short": {"memory_short": True, "message": "short"},
        "names": {"names_trouble": "nobody answers"},
        "freshness": {"fresh": 0.25},
    }
    for start, (kind, trouble) in enumerate(troubles.items()):
        told.lines.clear()
        for at in (1, 2, 3):
            alerts(running(1000.0 * start + at, **trouble))
        alerts(running(1000.0 * start + 4))
        assert [(line["kind"], line["state"]) for line in told.lines] == [(kind, "raised"), (kind, "cleared")]
        alerts(running(1000.0 * start + 5, **trouble))  # again, too soon
        alerts(running(1000.0 * start + 6))
        assert len(told.lines) == 2
        alerts(running(1000.0 * start + 500, **trouble))
        assert told.lines[2]["left_out"] == 1
        alerts(running(1000.0 * start + 501))
    told.lines.clear()
    for at in range(50):
        alerts(Progress(at=10_000.0 + at, message=f"set aside: http://a.example/{at}", alert="set_aside"))
    assert [(line["kind"], line["left_out"]) for line in told.lines] == [("set_aside", 0)]
    alerts.finish(Summary(1, 1, 1, 1.0, "stopped"))
    assert told.lines[-1]["message"] == "the run ended: stopped"


def parted(at: float, *parts: PartHealth) -> Progress:
    return Progress(at=at, elapsed_s=at, partitions=parts)


@pytest.mark.parametrize(
    ("kind", "trouble"),
    [
        ("disk_full", {"disk_full": True, "message": "full"}),
        ("memory_short", {"memory_short": True}),
        ("names", {"names_trouble": "nobody answers"}),
        ("freshness", {"fresh": 0.25}),
    ],
)
def test_the_trouble_of_a_partition_names_it_and_its_machine_and_each_machine_is_told_of_once(kind, trouble):
    told = Told()
    alerts = Alerts(told, "/crawl", every_s=100.0, min_fresh=0.5, clock=lambda: 0.0)
    well = [PartHealth(0, "a"), PartHealth(1, "a"), PartHealth(2, "b")]
    ill = [PartHealth(part.number, part.machine, **trouble) for part in well]

    def said() -> list[tuple[str, int, str, list[int], int]]:
        found = [
            (line["state"], line["partition"], line["machine"], line["partitions"], line["left_out"])
            for line in told.lines
            if line["kind"] == kind
        ]
        assert len(found) == len(told.lines)
        told.lines.clear()
        return found

    for at in range(5):
        alerts(parted(at, well[0], ill[1], well[2]))
    assert said() == [("raised", 1, "a", [1], 0)]
    for at in range(5, 10):  # another one of the machine, too soon; and another machine
        alerts(parted(at, ill[0], ill[1], ill[2]))
    assert said() == [("raised", 2, "b", [2], 0)]
    alerts(parted(200, ill[0], ill[1], ill[2]))
    assert said() == [("raised", 0, "a", [0, 1], 1)]
    alerts(parted(201, ill[0], well[1], well[2]))
    assert said() == [("cleared", 2, "b", [2], 0)]
    alerts(parted(202, *well))
    assert said() == [("cleared", 0, "a", [0], 0)]


def test_what_fails_in_a_partition_is_told_with_its_number_and_machine():
    told = Told()
    alerts = Alerts(told, "/crawl", every_s=100.0, min_fresh=0.0, clock=lambda: 0.0)
    for number in (3, 4):
        about = (PartHealth(number, "box"),)
        alerts(Progress(at=1.0, message="its state was rebuilt", alert="set_aside", partitions=about))
    assert [(line["kind"], line["partition"], line["machine"]) for line in told.lines] == [("set_aside", 3, "box")]
    error = NoRoomError("partition 2: the disk is full")
    error.partition, error.machine = 2, "box"
    alerts.failed(error)
    alerts.failed(NoRoomError("the disk is full"))
    assert [line.get("partition") for line in told.lines[1:]] == [2, None]


def test_a_hook_that_hangs_or_fails_never_holds_the_crawl_up(received, monkeypatch):
    monkeypatch.setattr(hooks, "URL_S", 0.3)
    monkeypatch.setattr(hooks, "MOST_WAITING", 5)
    failed, came = list[str](), threading.Event()

    def tell(sentence: str) -> None:
        failed.append(sentence)
        if "cannot be reached: TimeoutError" in sentence:
            came.set()

    received.wait.clear()
    hook = AlertHook("", received.url, tell)
    began = time.monotonic()
    for _ in range(50):
        hook('{"event": "alert"}')
    assert time.monotonic() - began < 0.2
    assert "one was dropped" in failed[0]
    assert came.wait(20.0)
    received.wait.set()
    hook.close()


def test_what_a_hook_answers_is_told_without_its_secret(received, tmp_path, monkeypatch):
    received.status = 302
    failed: list[str] = []
    monkeypatch.setenv("HOOK", f"{received.url}?token=secret")
    hook = AlertHook("false", "env:HOOK", failed.append)
    hook('{"event": "alert"}')
    received.wait_for(1)
    hook.close()
    assert failed == ["the alert command ended with exit code 1", "the alert URL answered with status 302"]
    gone = AlertHook(str(tmp_path / "none"), "", failed.append)
    gone("{}")
    gone.close()
    assert failed[-1] == "the alert command cannot be run: No such file or directory"


def test_a_url_that_answers_no_http_ends_no_alerts():
    failed, served = list[str](), socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        for _ in range(2):
            connection, _ = served.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"garbage\r\n\r\n")

    thread = threading.Thread(target=answer)
    thread.start()
    hook = AlertHook("", f"http://127.0.0.1:{served.getsockname()[1]}/", failed.append)
    hook('{"kind": "a"}')
    hook('{"kind": "b"}')
    thread.join(20.0)
    hook.close()
    served.close()
    assert failed == ["the alert URL cannot be reached: BadStatusLine"] * 2


def hanging(folder: Path) -> tuple[str, Path]:
    """Return a command that hangs with a child of its own if it gets "hang", and a file with all that it got."""
    got, script = folder / "got", folder / "tell"
    script.write_text(
        f'#!/bin/sh\nread line\necho "$$ $line" >>{got}\ncase "$line" in *hang*) sleep 60 & wait;; esac\n'
    )
    script.chmod(0o755)
    return str(script), got


def lives(group: int) -> bool:
    """Return whether a process of a group lives, except as a zombie."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] not in "ZX":
                return True
    return False


def ends(group: int) -> bool:
    """Return whether all processes of a group, which were killed, end soon."""
    until = time.monotonic() + 10.0
    while lives(group) and time.monotonic() < until:
        time.sleep(0.01)
    return not lives(group)


def test_at_the_end_a_hook_that_hangs_is_stopped_and_the_newest_alerts_are_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(hooks, "LAST_S", 1.0)
    command, got = hanging(tmp_path)
    failed = list[str]()
    hook = AlertHook(command, "", failed.append)
    for kind in ("hang", "disk_full", "failed"):
        hook(json.dumps({"kind": kind}))
    began = time.monotonic()
    hook.close()
    assert time.monotonic() - began < 5.0
    lines = [line.split(" ", 1) for line in got.read_text().splitlines()]
    assert [json.loads(line)["kind"] for _, line in lines] == ["hang", "failed", "disk_full"]
    assert ends(int(lines[0][0])), "both the command and its child"
    (said,) = failed
    assert "did not end" in said
    assert "the alert was: hang" in said


def test_at_the_end_a_url_that_hangs_keeps_no_alert_from_the_command(received, tmp_path, monkeypatch):
    monkeypatch.setattr(hooks, "LAST_S", 0.6)
    command, got = hanging(tmp_path)
    failed = list[str]()
    received.wait.clear()
    hook = AlertHook(command, received.url, failed.append)
    for kind in ("disk_full", "failed"):
        hook(json.dumps({"kind": kind}))
    hook.close()
    kinds = [json.loads(line.split(" ", 1)[1])["kind"] for line in got.read_text().splitlines()]
    assert kinds == ["disk_full", "failed"]
    assert failed[-1] == "not delivered at the end of the run: 2 alerts (failed, disk_full)"
    received.wait.set()


def test_at_the_end_what_could_not_be_delivered_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(hooks, "LAST_S", 0.4)
    command, _ = hanging(tmp_path)
    args = argparse.ArgumentParser()
    add_watching(args)
    log = tmp_path / "a.log"
    asked = args.parse_args(["--log", str(log), "--alert-command", command, "--alert-every", "0"])

    def run() -> None:
        with Watching(asked, tmp_path, Watcher()) as watch:
            watch(Progress(at=1.0, message="hang", alert="set_aside"))
            raise NoRoomError("hang, for the disk is full")

    with pytest.raises(NoRoomError):
        run()
    said = [line.get("message") for line in log_of(log)]
    assert "not delivered at the end of the run: 1 alert (failed)" in said
    assert "not delivered at the end of the run: 1 alert (failed)" in capsys.readouterr().err


def test_a_command_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(hooks, "COMMAND_S", 0.1)
    failed: list[str] = []
    hook = AlertHook("sleep 60", "", failed.append)
    hook("{}")
    hook.close()
    assert "did not end within" in failed[0]


@pytest.mark.parametrize(("command", "url"), [('"', ""), ("", "ftp://a.example/"), ("", "env:NOT_THERE")])
def test_hooks_that_cannot_be_are_refused(command, url):
    assert "NOT_THERE" not in os.environ
    with pytest.raises(ConfigError):
        AlertHook(command, url)


def test_a_wish_without_anybody_to_tell_is_refused(tmp_path, capsys):
    asked = ["crawl", "http://a.example/", "--dir", str(tmp_path / "crawl"), "--seconds", "0", "--quiet"]
    assert main([*asked, "--min-freshness", "0.9"]) == 2
    assert "add --alert-command or --alert-url" in capsys.readouterr().err


def test_no_directory_names_a_command_or_a_log(tmp_path, capsys):
    """They are flags of a call; in a file of settings they are unknown."""
    (tmp_path / "crawl.toml").write_text("[machine]\nalert_command = 'touch /tmp/x'\n", encoding="utf-8")
    assert main(["crawl", "http://a.example/", "--dir", str(tmp_path), "--seconds", "0"]) == 2
    assert "alert_command" in capsys.readouterr().err
