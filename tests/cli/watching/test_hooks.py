"""A command or server that alerts go to never holds up a crawl, also where it hangs, fails or makes no sense."""

import argparse
import contextlib
import json
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from evercrawl.cli.show.lines import Watcher
from evercrawl.cli.watching import hook as hooks
from evercrawl.cli.watching.hook import AlertHook
from evercrawl.cli.watching.watching import Watching, add_watching
from evercrawl.errors import ConfigError, NoRoomError
from evercrawl.progress import Progress
from tests.helpers.watched import log_of


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
