"""Questions to partitions that are on other machines: they go through whoever runs the crawl, to where it has them."""

import asyncio
import io
import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import msgspec
import pytest

from evercrawl import __version__
from evercrawl.ask import parts_line
from evercrawl.ask.parts_line import (
    PARTS_SOCKET,
    VERB,
    PartsAnswer,
    PartsAsked,
    PartState,
    VerbAsked,
    ask_part,
    part_states,
)
from evercrawl.ask.remote import message
from evercrawl.cli.main import main
from evercrawl.cluster import answering, asking, questions
from evercrawl.cluster.answering import PartAnswering
from evercrawl.cluster.asking import AskedParts, PartsLine
from evercrawl.cluster.birth import ClusterBirth, part_directories, write_birth
from evercrawl.cluster.disks import disk_here
from evercrawl.cluster.wire import PartAnswered, PartQuestion, PartQuestionDropped
from evercrawl.config import load
from evercrawl.errors import StoreError
from evercrawl.store.disk.listening import bound, reachable
from evercrawl.store.disk.lock import PURPOSE, Lock


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


def until(what) -> None:
    end = time.monotonic() + 5
    while not what():
        assert time.monotonic() < end
        time.sleep(0.005)


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
        for number, why in ((0, "its disk is full"), (2, "is not running"), (3, "ended before it answered")):
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
    assert said == ["the crawl ended before it answered"]


def test_who_does_not_answer_in_time_is_named_and_the_question_is_dropped_there(tmp_path):
    frames = list[object]()

    def process(asked, number, frame) -> bool:
        frames.append(frame)
        return True

    with Coordinating(tmp_path, process):
        began = time.monotonic()
        with pytest.raises(StoreError, match=r"not answered within 0\.1 s"):
            ask_part(tmp_path, 0, int, "top", {}, 0.1)
        assert time.monotonic() < began + 2.0
    assert [type(frame) for frame in frames] == [PartQuestion, PartQuestionDropped]
    assert frames[0].patience_s == 0.1


def test_questions_whose_asker_is_gone_are_dropped_and_do_not_stand_in_the_way_of_others(tmp_path, monkeypatch):
    monkeypatch.setattr(asking, "MOST", 3)
    asked_of, dropped = list[int](), list[int]()

    def process(asked, number, frame) -> bool:
        (dropped if isinstance(frame, PartQuestionDropped) else asked_of).append(frame.id)
        if number == 1 and isinstance(frame, PartQuestion):
            asked.heard(PartAnswered(frame.id, msgspec.msgpack.encode(7)))
        return True

    question = message(PartsAsked(__version__, 0, "top", msgspec.msgpack.encode({})))
    with Coordinating(tmp_path, process), reachable(tmp_path, PARTS_SOCKET) as path:
        for so_far in (3, 6, 9):
            lines = [socket.socket(socket.AF_UNIX) for _ in range(3)]
            for line in lines:
                line.connect(path)
                line.sendall(question)
            until(lambda least=so_far: len(asked_of) >= least)
            with pytest.raises(StoreError, match="3 questions are pending"):
                ask_part(tmp_path, 1, int, "top", {})
            for line in lines:
                line.close()
            until(lambda least=so_far: len(dropped) >= least)
        assert ask_part(tmp_path, 1, int, "top", {}) == 7


def test_too_many_questions_to_one_partition_are_refused_and_one_that_hangs_is_not_asked(monkeypatch):
    monkeypatch.setattr(asking, "OF_ONE", 2)

    async def run() -> None:
        frames, hangs = list[object](), list[str]()
        asked = AskedParts(lambda number, frame: frames.append(frame) is None, lambda number: "".join(hangs))
        waiting = [asyncio.ensure_future(asked.ask(0, "top", b"", 60.0)) for _ in range(2)]
        await asyncio.sleep(0)
        assert "2 questions to it are pending" in (await asked.ask(0, "top", b"", 60.0)).trouble
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        hangs.append("it hangs")
        assert await asked.ask(0, "top", b"", 60.0) == PartsAnswer(b"", "it hangs")
        assert [type(frame) for frame in frames] == [PartQuestion] * 2 + [PartQuestionDropped] * 2

    asyncio.run(run())


def test_what_runs_the_crawl_and_hangs_is_told_apart_from_a_crawl_that_does_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(parts_line, "STATES_S", 0.05)
    monkeypatch.setattr(parts_line, "TOLD_S", 0.05)
    shown = questions.AllParts(tmp_path)
    assert part_states(tmp_path) is None
    with Lock.take(tmp_path, PURPOSE, 1.0), socket.socket(socket.AF_UNIX) as stopped, reachable(tmp_path, "") as path:
        stopped.bind(f"{path}/{PARTS_SOCKET}")
        stopped.listen(1)  # it listens, as a stopped process does, and says nothing
        with pytest.raises(StoreError, match=f"kill -CONT {os.getpid()}"):
            part_states(tmp_path)
        states = shown.states()
        assert (states.running, states.parts) == (True, [])
        assert "has not answered" in states.note
        assert "has not answered" in questions.trouble_of_run(tmp_path)
    assert shown.states() is states, "it is not asked again at once"


def test_a_question_that_waits_longer_than_its_asker_is_not_begun(tmp_path, monkeypatch):
    begun = list[str]()

    class Slow:
        pid, returncode = 0, 0

        async def communicate(self, given: bytes) -> tuple[bytes, bytes]:
            await asyncio.sleep(0.2)
            return b"", b""

    async def begin(*words: str, **pipes: int) -> Slow:
        begun.append(words[-1])
        return Slow()

    monkeypatch.setattr(answering.asyncio, "create_subprocess_exec", begin)
    monkeypatch.setattr(answering.os, "setpriority", lambda *_: None)

    async def run() -> list[str]:
        one, empty = PartAnswering(tmp_path), msgspec.msgpack.encode({})
        asked = [
            one.answer(PartQuestion(number, f"q{number}", empty, 0.1 if number > 1 else 9.0)) for number in range(4)
        ]
        return [answer.trouble for answer in await asyncio.gather(*asked)]

    assert asyncio.run(run()) == ["", "", "it took too long to answer", "it took too long to answer"]
    assert begun == ["q0", "q1"]


def test_verbs_that_take_minutes_keep_no_question_waiting(tmp_path, monkeypatch):
    ends = asyncio.Event()

    class Child:
        pid, returncode = 0, 0

        def __init__(self, words: tuple[str, ...]) -> None:
            self.takes_long = "evercrawl" in words

        async def communicate(self, given: bytes) -> tuple[bytes, bytes]:
            if self.takes_long:
                await ends.wait()
            return b"", b""

    async def begin(*words: str, **pipes: int) -> Child:
        return Child(words)

    monkeypatch.setattr(answering.asyncio, "create_subprocess_exec", begin)
    monkeypatch.setattr(answering.os, "setpriority", lambda *_: None)

    async def asked() -> tuple[str, list[str]]:
        one, verb = PartAnswering(tmp_path), msgspec.msgpack.encode(VerbAsked(("check", "--wait"), b""))
        long = [asyncio.ensure_future(one.answer(PartQuestion(number, VERB, verb, 60.0))) for number in range(3)]
        await asyncio.sleep(0)
        top = await one.answer(PartQuestion(9, "top", msgspec.msgpack.encode({}), 0.5))
        ends.set()
        return top.trouble, [answer.trouble for answer in await asyncio.gather(*long)]

    assert asyncio.run(asked()) == ("", ["", "", ""])


def test_a_child_that_answers_ends_by_signals_though_the_partition_ignores_them():
    """Ignored signals are inherited, and a child outlived a partition that was killed."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        child = subprocess.Popen(["/bin/sleep", "60"], preexec_fn=answering.end_with_partition)
    finally:
        signal.signal(signal.SIGTERM, before)
    child.terminate()
    assert child.wait(10) == -signal.SIGTERM


def test_another_version_is_told_so(tmp_path, monkeypatch):
    with Coordinating(tmp_path, lambda *_: True):
        monkeypatch.setattr("evercrawl.ask.parts_line.__version__", "0.0.1")
        with pytest.raises(StoreError, match="ask with the same version"):
            ask_part(tmp_path, 1, int, "top", {})


@pytest.mark.parametrize("words", [["export", "pages", "-o", "/tmp/x"], ["serve"], []])
def test_nothing_else_is_run_on_another_machine(tmp_path, words):
    question = PartQuestion(1, "verb", msgspec.msgpack.encode(VerbAsked(words)), 60.0)
    assert "this question cannot be asked" in asyncio.run(PartAnswering(tmp_path).answer(question)).trouble


def test_a_partition_that_cannot_be_opened_says_why(tmp_path):
    question = PartQuestion(1, "status", msgspec.msgpack.encode({}), 60.0)
    assert "no crawl" in asyncio.run(PartAnswering(tmp_path).answer(question)).trouble


def test_partitions_elsewhere_are_asked_where_they_are(served, capsys, monkeypatch, tmp_path):
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
    more, page = tmp_path / "more.txt", tmp_path / "page.html"
    more.write_text("https://added.example/\n# a note\nhttps://other.example/\n")
    assert verb("add", f"@{more}", "--wait", "--json").count('"state": "done"') == 2
    assert "https://added.example/" in verb("why", "https://added.example/")
    monkeypatch.setattr("sys.stdin", io.StringIO("https://third.example/\n"))
    assert verb("add", "-", "--wait", "--json").count('"state": "done"') == 2, "it is read once, for all partitions"
    verb("get", served.server.seed, "--raw", "-o", str(page))
    assert b"<html" in page.read_bytes().lower()
    verb("get", "https://added.example/", "-o", str(tmp_path / "none"), code=1)
    assert not (tmp_path / "none").exists()
    clicks = tmp_path / "clicks.jsonl"
    clicks.write_text(
        json.dumps({"at": 1714564800, "query": "tea", "shown": [served.server.seed], "clicked": []}) + "\n"
    )
    assert verb("usage", str(clicks)).count("recorded 1 query") == 2
    verb("set", "rate_per_s", "30", "--wait")
    assert [load(part / "crawl.toml").rate_per_s for part in parts] == [15.0, 15.0]
    crawl.send_signal(signal.SIGTERM)
    out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 0, out + err
    assert "the crawl does not run" in verb("status", code=3)


def test_a_partition_is_on_another_machine_unless_this_disk_has_it(tmp_path):
    """One that went on elsewhere is not what is left of it here."""
    here = disk_here(tmp_path, "c").id
    write_birth(tmp_path, ClusterBirth(1, "c", 4, "00" * 16, 0, 0, [here, here, "b", "b"], {3: str(tmp_path / "m")}))
    for name in ("part-1", "part-2", "m"):
        (tmp_path / name).mkdir()
    assert [questions.is_afar(tmp_path, number) for number in range(4)] == [True, False, True, False]
    (tmp_path / "disk-id").unlink()
    assert questions.is_afar(tmp_path, 1)
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, 0))
    assert not questions.is_afar(tmp_path, 0)


def test_who_is_refused_before_he_has_asked_is_told_why(tmp_path):
    refused = message(PartsAnswer(b"", "too many ask"))

    def serve(listening: socket.socket) -> None:
        one, _ = listening.accept()
        one.sendall(refused)
        one.close()

    large = {"words": "x" * (4 << 20)}  # which no buffer holds: the other end is closed while it is sent
    with bound(tmp_path, PARTS_SOCKET) as listening:
        listening.listen()
        answering = threading.Thread(target=serve, args=(listening,))
        answering.start()
        with pytest.raises(StoreError, match="too many ask"):
            ask_part(tmp_path, 1, int, "top", large)
        answering.join(5)


def test_a_verb_waits_for_a_partition_that_is_being_moved_and_other_questions_do_not():
    async def run() -> None:
        frames, placed, heard = list[PartQuestion](), asyncio.Event(), asyncio.Event()

        def say(number: int, frame: object) -> bool:
            assert isinstance(frame, PartQuestion)
            frames.append(frame)
            heard.set()
            return True

        asked = AskedParts(say, placed=lambda number: placed)
        assert "is being moved" in (await asked.ask(0, "top", b"", 5.0)).trouble
        assert "is being moved" in (await asked.ask(0, VERB, b"", 0.001)).trouble
        assert frames == []
        waiting = asyncio.ensure_future(asked.ask(0, VERB, b"", 5.0))
        await asyncio.sleep(0)
        assert frames == []
        placed.set()
        await heard.wait()
        question = frames[0]
        assert 0.0 < question.patience_s < 5.0
        asked.heard(PartAnswered(question.id, b"x"))
        assert (await waiting).data == b"x"

    asyncio.run(run())
