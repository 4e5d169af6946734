"""Processes of partitions that hang: what people are told, what becomes of their share, and when they are ended."""

import asyncio
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evercrawl.ask.parts_line import PartState
from evercrawl.cluster import coordinator, patience
from evercrawl.cluster.birth import born
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.part import PartPlan
from evercrawl.cluster.patience import Patience
from evercrawl.cluster.wire import (
    CeilingShared,
    Frame,
    LeaveAsked,
    LeaveGiven,
    PagesAllowed,
    PartReport,
    packed,
    read_frame,
)
from evercrawl.config import Config
from evercrawl.progress import Limits, Progress


class Played:
    """A process of a partition that says what it is to, and keeps what it hears."""

    gone = True

    def __init__(self, plan: PartPlan) -> None:
        self.number, self.ours = plan.share.number, socket.socketpair()
        self.heard, self.killed = list[Frame](), asyncio.Event()
        self.hangs, self.used = False, 1.0
        self.joins_after_s, self.wants = 0.0, 5  # pages
        self._talking = asyncio.ensure_future(self._talk())

    async def connected(self):
        await asyncio.sleep(self.joins_after_s)
        return await asyncio.open_connection(sock=self.ours[0])

    async def ended(self) -> str:
        await self.killed.wait()
        self._talking.cancel()
        return "killed"

    def kill(self) -> None:
        self.killed.set()

    async def _talk(self) -> None:
        reader, writer = await asyncio.open_connection(sock=self.ours[1])
        listening, ceiling = asyncio.ensure_future(self._listen(reader)), 1.0
        try:
            while True:
                if self.heard and not self.hangs:
                    shares = [frame.part for frame in self.heard if isinstance(frame, CeilingShared)]
                    ceiling = shares[-1] if shares else ceiling
                    pages = [frame.visits for frame in self.heard if isinstance(frame, PagesAllowed)] or [0]
                    visits = self.wants if pages[-1] < 0 else min(self.wants, pages[-1])
                    writer.write(packed(LeaveAsked(time.monotonic())))
                    report = PartReport(
                        7, 0, 1, 3, visits, allowed=pages[-1], at_rest=visits == self.wants,
                        used=self.used * ceiling, ceiling=ceiling, pid=70 + self.number,
                    )  # fmt: skip
                    writer.write(packed(report))
                await asyncio.sleep(0.02)
        finally:
            listening.cancel()
            writer.close()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while (frame := await read_frame(reader)) is not None:
            await seen(lambda: not self.hangs)
            self.heard.append(frame)


class PlayedLauncher:
    """Begins played processes; `prepare` is told of each."""

    def __init__(self, directory: Path, prepare: Callable[[Played], None] = lambda _: None) -> None:
        self.directory_of_all, self.processes, self._prepare = directory, list[Played](), prepare

    def missing(self, number: int) -> str:
        return ""

    def directory(self, number: int) -> Path:
        return self.directory_of_all / f"part-{number}"

    def where(self, number: int) -> str:
        return "box"

    def launch(self, plan: PartPlan) -> Played:
        plan.directory.mkdir(exist_ok=True)
        (plan.directory / "crawl.json").write_text("{}")  # as far as anybody looks, it has a crawl
        self.processes.append(Played(plan))
        self._prepare(self.processes[-1])
        return self.processes[-1]


@pytest.fixture
def quick(monkeypatch):
    """Everything that takes seconds takes hundredths of them."""
    monkeypatch.setattr(patience, "HUNG_S", 0.25)
    monkeypatch.setattr(patience, "ENDED_S", 0.9)
    monkeypatch.setattr(coordinator, "LEAVE_S", 0.2)
    monkeypatch.setattr(coordinator, "TURN_S", 0.02)
    monkeypatch.setattr(coordinator, "AGAIN_MOST_S", 0.02)
    monkeypatch.setattr(coordinator, "END_S", 0.1)
    monkeypatch.setattr(coordinator, "LAST_WORDS_S", 0.05)
    monkeypatch.setattr("evercrawl.cluster.ceilings.EVERY_S", 0.1)


async def seen(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not what():  # noqa: ASYNC110 - it is the process beside that changes
            await asyncio.sleep(0.01)


def test_a_hung_process_is_named_its_share_is_used_by_others_and_it_is_ended_in_the_end(tmp_path, quick):
    told = list[Progress]()

    async def run() -> None:
        launcher, stop = PlayedLauncher(tmp_path), asyncio.Event()
        one = Coordinator(tmp_path, born(tmp_path, 2), Config(rate_per_s=10.0), (), Limits(), told.append, launcher)
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(launcher.processes) == 2 and all(len(each.heard) > 4 for each in launcher.processes))
        hung, other = launcher.processes
        hung.hangs = True
        await seen(lambda: one.states()[0].silent_s > 0.0)
        state = one.states()[0]
        assert (state.up, state.pid, one.states()[1].silent_s) == (True, 70, 0.0)
        await seen(lambda: CeilingShared(1.9) in other.heard)
        hung.hangs, last = False, len(hung.heard)  # before it has leave again it hears that it has less
        await seen(
            lambda: any(isinstance(frame, LeaveGiven) for frame in hung.heard[last:]) and not one.states()[0].silent_s
        )
        first = next(frame for frame in hung.heard[last:] if isinstance(frame, CeilingShared))
        assert first.part == pytest.approx(0.1)
        await seen(lambda: [f.part for f in hung.heard if isinstance(f, CeilingShared)][-1] == pytest.approx(1.0))
        hung.hangs = True
        await seen(lambda: len(launcher.processes) == 3)
        assert hung.killed.is_set()
        assert not other.killed.is_set()
        stop.set()
        await running

    asyncio.run(run())
    said = [progress.message for progress in told if progress.message]
    assert "partition 0: its process (70 on box) has said nothing for" in said[0]
    assert "kill -9 70" in said[0]
    assert said[1] == "partition 0: its process continues"
    assert sum("said nothing" in sentence for sentence in said) == 2


def test_pages_that_were_meant_for_who_needs_none_come_to_who_does_even_if_that_was_decided_before_they_joined(
    tmp_path, quick, monkeypatch
):
    monkeypatch.setattr(coordinator, "SPARE_S", 0.05)

    def prepare(process: Played) -> None:
        process.joins_after_s, process.wants = 0.2, 9 if process.number == 3 else 0

    one = Coordinator(
        tmp_path, born(tmp_path, 4), Config(), (), Limits(pages=2), lambda _: None, PlayedLauncher(tmp_path, prepare)
    )
    summary = asyncio.run(asyncio.wait_for(one.run(), 5))
    assert (summary.visits, summary.reason) == (2, "pages")


def test_what_the_coordinator_slept_through_counts_for_nobody():
    one, listening = Patience(0.0), patience.Listening()
    one.heard(1.0)
    assert one.silent_s(100.0) == 99.0
    one.missed(98.0, 100.0)
    assert one.silent_s(100.0) == 0.0
    now = time.monotonic()
    listening.paused_s(now)
    assert listening.paused_s(now + 1.0) == 0.0
    assert listening.paused_s(now + 31.0) == 30.0


def test_a_process_that_opens_a_large_directory_is_left_to_it():
    one = Patience(0.0)
    assert one.silent_s(5000.0) == 5000.0
    assert not one.is_over(5000.0)
    one.heard(6000.0, opening=True)  # as it restores its directory it says so, and reports nothing yet
    assert not one.is_over(9000.0)
    one.heard(9000.0)
    assert one.is_over(9900.0)
    assert not PartState(0, up=True, silent_s=5000.0, opening=True).at_rest
