"""Description of a crawl in several partitions, as stored in its directory (`cluster.json`)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

import msgspec

from evercrawl.arrays.hasher import SECRET_BYTES
from evercrawl.cluster.belonging import see_part
from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError, StoreError
from evercrawl.parse.sites import site_rules
from evercrawl.small_file import read_small
from evercrawl.store.birth import PARTED, UNFINISHED, is_id
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.post.ownership import Share, parts_wrong

if TYPE_CHECKING:
    from evercrawl.config import Config

FILE: Final = PARTED
FORMAT: Final = 1
P = ParamSpec("P")
T = TypeVar("T")
_CHANGING: Final = threading.RLock()
ROOT: Final = "EVERCRAWL_PARTS_DIR"
"""Environment variable of a machine: the folder for its partitions; by default the path of the crawl's directory."""


class WholeCopy(msgspec.Struct, frozen=True):
    """A complete second copy.

    Attributes
    ----------
    place
        Folder of the copy; on a Ray cluster, the id of its disk.
    life
        The life of the partition that last saw the copy complete; older copies are not opened, wherever they are.
    """

    place: str
    life: int


class ClusterBirth(msgspec.Struct, frozen=True):
    """Description of a crawl in several partitions.

    Attributes
    ----------
    format, id, parts
        Version of the file, id of the crawl, and the number of partitions, which never changes.
    secret
        The key of all hashes, the same in all partitions, in hexadecimal digits. Never shown.
    site_rules
        The rules that grouped hosts into sites when the crawl was created.
    lives
        How many processes of partitions have been started so far; each process has a higher number than all before.
    places
        The disk of each partition, on machines of a Ray cluster; empty if all partitions are in the directory.
    homes
        The directory of each moved partition, by its number.
    left
        Directories from which partitions were moved and which are not marked yet: path -> number.
    copies
        The complete second copies, by the numbers of their partitions.
    keepers, lines
        On a Ray cluster: the disk with each partition's second copy; for each partition that was restored from its
        copy, the life since which older directories of it are not used.
    begun
        The partitions that have been crawled; their directories or their copies must exist.
    drained, vacated
        On a Ray cluster: the disks to be emptied; for each partition, the disks from which it was moved and where its
        old directory is not set aside yet, with the number of processes that had been started then.
    untried
        On a Ray cluster: the partitions of which nothing has counted since they were moved, and the disk that each
        left; its directory there has all that counts.
    goals
        For each partition, the directories, or on a Ray cluster the disks, where a move has begun a copy that is not
        complete.
    shared
        On a Ray cluster: the disks that have had their share of the partitions; None if that was never decided.
    share_ordered
        Whether an order to give all machines their share is not carried out yet.
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
    untried: dict[int, str] = {}
    goals: dict[int, list[str]] = {}
    shared: list[str] | None = None
    share_ordered: bool = False

    def __post_init__(self) -> None:
        """See that what it names can be: a directory may come from a stranger."""
        if self.format > FORMAT:  # whoever reads it says so
            return
        if not is_id(self.id) or len(bytes.fromhex(self.secret)) != SECRET_BYTES:
            raise ValueError("its id or its secret is none")
        if why := parts_wrong(self.parts):
            raise ValueError(why)
        numbers = {
            *self.homes,
            *self.left.values(),
            *self.copies,
            *self.keepers,
            *self.lines,
            *self.begun,
            *self.vacated,
            *self.untried,
            *self.goals,
        }
        if not numbers <= set(range(self.parts)) or len(self.places) not in (0, self.parts):
            raise ValueError(f"it names partitions that a crawl in {self.parts} has not")
        if any(
            "\0" in path
            for path in (
                *self.homes.values(),
                *self.left,
                *(copy.place for copy in self.copies.values()),
                *(goal for goals in self.goals.values() for goal in goals),
            )
        ):
            raise ValueError("it names what is no path")

    def __repr__(self) -> str:
        """Return the crawl's id and number of partitions, without its secret."""
        return f"ClusterBirth(id={self.id!r}, parts={self.parts})"

    def without_goal(self, number: int, goal: str) -> dict[int, list[str]]:
        """Return `goals` without one of them."""
        others = [each for each in self.goals.get(number, []) if each != goal]
        return {each: left for each, left in {**self.goals, number: others}.items() if left}

    def share(self, number: int) -> Share:
        """Return the share of a partition."""
        return Share(number, self.parts, self.id, self.site_rules)


def is_cluster(directory: Path) -> bool:
    """Return whether a crawl in several partitions was ever started in `directory`."""
    return (directory / FILE).is_file()


def part_directory(directory: Path, number: int) -> Path:
    """Return the crawl directory of a partition."""
    return directory / f"part-{number}"


def part_directories(directory: Path) -> list[Path]:
    """Return the crawl directories of all partitions, in order; those on other machines do not exist here.

    Raises
    ------
    StoreError
        What the directory says of itself is damaged, or it names a directory that is not of this crawl.
    """
    birth = read_birth(directory)
    above = os.environ.get(ROOT) if birth.places else None
    root = Path(above) / birth.id if above else directory
    homes = {number: Path(home) for number, home in birth.homes.items()}
    parts = [homes.get(number) or part_directory(root, number) for number in range(birth.parts)]
    for number, part in enumerate(parts):
        if part != part_directory(directory, number):
            see_part(part, birth.share(number), birth.secret)
    return parts


def read_birth(directory: Path) -> ClusterBirth:
    """Return the description in a directory.

    Raises
    ------
    StoreError
        It is damaged, or was written by a newer version; or the directory is a backup that was interrupted.
    """
    if (directory / UNFINISHED).is_file():
        raise StoreError(
            f"{directory} is a backup that was interrupted: its partitions do not fit together; finish it with: "
            f"evercrawl backup {directory} --dir CRAWL"
        )
    return read_unfinished(directory)


def read_unfinished(directory: Path) -> ClusterBirth:
    """Return the description in a directory, even if it is an interrupted backup."""
    try:
        birth = json_of(read_small(directory / FILE), ClusterBirth)
    except (OSError, StoreError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreError(f"{directory / FILE} cannot be read ({error}); restore it from a copy") from error
    if birth.format > FORMAT:
        raise StoreError(f"{directory} was made by a newer evercrawl; upgrade evercrawl")
    return birth


def write_birth(directory: Path, birth: ClusterBirth) -> None:
    """Write the description atomically: after a crash, the file is the old or the new one."""
    disk = RealDisk(directory)
    try:
        disk.replace(FILE, [msgspec.json.encode(birth)], private=True)
    finally:
        disk.close()


def alone(change: Callable[P, T]) -> Callable[P, T]:
    """Let one thread at a time read and rewrite a description, so that no change is lost: moves do it in a thread."""

    @wraps(change)
    def changed(*args: P.args, **named: P.kwargs) -> T:
        with _CHANGING:
            return change(*args, **named)

    return changed


@alone
def next_life(directory: Path) -> int:
    """Return a number for a process that starts now; the number is durable before it is used."""
    birth = read_birth(directory)
    write_birth(directory, msgspec.structs.replace(birth, lives=birth.lives + 1))
    return birth.lives + 1


@alone
def note_copy(directory: Path, number: int, copy: WholeCopy | None) -> None:
    """Record which second copy of a partition is complete, before any event counts that the copy lacks."""
    birth = read_birth(directory)
    copies = {each: other for each, other in birth.copies.items() if each != number}
    if copy is not None:
        copies[number] = copy
    if copies != birth.copies:
        write_birth(directory, msgspec.structs.replace(birth, copies=copies))


@alone
def note_begun(directory: Path, number: int) -> None:
    """Record that a partition has been crawled."""
    birth = read_birth(directory)
    if number not in birth.begun:
        write_birth(directory, msgspec.structs.replace(birth, begun=sorted([*birth.begun, number])))


@alone
def note_goal(directory: Path, number: int, goal: str) -> None:
    """Record where a copy of a partition begins, before anything is written there."""
    birth = read_birth(directory)
    if goal not in birth.goals.get(number, []):
        goals = {**birth.goals, number: [*birth.goals.get(number, []), goal]}
        write_birth(directory, msgspec.structs.replace(birth, goals=goals))


@alone
def drop_goal(directory: Path, number: int, goal: str) -> None:
    """Record that there is no such copy any more."""
    birth = read_birth(directory)
    if goal in birth.goals.get(number, []):
        write_birth(directory, msgspec.structs.replace(birth, goals=birth.without_goal(number, goal)))


def check_settings(config: Config, directory: Path, parts: int | None, *, machines: bool = False) -> None:
    """Check that a crawl may have `parts` partitions with these settings, before anything is written.

    Parameters
    ----------
    config, directory
        The settings; the directory of the crawl, which need not exist yet.
    parts
        The requested number of partitions; None keeps the present number.
    machines
        Whether the partitions are on machines of a cluster.

    Raises
    ------
    ConfigError
        The settings do not allow it; the message says why.
    """
    from evercrawl.model.policy.policies import policy_of
    from evercrawl.model.policy.schemes import wanted
    from evercrawl.schedule.abilities import Plans
    from evercrawl.store.birth import is_crawl

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
        what = f"{config.keeper_dir} is not a folder" if config.keeper_dir else "keeper_dir is not set"
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
    """Return the description in a directory; a new directory gets one with `parts` partitions."""
    if is_cluster(directory):
        return read_birth(directory)
    birth = ClusterBirth(FORMAT, os.urandom(4).hex(), parts, os.urandom(SECRET_BYTES).hex(), site_rules())
    write_birth(directory, birth)
    return birth
