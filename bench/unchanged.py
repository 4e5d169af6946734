"""Whether the crawl still does what it did: hashes of what it does, compared with those that are kept.

    python bench/unchanged.py [--only worlds,golden,demo,questions] [--quick] [--keep FOLDER] [--write]

Kept in `bench/kept/` are fifty worlds as written descriptions, and in `hashes.json` a hash of each thing below.
Prints every name whose hash is another one, and returns 1 then. To see what differs, run it with `--keep` in both
trees and compare the folders: they hold what was hashed.

worlds      each world's log, its journal, and all files on its disk at the end
golden      the values that each golden test compares
demo        journal and requests of the demonstration's worlds on a virtual clock
questions   every question with --json, asked of three crawls that are made anew, while time stands still

No hash depends on the time of day, on a folder, on Python's hash seed or on the name of a module. Kernels may round
otherwise on another kind of processor; `hashes.json` names the one it was measured on. Elsewhere run `--write` on the
older commit first, and compare on the same machine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import re
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kept.crawls import FOLDER, worlds
from kept.golden import golden
from kept.notes import Notes, as_json
from kept.questions import questions

from evercrawl.kernels import warm
from evercrawl.simulate.living.comparison import BenchWorld
from evercrawl.simulate.living.lives import relive
from evercrawl.simulate.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    Job = tuple[Callable[..., None], tuple[Any, ...]]

KEPT: Final = FOLDER / "hashes.json"
AT_ONCE: Final = 2
QUICK: Final = slice(5, 50, 6)
"""Which of the worlds."""


def a_world(notes: Notes, number: int) -> None:
    """Live one of the worlds."""
    world, lines = worlds()[number], list[str]()
    name = f"worlds/{number + 1:02} {world.lives[0].config.policy}"

    def look(around: Any) -> None:
        disk = around.disk.reader()
        notes.add_disk(f"{name} journal", disk, "journal-")
        notes.add_disk(f"{name} files", disk)

    simulate(world.seed, world=world, watch=lines.append, look=look)
    notes.add(f"{name} log", "\n".join([*lines, ""]).encode("utf-8", "surrogatepass"))


def a_demo(notes: Notes, seed: int, policy: str, scheme: str, cycles: int) -> None:
    """Crawl a world of the demonstration on a virtual clock, as bench/demo.py does."""
    world = BenchWorld(seed, 2000, 60.0, 2000 / 60.0, cycles * 60.0)
    name = f"demo/seed {seed} {policy}"
    web = world.web(endless=policy != "cycle")

    def look(partition: Any) -> None:
        notes.add_disk(f"{name} journal", partition.disk, "journal-")

    life = relive(web, world.fetches_per_s, world.seconds, policy=policy, scheme=scheme, look=look)
    asked = {page: times.tolist() for page, times in sorted(life.asked.items())}
    notes.add(f"{name} requests", as_json([asked, sorted(life.spent.items()), life.read]))


PARTS: Final[dict[str, list[Job]]] = {
    "questions": [(questions, (crawl,)) for crawl in ("living", "drawn", "farms")],
    "demo": [
        (a_demo, (0, "price", "push", 4)),
        (a_demo, (1, "price", "aopic", 4)),
        (a_demo, (0, "cycle", "uniform", 3)),
    ],
    "golden": [(golden, ())],
    "worlds": [(a_world, (number,)) for number in range(50)],
}


def done(part: Callable[..., None], given: tuple[Any, ...], keep: Path | None) -> dict[str, str]:
    """Return the hashes of one job."""
    notes = Notes(keep)
    part(notes, *given)
    return notes.hashes


def measured(jobs: list[Job], keep: Path | None) -> dict[str, str]:
    """Return the hashes of all jobs, some of which are done at once."""
    importlib.import_module("evercrawl.lab.backtest.runs")  # which questions import while time stands still
    warm()
    found: dict[str, str] = {}
    with ProcessPoolExecutor(AT_ONCE, mp_context=multiprocessing.get_context("spawn")) as pool:
        coming = [pool.submit(done, part, given, keep) for part, given in jobs]
        for number, future in enumerate(as_completed(coming), 1):
            found |= future.result()
            print(f"{number} of {len(jobs)}", end="\r", file=sys.stderr, flush=True)
    return found


def processor() -> str:
    """Return which processor this is."""
    about = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.*)$", about.read_text(), re.M) if about.exists() else []
    return names[0] if names else "unknown"


def main() -> int:
    """Compare with what is kept, or keep what is; return 1 where something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", metavar="PART,PART", default=",".join(PARTS), help="default: all")
    parser.add_argument("--quick", action="store_true", help="some of the worlds, and nothing else")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="keep what was hashed in FOLDER")
    parser.add_argument("--write", action="store_true", help="keep these hashes from now on")
    given = parser.parse_args()
    parts = ["worlds"] if given.quick else given.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"{', '.join(sorted(unknown))}: choose among {', '.join(PARTS)}")
    jobs = [job for part in parts for job in (PARTS[part] if not given.quick else PARTS[part][QUICK])]
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"processor": processor(), "hashes": {}}
    found = measured(jobs, given.keep)
    asked = {name: one for name, one in kept["hashes"].items() if name.partition("/")[0] in parts}
    if given.write:
        others = {name: one for name, one in kept["hashes"].items() if given.quick or name not in asked}
        whole = {"processor": processor(), "hashes": others | found}
        KEPT.write_text(json.dumps(whole, indent=0, sort_keys=True) + "\n")
        return 0
    if given.quick:
        asked = {name: one for name, one in asked.items() if name in found}
    same = told(found, asked)
    if not same and kept["processor"] != processor():
        print(f"the hashes were made on another processor, {kept['processor']}; kernels may round otherwise here")
    return 0 if same else 1


def told(found: dict[str, str], asked: dict[str, str]) -> bool:
    """Print what differs from what was asked for; return whether nothing does."""
    troubles = [
        *(f"{name}: differs" for name in asked if name in found and asked[name] != found[name]),
        *(f"{name}: is gone" for name in asked if name not in found),
        *(f"{name}: is new" for name in sorted(found) if name not in asked),
    ]
    print(*troubles, f"{len(asked)} are kept, {len(troubles)} differ", sep="\n")
    return not troubles


if __name__ == "__main__":
    sys.exit(main())
