"""What attackers cost the others: pages of good hosts in the same time, with an attacker beside them and without.

    python bench/attacks.py [--json] [--only silence,drips] [--where simulation,processor,loopback] [--pairs 3]

In simulation the shipped loop runs on a virtual clock, with a rest of 0.5 s and 0.1 s per answer, for two minutes. With
`processor` each answer also takes 30 ms of the crawl's processor, so that ten hosts need almost half of it. On loopback
a crawl in a process of its own asks one server for all, with a rest of 0.1 s, for twenty seconds; there the attacker
shares the cores. Counted is what was asked of the good hosts, robots.txt aside; where an attack has one victim, of
that. Attacks with invalid statuses are not simulated. A row an attack; exits 1 where less than 90 % of the pages are
left in simulation, or 70 % with `processor` or on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import statistics
import sys
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attacked_links import BASES, LINK_ATTACKS
from attacked_rank import RANK_ATTACKS
from attacked_server import pages_on_loopback
from attacked_web import ATTACKS, DEADLINE_S, AttackedWeb

from evercrawl.config import Config
from evercrawl.crawl.assemble import assemble
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.crawl.visit.parsers import Inline
from evercrawl.fetch.guard import Guard
from evercrawl.fetch.names import NameAnswer, ResolveError
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.parse.urls import hostname, path_query
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import MadeNetwork, inline
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.partition import Partition

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.arrays.hasher import Hasher
    from evercrawl.model.stored.reading import Fetched
    from evercrawl.types import Request

SECONDS: Final = 120.0
FLOORS: Final = {"simulation": 0.9, "processor": 0.7, "loopback": 0.7}
WORK_S: Final = 0.03
ANSWER_S: Final = 0.1
NAME_S: Final = 0.02
NO_NAME_S: Final = 15.0
ALL: Final = ATTACKS | RANK_ATTACKS | LINK_ATTACKS
REAL: Final = ("forged statuses",)
"""Attacks on what parses answers, which a made network has none of: loopback only."""


class MadeResolver:
    """Answers for the names of a web, after a while; for some of them nobody does."""

    label = "made-up names"

    def __init__(self, web: AttackedWeb) -> None:
        self._web = web

    async def resolve(self, host: str) -> NameAnswer:
        """Return where a host is."""
        if host in self._web.unanswered:
            await asyncio.sleep(NO_NAME_S)
            raise ResolveError("time-out")
        await asyncio.sleep(NAME_S)
        if host not in self._web.addresses:
            raise ResolveError("no such name")
        return NameAnswer((f"{self._web.first}.{self._web.addresses[host]}",))


class SlowReader(Inline):
    """A parser of bodies that needs some of the processor's time for each answer."""

    def __init__(self, clock: VirtualClock, work_s: float, text: bool, hasher: Hasher) -> None:
        super().__init__("evercrawl", hasher, text=text)
        self._clock, self._work_s = clock, work_s

    def submit(self, fetched: Fetched) -> None:
        """Take the time, and parse the body."""
        self._clock.spend(self._work_s)
        super().submit(fetched)


def pages_in_simulation(attack: Callable[[AttackedWeb], None] | None, work_s: float = 0.0) -> int:
    """Return how many pages of good hosts were asked for, where each answer takes some of the processor's time."""
    web = AttackedWeb()
    if attack is not None:
        attack(web)
    slow = web.silent | web.dripping
    config = Config(delay_s=0.5, scope="any", refresh_after_s=60.0, index=False, workers="0")

    def lasts_s(request: Request) -> float:
        return DEADLINE_S if hostname(request.url) in slow else ANSWER_S

    async def crawl(folder: Path) -> MadeNetwork:
        clock, guard = VirtualClock(), Guard()
        network = MadeNetwork(web, clock, lasts_s, judge=guard.judge)
        draw = random.Random(1)
        partition = Partition(
            folder, draw.randbytes, now=clock.now(), disk=RealDisk(folder), site=found_site,
            site_rules=site_rules(),
        )  # fmt: skip
        with closing(partition), closing(Memory.beside(partition, config, None)) as memory:
            readers = partial(SlowReader, clock, work_s) if work_s else None
            outside = Outside(network, [MadeResolver(web)], clock, inline, guard, inline, readers=readers)
            one = assemble(config, memory, outside, lambda _: None)
            await one.run(web.seeds, Limits(seconds=SECONDS))
            await network.close()
            one.close()
        return network

    folder = Path(tempfile.mkdtemp(prefix="attacks-"))
    try:
        network = run_virtual(crawl(folder))
    finally:
        shutil.rmtree(folder)
    asked = [one.url for one in network.log if path_query(one.url) != "/robots.txt"]
    return sum(hostname(url) in web.victims and path_query(url)[1:].isdigit() for url in asked)


def row(name: str, where: str, pairs: int, alone: dict[tuple[str, ...], int]) -> dict[str, object]:
    """Return what an attack costs; `alone` has the pages of victims without it, in simulation always the same."""
    measure = (
        pages_on_loopback
        if where == "loopback"
        else partial(pages_in_simulation, work_s=WORK_S * (where == "processor"))
    )
    attack = ALL[name]
    victims, base = _victims(attack), BASES.get(name)
    key = (*victims, name) if base is not None else victims
    ratios, last = list[float](), (0, 0)
    for _ in range(pairs if where == "loopback" else 1):
        with_it = measure(attack)
        if where == "loopback" or key not in alone:
            alone[key] = measure(base or (lambda web: _narrowed(web, victims)))
        last = with_it, without = with_it, alone[key]
        ratios.append(with_it / max(without, 1))
    left = statistics.median(ratios)
    return {
        "attack": name, "where": where, "with": last[0], "without": last[1], "left": round(left, 3),
        "range": [round(min(ratios), 3), round(max(ratios), 3)], "holds": left >= FLOORS[where],
    }  # fmt: skip


def _victims(attack: Callable[[AttackedWeb], None]) -> tuple[str, ...]:
    web = AttackedWeb()
    attack(web)
    return web.victims


def _narrowed(web: AttackedWeb, victims: tuple[str, ...]) -> None:
    web.victims = victims


def main() -> int:
    """Print a row an attack; return the exit code."""
    parser = argparse.ArgumentParser(description="Measure what attackers cost the other hosts of a crawl.")
    parser.add_argument("--only", default="", metavar="NAMES", help=f"some of: {', '.join(ALL)}")
    parser.add_argument(
        "--where",
        default="simulation,processor,loopback",
        metavar="WHERE",
        help="some of: simulation, processor, loopback",
    )
    parser.add_argument("--pairs", type=int, default=3, metavar="N", help="pairs of runs on loopback (default 3)")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    options = parser.parse_args()
    names = [name for name in ALL if not options.only or name in options.only.split(",")]
    if not names:
        parser.error(f"{options.only!r} names no attack; there are: {', '.join(ALL)}")
    holds = True
    for where in options.where.split(","):
        alone = dict[tuple[str, ...], int]()
        if where not in FLOORS:
            parser.error(f"{where!r} is none of {', '.join(FLOORS)}")
        for name in names:
            if where != "loopback" and name in REAL:
                continue
            found = row(name, where, options.pairs, alone)
            holds = holds and bool(found["holds"])
            if options.json:
                print(json.dumps(found), flush=True)
            else:
                print(f"{where:10}  {name:34}  {found['with']:6} of {found['without']:6} pages  {found['left']:6.1%}  "
                      f"{'' if found['holds'] else 'TOO FEW'}", flush=True)  # fmt: skip
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
