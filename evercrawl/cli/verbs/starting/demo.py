"""evercrawl demo: crawl a small changing web served on this machine, and report what was learned about it."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from evercrawl.cli import arguments, running, warm, where
from evercrawl.cli.served import add_serve, beside
from evercrawl.cli.show import live
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import many
from evercrawl.config import Config, values
from evercrawl.progress import Limits, Progress, Summary

if TYPE_CHECKING:
    import asyncio

    from evercrawl.cli.show.lines import Watcher
    from evercrawl.simulate.living.comparison import BenchWorld, PolicyComparison
    from evercrawl.simulate.living.learned import Learned
    from evercrawl.simulate.living.lives import LivingRequests

HOSTS: Final = 20
LEAST_PAGES: Final = 6 * HOSTS
PAGES: Final = 2000
CYCLES: Final = 10
"""Number of rounds of a round-robin in the time of the demonstration."""
CYCLES_ELSEWHERE: Final = 6
"""The same for the worlds on a virtual clock: enough to converge, within two minutes in all."""
MOST_PER_S: Final = 400.0  # fetches, unless more pages are requested: small machines can serve and crawl this many
DELAY_S: Final = 0.002  # delay between requests to a host, which is on this machine and exists for the demonstration
_MORE = (
    "It serves twenty hosts on loopback addresses, whose pages differ in importance and rate of change, and crawls "
    "them. Then it compares the importance and rates that it learned with the true ones, and the freshness of its "
    "copies with that of a round-robin with as many fetches, in this world and in others on a virtual clock. "
    "Examples: `evercrawl demo`, `evercrawl demo --seed 7 --worlds 1`, `evercrawl demo --serve --seconds 10m "
    "--worlds 1`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "demo", "crawl a small simulated web on this machine", run, _MORE)
    parser.add_argument("--dir", metavar="DIR", help="crawl directory (default: a new one in the temporary folder)")
    parser.add_argument("--seconds", metavar="TIME", default="60s", help="how long to crawl (default: 60s)")
    parser.add_argument("--pages", metavar="N", help="pages with content (default: 2000, fewer in a shorter time)")
    parser.add_argument(
        "--worlds", metavar="N", default="5", help="number of worlds compared, this one included (default: 5)"
    )
    parser.add_argument("--seed", metavar="N", help="seed of the first world; the others follow (default: random)")
    add_serve(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Serve, crawl, compare, and report what was learned."""
    running.obey_from_now()
    seconds = cast("float", arguments.value(values.duration(0.001), args.seconds, "--seconds"))
    usual = int(min(PAGES, max(LEAST_PAGES, MOST_PER_S * seconds / CYCLES)))
    pages = cast("int", arguments.value(values.whole(LEAST_PAGES), args.pages or usual, "--pages"))
    count = cast("int", arguments.value(values.whole(1), args.worlds, "--worlds"))
    seed = cast("int", arguments.value(values.whole(), args.seed or secrets.randbelow(10_000), "--seed"))
    if args.dir is None:
        args.dir = tempfile.mkdtemp(prefix="evercrawl-demo-")
    directory = where.directory(args)
    with live.watcher(as_json=args.json, quiet=False) as shown, beside(args, directory, shown) as watch:
        warm.up(watch)
        _compare(directory, _worlds(seed, count, pages, seconds), watch, as_json=args.json)
    return 0


def _worlds(seed: int, count: int, pages: int, seconds: float) -> list[BenchWorld]:
    from evercrawl.simulate.living.comparison import BenchWorld

    cycle_s = seconds / CYCLES
    first = BenchWorld(seed, pages, cycle_s, pages / cycle_s, seconds)
    return [first, *(first._replace(seed=seed + i, seconds=CYCLES_ELSEWHERE * cycle_s) for i in range(1, count))]


def _compare(directory: Path, worlds: list[BenchWorld], watch: Watcher, *, as_json: bool) -> None:
    from evercrawl.simulate.living.comparison import beside_round_robin
    from evercrawl.simulate.living.worlds import Worlds

    processors = os.cpu_count() or 1
    first = worlds[0]
    watch(_said(f"{many(first.pages, 'pages')} on {HOSTS} hosts, world {first.seed}; the crawl is in {directory}"))
    with Worlds(worlds[1:]) as others:
        others.begin(processors - 1)
        lives: list[LivingRequests] = []
        summary = running.until_stopped(lambda stop: _live(directory, first, watch, stop, lives))
        watch.finish(summary)
        if summary is None or summary.reason == "stopped":
            return
        found = _learned(directory, lives[0])
        others.begin(processors)
        comparisons = [beside_round_robin(lives[0], first)]
        for comparison in others.results(processors):
            comparisons.append(comparison)
            _progress(len(comparisons), len(worlds), as_json=as_json)
    _tell(directory, found, sorted(comparisons, key=lambda one: one.seed), first.seed, as_json=as_json)


def _said(message: str) -> Progress:
    return Progress(at=time.time(), message=message)


async def _live(
    directory: Path, world: BenchWorld, watch: Watcher, stop: asyncio.Event, lives: list[LivingRequests]
) -> Summary:
    """Crawl the world in real time; results are added to `lives`."""
    from evercrawl.crawl import session as engine
    from evercrawl.simulate.living.lives import life
    from evercrawl.simulate.living.web import LivingWeb
    from evercrawl.simulate.surroundings.loopback import NETWORK, LivingLoopback

    config = Config(
        rate_per_s=world.fetches_per_s, delay_s=DELAY_S, refresh_after_s=0.0, allow_net=(NETWORK,), policy="price",
        importance="push",
    )  # fmt: skip

    def make(origins: tuple[str, ...]) -> LivingWeb:
        return LivingWeb(world.seed, pages=world.pages, cycle_s=world.cycle_s, began_at=time.time(), origins=origins)

    async with LivingLoopback(make, HOSTS) as server:
        began_at = time.time()
        limits = Limits(seconds=world.seconds)
        summary = await engine.crawl(directory, config, server.seeds, limits, live.heard(watch, stop), stop)
    log = ((served.at, served.origin + served.path, served.status) for served in server.log)
    lives.append(life(server.living, log, began_at, began_at + summary.elapsed_s))
    return summary


def _learned(directory: Path, lived: LivingRequests) -> Learned:
    """Read what was learned from the crawl directory, and compare it with the truth."""
    from evercrawl.model.stored.reader import opened
    from evercrawl.simulate.living.beliefs import beliefs, importance_errors
    from evercrawl.simulate.living.learned import learned

    web = lived.web
    with contextlib.closing(opened(directory)) as partition:
        believed = beliefs(partition, web.urls)
    return learned(web, believed, float(importance_errors(web, believed, lived.read).mean()))


def _progress(done: int, count: int, *, as_json: bool) -> None:
    if as_json:
        print(json_line("world", {"done": done, "worlds": count}), flush=True)
    elif sys.stdout.isatty():
        print(f"\rworld {done} of {count}" + (" \n" if done == count else ""), end="", flush=True)


def _tell(directory: Path, found: Learned, comparisons: list[PolicyComparison], real: int, *, as_json: bool) -> None:
    from evercrawl.cli.show.demo_report import as_json as as_object
    from evercrawl.cli.show.demo_report import told

    archives = sorted(str(path) for path in directory.rglob("*.warc.gz"))
    if as_json:
        crawl = {"dir": str(directory), "archives": archives}
        print(json_line("demo", crawl | as_object(found, comparisons)))
        return
    print("", *told(found, comparisons, real), "", sep="\n")
    print(f"To explore the crawl: evercrawl status --dir {directory}")
