"""Kernels of a wheel against those compiled for this processor: CPU time of the loops a crawl spends most in, by turns.

    python bench/baselines.py WHEEL [--rounds 9]

Each turn is a process of its own: first with what the wheel brought, then with what is compiled here. Work: HTML of
the pages in docs/ scanned, links paid in a table of a million URLs, and pages chosen, answered and learned from.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from figures import Figure

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).parents[1]
MOST: Final = 1.05


def scanning() -> Callable[[], object]:
    """Return what scans the project's own pages, as HTML with a link for each word."""
    from evercrawl.parse.scan import scan

    texts = [path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))]
    pages = [
        (
            "<html><body>" + " ".join(f'<p class="a"><a href="/{word}?x=1">{word}</a></p>' for word in text.split())
        ).encode()
        for text in texts
    ]
    return lambda: [scan(page, 10_000) for page in pages]


def paying() -> Callable[[], object]:
    """Return what pays links, a tenth of them to URLs that are not known yet."""
    from evercrawl.store.table.table import Table

    table, draw = Table(), np.random.default_rng(1)
    table.intern(draw.integers(1, 1 << 63, 1_000_000).astype(np.uint64))
    known, new = table.keys(), draw.integers(1, 1 << 63, 300_000).astype(np.uint64)
    keys = [np.concatenate([draw.choice(known, 2_700), new[at : at + 300]]) for at in range(0, 300_000, 300)]
    amounts = np.ones(3_000)
    return lambda: [table.pay(some, amounts) for some in keys]


def choosing() -> Callable[[], object]:
    """Return what chooses pages of a world without a network."""
    from scheduler import DAY, World

    from evercrawl import catalog, schedule
    from evercrawl.schedule import Policy

    policy: type[Any] = catalog.pick(schedule.policies, Policy, "price")
    world = World(policy(), 100_000, 1_000, 64, 1, 20 * DAY)
    return lambda: world.fetches_s(20_000)


def work() -> None:
    """Print the CPU seconds of each part, kernels being those that this process finds."""
    from evercrawl.kernels import shipped

    taken = {"shipped": float(shipped.entries_of("evercrawl.parse._scan_kernel") is not None)}
    for make in (scanning, paying, choosing):
        part = make()
        part()  # so that nothing has yet to be loaded
        begun = time.process_time()
        part()
        taken[make.__name__] = time.process_time() - begun
    print(json.dumps(taken))


def turn(tree: Path) -> dict[str, float]:
    """Have another process do the work with a tree's code."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), str(ROOT / "bench")])}
    done = subprocess.run([sys.executable, __file__, "--work"], env=env, check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("wheel", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work()
        return 0
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        zipfile.ZipFile(args.wheel or parser.error("name a wheel")).extractall(tree)
        turn(ROOT)  # where something has yet to be compiled
        pairs = [(turn(tree), turn(ROOT)) for _ in range(args.rounds)]
    if not all(brought["shipped"] and not own["shipped"] for brought, own in pairs):
        sys.exit("the wheel's kernels were not used: it has none for this processor, or its sources are not those here")
    figures = [
        Figure(f"{part}, wheel / here", statistics.median(a[part] / b[part] for a, b in pairs), "x", at_most=MOST)
        for part in ("scanning", "paying", "choosing")
    ]
    print(*figures, sep="\n")
    return int(any(figure.ratio is not None and figure.ratio < 1 for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
