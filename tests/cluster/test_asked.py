"""Questions to partitions that are on other machines: they go through whoever runs the crawl, to where it has them."""

import asyncio
import json
import signal
import threading
import time
from pathlib import Path

import msgspec
import pytest

from evercrawl.ask.parts_line import PARTS_SOCKET, PartState, ask_part, part_states
from evercrawl.ask.remote import reachable
from evercrawl.cli.main import main
from evercrawl.cluster import questions
from evercrawl.cluster.answering import PartAnswering
from evercrawl.cluster.asking import AskedParts, PartsLine
from evercrawl.cluster.birth import ClusterBirth, part_directories, write_birth
from evercrawl.cluster.wire import PartAnswered, PartQuestion
from evercrawl.config import load
from evercrawl.errors import StoreError


class Coordinating:
    """A line in a directory, answered in a thread by partitions that are functions."""

    def __init__(self, directory, process) -> None:
        self.directory, self._process, self._ready = directory, process, threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    async def _run(self) -> None:
        asked = AskedParts(lambda number, frame: self._process(asked, number, frame))
        line = PartsLine(self.directory, lambda: [PartState(0, up=True, leases=2), PartState(1)], asked.ask)
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        await line.open()
        self._ready.set()
        await self._end.wait()
        await line.close()

    def __enter__(self) -> "Coordinating":
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(5)


def test_answers_come_from_the_partition_that_was_asked_and_why_there_is_none(tmp_path):
    def process(asked, number, frame) -> bool:
        if number == 2:
            return False
        if number == 3:
            asyncio.get_running_loop().call_soon(asked.gone, 3)
        elif number == 1:
            asked.heard(PartAnswered(frame.id + 100, b"", "a stranger's"))
            asyncio.get_running_loop().call_soon(
                asked.heard, PartAnswered(frame.id, msgspec.msgpack.encode([frame.name, number]))
            )
        else:
            asked.heard(PartAnswered(frame.id, b"", "its disk is full"))
        return True

    assert part_states(tmp_path) is None
    with Coordinating(tmp_path, process):
        assert ask_part(tmp_path, 1, tuple[str, int], "top", {}) == ("top", 1)
        states = part_states(tmp_path)
        assert states is not None
        assert [(state.up, state.leases) for state in states] == [(True, 2), (False, 0)]
        for number, why in ((0, "its disk is full"), (2, "does not run now"), (3, "ended while it was asked")):
            with pytest.raises(StoreError, match=why):
                ask_part(tmp_path, number, int, "top", {})
        with reachable(tmp_path, PARTS_SOCKET) as path:
            assert Path(path).stat().st_mode & 0o777 == 0o600
    with pytest.raises(StoreError, match="the crawl does not run"):
        ask_part(tmp_path, 1, int, "top", {})


def test_who_asks_while_the_crawl_ends_is_told_so(tmp_path):
    asked_at = threading.Event()

    def process(asked, number, frame) -> bool:
        asked_at.set()
        return True

    said = list[str]()

    def ask() -> None:
        with pytest.raises(StoreError) as error:
            ask_part(tmp_path, 0, int, "top", {})
        said.append(str(error.value))

    asking = threading.Thread(target=ask)
    with Coordinating(tmp_path, process):
        asking.start()
        assert asked_at.wait(5)
    asking.join(5)
    assert said == ["the crawl ended while it was asked"]


def test_another_version_is_told_so(tmp_path, monkeypatch):
    with Coordinating(tmp_path, lambda *_: True):
        monkeypatch.setattr("evercrawl.ask.parts_line.__version__", "0.0.1")
        with pytest.raises(StoreError, match="ask with the same version"):
            ask_part(tmp_path, 1, int, "top", {})


@pytest.mark.parametrize("words", [["export", "pages", "-o", "/tmp/x"], ["serve"], []])
def test_nothing_else_is_run_on_another_machine(tmp_path, words):
    question = PartQuestion(1, "verb", msgspec.msgpack.encode(words))
    assert "no question" in asyncio.run(PartAnswering(tmp_path).answer(question)).trouble


def test_a_partition_that_cannot_be_opened_says_why(tmp_path):
    question = PartQuestion(1, "status", msgspec.msgpack.encode({}))
    assert "no crawl" in asyncio.run(PartAnswering(tmp_path).answer(question)).trouble


def test_partitions_elsewhere_are_asked_where_they_are(served, capsys, monkeypatch):
    """The partitions are on this machine; who asks takes them for partitions of another one."""
    crawl = served.start("--partitions", "2", "--quiet", "--rate", "40")
    parts = [served.directory / f"part-{number}" for number in range(2)]
    while len(served.server.asked) < 20 or not all((part / "live.sock").exists() for part in parts):
        assert crawl.poll() is None, crawl.communicate()
        time.sleep(0.05)
    birth = questions.read_birth(served.directory)
    birth.places[:] = ["a", "b"]
    monkeypatch.setattr(questions, "read_birth", lambda directory: birth)
    monkeypatch.setattr("evercrawl.cluster.birth.read_birth", lambda directory: birth)
    monkeypatch.setattr(questions, "is_afar", lambda directory, number: True)

    def verb(*given: str, code: int = 0) -> str:
        assert main([*given, "--dir", str(served.directory)]) == code
        return "".join(capsys.readouterr())

    assert [part_directories(served.directory)[number] for number in range(2)] == parts
    status = json.loads(verb("status", "--json"))
    assert (status["answered"], status["running"]) == (2, True)
    assert status["visits"] > 0
    assert served.server.seed in verb("why", served.server.seed)
    shown = questions.AllParts(served.directory).states()
    assert shown.running
    assert [(part.number, part.up, part.lives) for part in shown.parts] == [(0, True, 1), (1, True, 1)]
    assert sum(part.leases for part in shown.parts) > 0
    verb("set", "rate_per_s", "30", "--wait")
    assert [load(part / "crawl.toml").rate_per_s for part in parts] == [15.0, 15.0]
    crawl.send_signal(signal.SIGTERM)
    out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, out + err
    assert "the crawl does not run" in verb("status", code=3)


def test_a_partition_on_another_machine_is_known_by_its_folder(tmp_path):
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, 0, 0, ["a", "b"]))
    (tmp_path / "part-1").mkdir()
    assert [questions.is_afar(tmp_path, number) for number in range(2)] == [True, False]
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, 0))
    assert not questions.is_afar(tmp_path, 0)
