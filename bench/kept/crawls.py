"""The worlds that are kept, and the crawls that are made anew to be asked."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evercrawl.config import Config, save
from evercrawl.simulate.living.comparison import BenchWorld
from evercrawl.simulate.living.lives import explore, relive
from evercrawl.simulate.simulation import simulate
from evercrawl.simulate.worlds import frozen
from evercrawl.simulate.worlds.made_web import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER: Final = Path(__file__).parent
DRAWN: Final = 17
"""Which of the worlds leaves a crawl behind."""


def worlds() -> list[frozen.World]:
    """Return the worlds that are kept."""
    return list(frozen.read((FOLDER / "worlds.jsonl").read_bytes().splitlines()))


def drawn(directory: Path) -> None:
    """Put what one of the worlds left behind into a directory."""
    world = worlds()[DRAWN]

    def look(around: Any) -> None:
        shutil.copytree(around.folder, directory)
        disk = around.disk.reader()
        for name in disk.names():
            (directory / name).parent.mkdir(exist_ok=True)
            (directory / name).write_bytes(disk.read(name, 0, disk.size(name)))

    simulate(world.seed, world=world, look=look)
    save(world.lives[-1].config, directory)


def living(directory: Path) -> None:
    """Let a crawl of a living web leave a directory behind."""
    world = BenchWorld(3, 300, 60.0, 5.0, 1200.0)
    relive(world.web(), world.fetches_per_s, world.seconds, look=_copied_to(directory))
    save(Config(rate_per_s=world.fetches_per_s, delay_s=0.001, refresh_after_s=0.0), directory)


def farms(directory: Path) -> None:
    """Let a crawl of a web with a farm of links leave a directory behind, by a policy that keeps tables."""
    config = Config(policy="tianwang", scope="any", rate_per_s=2.0, delay_s=0.1, refresh_after_s=0.0)
    explore(Farms(), config, 300.0, look=_copied_to(directory))
    save(config, directory)


def _copied_to(directory: Path) -> Callable[[Any], None]:
    return lambda partition: shutil.copytree(partition.directory, directory) and None


class Farms:
    """Thirty sites of a page, each of which links to the next two, and nine of a farm that link to one and it to them.

    The honest pages change at each visit; site 3 links to the farm.
    """

    seed, began_at = 1, 1_700_000_000.0
    honest = tuple(f"http://honest{i}.example" for i in range(30))
    farm = tuple(f"http://farm{i}.example" for i in range(9))

    @property
    def origins(self) -> tuple[str, ...]:
        """Return where the hosts are."""
        return self.honest + self.farm

    @property
    def seeds(self) -> list[str]:
        """Return where the crawl starts."""
        return [f"{one}/" for one in self.origins]

    def answer(self, origin: str, path: str, _headers: dict[str, str], at: float) -> Answer:
        """Return a page, and nothing else."""
        if path != "/":
            return Answer(404)
        says = f"this is a page of {origin}"
        if origin in self.farm:
            links = self.farm[1:] if origin == self.farm[0] else self.farm[:1]
        else:
            number = self.honest.index(origin)
            links = (self.honest[(number + 1) % 30], self.honest[(number + 2) % 30], *self.farm[: number == 3])
            says += f", as it is after {at - self.began_at:.0f} s"
        body = f"<title>{origin}</title><p>{says}" + "".join(f'<a href="{link}/">{link}</a> ' for link in links)
        return Answer(200, {"Content-Type": "text/html; charset=utf-8"}, body.encode())
