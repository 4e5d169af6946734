"""A coordinator moves partitions between machines, with processes that are played."""

import asyncio
from typing import Any

import pytest

from evercrawl.ask.parts_line import VERB, VerbAnswer, VerbAsked, ask_part
from evercrawl.cluster.birth import read_birth
from evercrawl.cluster.hauling.haul_process import HaulProcess
from evercrawl.cluster.moving.order import read_move
from evercrawl.cluster.wire import PartQuestion
from evercrawl.config import Config
from evercrawl.errors import StoreError
from tests.cluster.hauling.moved_partitions import coordinated, ids, order
from tests.cluster.played import Played, seen


def test_a_coordinator_moves_a_partition_to_another_machine(wide, tmp_path):
    """The order: the process ends, the rest is copied, that is written down, another begins there.

    A verb that is asked of it meanwhile waits, and goes there.
    """
    directory, machines = wide
    disks, events, asking = ids(machines), list[str](), list[asyncio.Future[None]]()
    done = HaulProcess.do

    async def do(self: HaulProcess, name: str, *given: Any) -> int:
        running = sum(each.number == 0 and not each.killed.is_set() for each in machines.processes)
        events.append(f"{name} beside {running}")
        if name == "finish":
            asking.append(asyncio.ensure_future(asyncio.to_thread(ask)))
        return await done(self, name, *given)

    def ask() -> None:
        with pytest.raises(StoreError, match=r"the crawl ended|ended before it answered"):
            ask_part(directory, 0, VerbAnswer, VERB, VerbAsked(["pause"]))

    def began(process: Played) -> None:
        if process.number == 0:
            events.append(f"began on {machines.directory(0).parent.name}")

    async def run() -> None:
        async with coordinated(directory, machines) as one:
            order(directory, 0, "c")
            await seen(lambda: len(machines.processes) == 3 and not read_birth(directory).vacated)
            await seen(lambda: any(isinstance(frame, PartQuestion) for frame in machines.processes[2].heard))
            assert not machines.processes[1].killed.is_set()  # the other goes on
            assert [state.where for state in one.states()] == ["box", "box"]
        await asyncio.gather(*asking)

    machines.prepare = began
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(HaulProcess, "do", do)
        asyncio.run(run())
    copies = [event for event in events if event.startswith("copy beside 1")]
    assert [event for event in events if event not in copies] == [
        "began on a", "lend beside 1", "prepare beside 1", "lock beside 0", "copy the rest beside 0", "lock beside 0",
        "finish beside 0", "began on c", "leave beside 1",
    ]  # fmt: skip
    assert copies
    assert read_birth(directory).places[0] == disks["c"]


def test_a_coordinator_moves_a_partition_whose_process_ends_while_it_is_killed(wide):
    directory, machines = wide

    async def run() -> None:
        async with coordinated(directory, machines):
            mine = next(each for each in machines.processes if each.number == 0)

            def kill() -> None:
                mine.killed.set()
                raise RuntimeError("its actor is gone")

            mine.kill = kill
            order(directory, 0, "c")
            await seen(lambda: len(machines.processes) == 3 and not read_birth(directory).vacated)

    asyncio.run(run())
    assert read_birth(directory).places[0] == ids(machines)["c"]


def test_an_old_directory_stays_until_a_second_copy_is_whole_again(wide, tmp_path):
    directory, machines = wide
    old = tmp_path / "a" / "part-0"

    async def run() -> None:
        async with coordinated(directory, machines, settings=Config(durable="keeper")) as one:
            order(directory, 0, "c")
            await seen(lambda: len(machines.processes) == 3 and read_move(directory).done)
            hauls, heard = len(machines.hauls), len(machines.processes[2].heard)
            await seen(lambda: len(machines.processes[2].heard) > heard + 3)  # leave was given to it again and again
            assert (one.well(0), len(machines.hauls), old.is_dir()) == (False, hauls, True)
            machines.processes[2].kept = True
            await seen(lambda: not read_birth(directory).vacated)
            assert not old.exists()

    asyncio.run(run())
