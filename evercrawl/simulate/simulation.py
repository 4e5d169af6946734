"""The simulation of one world: the shipped crawl, life after life, with its observers."""

import random
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.verify import inspect
from evercrawl.errors import ConfigError, StoreError
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.simulate.checkers.base import Checker
from evercrawl.simulate.checkers.budget import Budget
from evercrawl.simulate.checkers.cash import CashConserved
from evercrawl.simulate.checkers.index import IndexFollows
from evercrawl.simulate.checkers.journal import Acknowledged, MemoryFollows
from evercrawl.simulate.checkers.links import LinksAreItsOwn
from evercrawl.simulate.checkers.names import NamesChecker
from evercrawl.simulate.checkers.orders import OrdersObeyed
from evercrawl.simulate.checkers.politeness import Politeness
from evercrawl.simulate.checkers.robots import RobotsObeyed
from evercrawl.simulate.checkers.starvation import NoneStarves
from evercrawl.simulate.checkers.visits import EachVisit
from evercrawl.simulate.life import live
from evercrawl.simulate.result import Result
from evercrawl.simulate.surroundings.clock import Crash, run_virtual
from evercrawl.simulate.surroundings.surroundings import WorldSurroundings
from evercrawl.simulate.witness import OWN, BrokenPromiseError, Witness
from evercrawl.simulate.worlds.world import BEGAN_AT, DIRECTORY, LifeEnd, World, drawn
from evercrawl.store.partition import Partition

CHECKERS: Final[tuple[type[Checker], ...]] = (
    Politeness, RobotsObeyed, Budget, EachVisit, LinksAreItsOwn, CashConserved, Acknowledged, MemoryFollows,
    IndexFollows, NoneStarves, NamesChecker, OrdersObeyed,
)  # fmt: skip
_MEMORY: Final = Path("/dev/shm")  # index and caches call sync; here that is free


def simulate(
    seed: int,
    *,
    watch: Callable[[str], None] | None = None,
    checkers: Sequence[type[Checker]] | None = None,
    world: World | None = None,
    look: Callable[[WorldSurroundings], None] = lambda _: None,
) -> Result:
    """Run the world of a seed and return the result.

    Parameters
    ----------
    seed
        Random seed; the same seed gives the same log.
    watch
        Called with each line of the log.
    checkers
        The checkers; all by default.
    world
        The world; by default that of the seed.
    look
        Called with the state that the last life left.
    """
    witness = Witness(world or drawn(seed), watch, CHECKERS if checkers is None else checkers)
    with tempfile.TemporaryDirectory(prefix="evercrawl-world-", dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        one = Simulation(world or drawn(seed), witness, Path(folder))
        result = one.run()
        look(one.around)
        return result


class Simulation:
    """Runs a crawl through all lives of a world.

    Parameters
    ----------
    world, witness
        The world, and the observer.
    folder
        A real directory for caches and the search index.

    Attributes
    ----------
    around
        The surroundings: web, disk and machine.
    """

    def __init__(self, world: World, witness: Witness, folder: Path) -> None:
        self._world, self._witness = world, witness
        self.around = WorldSurroundings(world, folder, witness.befell)

    def run(self) -> Result:
        """Run all lives, or those until a violation."""
        began, witness = time.perf_counter(), self._witness
        for number in range(len(self._world.lives)):
            self._live(number)
            if witness.result.broken:
                break
        result = witness.result
        result.real_s, result.virtual_s = time.perf_counter() - began, witness.now - BEGAN_AT
        result.hash, result.lines = witness.log.hash, witness.log.lines
        result.revisited = sum(one.pages for one in witness.checkers if isinstance(one, NoneStarves))
        return result

    def _live(self, number: int) -> None:
        """Run one process from start to end, and let time pass until the next."""
        witness, life, clean = self._witness, self._world.lives[number], False
        if number == len(self._world.lives) - 1:  # the others may end early
            witness.now = max(witness.now, self._world.web.settles_at)
        witness.log.add(witness.now, "life", number, life.end.value)
        witness.result.lives += 1
        self.around.begin()
        try:
            clean = run_virtual(live(self.around, witness, number, self._look), start=witness.now)
        except Crash:
            witness.result.faults["crash"] += 1
        except BrokenPromiseError:
            pass
        except Exception as error:
            self._raised(error)
        witness.machine = None
        self._bury(number, clean=clean)

    def _raised(self, error: Exception) -> None:
        """Judge an error that ended the process and its loop."""
        self._witness.machine = None
        if self._witness.excused(error):
            self._witness.befell("ended by the disk", error)
        else:
            where = "".join(traceback.format_exception(error)[-3:])
            self._witness.blame(OWN, f"{type(error).__name__}: {error}\n{where}")

    def _bury(self, number: int, *, clean: bool) -> None:
        """Check what a life left behind, and let time pass until the next."""
        witness, life = self._witness, self._world.lives[number]
        witness.result.ends[life.end.value if clean or life.end.crash else "early"] += 1
        if not clean:
            witness.ended(clean=False)
        if not witness.result.broken:
            if life.end is LifeEnd.POWER and not clean:
                self.around.disk.crash()
                self.around.spoil(life)
            self._verify(interrupted=not clean)
        witness.now += life.pause_s
        witness.log.add(witness.now, "buried", number, "in order" if clean else "crashed")

    def _look(self) -> None:
        """Verify the crawl while it runs."""
        if self._witness.running is not None:
            self._verify(running=True)

    def _verify(self, *, interrupted: bool = False, running: bool = False) -> None:
        """Verify the files on the disk, as `evercrawl verify` does."""
        witness, found, disk = self._witness, Findings(), self.around.disk.reader()
        try:
            partition = Partition(
                DIRECTORY,
                random.Random(0).randbytes,
                now=witness.now,
                writable=False,
                disk=disk,
                site=found_site,
                site_rules=site_rules(),
            )
            with closing(partition):
                inspect(partition, found, interrupted=interrupted, running=running)
        except ConfigError:
            return  # it died before it was opened
        except (StoreError, AssertionError) as error:
            found.blame(f"{type(error).__name__}: {error}")
        for sentence in found.wrong:
            witness.blame("journal = archive", sentence + " (while the crawl runs)" * running)
        witness.log.add(witness.now, "verified", *sorted(found.checked.items()))
