"""A world of several partitions, drawn from one number."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from evercrawl.simulate.parted.mail import Roads

KINDS = ("kill", "power", "strike", "stop", "zombie", "cut", "isolate")
KEPT_KINDS = ("lose", "usurp", "away", "lose")
"""What befalls partitions with second copies besides: a lost disk, with its process or without; an absent keeper."""

BACKUP = "back_up"
"""The disks are copied one after the other within this time, as `evercrawl backup` does."""


@dataclass(frozen=True, slots=True)
class Blow:
    """What befalls a partition: when (s after the beginning), which kind, whom, and how long it lasts (s)."""

    at_s: float
    kind: str
    number: int
    lasts_s: float


@dataclass(frozen=True, slots=True)
class PartedWorld:
    """All there is to a simulation of several partitions.

    Attributes
    ----------
    seed
        Draws the web and what is left to chance.
    parts
        How many partitions.
    sites, pages
        How many sites there are, and pages of each.
    addresses
        How many addresses they share.
    roads
        How messages fare until it is calm.
    lasts_s
        How long it is not.
    blows
        What befalls the partitions until then, by time.
    snapshot_every_s, refresh_after_s, delay_s
        Settings.
    kept
        Whether each partition has a keeper, without which nothing counts.
    changing
        One page in so many changes; 0 for none.
    """

    seed: int
    parts: int
    sites: int
    pages: int
    addresses: int
    roads: Roads
    lasts_s: float
    blows: tuple[Blow, ...] = ()
    snapshot_every_s: float = 30.0
    refresh_after_s: float = 300.0
    delay_s: float = 1.0
    kept: bool = False
    changing: int = 0


def drawn_kept(seed: int) -> PartedWorld:
    """Return a world of a seed in which partitions have keepers, and disks are lost.

    >>> drawn_kept(3) == drawn_kept(3), drawn_kept(3).kept
    (True, True)
    """
    world, draw = drawn_parted(seed), random.Random(f"kept world {seed}")
    more = [
        Blow(draw.uniform(5.0, world.lasts_s), draw.choice(KEPT_KINDS), draw.randrange(world.parts),
             draw.uniform(1.0, 30.0))
        for _ in range(draw.randrange(1, 6))
    ]  # fmt: skip
    return replace(world, kept=True, blows=tuple(sorted((*world.blows, *more), key=lambda blow: blow.at_s)))


def drawn_backed_up(seed: int) -> PartedWorld:
    """Return a world of a seed in which all partitions are backed up several times, while they run and are killed.

    >>> drawn_backed_up(3) == drawn_backed_up(3), sum(blow.kind == BACKUP for blow in drawn_backed_up(3).blows)
    (True, 4)
    """
    world, draw = drawn_parted(seed), random.Random(f"backed up world {seed}")
    more = [Blow(draw.uniform(5.0, world.lasts_s), BACKUP, 0, draw.uniform(0.5, 20.0)) for _ in range(4)]
    return replace(world, blows=tuple(sorted((*world.blows, *more), key=lambda blow: blow.at_s)))


def drawn_parted(seed: int) -> PartedWorld:
    """Return the world of a seed.

    >>> drawn_parted(3) == drawn_parted(3), drawn_parted(3) == drawn_parted(4)
    (True, False)
    """
    draw = random.Random(f"parted world {seed}")
    parts = draw.choice([2, 2, 4, 4, 8])
    lasts_s = draw.uniform(60.0, 240.0)
    blows = [
        Blow(draw.uniform(0.0, lasts_s), draw.choice(KINDS), draw.randrange(parts), draw.uniform(1.0, 60.0))
        for _ in range(draw.choice([0, 1, 3, 6, 10]))
    ]
    foul = draw.random() < 0.7
    return PartedWorld(
        seed,
        parts,
        sites=draw.randrange(parts, 3 * parts + 4),
        pages=draw.randrange(4, 12),
        addresses=draw.randrange(1, 8),
        roads=Roads(draw.choice([0.0, 0.2]), draw.choice([0.0, 0.1]), draw.choice([0.05, 2.0, 60.0]))
        if foul
        else Roads(),
        lasts_s=lasts_s,
        blows=tuple(sorted(blows, key=lambda blow: blow.at_s)),
        snapshot_every_s=draw.uniform(5.0, 120.0),
        refresh_after_s=draw.uniform(60.0, 600.0),
        delay_s=draw.choice([0.5, 1.0, 2.0]),
    )
