"""Processes of partitions that hang: what people are told, what becomes of their share, and when they are ended."""

import asyncio
import time
from pathlib import Path

import pytest

from evercrawl.ask.parts_line import PartState
from evercrawl.cluster import coordinator, patience
from evercrawl.cluster.birth import born
from evercrawl.cluster.coordinator import Coordinator
from evercrawl.cluster.patience import Patience
from evercrawl.cluster.wire import CeilingShared, LeaveGiven, PartEnded
from evercrawl.config import Config
from evercrawl.errors import ConfigError, NoMemoryError, NoRoomError, StoreError
from evercrawl.progress import Limits, Progress, Summary
from tests.cluster.played import Played, PlayedLauncher, seen


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


@pytest.mark.parametrize(
    "error", [ConfigError("wrong"), StoreError("damaged"), NoRoomError("full"), NoMemoryError("none is left")]
)
def test_what_ends_a_partition_for_good_ends_the_crawl_with_the_same_exit_code(tmp_path, quick, error):
    async def run() -> None:
        launcher = PlayedLauncher(tmp_path)
        one = Coordinator(tmp_path, born(tmp_path, 2), Config(), (), Limits(), lambda _: None, launcher)
        running = asyncio.ensure_future(one.run(asyncio.Event()))
        await seen(lambda: len(launcher.processes) == 2 and all(each.heard for each in launcher.processes))
        launcher.processes[1].says.append(PartEnded(str(error), code=error.exit_code))
        await running

    with pytest.raises(type(error), match="partition 1: ") as ended:
        asyncio.run(run())
    assert ended.value.exit_code == error.exit_code


class Failing:
    """Has the processes of partition 1 end by an error that may pass, at first or always."""

    def __init__(self, times: int) -> None:
        self.times, self.told = times, list[Progress]()

    def __call__(self, process: Played) -> None:
        if process.number == 1 and self.times:
            self.times -= 1
            process.reports, process.says = False, [PartEnded("the journal is damaged", again=True)]
            asyncio.get_running_loop().call_later(0.15, process.kill)

    async def run(self, directory: Path, limits: Limits, processes: int) -> Summary:
        """Run until so many processes were started."""
        launcher, stop = PlayedLauncher(directory, self), asyncio.Event()
        one = Coordinator(directory, born(directory, 2), Config(), (), limits, self.told.append, launcher)
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: running.done() or len(launcher.processes) >= processes)
        if not running.done():
            await seen(lambda: bool(launcher.processes[-1].heard))
            await asyncio.sleep(0.1)
        stop.set()
        return await running


def test_a_run_that_a_partition_did_not_take_part_in_ends_with_its_error_and_an_alert(tmp_path, quick):
    failing = Failing(99)
    with pytest.raises(StoreError, match="partition 1: the journal is damaged"):
        asyncio.run(failing.run(tmp_path, Limits(), 5))
    alerts = [progress.alert for progress in failing.told if "the journal is damaged; it is" in progress.message]
    assert alerts[:3] == ["", "failed", "failed"]
    assert next(progress for progress in failing.told if progress.alert).partitions[0].number == 1


def test_a_run_with_a_limit_does_not_wait_for_a_partition_that_cannot_be_opened(tmp_path, quick):
    failing = Failing(99)
    with pytest.raises(StoreError, match="partition 1: the journal is damaged"):
        asyncio.run(failing.run(tmp_path, Limits(until_idle=True), 99))
    assert failing.times == 99 - coordinator.TRIES


def test_a_partition_that_failed_and_then_ran_is_no_error_of_the_run(tmp_path, quick):
    failing = Failing(2)
    assert asyncio.run(failing.run(tmp_path, Limits(), 4)).reason == "stopped"


def test_who_asks_for_leave_and_does_not_report_gets_none_and_its_share_is_used_by_others(tmp_path, quick):
    async def run() -> None:
        launcher, stop = PlayedLauncher(tmp_path), asyncio.Event()
        one = Coordinator(tmp_path, born(tmp_path, 2), Config(rate_per_s=10.0), (), Limits(), lambda _: None, launcher)
        running = asyncio.ensure_future(one.run(stop))
        await seen(lambda: len(launcher.processes) == 2 and all(len(each.heard) > 4 for each in launcher.processes))
        mute, other = launcher.processes
        mute.reports = False
        await seen(lambda: CeilingShared(1.9) in other.heard)
        last = len(mute.heard)
        await asyncio.sleep(0.06)
        assert not any(isinstance(frame, LeaveGiven) for frame in mute.heard[last:])
        mute.reports = True
        await seen(lambda: any(isinstance(frame, LeaveGiven) for frame in mute.heard[last:]))
        stop.set()
        await running

    asyncio.run(run())


def test_a_run_of_so_many_pages_does_not_wait_for_a_process_that_hangs(tmp_path, quick, monkeypatch):
    monkeypatch.setattr(patience, "ENDED_S", 600.0)
    processes = list[Played]()

    def prepare(process: Played) -> None:
        processes.append(process)
        process.wants = 1 if process.number == 0 else 100

    async def run() -> object:
        launcher = PlayedLauncher(tmp_path, prepare)
        one = Coordinator(tmp_path, born(tmp_path, 2), Config(), (), Limits(pages=40), lambda _: None, launcher)
        running = asyncio.ensure_future(one.run())
        await seen(lambda: one.states()[0].visits > 0)
        processes[0].hangs = True  # it may make some more
        return await asyncio.wait_for(running, 5)

    summary = asyncio.run(run())
    assert summary.reason == "pages"
    assert 20 < summary.visits < 40
    assert len(processes) == 2


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
