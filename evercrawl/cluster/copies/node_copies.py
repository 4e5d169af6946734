"""Which machine holds the second copy of which partition, and where a partition whose machine is lost continues."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from evercrawl.cluster.birth import FILE, WholeCopy, note_begun, note_copy, read_birth, write_birth
from evercrawl.cluster.copies.keeper_process import KeeperProcess
from evercrawl.cluster.disks import hashed_rank
from evercrawl.cluster.patience import Listening
from evercrawl.cluster.wire import CopyCheckAsked
from evercrawl.config import FILE_NAME
from evercrawl.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evercrawl.cluster.birth import ClusterBirth
    from evercrawl.cluster.copies.keeper_process import DiskLauncher
    from evercrawl.cluster.plan import PartPlan
    from evercrawl.cluster.wire import CopyAnswered, CopyAsked, CopyChecked
    from evercrawl.config import Config

ASK_AGAIN_S: Final = 10.0
"""Interval at which the question whether a second copy can be opened is repeated, until it is answered."""
LOOK_AGAIN_S: Final = 60.0
"""Interval after which a copy that cannot be opened is checked again."""


class NodeCopies:
    """The second copies of a crawl with partitions on several machines; each copy is on another machine's disk.

    A partition continues at its second copy if its disk has been missing for `lost_after_s`, or no longer has it.

    Parameters
    ----------
    directory, birth
        The crawl's directory and description; its `places` change when a partition continues elsewhere.
    launcher
        Knows the machines and their disks.
    tell
        Receives a sentence about each decision.
    clock
        Returns the time (s) by a clock that is never set.
    """

    def __init__(
        self,
        directory: Path,
        birth: ClusterBirth,
        launcher: DiskLauncher,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._directory, self._birth, self._launcher, self._tell = directory, birth, launcher, tell
        self._whole, self._begun = dict(birth.copies), set(birth.begun)
        self._keepers, self._lines = dict(birth.keepers), dict(birth.lines)
        self._writes = dict[int, WholeCopy]()  # the copies that present processes write
        self._unkept = set[int]()  # partitions that continue without a copy and have not reported yet
        self._away = dict[str, float]()  # needed disks that are missing, and since when
        self._lost = set[int]()  # partitions that are no longer on their disks
        self._before = dict[int, _Before]()  # of partitions that continue elsewhere and have not reported there yet
        self._looks, self._ids = dict[int, _Look](), count(1)
        self._processes = dict[str, KeeperProcess]()
        self._listening = Listening()
        self.say: Callable[[int, CopyAnswered], object] = lambda number, frame: None

    def planned(self, plan: PartPlan, settings: Config) -> PartPlan:
        """Return a plan with what the process must know about copies."""
        number, place = plan.share.number, self._birth.places[plan.share.number]
        whole, disk = self._whole.get(number), self._launcher.disks()[place]
        plan = replace(plan, begun=number in self._begun, line=self._lines.get(number, 0))
        self._writes.pop(number, None)
        if whole is not None and whole.place == place:
            plan = replace(plan, kept=disk.copy(number), since=whole.life)
        self._unkept.discard(number)
        self._looks.pop(number, None)  # the next process needs a new check
        if settings.durable != "keeper":
            if whole is not None:  # needed until this process reports; from then on it is incomplete
                self._unkept.add(number)
            return plan
        keeper = self._keepers[number]
        self._process_on(keeper)
        self._writes[number] = WholeCopy(keeper, plan.incarnation)
        return replace(plan, keeper=f"the disk {keeper} ({self._launcher.disks()[keeper].copy(number)})")

    def missing(self, number: int, said: str, settings: Config) -> str:
        """Return why a partition cannot be started now; a lost one continues elsewhere if possible.

        Parameters
        ----------
        number, settings
            The partition's number, and the settings.
        said
            Why its machine is missing; "" if it is there.
        """
        said = self._lost_or_why(number, said, settings)
        if said or settings.durable != "keeper":
            return said
        return self._keeper_missing(number, settings)

    def _lost_or_why(self, number: int, said: str, settings: Config) -> str:
        """Return why a partition cannot be started at its place, or at its second copy if it is lost."""
        disks, whole = self._launcher.disks(), self._whole.get(number)
        if number in self._before:  # its second copy is to be opened, and has not reported yet
            if self._before[number].place in disks and number not in self._lost:
                self._go_back(number)
                return ""
        elif not (self._is_gone(self._birth.places[number], settings) if said else number in self._lost):
            return said
        if whole is None or whole.place not in disks:
            return said or f"partition {number} is no longer on its disk, and the disk of its second copy is missing"
        if (why := self._hindrance(number, whole)) is None:
            return f"partition {number} is lost; its second copy on {whole.place} is being checked"
        if why:
            return f"partition {number} is lost, and cannot continue from its second copy on {whole.place}: {why}"
        if number not in self._before:
            self._go_on(number, whole.place)
        return ""

    def _hindrance(self, number: int, whole: WholeCopy) -> str | None:
        """Return why the keeper cannot open a second copy, "" if it can; None if it has not answered yet."""
        look, now = self._looks.get(number), self._clock()
        if look is None or look.whole != whole or (look.why and now >= look.at + LOOK_AGAIN_S):
            look = self._looks[number] = _Look(next(self._ids), whole)
        asks = look.why is None and now >= look.at + ASK_AGAIN_S
        if asks and self._process_on(whole.place).write(CopyCheckAsked(number, look.id, whole.life)):
            look.at = now
        return look.why

    def _found(self, frame: CopyChecked) -> None:
        look = self._looks.get(frame.number)
        if look is not None and look.id == frame.id:
            look.why = frame.why

    def _process_on(self, disk: str) -> KeeperProcess:
        process = self._processes.get(disk)
        if process is None:
            process = KeeperProcess(
                self._directory, disk, self._launcher, self._hear, self._found, self._tell, self._clock
            )
            self._processes[disk] = process
        return process

    def _is_gone(self, disk: str, settings: Config) -> bool:
        """Return whether a disk has been missing for so long that it counts as lost."""
        now = self._clock()
        if disk in self._launcher.disks():
            self._away.pop(disk, None)
            return False
        return now >= self._away.setdefault(disk, now) + settings.lost_after_s

    def _go_on(self, number: int, place: str) -> None:
        """Let a partition continue at its second copy; `cluster.json` records that once it has reported there."""
        before = self._before[number] = _Before(self._birth.places[number], self._lines.get(number, 0))
        self._birth.places[number] = place
        self._lines[number] = read_birth(self._directory).lives + 1  # older directories there are not used
        self._tell(
            f"partition {number} is lost with the disk {before.place}; it continues from its second copy on {place}"
        )

    def _go_back(self, number: int) -> None:
        """Let a partition continue at its old place: its disk is back, and nothing has counted elsewhere."""
        before, place = self._before.pop(number), self._birth.places[number]
        self._birth.places[number], self._lines[number] = before
        self._tell(f"partition {number} continues on the disk {before.place}, which is back, and not on {place}")

    def _settle(self, number: int) -> None:
        """Record that a partition continues at its second copy."""
        birth, places = read_birth(self._directory), list[str]()
        for each, place in enumerate(birth.places):
            places.append(self._birth.places[number] if each == number else place)
        lines = {**birth.lines, number: self._lines[number]}
        write_birth(self._directory, msgspec.structs.replace(birth, places=places, lines=lines))
        del self._before[number]
        self._lost.discard(number)

    def _keeper_missing(self, number: int, settings: Config) -> str:
        """Return why a partition has no keeper; assign another one if its keeper is lost."""
        disks, place, keeper = self._launcher.disks(), self._birth.places[number], self._keepers.get(number)
        others = self._others(number)
        if keeper is not None and keeper != place:
            failing, drained = keeper in disks and self._fails(number, settings), keeper in self._birth.drained
            if keeper in disks and not ((failing or drained) and others):
                return ""
            if not failing and not drained and not self._is_gone(keeper, settings):
                return f"partition {number} waits for the machine with its second copy ({keeper})"
            if failing:
                self._processes[keeper].forgive(number)
                self._tell(
                    f"the disk {keeper} does not accept the second copy of partition {number}: {others[0]} gets it"
                )
        if not others:
            return f"partition {number} waits for another machine that can hold its second copy"
        self._keepers[number] = others[0]
        birth = read_birth(self._directory)
        write_birth(self._directory, msgspec.structs.replace(birth, keepers=dict(self._keepers)))
        return ""

    def _others(self, number: int) -> list[str]:
        """Return the other disks that could hold a partition's second copy, the best first."""
        copies, has = Counter(self._keepers.values()), (self._birth.places[number], self._keepers.get(number))
        return sorted(
            (disk for disk in self._launcher.disks() if disk not in has and disk not in self._birth.drained),
            key=lambda disk: (copies[disk], hashed_rank(disk, number)),
        )

    def _fails(self, number: int, settings: Config) -> bool:
        """Return whether a partition's keeper has failed for so long that another one must replace it."""
        process = self._processes.get(self._keepers.get(number, ""))
        return process is not None and process.failing_s(number) >= settings.lost_after_s

    def lost(self, number: int) -> bool:
        """Take note that a partition is no longer on its disk; return whether it can continue elsewhere."""
        if number not in self._before:
            self._lost.add(number)
        return number in self._whole

    def begun(self, number: int) -> None:
        """Take note that a partition is crawled at its place; a copy that it does not write is no longer opened."""
        if number in self._before:
            self._settle(number)
        if number in self._unkept:
            note_copy(self._directory, number, None)
            if (whole := self._whole.pop(number, None)) is not None:
                self._process_on(whole.place)  # the description beside the copy must record it too
            self._unkept.remove(number)
        if number not in self._begun:
            self._begun.add(number)
            note_begun(self._directory, number)

    def caught_up(self, number: int) -> None:
        """Take note that a second copy is complete."""
        self.begun(number)
        whole = self._writes.get(number)
        if whole is not None and self._whole.get(number) != whole:
            self._whole[number] = whole
            note_copy(self._directory, number, whole)
            self._process_on(whole.place).tell_birth()  # the crawl may have to continue from this copy

    def turn(self, settings: Config) -> list[int]:
        """Start keepers as needed; return the partitions to be restarted because their keepers are lost."""
        for disk in self._away.keys() & self._launcher.disks().keys():
            del self._away[disk]
        paused_s = self._listening.paused_s(time.monotonic())
        for disk, process in self._processes.items():
            process.turn(paused_s)
            if process.older:
                raise StoreError(
                    f"{self._directory / FILE} is older than the one beside the second copies on the disk {disk}: copy "
                    f"that here, with {FILE_NAME}, and start the crawl again"
                )
        if settings.durable != "keeper":
            return []
        lost = [
            number
            for number, keeper in self._keepers.items()
            if self._is_gone(keeper, settings) or (self._fails(number, settings) and self._others(number))
        ]
        return lost or self._drained()

    def _drained(self) -> list[int]:
        """Return one partition with a second copy on a disk to be emptied, if no copy is incomplete."""
        for number, keeper in self._keepers.items():
            whole = self._whole.get(number)
            if whole is None or whole.place != keeper:
                return []  # wait for copies in progress
        return [
            number for number, keeper in self._keepers.items() if keeper in self._birth.drained and self._others(number)
        ][:1]

    def ask(self, number: int, frame: CopyAsked) -> None:
        """Pass a question to a partition's keeper; it is dropped if the keeper has no process."""
        process = self._processes.get(self._keepers.get(number, ""))
        if process is not None and frame.number == number:
            process.write(frame)

    def _hear(self, disk: str, frame: CopyAnswered) -> None:
        """Pass an answer on, unless the copy is on another disk by now."""
        if self._keepers.get(frame.number) == disk:
            self.say(frame.number, frame)

    async def close(self) -> None:
        """End all processes of keepers."""
        await asyncio.gather(*(process.close() for process in self._processes.values()))


class _Before(NamedTuple):
    """The place and line of a partition before it continued from its second copy."""

    place: str
    line: int


@dataclass
class _Look:
    """A check of a second copy: which copy, when requested, and why it cannot be opened, once known."""

    id: int
    whole: WholeCopy
    at: float = float("-inf")
    why: str | None = None
