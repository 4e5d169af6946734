"""The return of moved partitions of which nothing has counted yet, if the new machine is lost.

The coordinator sees everything by which a process can have an effect: its letters, reports and answers, what it asks
the keeper of its second copy, and the leave without which it requests nothing. Before the first of these takes effect
`cluster.json` says that the partition is no longer untried. As long as it is, the directory that it left has all that
counts, and no process of the new one has requested anything. Neither directory takes orders of people meanwhile.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from evercrawl.cluster.birth import read_birth, write_birth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from evercrawl.cluster.birth import ClusterBirth
    from evercrawl.cluster.disks import PartDisk
    from evercrawl.cluster.moving.interfaces import PartHolder


class UntriedMoves:
    """The partitions of which nothing has counted since they were moved.

    Parameters
    ----------
    directory, birth
        The crawl's directory and description; its `places` change here.
    disks
        Returns the reachable disks, by their ids.
    tell, clock
        Receives a sentence about each decision; returns the time (s) by a clock that is never set.
    lost_after_s
        A disk that has been missing for this time is lost.
    """

    def __init__(
        self,
        directory: Path,
        birth: ClusterBirth,
        disks: Callable[[], Mapping[str, PartDisk]],
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        lost_after_s: float = 300.0,
    ) -> None:
        self._directory, self._birth, self._disks = directory, birth, disks
        self._tell, self._clock, self._lost_after_s = tell, clock, lost_after_s
        self._left = dict(birth.untried)
        self._away = dict[int, float]()  # partitions whose new disk is missing, and since when
        self._gone = set[int]()  # partitions that are no longer on their new disks

    def learn(self) -> None:
        """Take over what `cluster.json` says."""
        self._left = dict(read_birth(self._directory).untried)

    def counts(self, number: int) -> None:
        """Record that something of a partition counts now; called before it takes effect."""
        if number not in self._left:
            return
        birth = read_birth(self._directory)
        untried = {each: disk for each, disk in birth.untried.items() if each != number}
        write_birth(self._directory, msgspec.structs.replace(birth, untried=untried))
        self._left = untried
        self._gone.discard(number)

    def lost(self, number: int) -> bool:
        """Take note that a partition is no longer on its new disk; return whether it can go back."""
        if self._left.get(number) not in self._disks():
            return False
        self._gone.add(number)
        return True

    def due(self) -> int | None:
        """Return a partition that has to go back now; None if none has to."""
        disks, now = self._disks(), self._clock()
        for number, old in self._left.items():
            if not self._is_missing(number):
                self._away.pop(number, None)
                continue
            lost = number in self._gone or now >= self._away.setdefault(number, now) + self._lost_after_s
            if lost and old in disks and self._is_settled(number):
                return number
        return None

    def _is_missing(self, number: int) -> bool:
        return number in self._gone or self._birth.places[number] not in self._disks()

    def _is_settled(self, number: int) -> bool:
        """Return whether the partition has not continued from its second copy meanwhile."""
        return self._birth.places[number] == read_birth(self._directory).places[number]

    async def go_back(self, number: int, holds: PartHolder) -> None:
        """Let a partition continue in the directory that it left, if still nothing of it has counted since."""
        self._away[number] = self._clock()  # in case this fails
        await holds.rest(number)
        try:
            if number in self._left and self._is_missing(number) and self._is_settled(number):
                self._settle(number)
        finally:
            self._gone.discard(number)
            if self._is_settled(number):  # else its place is unknown
                await holds.resume(number)

    def _settle(self, number: int) -> None:
        birth = read_birth(self._directory)
        lost, old = birth.places[number], birth.untried[number]
        places = [old if each == number else place for each, place in enumerate(birth.places)]
        untried = {each: disk for each, disk in birth.untried.items() if each != number}
        vacated = {disk: life for disk, life in birth.vacated.get(number, {}).items() if disk != old}
        vacated[lost] = birth.lives
        changed = msgspec.structs.replace(
            birth, places=places, untried=untried, vacated={**birth.vacated, number: vacated}
        )
        try:
            write_birth(self._directory, changed)
        finally:  # the file may be the new one even if an error is reported
            now = read_birth(self._directory)
            self._birth.places[number], self._left = now.places[number], dict(now.untried)
        self._tell(
            f"partition {number} has not reported from the disk {lost}, which is lost; it continues in its old "
            f"directory on the disk {old}"
        )
