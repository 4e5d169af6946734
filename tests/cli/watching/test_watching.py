"""Alerts of a run: to a real command and a real server, each trouble once, and not too often."""

import json
import sys

import pytest

from evercrawl.cli.main import main
from evercrawl.cli.watching.alerts import Alerts
from evercrawl.errors import NoRoomError
from evercrawl.progress import PartHealth, Progress, Summary
from evercrawl.simulate.surroundings.loopback import NETWORK
from tests.helpers.watched import log_of

FLAGS = ["--delay", "0", "--allow-net", NETWORK, "--until-idle", "--seconds", "600", "--quiet"]


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


def test_a_wish_without_anybody_to_tell_is_refused(tmp_path, capsys):
    asked = ["crawl", "http://a.example/", "--dir", str(tmp_path / "crawl"), "--seconds", "0", "--quiet"]
    assert main([*asked, "--min-freshness", "0.9"]) == 2
    assert "add --alert-command or --alert-url" in capsys.readouterr().err


def test_no_directory_names_a_command_or_a_log(tmp_path, capsys):
    """They are flags of a call; in a file of settings they are unknown."""
    (tmp_path / "crawl.toml").write_text("[machine]\nalert_command = 'touch /tmp/x'\n", encoding="utf-8")
    assert main(["crawl", "http://a.example/", "--dir", str(tmp_path), "--seconds", "0"]) == 2
    assert "alert_command" in capsys.readouterr().err
