"""Moves of partitions to a machine that has joined, one at a time, until it has its share."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.cluster.birth import alone, read_birth, write_birth
from evercrawl.cluster.disks import hashed_rank, load
from evercrawl.cluster.moving.order import PartMove

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from evercrawl.cluster.birth import ClusterBirth
    from evercrawl.cluster.disks import PartDisk
    from evercrawl.cluster.moving.interfaces import PartHolder

STEADY_S: Final = 300.0
"""A machine gets partitions by itself once it has been reachable for this time."""
TRIES: Final = 3
"""After this number of failed moves to a machine, a run tries no more."""


def next_step(places: Sequence[str], cpus: Mapping[str, float], goals: Collection[str]) -> tuple[str, str] | None:
    """Return the disk to move a partition from, and the disk to move it to; None if no move improves the balance.

    A partition moves only if the disk that it leaves then still has at least as many partitions for its processors as
    the new one: with equal machines, only if their numbers differ by two or more. Each such move lowers the sum over
    disks of the squared number of partitions by CPUs, so no sequence of them returns to where it was.

    Parameters
    ----------
    places
        The disk of each partition.
    cpus
        The disks that may be used, with the number of processors of each machine.
    goals
        Those of them that may get partitions.

    Examples
    --------
    >>> next_step("aaab", {"a": 1.0, "b": 1.0}, "b"), next_step("aab", {"a": 1.0, "b": 1.0}, "b")
    (('a', 'b'), None)
    >>> next_step("aaaabb", {"a": 4.0, "b": 2.0, "c": 2.0}, "c")
    ('a', 'c')
    """
    has = Counter(places)

    def loaded(disk: str, more: int) -> float:
        return load(has[disk] + more, cpus[disk])

    goal = min((disk for disk in sorted(goals) if disk in cpus), key=lambda disk: loaded(disk, 1), default=None)
    source = max(
        (disk for disk in sorted(cpus) if has[disk] and disk != goal),
        key=lambda disk: loaded(disk, -1),
        default=None,
    )
    if goal is None or source is None or loaded(source, -1) < loaded(goal, 1):
        return None
    return source, goal


def steps(places: Sequence[str], cpus: Mapping[str, float], goals: Collection[str]) -> int:
    """Return how many partitions would move.

    >>> steps("aaaaaaaa", {"a": 1.0, "b": 1.0, "c": 2.0}, "abc")
    6
    """
    places, count = list(places), 0
    while (step := next_step(places, cpus, goals)) is not None:
        places[places.index(step[0])] = step[1]
        count += 1
    return count


class Balancing:
    """Moves that give machines their share of the partitions.

    `cluster.json` says which machines have had theirs (`shared`): whatever moves away from one of them later, by an
    order or because it was lost, does not come back by itself. It also keeps an order that is not carried out yet.

    Parameters
    ----------
    directory, birth
        The crawl's directory and description.
    disks
        Returns the reachable disks, by their ids.
    clock
        Returns the time (s) by a clock that is never set.
    by_itself
        Whether machines that join get partitions without an order.
    """

    def __init__(
        self,
        directory: Path,
        birth: ClusterBirth,
        disks: Callable[[], Mapping[str, PartDisk]],
        clock: Callable[[], float] = time.monotonic,
        *,
        by_itself: bool = True,
    ) -> None:
        self._directory, self._birth, self._disks, self._clock = directory, birth, disks, clock
        self._by_itself = by_itself
        self._since = dict[str, float]()  # the reachable disks, and since when they are
        self._tries = Counter[str]()

    def order(self) -> int:
        """Give all machines their share from now on, also after a restart; return how many partitions have to move."""
        self._note(set(), ordered=True)
        self._tries.clear()
        return steps(self._birth.places, self._cpus(), list(self._cpus()))

    def succeeded(self, disk: str) -> None:
        """Take note that a disk has got a partition."""
        self._tries.pop(disk, None)

    def due(self, holds: PartHolder) -> PartMove | None:
        """Return the next move; None if there is none, or if it has to wait for something else."""
        now, disks = self._clock(), self._disks()
        self._since = {disk: self._since.get(disk, now) for disk in disks}
        birth = read_birth(self._directory)
        if birth.shared is None:
            birth = self._note(set(birth.places), ordered=birth.share_ordered)
        ordered = birth.share_ordered
        if not birth.places or not (self._by_itself or ordered):
            return None
        if any(disk in disks for old in birth.vacated.values() for disk in old) or birth.untried:
            return None  # one move at a time
        if not set(birth.places) <= disks.keys():
            return None  # a machine is missing, and nobody knows for how long
        cpus, shared = self._cpus(), set(birth.shared or [])
        steady = [disk for disk in cpus if ordered or now >= self._since[disk] + STEADY_S]
        goals = [disk for disk in steady if disk not in shared and self._tries[disk] < TRIES]
        step = next_step(self._birth.places, cpus, goals)
        if step is None:
            if goals:
                self._note(shared | set(goals), ordered=ordered)
            elif ordered:
                self._note(shared, ordered=False)
            return None
        number = self._best(birth, *step, holds)
        if number is None:
            return None
        self._tries[step[1]] += 1
        return PartMove("", number, step[1])

    def _best(self, birth: ClusterBirth, source: str, goal: str, holds: PartHolder) -> int | None:
        """Return the partition to move: one that runs, and whose second copy is not on the new disk if possible."""
        there = [number for number, place in enumerate(self._birth.places) if place == source == birth.places[number]]
        return min(
            (number for number in there if holds.well(number)),
            key=lambda number: (birth.keepers.get(number) == goal, hashed_rank(goal, number)),
            default=None,
        )

    def _cpus(self) -> dict[str, float]:
        return {disk: about.cpus for disk, about in self._disks().items() if disk not in self._birth.drained}

    @alone
    def _note(self, shared: set[str], *, ordered: bool) -> ClusterBirth:
        """Record which machines have had their share, and whether an order that all get it is under way."""
        birth = read_birth(self._directory)
        birth = msgspec.structs.replace(birth, shared=sorted(shared), share_ordered=ordered)
        write_birth(self._directory, birth)
        return birth
