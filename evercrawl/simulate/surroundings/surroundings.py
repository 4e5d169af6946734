"""The surroundings of a crawl in a simulated world: web, weather, names, machine and disk, with their faults."""

import asyncio
import errno
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evercrawl.crawl.probes.soft404_book import SOFT404_FILE
from evercrawl.crawl.sitemaps.cache import SITEMAPS_FILE
from evercrawl.fetch.names import NAMES_FILE
from evercrawl.model.rules.robots_file import ROBOTS_FILE
from evercrawl.search.index import FOLDER, erase
from evercrawl.simulate.surroundings.clock import Crash, Machine
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.simulate.surroundings.names import MadeNames
from evercrawl.simulate.surroundings.rules import MadeRules
from evercrawl.simulate.surroundings.weather import Weather
from evercrawl.simulate.worlds.drawn_web import PRIVATE, DrawnWeb
from evercrawl.simulate.worlds.world import BEGAN_AT, DIRECTORY, Life, World

LATEST_S: Final = 3600.0
"""A crash that was to come in the middle of an operation comes without one, where nothing is done for so long."""
_NO_DATABASE = b"not a database at all"


class WorldSurroundings:
    """The surroundings in one world, through all lives.

    Parameters
    ----------
    world
        The description of the world.
    folder
        A real directory for the caches and the search index, which cannot use a virtual disk.
    said
        Called with each fault: its kind and details.

    Attributes
    ----------
    disk, machine
        Those of the present life.
    web, weather
        The web to crawl, and the weather over it.
    """

    def __init__(self, world: World, folder: Path, said: Callable[..., None]) -> None:
        self.world, self.folder, self._said = world, folder, said
        self.machine = Machine()
        self.disk = VirtualDisk(random.Random(f"{world.seed} disk"), directory=DIRECTORY)
        self.web = DrawnWeb(world.web)
        rules = MadeRules(
            world.seed,
            began_at=BEGAN_AT,
            prefixes=[f"/{digit}" for digit in "123"],
            always=(PRIVATE,),
            clears_at=world.web.settles_at,
            listed=self.web.listed if world.sitemaps else None,
            spell_s=world.rules_s,
        )
        self.weather = Weather(
            self.web, world.seed, began_at=BEGAN_AT, clears_at=world.web.settles_at, climate=world.climate, rules=rules
        )

    def begin(self) -> None:
        """Start a process: it finds the disk as the last one left it."""
        self.machine = Machine(wrong_s=self.machine.wrong_s)
        self.disk = self.disk.reopen()
        self.disk.capacity_bytes = None

    def names(self) -> MadeNames:
        """Return the names; their servers are queried like real ones."""
        world = self.world
        return MadeNames(
            world.seed, began_at=BEGAN_AT, true=self.machine.true, clears_at=world.web.settles_at,
            machines=world.machines, trouble=world.nameless, spell_s=world.rules_s,
            servers=world.name_servers, outages=world.outages, vacant=world.vacant,
        )  # fmt: skip

    def threaten(self, number: int) -> None:
        """Schedule the faults of a life that begins now."""
        loop, life = asyncio.get_running_loop(), self.world.lives[number]
        if life.end.crash:
            loop.call_later(life.lasts_s, self._strike, life.strike)
            loop.call_later(life.lasts_s + LATEST_S, self._strike, 0)
        for since_s, until_s, left_bytes in life.full:
            if since_s:
                loop.call_later(since_s, self._fill, left_bytes)
            else:  # before opening
                self._fill(left_bytes)
            loop.call_later(until_s, self._make_room)
        for after_s, operations in life.broken:
            loop.call_later(after_s, self._break, operations)
        for after_s, by_s in life.leaps:
            loop.call_later(after_s, self._leap, by_s)
        for after_s, lasts_s in life.naps:
            loop.call_later(after_s, self._nap, lasts_s)

    def spoil(self, life: Life) -> None:
        """Damage the caches as a power cut may."""
        for name in (ROBOTS_FILE, SITEMAPS_FILE, SOFT404_FILE, NAMES_FILE):
            for path in sorted(self.folder.glob(f"{name}*")):
                if life.spoilt == "gone":
                    path.unlink()
                elif life.spoilt == "damaged":
                    path.write_bytes(_NO_DATABASE)
        if life.spoilt:
            self._said(f"caches {life.spoilt}")
        if life.spoilt == "gone":
            erase(self.folder / FOLDER)

    def _strike(self, operations: int) -> None:
        """End the process now, or during one of the next disk operations."""
        if not operations:
            self._said("struck", "between two operations")
            self.disk.kill()
            raise Crash("struck")
        left = operations

        def before(operation: str, name: str) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                self._said("struck", operation, name)
                raise Crash("struck")

        self.disk.before = before

    def _break(self, operations: int) -> None:
        """Make one of the next disk operations fail, as with a loose cable."""
        left = operations

        def before(operation: str, name: str) -> None:
            nonlocal left
            left -= 1
            if not left:
                self._said("disk failed", operation, name)
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        if self.disk.before is None:
            self.disk.before = before

    def _fill(self, left_bytes: int) -> None:
        self._said("full disk", left_bytes)
        self.disk.capacity_bytes = sum(self.disk.size(name) for name in self.disk.names()) + left_bytes

    def _make_room(self) -> None:
        self._said("room again")
        self.disk.capacity_bytes = None

    def _leap(self, by_s: float) -> None:
        self._said("clock set", by_s)
        self.machine.wrong_s += by_s

    def _nap(self, lasts_s: float) -> None:
        self._said("suspended", lasts_s)
        self.machine.suspend(lasts_s)
