"""The log and the alerts of a crawl in partitions: what their processes report reaches both."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evercrawl.cli.watching.alerts import Alerts
from evercrawl.cli.watching.rotating import RotatingFile
from evercrawl.cli.watching.run_log import RunLog
from evercrawl.cluster import coordinator
from evercrawl.cluster.birth import born
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.visit_reports import VisitReports
from evercrawl.cluster.wire import Frame, PartEnded, PartReport, VisitLogged, packed
from evercrawl.config import Config
from evercrawl.errors import NoRoomError
from evercrawl.progress import Limits, Progress
from evercrawl.simulate.worlds.made_web import Answer, MadeWeb
from tests.cluster.played import PlayedLauncher, seen


@pytest.fixture
def quick(monkeypatch):
    """What takes seconds takes hundredths of them."""
    for name in ("TURN_S", "AGAIN_MOST_S", "LAST_WORDS_S"):
        monkeypatch.setattr(coordinator, name, 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)


def fields(url: str) -> bytes:
    return msgspec.msgpack.encode({"url": url, "outcome": "error", "reason": "timeout"})


def test_each_condition_of_a_partition_is_raised_and_its_visits_are_logged(tmp_path, quick):
    raised, told = list[dict[str, Any]](), list[Progress]()
    alerts = Alerts(lambda line: raised.append(json.loads(line)), "d", every_s=0.0, min_fresh=0.5, clock=time.time)
    file = RotatingFile(tmp_path / "run.log", 10_000)
    log = RunLog(file, "json", every=False, clock=time.time)

    def watch(progress: Progress) -> None:
        told.append(progress)
        alerts(progress)
        log(progress)

    def kinds() -> set[str]:
        return {line["kind"] for line in raised if line["partition"] == 1 and line["machine"] == "box"}

    async def run() -> None:
        launcher = PlayedLauncher(tmp_path)
        one = Coordinator(tmp_path, born(tmp_path, 2), Config(), (), Limits(), watch, launcher, log=log)
        running = asyncio.ensure_future(one.run(asyncio.Event()))
        await seen(lambda: len(launcher.processes) == 2 and all(each.heard for each in launcher.processes))
        ill = launcher.processes[1]
        assert [each.plan.logged for each in launcher.processes] == ["failed", "failed"]
        ill.conditions = {
            "disk_full": True, "memory_short": True, "names_trouble": "nobody answers", "fresh": 0.25, "message": "full"
        }  # fmt: skip
        await seen(lambda: kinds() == {"disk_full", "memory_short", "names", "freshness"})
        assert {line["message"] for line in raised} >= {"full", "nobody answers"}
        assert one.progress().disk_full
        ill.kill()  # the next process has not reported yet, and nothing is known to be over
        await seen(lambda: len(launcher.processes) == 3)
        assert {line["state"] for line in raised} == {"raised"}
        launcher.processes[2].conditions = ill.conditions
        await seen(lambda: bool(launcher.processes[2].heard))
        launcher.processes[2].conditions = {}
        await seen(lambda: sum(line["state"] == "cleared" for line in raised) == 4)
        launcher.processes[0].says.append(PartReport(message="its state was rebuilt", alert="set_aside"))
        launcher.processes[0].says.append(VisitLogged(5.0, fields("http://a.example/")))
        launcher.processes[2].says.append(VisitLogged(6.0, fields("http://me:secret@b.example/")))
        await seen(lambda: (tmp_path / "run.log").read_text().count('"visit"') == 2)
        await seen(lambda: raised[-1]["kind"] == "set_aside")
        assert (raised[-1]["partition"], raised[-1]["message"]) == (0, "partition 0: its state was rebuilt")
        launcher.processes[2].says.append(PartEnded("no room", code=4))
        with pytest.raises(NoRoomError, match="partition 1: no room") as error:
            await running
        alerts.failed(error.value)

    asyncio.run(run())
    file.close()
    assert (raised[-1]["kind"], raised[-1]["partition"], raised[-1]["machine"]) == ("failed", 1, "box")
    lines = [json.loads(line) for line in (tmp_path / "run.log").read_text().splitlines()]
    visits = {line["partition"]: line for line in lines if line["event"] == "visit"}
    assert (visits[0]["at_s"], visits[0]["machine"], visits[0]["reason"]) == (5.0, "box", "timeout")
    assert visits[1]["url"] == "http://***@b.example/"
    assert [line["message"] for line in lines if line["event"] == "message"].count("partition 1: full") <= 2  # not each


def test_a_report_of_an_older_process_can_be_read():
    older = msgspec.msgpack.encode(["report", 7, 1, 2])
    report = msgspec.msgpack.decode(older, type=Frame)
    assert isinstance(report, PartReport)
    assert (report.known, report.disk_full, report.fresh, report.alert) == (7, False, None, "")
    assert msgspec.msgpack.decode(packed(PartReport(fresh=0.5))[4:], type=Frame) == PartReport(fresh=0.5)


class _Visit:
    """As much of a visit as its line has."""

    def __init__(self, outcome: int) -> None:
        event = {"outcome": outcome, "at": 3.0, "status": 0, "error": "timeout", "fetch_s": 1.0, "size_bytes": 0}
        self.event = type("Event", (), {**event, "visits": 2})
        request = type("Request", (), {"url": "http://a.example/"})
        self.reading = type("Reading", (), {"exchange": type("Exchange", (), {"request": request})})


def test_visits_that_cannot_be_reported_hold_nothing_up_and_are_counted(monkeypatch):
    from evercrawl.types import Outcome

    said, full = list[Frame](), True
    reports = VisitReports(False, said.append, lambda: full)
    for _ in range(3):
        reports.learned(_Visit(Outcome.ERROR))  # type: ignore[arg-type]
    assert said == []
    full = False
    reports.learned(_Visit(Outcome.OK))  # type: ignore[arg-type]
    reports.learned(_Visit(Outcome.ERROR))  # type: ignore[arg-type]
    missing, visit = said
    assert isinstance(missing, PartReport)
    assert missing.message.startswith("3 visits are missing in the log")
    assert isinstance(visit, VisitLogged)
    assert msgspec.msgpack.decode(visit.fields)["reason"] == "timeout"


def log_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


class Lacking:
    """A web each of whose hosts lacks some pages to which others link."""

    def __init__(self, web: MadeWeb) -> None:
        self._web = web

    def __getattr__(self, name: str) -> object:
        return getattr(self._web, name)

    def answer(self, origin: str, path: str, headers: dict[str, str], at: float) -> Answer:
        if path in ("/p/2", "/p/5", "/p/7"):
            return Answer(404, {"Content-Type": "text/html"}, b"<title>Not here</title>")
        return self._web.answer(origin, path, headers, at)


def test_failed_visits_of_real_partitions_are_in_one_log_which_a_hangup_reopens(served):
    log = served.folder / "run.log"
    served.server.web = Lacking(served.server.web)
    crawl = served.start("--partitions", "2", "--quiet", "--log", str(log))

    def of(path: Path) -> set[int]:
        return {line["partition"] for line in log_of(path) if line["event"] == "visit"}

    def wait(what: str, done) -> None:
        until = time.monotonic() + 100
        while not done():
            assert crawl.poll() is None, crawl.communicate()
            assert time.monotonic() < until, what
            time.sleep(0.05)

    wait("both partitions have failed visits", lambda: of(log) == {0, 1})
    log.rename(served.folder / "old.log")
    crawl.send_signal(signal.SIGHUP)
    wait("the log was not opened again", log.exists)
    crawl.send_signal(signal.SIGTERM)
    out, err = crawl.communicate(timeout=100)
    assert crawl.returncode == 0, out + err
    lines = log_of(served.folder / "old.log") + log_of(log)
    assert [lines[0]["event"], lines[-1]["event"]] == ["start", "end"]
    for line in lines:
        if line["event"] == "visit":
            assert line["reason"]
            assert line["machine"] == os.uname().nodename
            assert line["outcome"] in ("error", "refused", "gone", "truncated")
    assert any(line.get("reason") == "status 404" for line in lines)
