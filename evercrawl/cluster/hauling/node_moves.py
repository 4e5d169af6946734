"""Moves of partitions between machines of a cluster: by orders, off machines to be emptied, and to new machines."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.cluster.birth import drop_goal, next_life, note_goal, read_birth, write_birth
from evercrawl.cluster.disks import hashed_rank, load
from evercrawl.cluster.hauling.balance import Balancing
from evercrawl.cluster.hauling.going_back import UntriedMoves
from evercrawl.cluster.hauling.haul_process import HaulProcess
from evercrawl.cluster.hauling.lent_files import FileLenders, LentFiles
from evercrawl.cluster.moving.interfaces import UnplacedError
from evercrawl.cluster.moving.order import BALANCE, DRAIN, LIFT, PartMove
from evercrawl.cluster.moving.transfer import LAGS, LagsError
from evercrawl.cluster.moving.unfinished import UnfinishedGoals
from evercrawl.cluster.wire import FilesAsked, FilesTold, Frame
from evercrawl.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path
    from typing import Any, Protocol

    from evercrawl.cluster.birth import ClusterBirth
    from evercrawl.cluster.disks import PartDisk
    from evercrawl.cluster.launching import PartProcess
    from evercrawl.cluster.moving.interfaces import PartHolder

    class HaulLauncher(Protocol):
        """Starts processes on machines, each of which has a disk."""

        def disks(self) -> dict[str, PartDisk]:
            """Return the reachable disks, by their ids."""
            ...

        def address(self, disk: str) -> str:
            """Return the address of the machine of a reachable disk."""
            ...

        def haul(self, disk: str, life: int) -> PartProcess:
            """Start a process that moves partitions, on the machine of a reachable disk."""
            ...


LEAST: Final = 4
"""Minimum number of digits that identify a disk, if no other disk's id begins with them."""
LEAVE_AGAIN_S: Final = 60.0
"""Interval between attempts to set an old directory aside."""


def _nothing() -> None:
    """Do nothing: no condition can stop the work."""


class NodeMoves:
    """Moves partitions from one machine's disk to another's; see `evercrawl.cluster.moving.interfaces.PartTransfer`.

    A partition is where `cluster.json` says (`places`). That changes once its process has ended, its directory is
    locked on the old machine, and all of it is on the new disk. The old directory is set aside once the process on
    the new machine has reported, and, with second copies, once a copy is complete again.

    Parameters
    ----------
    directory, birth
        The crawl's directory and description; its `places` and `drained` change here.
    launcher
        Knows the machines.
    tell, clock
        Receives a sentence about each problem; returns the time (s) by a clock that is never set.
    kept
        Whether partitions have second copies.
    lost_after_s
        A machine that has been missing for this time is lost.
    rebalance
        Whether partitions move to a machine that joins without an order.
    """

    def __init__(
        self,
        directory: Path,
        birth: ClusterBirth,
        launcher: HaulLauncher,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        *,
        kept: bool = False,
        lost_after_s: float = 300.0,
        rebalance: bool = True,
    ) -> None:
        self._directory, self._birth, self._launcher = directory, birth, launcher
        self._tell, self._clock, self._kept = tell, clock, kept
        self._processes, self._tries = list[HaulProcess](), Counter[int]()
        self._lenders = FileLenders(self._begun, clock)
        self._leave_at, self._troubles = dict[tuple[int, str], float](), set[str]()
        self._unfinished = UnfinishedGoals(directory, clock)
        self._balancing = Balancing(directory, birth, launcher.disks, clock, by_itself=rebalance)
        self._untried = UntriedMoves(directory, birth, launcher.disks, tell, clock, lost_after_s)

    def turn(self, holds: PartHolder, see: Callable[[], None]) -> PartMove | Coroutine[Any, Any, None] | None:
        """Return the next move off a machine to be emptied, or other work; None if nothing is due."""
        if (number := self._untried.due()) is not None:
            return self._untried.go_back(number, holds)
        if self._lenders.due():
            return self._lenders.close()
        disks, now = self._launcher.disks(), self._clock()
        if (due := self._unfinished.due(disks)) is not None:
            return self._clean(*due, see)
        birth = read_birth(self._directory)
        for number, old in birth.vacated.items() if self._birth.places else ():
            for disk, life in old.items():
                if disk in birth.goals.get(number, []) or self._lenders.reads(number, disk):
                    continue  # the files there are a copy that a later move has begun, or are still being read
                if disk in disks and holds.well(number) and now >= self._leave_at.get((number, disk), now):
                    self._leave_at[number, disk] = now + LEAVE_AGAIN_S
                    return self._leave(number, disk, life, see)
        for number in sorted(range(len(self._birth.places)), key=lambda number: self._tries[number]):
            place = self._birth.places[number]
            leaves = place in self._birth.drained and place in disks and holds.well(number)
            if leaves and (goals := self._goals(number)):
                self._tries[number] += 1  # so that a partition that cannot be moved does not block others
                return PartMove("", number, goals[(self._tries[number] - 1) % len(goals)])
        if any(place in self._birth.drained for place in self._birth.places):
            return None
        return self._balancing.due(holds)

    def _goals(self, number: int) -> list[str]:
        """Return the disks to which a partition may move, the best first: fewest partitions for their processors."""
        birth, disks = read_birth(self._directory), self._launcher.disks()
        has = Counter(self._birth.places)
        return sorted(
            (disk for disk in disks if disk != self._birth.places[number] and disk not in self._birth.drained),
            key=lambda disk: (
                disk == birth.keepers.get(number),
                load(has[disk] + 1, disks[disk].cpus),
                hashed_rank(disk, number),
            ),
        )

    def placed(self, move: PartMove) -> PartMove:
        """Return an order with ids of disks; an order to empty a machine, or to use it again, is recorded."""
        if move.number == BALANCE:
            return msgspec.structs.replace(move, steps=self._balancing.order())
        disk = self._named(move.goal)
        if move.number in (DRAIN, LIFT):
            self._drain(disk, lift=move.number == LIFT)
            return msgspec.structs.replace(move, goal=disk)
        source = self._birth.places[move.number]
        if disk == source:
            raise ConfigError(f"partition {move.number} is on the disk {disk} already")
        if disk in self._birth.drained:
            raise ConfigError(
                f"the machine of the disk {disk} is to be emptied; let it have partitions first: evercrawl drain "
                f"{disk} --lift --dir {self._directory}"
            )
        if source not in self._launcher.disks():
            raise ConfigError(f"the machine that partition {move.number} is on (disk {source}) is not there")
        self._see_settled(move.number, source)
        if self._lenders.reads(move.number, disk):
            raise StoreError(
                f"the directory that partition {move.number} left on the disk {disk} is being read for a backup; move "
                "it there afterwards"
            )
        return msgspec.structs.replace(move, goal=disk, source=source)

    def _drain(self, disk: str, *, lift: bool) -> None:
        """Record that a disk must be emptied, or no longer."""
        others, need = len(set(self._launcher.disks()) - {disk, *self._birth.drained}), 2 if self._kept else 1
        if not lift and others < need:
            whose = ", and second copies are never on the machine of their partition" if self._kept else ""
            raise ConfigError(
                f"what is on {disk} needs {need} other machine{'s' if need > 1 else ''}{whose}; {others} can be used "
                "now: start another one first"
            )
        self._birth.drained[:] = [each for each in self._birth.drained if each != disk]
        self._birth.drained.extend([] if lift else [disk])
        birth = read_birth(self._directory)
        if not self._kept:  # keepers of an earlier run with second copies; a later run with copies chooses again
            birth = msgspec.structs.replace(birth, keepers={})
        write_birth(self._directory, msgspec.structs.replace(birth, drained=list(self._birth.drained)))

    def _named(self, words: str) -> str:
        """Return the id of the disk with the given address of its machine, or beginning of its id."""
        there = {disk: self._launcher.address(disk) for disk in self._launcher.disks()}
        known = dict.fromkeys((*there, *self._birth.drained))
        found = [disk for disk in known if words in (disk, there.get(disk))]
        found = found or [disk for disk in known if len(words) >= LEAST and disk.startswith(words)]
        if len(found) == 1:
            return found[0]
        each = ", ".join(f"{disk} ({address})" for disk, address in sorted(there.items(), key=lambda one: one[1]))
        what = "several machines are" if found else "no machine is"
        raise ConfigError(f"{what} called {words!r}; name one of these disks or addresses: {each or 'none is there'}")

    def _see_settled(self, number: int, source: str) -> None:
        if not self._birth.places[number] == read_birth(self._directory).places[number] == source:
            raise StoreError(f"partition {number} goes on from its second copy; move it once it runs again")

    async def prepare(self, move: PartMove, see: Callable[[], None]) -> None:
        """Start a process on both machines, and create the new directory."""
        birth = read_birth(self._directory)
        if birth.untried.get(move.number) == move.goal:  # its old directory there is not kept
            self._untried.counts(move.number)
        lends, takes = self._process(move.source), self._process(move.goal)

        def pass_on(frame: Frame) -> None:
            if isinstance(frame, FilesAsked) and not lends.write(frame):
                takes.write(FilesTold(frame.id, b"", f"the machine of the disk {move.source} is gone"))

        takes.hear = pass_on
        lends.hear = lambda frame: isinstance(frame, FilesTold) and takes.write(frame)
        await lends.join(see)
        await takes.join(see)
        size = await lends.do("lend", move.number, [], see)
        self._unfinished.begun(move.number, move.goal)
        note_goal(self._directory, move.number, move.goal)
        mark = [birth.id, str(move.number), move.source, str(birth.lines.get(move.number, 0))]
        await takes.do("prepare", move.number, [*mark, str(birth.lives), str(size)], see)

    def _process(self, disk: str) -> HaulProcess:
        """Start a process of the present move."""
        self._processes.append(self._begun(disk))
        return self._processes[-1]

    def _begun(self, disk: str) -> HaulProcess:
        if disk not in self._launcher.disks():
            raise StoreError(f"the machine of the disk {disk} is not there")
        return HaulProcess(self._launcher.haul(disk, next_life(self._directory)), disk)

    async def lent(self, number: int) -> LentFiles:
        """Return the files of a partition, where it is now; that directory stays in its place until they are closed."""
        disk = self._birth.places[number]
        self._see_settled(number, disk)
        return await self._lenders.lent(number, disk)

    async def copy(self, move: PartMove, see: Callable[[], None]) -> int:
        """Have the new machine update its directory."""
        return await self._processes[1].do("copy", move.number, [f"the disk {move.source}"], see)

    async def finish(self, move: PartMove, see: Callable[[], None]) -> tuple[int, str]:
        """Lock the old directory, copy the rest, and record where the partition is."""
        lends, takes = self._processes
        await lends.do("lock", move.number, [], see)
        copied = await takes.do("copy the rest", move.number, [f"the disk {move.source}"], see)
        if copied == LAGS:
            await lends.do("unlock", move.number, [], see)
            raise LagsError
        await lends.do("lock", move.number, [], see)  # still locked: no other process has written there
        self._settle(move)
        with contextlib.suppress(StoreError):  # the mark does no harm, because `cluster.json` decides
            await takes.do("finish", move.number, [], _nothing)
        return copied, ""

    def _settle(self, move: PartMove) -> None:
        """Record that a partition is on another disk."""
        self._see_settled(move.number, move.source)
        birth = read_birth(self._directory)
        places = [move.goal if number == move.number else place for number, place in enumerate(birth.places)]
        old = {disk: life for disk, life in birth.vacated.get(move.number, {}).items() if disk != move.goal}
        vacated = {**birth.vacated, move.number: {**old, move.source: birth.lives}}
        try:
            untried = {**birth.untried, move.number: move.source}
            goals = birth.without_goal(move.number, move.goal)
            changed = msgspec.structs.replace(birth, places=places, vacated=vacated, untried=untried, goals=goals)
            write_birth(self._directory, changed)
            self._unfinished.placed(move.number)
            self._balancing.succeeded(move.goal)
        finally:  # the file may be the new one even if an error is reported, such as by the sync of its directory
            try:
                self._birth.places[move.number] = read_birth(self._directory).places[move.number]
                self._untried.learn()
            except StoreError as error:
                raise UnplacedError(
                    f"{error}; partition {move.number} stays stopped, because its place is unknown. Start the crawl "
                    "again"
                ) from error
        self._tries.pop(move.number, None)  # so that its next move gets the best goal

    def counts(self, number: int) -> None:
        """Record that something of a partition counts now, so that it does not go back."""
        self._untried.counts(number)

    def lost(self, number: int) -> bool:
        """Take note that a partition is no longer on its new disk; return whether it can go back."""
        return self._untried.lost(number)

    async def _leave(self, number: int, disk: str, life: int, see: Callable[[], None]) -> None:
        """Have the old directory of a partition set aside."""
        try:
            place = self._birth.places[number]
            if read_birth(self._directory).places[number] != place:
                raise StoreError(f"cluster.json does not say that the partition is on the disk {place}")
            if place != disk:
                process = self._process(disk)
                goal = f"the disk {place}"
                await process.join(see)
                await process.do("leave", number, [goal, str(life)], see)
            birth = read_birth(self._directory)
            old = {each: at for each, at in birth.vacated.get(number, {}).items() if each != disk}
            vacated = {each: left for each, left in {**birth.vacated, number: old}.items() if left}
            write_birth(self._directory, msgspec.structs.replace(birth, vacated=vacated))
        except StoreError as error:
            self._say_once(f"the old directory of partition {number} on the disk {disk} is not set aside yet: {error}")
        finally:
            await self.end()

    async def _clean(self, number: int, disk: str, see: Callable[[], None]) -> None:
        """Have an incomplete copy removed."""
        try:
            if disk not in (self._birth.places[number], read_birth(self._directory).places[number]):
                process = self._process(disk)
                await process.join(see)
                if await process.do("clean", number, [self._birth.id], see):
                    self._tell(f"the incomplete copy of partition {number} on the disk {disk} was removed")
            drop_goal(self._directory, number, disk)
        except StoreError as error:
            self._say_once(f"the incomplete copy of partition {number} on the disk {disk} is not removed yet: {error}")
        finally:
            await self.end()

    def _say_once(self, trouble: str) -> None:
        if trouble not in self._troubles:
            self._troubles.add(trouble)
            self._tell(trouble)

    async def end(self) -> None:
        """End the processes of a move, and those that wait to be of use."""
        processes, self._processes = self._processes, []
        await asyncio.gather(self._lenders.close(), *(process.close() for process in processes))
