"""Orders about the machines of a running crawl, and their progress."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.cluster.birth import read_birth
from evercrawl.cluster.moving.order import BALANCE, DRAIN, LIFT, PartMove, ordered
from evercrawl.errors import ConfigError, StoreError
from evercrawl.store.disk.lock import holder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOOK_S: Final = 0.5


class OnDisk(NamedTuple):
    """What a machine's disk still has of a crawl: numbers of partitions, of second copies, and of old directories."""

    partitions: list[int]
    copies: list[int]
    old: list[int]

    @property
    def empty(self) -> bool:
        """Return whether the disk has nothing, so that the machine can be taken away."""
        return not (self.partitions or self.copies or self.old)

    def __str__(self) -> str:
        """Return a description."""
        named = {
            "partitions": self.partitions, "second copies of": self.copies,
            "old directories, to be set aside, of": self.old,
        }  # fmt: skip
        return "; ".join(f"{what} {', '.join(map(str, each))}" for what, each in named.items() if each) or "nothing"


def on_disk(directory: Path, disk: str) -> OnDisk:
    """Return what a disk has of the crawl in a directory."""
    birth = read_birth(directory)
    copies = {number for number, copy in birth.copies.items() if copy.place == disk}
    copies |= {number for number, keeper in birth.keepers.items() if keeper == disk}
    return OnDisk(
        [number for number, place in enumerate(birth.places) if place == disk],
        sorted(copies),
        sorted(number for number, old in birth.vacated.items() if disk in old),
    )


def move_to(directory: Path, number: int, machine: str, tell: Callable[[str], None]) -> PartMove:
    """Have the running crawl move a partition to a machine; return the result.

    Parameters
    ----------
    directory, number
        The crawl's directory, and number of the partition.
    machine
        The machine: its address, or the id of its disk.
    tell
        Receives a sentence about which process executes the order.

    Raises
    ------
    ConfigError
        The crawl does not run, has no machines, or does not have this partition.
    StoreError
        The partition was not moved; the message says why.
    """
    return _ordered(directory, number, machine, tell)


def drain(directory: Path, machine: str, *, lift: bool = False) -> str:
    """Have the running crawl empty a machine, or use it again if `lift`; return the id of its disk.

    Raises
    ------
    ConfigError
        The crawl does not run, or has no machines.
    StoreError
        The order failed; the message says why.
    """
    return _ordered(directory, LIFT if lift else DRAIN, machine).goal


def rebalance(directory: Path) -> int:
    """Order the running crawl to give all machines their share; return how many partitions will move.

    Raises
    ------
    ConfigError
        The crawl does not run, or has no machines.
    StoreError
        The order failed; the message says why.
    """
    return _ordered(directory, BALANCE, "").steps


def emptied(directory: Path, disk: str, tell: Callable[[OnDisk], None]) -> OnDisk:
    """Return once a machine is empty or no longer to be emptied; `tell` receives each change of what is left.

    Raises
    ------
    StoreError
        The crawl ended before.
    """
    before: OnDisk | None = None
    while True:
        over = holder(directory) is None
        left = on_disk(directory, disk)
        if left.empty or disk not in read_birth(directory).drained:
            return left
        if left != before:
            tell(left)
        if over:
            raise StoreError(
                f"the crawl ended before the machine was empty; it still has {left}. The next start of the crawl goes "
                "on with that"
            )
        before = left
        time.sleep(LOOK_S)


def _ordered(directory: Path, number: int, goal: str, tell: Callable[[str], None] = lambda said: None) -> PartMove:
    """Give an order to the running crawl, and return its result."""
    _see_running(directory)
    if number >= (parts := read_birth(directory).parts):
        raise ConfigError(f"there is no partition {number}; the last is {parts - 1}")
    return ordered(directory, PartMove(secrets.token_hex(8), number, goal), tell)


def _see_running(directory: Path) -> None:
    if not read_birth(directory).places:
        raise ConfigError(
            "all partitions of this crawl are on this machine; move one to another directory: evercrawl move "
            f"PARTITION DIRECTORY --dir {directory}"
        )
    if holder(directory) is None:
        raise ConfigError(
            f"machines are reached only while the crawl runs; start it (evercrawl crawl --dir {directory} --cluster "
            "ADDRESS), and give this again"
        )
