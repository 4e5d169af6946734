"""Disks of partitions; each has an id that stays the same when its machine is renamed or restarted."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evercrawl.cluster.birth import ROOT, part_directories, part_directory, read_birth
from evercrawl.errors import StoreError
from evercrawl.store.disk.modes import shut_to_others

_FILE: Final = "disk-id"
_LEAST_CPUS: Final = 0.01


@dataclass(frozen=True)
class PartDisk:
    """A folder on some machine that has, or may get, partitions of a crawl.

    Attributes
    ----------
    id, root
        Id of the disk; folder of this crawl's partitions.
    cpus
        Number of CPUs of its machine.
    """

    id: str
    root: Path
    cpus: float = 1.0

    def part(self, number: int) -> Path:
        """Return the crawl directory of a partition on this disk."""
        return part_directory(self.root, number)

    def copy(self, number: int) -> Path:
        """Return the folder for the second copy of a partition of another machine."""
        return part_directory(self.root / "copies", number)


def load(partitions: int, cpus: float) -> float:
    """Return the number of partitions per processor of a machine, which may report no processors."""
    return partitions / max(cpus, _LEAST_CPUS)


def hashed_rank(disk: str, number: int) -> bytes:
    """Return the rank of a disk for a partition by rendezvous hashing: the lowest comes first."""
    return hashlib.sha256(f"{disk} {number}".encode()).digest()


def root_here(directory: Path, crawl: str) -> Path:
    """Return the folder of this machine for the partitions of a crawl; arguments as in `disk_here`."""
    above = os.environ.get(ROOT)
    return Path(above) / crawl if above else directory


def disk_here(directory: Path, crawl: str, cpus: float = 1.0) -> PartDisk:
    """Return the disk of this machine for a crawl; create an id if the folder has none.

    Parameters
    ----------
    directory, crawl
        The crawl's directory, and its id.
    cpus
        Number of CPUs of this machine.

    Raises
    ------
    StoreError
        The folder cannot be used.
    """
    root = root_here(directory, crawl)
    shut_to_others()
    try:
        root.mkdir(parents=True, exist_ok=True)
        file = root / _FILE
        with contextlib.suppress(FileExistsError):
            token = secrets.token_hex(8)
            new = root / f"{_FILE}.{token}"
            new.write_text(token, encoding="ascii")
            try:
                os.link(new, file)  # atomic; exactly one process succeeds
            finally:
                new.unlink()
        return PartDisk(file.read_text(encoding="ascii"), root, cpus)
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{root} cannot store partitions ({error})") from error


def disk_or_why(directory: Path, crawl: str, cpus: float) -> PartDisk | str:
    """Return the disk of this machine, or why it has none."""
    try:
        return disk_here(directory, crawl, cpus)
    except StoreError as error:
        return str(error)


def is_here(directory: Path, number: int) -> bool:
    """Return whether a partition is on this machine; a directory that it left behind here does not count."""
    birth, part = read_birth(directory), part_directories(directory)[number]
    if not birth.places:
        return True
    if not part.is_dir():
        return False
    if number in birth.homes:
        return True
    try:
        return (part.parent / _FILE).read_text(encoding="ascii") == birth.places[number]
    except (OSError, UnicodeDecodeError):
        return False


def shared_out(parts: int, disks: Mapping[str, float]) -> list[str]:
    """Return a disk for each partition, in proportion to the machines' CPUs, chosen by rendezvous hashing.

    Parameters
    ----------
    parts
        Number of partitions.
    disks
        Id of a disk -> number of CPUs of its machine.

    Examples
    --------
    >>> Counter(shared_out(8, {"a": 2.0, "b": 2.0, "c": 4.0})) == {"a": 2, "b": 2, "c": 4}
    True
    >>> before, after = shared_out(64, {"a": 1.0, "b": 1.0}), shared_out(64, {"a": 1.0, "b": 1.0, "c": 2.0})
    >>> sum(one != other for one, other in zip(before, after, strict=True)) < 48
    True
    """
    whole, count = sum(disks.values()), Counter[str]()
    room = {disk: int(parts * cpus / whole) for disk, cpus in disks.items()}
    ahead = sorted(disks, key=lambda disk: (room[disk] - parts * disks[disk] / whole, disk))
    for disk in ahead[: parts - sum(room.values())]:
        room[disk] += 1
    found = list[str]()
    for number in range(parts):
        ranked = sorted(disks, key=lambda disk: hashed_rank(disk, number))
        found.append(next(disk for disk in ranked if count[disk] < room[disk]))
        count[found[-1]] += 1
    return found
