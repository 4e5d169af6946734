"""Virtual time: it jumps, deadlocks are found, machines are suspended, and processes end at once."""

import asyncio

import pytest

from evercrawl.simulate.surroundings.clock import Crash, Machine, SimulationError, VirtualClock, run_virtual


def test_a_wait_takes_no_time_and_moves_the_clock():
    async def week() -> float:
        clock = VirtualClock()
        before = clock.now()
        await clock.sleep(7 * 86_400.0)
        return clock.now() - before

    assert run_virtual(week()) == pytest.approx(7 * 86_400.0, abs=1e-3)


def test_nothing_else_runs_while_the_processor_works():
    async def work() -> tuple[list[float], float]:
        clock, fired = VirtualClock(), list[float]()
        began = clock.now()
        asyncio.get_running_loop().call_later(1.0, lambda: fired.append(clock.now() - began))
        clock.spend(3.0)
        assert not fired
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return [round(late_s, 3) for late_s in fired], round(clock.now() - began, 3)

    assert run_virtual(work()) == ([3.0], 3.0)


def test_a_deadlock_is_found():
    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(SimulationError, match="deadlock"):
        run_virtual(wait())


def test_a_clock_that_is_set_moves_nothing_until_the_next_process():
    async def day() -> list[float]:
        machine = Machine(wrong_s=-500.0)
        clock, began = machine.clock(), machine.true()
        shown = [clock.now() - began]
        machine.wrong_s = 86_400.0
        shown.append(clock.now() - began)
        await clock.sleep(10.0)
        return [*shown, clock.now() - began, machine.wall() - began, machine.clock().now() - began]

    assert run_virtual(day()) == pytest.approx([-500.0, -500.0, -490.0, 86_410.0, 86_410.0], abs=1e-3)


def test_timers_do_not_run_while_a_machine_is_suspended():
    async def night() -> list[float]:
        machine = Machine()
        clock, began = machine.clock(), machine.true()
        asyncio.get_running_loop().call_later(5.0, machine.suspend, 3600.0)
        await clock.sleep(10.0)
        return [clock.now() - began, machine.true() - began]

    assert run_virtual(night()) == pytest.approx([3610.0, 3610.0], abs=1e-3)


class Stage:
    """Three tasks; one ends the process."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def play(self, strike) -> None:
        tasks = [asyncio.ensure_future(self.work()), asyncio.ensure_future(self.stubborn())]
        asyncio.get_running_loop().call_later(10.0, strike)
        await asyncio.gather(*tasks)

    async def work(self) -> None:
        try:
            while True:
                await asyncio.sleep(4.0)
                self.heard.append("at work")
        except Exception:
            self.heard.append("caught")
        finally:
            self.heard.append("put away")

    async def stubborn(self) -> None:
        try:
            await asyncio.sleep(100.0)
        finally:
            raise Crash("again")


def strike() -> None:
    raise Crash("now")


def test_a_crash_ends_everything_at_once():
    stage = Stage()
    with pytest.raises(Crash, match="now"):
        run_virtual(stage.play(strike))
    assert stage.heard == ["at work", "at work", "put away"]


def test_a_crash_in_a_task_that_nobody_waits_for_ends_everything_too():
    async def struck() -> None:
        strike()

    stage, kept = Stage(), []
    with pytest.raises(Crash, match="now"):
        run_virtual(stage.play(lambda: kept.append(asyncio.ensure_future(struck()))))
    assert stage.heard == ["at work", "at work", "put away"]
