"""What the directory of a crawl in several partitions says of itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.arrays.hasher import SECRET_BYTES
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, StoreError
from evercrawl.parse.sites import site_rules
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.partition import PARTED
from evercrawl.store.post.ownership import Share, parts_wrong

if TYPE_CHECKING:
    from evercrawl.config import Config

FILE: Final = PARTED
FORMAT: Final = 1
ROOT: Final = "EVERCRAWL_PARTS_DIR"
"""Environment variable of a machine: the folder for partitions there; by default the path of the crawl's directory."""


class WholeCopy(msgspec.Struct, frozen=True):
    """A second copy that has all that counts.

    Attributes
    ----------
    place
        Its folder.
    life
        The life of the partition that last saw it whole: an older copy is not opened, wherever it is.
    """

    place: str
    life: int


class ClusterBirth(msgspec.Struct, frozen=True):
    """A crawl in several partitions, as its directory has it.

    Attributes
    ----------
    format, id, parts
        Version of the file, id of the crawl, and how many partitions there are, for good.
    secret
        Under which all partitions hash, in hexadecimal digits. Never shown.
    site_rules
        By which rules hosts were grouped into sites when it was made.
    lives
        How many processes of partitions were begun so far: each has a higher number than those before.
    places
        The disk that each partition is on, on machines of a Ray cluster; empty where all are in the directory.
    homes
        The directory of each partition that was moved, by its number.
    left
        Directories that partitions were moved from, and that have yet to say so: path -> number.
    copies
        The second copies that have all that counts, by the numbers of their partitions; where these are on machines,
        the place of a copy is the id of a disk.
    keepers, lines
        Where partitions are on machines: the disk that each has its second copy on; the life from which each that went
        on from its copy is another one than any older directory.
    begun
        The partitions that have been crawled: their directories, or their copies, must be there.
    drained, vacated
        Where partitions are on machines: the disks that are to be emptied; the disks that each partition was moved
        from, and where its old directory has yet to be set aside, with how many processes had been begun then.
    """

    format: int
    id: str
    parts: int
    secret: str
    site_rules: int
    lives: int = 0
    places: list[str] = []
    homes: dict[int, str] = {}
    left: dict[str, int] = {}
    copies: dict[int, WholeCopy] = {}
    keepers: dict[int, str] = {}
    lines: dict[int, int] = {}
    begun: list[int] = []
    drained: list[str] = []
    vacated: dict[int, dict[str, int]] = {}

    def __repr__(self) -> str:
        """Return which crawl this is, without its secret."""
        return f"ClusterBirth(id={self.id!r}, parts={self.parts})"

    def share(self, number: int) -> Share:
        """Return which part of the crawl a partition is."""
        return Share(number, self.parts, self.id, self.site_rules)


def is_cluster(directory: Path) -> bool:
    """Whether a crawl in several partitions was ever started in `directory`."""
    return (directory / FILE).is_file()


def part_directory(directory: Path, number: int) -> Path:
    """Return the crawl directory of a partition."""
    return directory / f"part-{number}"


def part_directories(directory: Path) -> list[Path]:
    """Return the crawl directories of all partitions, in order; those on other machines are not there.

    Raises
    ------
    StoreError
        What the directory says of itself is damaged.
    """
    birth = read_birth(directory)
    above = os.environ.get(ROOT) if birth.places else None
    root = Path(above) / birth.id if above else directory
    homes = {number: Path(home) for number, home in birth.homes.items()}
    return [homes.get(number) or part_directory(root, number) for number in range(birth.parts)]


def read_birth(directory: Path) -> ClusterBirth:
    """Return what a directory says of itself.

    Raises
    ------
    StoreError
        It is damaged, or of a newer version.
    """
    try:
        birth = json_of((directory / FILE).read_bytes(), ClusterBirth)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(f"{directory / FILE} cannot be read ({error}); restore it from a copy") from error
    if birth.format > FORMAT:
        raise StoreError(f"{directory} was made by a newer evercrawl; upgrade evercrawl")
    return birth


def write_birth(directory: Path, birth: ClusterBirth) -> None:
    """Write it; after a crash it is the one before or this one."""
    disk = RealDisk(directory)
    try:
        disk.replace(FILE, [msgspec.json.encode(birth)], private=True)
    finally:
        disk.close()


def next_life(directory: Path) -> int:
    """Return the number of a process that begins now; it is written down before it is used."""
    birth = read_birth(directory)
    write_birth(directory, msgspec.structs.replace(birth, lives=birth.lives + 1))
    return birth.lives + 1


def note_copy(directory: Path, number: int, copy: WholeCopy | None) -> None:
    """Write down which second copy of a partition has all that counts; before anything counts that it has not."""
    birth = read_birth(directory)
    copies = {each: other for each, other in birth.copies.items() if each != number}
    if copy is not None:
        copies[number] = copy
    if copies != birth.copies:
        write_birth(directory, msgspec.structs.replace(birth, copies=copies))


def note_begun(directory: Path, number: int) -> None:
    """Write down that a partition has been crawled."""
    birth = read_birth(directory)
    if number not in birth.begun:
        write_birth(directory, msgspec.structs.replace(birth, begun=[*birth.begun, number]))


def check_settings(config: Config, directory: Path, parts: int | None, *, machines: bool = False) -> None:
    """See that a crawl may be in so many partitions with these settings, before anything is written.

    Parameters
    ----------
    config, directory
        The settings; where the crawl is, or is to be.
    parts
        How many partitions are asked for; None for as many as there are.
    machines
        Whether they are on machines of a cluster.

    Raises
    ------
    ConfigError
        It may not; the message says why.
    """
    from evercrawl.model.policy.policies import policy_of
    from evercrawl.model.policy.schemes import wanted
    from evercrawl.schedule.abilities import Plans
    from evercrawl.store.partition import is_crawl

    if parts is not None and (why := parts_wrong(parts)):
        raise ConfigError(f"{why}; give another --partitions")
    if is_crawl(directory):
        raise ConfigError(
            f"the crawl in {directory} has one partition, which cannot be changed; leave --partitions out, or crawl "
            "in another directory"
        )
    if is_cluster(directory):
        there = read_birth(directory)
        machines = machines or bool(there.places)
        if parts is not None and parts != there.parts:
            raise ConfigError(
                f"the crawl in {directory} has {there.parts} partitions, which cannot be changed; leave "
                "--partitions out, or crawl in another directory"
            )
        there.share(0).check_rules(site_rules(), directory)
    if config.webhook_url or config.feeds:
        raise ConfigError(
            "webhook_url and feeds deliver the changes of one partition; unset them, and follow the partitions: "
            f"evercrawl changes --dir {directory}"
        )
    if config.durable == "keeper" and not machines and not (config.keeper_dir and Path(config.keeper_dir).is_dir()):
        what = f"{config.keeper_dir} is no folder" if config.keeper_dir else "keeper_dir is not set"
        raise ConfigError(f"durable = keeper needs a folder on another disk, and {what}; give --keeper-dir FOLDER")
    policy = policy_of(config.policy, config.policy_options)
    if isinstance(policy, Plans):
        raise ConfigError(
            f"the policy {config.policy} plans over all pages at once, so it needs one partition; choose another one, "
            "such as --policy price, or leave --partitions out"
        )
    if wanted(config).handout:
        raise ConfigError(
            f"importance = {config.importance!r} hands the virtual page's cash out to all pages, so it needs one "
            "partition; use --importance push, or leave --partitions out"
        )


def born(directory: Path, parts: int) -> ClusterBirth:
    """Return what a directory says of itself; a new one gets `parts` partitions."""
    if is_cluster(directory):
        return read_birth(directory)
    birth = ClusterBirth(FORMAT, os.urandom(4).hex(), parts, os.urandom(SECRET_BYTES).hex(), site_rules())
    write_birth(directory, birth)
    return birth
