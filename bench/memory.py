"""What a resting host, a visited page and a folder with clocks take in memory, item by item, and by the system.

    python bench/memory.py [--hosts 100000] [--pages 300000] [--only wide,deep] [--json]

Two made-up crawls, each in a process of its own. *wide*: hosts of three known pages, of which one was read, of two
sites each. *deep*: pages on ten hosts, in folders of twenty, each read twice within a week, one in ten with a change;
three URLs are known for each page that was read. The events are written into a journal; then the crawl is opened from
its snapshot and put together with all default settings, as `evercrawl crawl` does it, its rows are moved to files, and
it is measured before its first exchange, when none of them is in use. Printed are the items as `evercrawl status
--memory` has them, and how much the process grew meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from figures import Figure

from evercrawl.arrays.shelf import Shelf
from evercrawl.clock import SystemClock
from evercrawl.config import Config
from evercrawl.crawl.assemble import assemble
from evercrawl.crawl.memory import Memory
from evercrawl.crawl.ports import Outside
from evercrawl.crawl.timekeeping import fill
from evercrawl.model.footprint import FOLDER, HOST, PAGE, URL, MemoryItem, resident_bytes, units
from evercrawl.parse.sites import site
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, MEMBER, UNCHANGED, Discovery, Visit
from evercrawl.store.partition import Partition
from evercrawl.store.records.evidence import RateEvidence
from evercrawl.types import NO_SLOT, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOALS: Final = {URL: 27.5, PAGE: 130.0, HOST: 200.0, FOLDER: 400.0}
"""Bytes each; of a host without the frontier's."""
BATCH: Final = 500
DAY_S: Final = 86_400.0


def wide(count: int) -> Iterator[tuple[str, list[str], list[float]]]:
    """Yield a page that is read of each host, what it makes known, and when it is read, in seconds."""
    for number in range(count):
        host = f"http://www{number % 2}.host{number // 2:07}.example"
        yield f"{host}/", [f"{host}/a", f"{host}/b"], [number * 0.01]


def deep(count: int) -> Iterator[tuple[str, list[str], list[float]]]:
    """Yield pages in folders of twenty, each read twice."""
    for number in range(count):
        host = f"http://www.site{number % 10}.example"
        folder = f"{host}/section-{number // 200:06}"
        first = number * 3.5 * DAY_S / count
        yield (
            f"{folder}/page-{number:08}.html",
            [f"{folder}/more-{number:08}-{i}.html" for i in range(2)],
            [first, first + 3.5 * DAY_S],
        )


WORLDS: Final[dict[str, Callable[[int], Iterator[tuple[str, list[str], list[float]]]]]] = {"wide": wide, "deep": deep}


def grow(folder: Path, pages: Iterator[tuple[str, list[str], list[float]]], begun_at: float) -> None:
    """Write the journal, and a snapshot."""
    folder.mkdir()
    partition = Partition(folder, os.urandom, now=begun_at, site=site)
    draw, visits = np.random.default_rng(1), list[tuple[float, int, int]]()
    for number, (url, more, times) in enumerate(pages):
        slot, host = _admit(partition, [url, *more], times[0] + begun_at)
        visits += [(at + begun_at, slot, host) for at in times]
        if number % BATCH == 0:
            _written(partition)
    seen: dict[int, Visit] = {}
    for number, (at, slot, host) in enumerate(sorted(visits)):
        seen[slot] = event = _visit(partition, slot, host, at, seen.get(slot), draw)
        partition.remember(event)
        if number % BATCH == 0:
            _written(partition)
    _written(partition)
    asyncio.run(partition.snapshot(_nothing, _inline))
    partition.close()


def _written(partition: Partition) -> None:
    partition.flush()
    partition.journal.write(partition.journal.seal())


def _admit(partition: Partition, urls: list[str], at: float) -> tuple[int, int]:
    """Make URLs of one host known; return the slot of the first, and the host."""
    from evercrawl.parse.urls import hostname
    from evercrawl.store.journal.events import Found

    state = partition.state
    fresh = state.hasher.keys(urls)
    slots, _ = state.table.intern(fresh)
    first_host, new = len(state.hosts), list[str]()
    hosts = [state.host_number(hostname(url), new) for url in urls]
    found = Discovery(int(slots[0]), urls, hosts, first_host, new, source=NO_SLOT, depth=1)
    state.admit(found, at, fresh)
    partition.remember(Found(at, found))
    return int(slots[0]), hosts[0]


def _visit(
    partition: Partition, slot: int, host: int, at: float, before: Visit | None, draw: np.random.Generator
) -> Visit:
    changed = before is not None and draw.random() < 0.1
    same = before is not None and not changed
    digest, simhash = (
        (before.digest, before.simhash) if same and before is not None else map(int, draw.integers(1, 2**63, 2))
    )
    flags = (UNCHANGED if same else HAS_LINKS) | MEMBER | (CHANGED if changed else 0)
    gap_s = at - before.at if before is not None else 0.0
    return Visit(
        slot=slot, host=host, at=at, outcome=Outcome.OK, status=304 if same else 200, flags=flags,
        visits=1 + (before.visits if before is not None else 0), changes=int(changed), interval_s=gap_s,
        size_bytes=20_000, wire_bytes=8_000, digest=digest, simhash=simhash, archive=None,
        changed_at=at - 0.3 * gap_s if changed else at - 7 * DAY_S * draw.random() if before is None else 0.0,
        words=digest & 0xFFFFFFFF, title="page", language="en",
        evidence=RateEvidence(float(changed), gap_s).pack() if before is not None else b"",
    )  # fmt: skip


def measured(folder: Path) -> tuple[tuple[MemoryItem, ...], int, int]:
    """Open a crawl, put it together, fill its queues, and let all rest that may.

    Return its items, by how much this process grew, and the bytes that lie in files.
    """
    gc.collect()
    before = resident_bytes() or 0
    partition = Partition(folder, os.urandom, now=time.time(), site=site)
    nothing: Any = None
    idle: Any = type("Network", (), {"wake": lambda: None, "idle_s": 0.0})
    config = Config(scope="any")
    outside = Outside(idle, [], SystemClock(), _inline, nothing)
    memory = Memory.beside(partition, config, None)
    crawl = assemble(config, memory, outside)
    fill(partition.state, crawl.frontier, [], [], config.refresh_after_s)
    with closing(Shelf(folder)) as shelf:
        shelf.keep(crawl.shelvables())
        while shelf.tend():
            pass
        gc.collect()
        took = (resident_bytes() or 0) - before
        items = crawl.footprint()
        resting = shelf.moved_bytes
    memory.close()
    partition.close()
    return items, took, resting


def one(name: str, count: int) -> tuple[tuple[MemoryItem, ...], int, int]:
    """Make a crawl and measure it, in this process."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        small = folder / "small"
        grow(small, WORLDS[name](50), time.time() - 9 * DAY_S)
        measured(small)  # loads and compiles all there is to
        large = folder / "large"
        maker = multiprocessing.get_context("spawn").Process(
            target=_grow, args=(str(large), name, count, time.time() - 9 * DAY_S)
        )
        maker.start()
        maker.join()
        return measured(large)


def _grow(folder: str, name: str, count: int, begun_at: float) -> None:
    grow(Path(folder), WORLDS[name](count), begun_at)


async def _nothing() -> None:
    return None


async def _inline(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--hosts", type=int, default=100_000, help="hosts of the wide crawl")
    parser.add_argument("--pages", type=int, default=300_000, help="pages of the deep crawl")
    parser.add_argument("--only", default="wide,deep", help="which of the crawls")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    options = parser.parse_args()
    report: dict[str, Any] = {}
    figures: list[Figure] = []
    for name in options.only.split(","):
        count = options.hosts if name == "wide" else options.pages
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            items, took, resting = pool.submit(one, name, count).result()
        found = [
            Figure(f"{name}: a {unit.of}, of {unit.count:,}", unit.each_bytes, "B", at_most=GOALS[unit.of])
            for unit in units(items)
            if (unit.of == HOST) == (name == "wide") or unit.of in (URL, PAGE)
        ]
        found.append(Figure(f"{name}: all that is named", sum(item.bytes for item in items) / 1e6, "MB"))
        found.append(Figure(f"{name}: by the system", took / 1e6, "MB"))
        found.append(Figure(f"{name}: beside it, in files", resting / 1e6, "MB"))
        figures += found
        report[name] = {
            "items": [[item.name, item.of, item.count, item.bytes] for item in items],
            "resident_bytes": took,
            "shelved_bytes": resting,
            "figures": [asdict(figure) for figure in found],
        }
        if not options.json:
            for item in items:
                print(f"  {name}: {item.name:<30}{item.bytes / max(item.count, 1):10.1f} B a {item.of}", flush=True)
            print(*found, sep="\n", flush=True)
    if options.json:
        print(json.dumps(report))
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
