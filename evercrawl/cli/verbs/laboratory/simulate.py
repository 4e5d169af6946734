"""evercrawl lab simulate: run whole crawls in simulated worlds, and check every promise."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from evercrawl.cli import arguments, warm
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import many
from evercrawl.cli.show.words import span
from evercrawl.config import values
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.lab.base import Row
    from evercrawl.lab.kept_runs import KeptRuns
    from evercrawl.simulate.result import Result

_FACES: Final = frozenset({"cli", "integrations", "lab", "library", "serve"})  # decide nothing in a world
_KEPT: Final = ("hash", "lines", "virtual_s", "real_s", "lives", "visits", "requests", "revisited")
_SAID_MOST: Final = 5  # maximum number of broken promises printed per world
_MORE = (
    "A seed draws a web, its changes and faults, the settings, and how each run of the crawl ends: stopped, killed, "
    "by power loss, or because the disk is full. Checkers watch every visit. The same seed gives the same hash. "
    "Examples: `evercrawl lab simulate --seed 7`, `evercrawl lab simulate --seed 1 --worlds 50`, `evercrawl lab "
    "simulate --until-failure`, `evercrawl lab simulate --seed 1 --worlds 1000 --resume worlds.jsonl`, "
    "`evercrawl lab simulate --partitions 64 --known 1e10`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "simulate", "test the crawler in simulated worlds", run, _MORE, lab=True)
    parser.add_argument("--seed", metavar="N", help="seed of the first world (default: random, and printed)")
    parser.add_argument("--worlds", metavar="N", help="number of worlds, with consecutive seeds (default: 1)")
    parser.add_argument("--until-failure", action="store_true", help="continue until a promise is broken")
    parser.add_argument("--jobs", metavar="N", help="number of processes (default: one per core)")
    parser.add_argument(
        "--resume", metavar="FILE", help="save each world's result in FILE, and skip the worlds that FILE has"
    )
    parser.add_argument(
        "--partitions", metavar="P", help="simulate no worlds: estimate size and cost of a crawl in P partitions"
    )
    parser.add_argument("--known", metavar="N", help="with --partitions: URLs of that crawl (default: 1e9)")
    parser.add_argument("--verbose", action="store_true", help="print the log of each world, one world at a time")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate, print the result of each world, and fail if a promise was broken."""
    first = cast("int", arguments.value(values.whole(), args.seed or secrets.randbelow(1_000_000), "--seed"))
    if args.partitions is not None:
        from evercrawl.cli.verbs.laboratory import counts

        return counts.run(args, first)
    if args.known is not None:
        raise ConfigError("--known is about partitions; give --partitions P too, a power of two")
    worlds = cast("int", arguments.value(values.whole(1), args.worlds or 1, "--worlds"))
    jobs = cast("int", arguments.value(values.whole(1), args.jobs or os.cpu_count() or 1, "--jobs"))
    warm.before_reading("evercrawl.simulate.simulation")
    seeds = count(first) if args.until_failure else range(first, first + worlds)
    jobs = min(jobs, worlds) if not args.until_failure else jobs
    results: list[Result] = []
    lived = 0
    with ExitStack() as stack:
        kept = None if args.resume is None else stack.enter_context(_kept(Path(args.resume)))
        left = seeds if kept is None else _left(seeds, kept, results)
        for result in _lived(left, jobs, verbose=args.verbose):
            results.append(result)
            lived += 1
            if kept is not None and not result.broken:
                kept.keep(str(result.seed), _as_row(result))
            _tell(result, as_json=args.json)
            if result.broken and args.until_failure:
                break
    return _sum_up(results, len(results) - lived, as_json=args.json)


def _lived(seeds: Iterable[int], jobs: int, *, verbose: bool) -> Iterable[Result]:
    from evercrawl.simulate.processes import simulate_many
    from evercrawl.simulate.simulation import simulate

    if verbose:
        return (simulate(seed, watch=lambda line: print(line, file=sys.stderr)) for seed in seeds)
    return simulate_many(seeds, jobs)


def _kept(file: Path) -> KeptRuns:
    """Return the worlds that were already simulated with the running code."""
    import evercrawl
    from evercrawl.lab.kept_runs import KeptRuns, fingerprint

    parts = sorted(part.name for part in Path(evercrawl.__file__).parent.iterdir() if part.name not in _FACES)
    return KeptRuns(file, fingerprint(parts))


def _left(seeds: Iterable[int], kept: KeptRuns, there: list[Result]) -> Iterator[int]:
    """Yield the seeds without a saved result, and add the saved results of the others to `there`."""
    for seed in seeds:
        row = kept.row(str(seed))
        if row is None:
            yield seed
        else:
            there.append(_as_result(seed, row))


def _as_row(result: Result) -> Row:
    """Return the record to save of a world in which every promise held."""
    told = {name: getattr(result, name) for name in _KEPT}
    return {**told, "faults": result.faults.total()}


def _as_result(seed: int, row: Row) -> Result:
    """Return a saved world; the kinds of its faults are not saved."""
    from evercrawl.simulate.result import Result

    told: dict[str, Any] = {name: row[name] for name in _KEPT}
    return Result(seed, **told, faults=Counter(kept=int(row["faults"])))


def _tell(result: Result, *, as_json: bool) -> None:
    if as_json:
        print(json_line("world", _as_object(result)), flush=True)
        return
    print(
        f"world {result.seed}: {span(result.virtual_s)} in {span(result.real_s)} ({result.speed:,.0f} x), "
        f"{many(result.visits, 'visits')}, {many(result.lives, 'lives')}, {many(result.faults.total(), 'faults')} "
        f"({result.faults['crash']} of them fatal), hash {result.hash}",
        flush=True,
    )
    for sentence in result.broken[:_SAID_MOST]:
        print(f"  BROKEN {sentence}")
    if len(result.broken) > _SAID_MOST:
        print(f"  and {len(result.broken) - _SAID_MOST} more")
    if result.broken:
        print(f"  repeat it with: evercrawl lab simulate --seed {result.seed} --verbose", flush=True)


def _sum_up(results: list[Result], kept: int, *, as_json: bool) -> int:
    from evercrawl.simulate.surroundings.clock import SimulationError

    broken = [result.seed for result in results if result.broken]
    lived_s, took_s = sum(result.virtual_s for result in results), sum(result.real_s for result in results)
    if as_json:
        end = {"worlds": len(results), "kept": kept, "broken": broken, "virtual_s": lived_s, "real_s": took_s}
        print(json_line("end", end), flush=True)
    elif len(results) > 1:
        print(
            f"{many(len(results), 'worlds')}, {span(lived_s)} in {span(took_s)} of work "
            f"({lived_s / max(took_s, 1e-9):,.0f} x real time), {many(sum(r.visits for r in results), 'visits')}, "
            f"{many(sum(r.faults.total() for r in results), 'faults')}, {len(broken)} with a broken promise"
            + (f"; {kept:,} of the worlds were kept of earlier runs" if kept else "")
        )
    if broken:
        some = ", ".join(map(str, broken[:20]))
        raise SimulationError(
            f"a promise was broken in {many(len(broken), 'worlds')}: {some}; see it happen with: "
            f"evercrawl lab simulate --seed {broken[0]} --verbose"
        )
    return 0


def _as_object(result: Result) -> dict[str, object]:
    return {
        "event": "world",
        "seed": result.seed,
        "hash": result.hash,
        "virtual_s": result.virtual_s,
        "real_s": result.real_s,
        "speed": result.speed,
        "lives": result.lives,
        "visits": result.visits,
        "requests": result.requests,
        "ends": dict(result.ends),
        "faults": dict(result.faults),
        "broken": result.broken,
    }
