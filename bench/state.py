"""What knowing a URL costs: link updates a second, memory, pauses, the size of URL text; each against its goal.

    python bench/state.py --known 50_000_000

Runs on one core. Rates and pauses are in CPU time, so that neighbours on the machine do not count; the wall's longest
pause is printed beside. Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import mmap
import random
import statistics
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import Figure
from restart import restarting
from urls import web

from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.table.table import Table
from evercrawl.store.table.urllog import DICTIONARY, INDEX, LOG, UrlLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evercrawl.types import Floats, Ints, Keys

PAGES, LINKS, NEW = 64, 90, 10  # pages a batch, links a page, and of these unknown ones while a crawl grows
BATCHES, ROUNDS = 60, 7


def keys_of(slots: Ints) -> Keys:
    """Return well spread keys, a different one for each number (the finalizer of splitmix64), so none need be kept."""
    keys = slots.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def resident_bytes() -> int:
    """Return the memory that this process occupies."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def warm_up() -> None:
    """Have every kernel compiled."""
    table, keys = Table(segment_capacity=1000), keys_of(np.arange(9))
    table.intern(keys)
    table.pay(keys, np.ones(9))
    table.pay_slots(table.find(keys), np.ones(9))
    Table(segment_capacity=1000).rebuild(table.keys())


def growing(known: int) -> tuple[Table, list[Figure]]:
    """Fill a table as a crawl does, a few hundred URLs at a time, and look for the longest pause."""
    before, batch = resident_bytes(), PAGES * NEW
    table, cpu_s, wall_s, total_s = Table(), 0.0, 0.0, 0.0
    for first in range(0, known, batch):
        keys = keys_of(np.arange(first, min(first + batch, known)))
        wall, cpu = time.perf_counter(), time.thread_time()
        table.intern(keys)
        took = time.thread_time() - cpu
        cpu_s, wall_s, total_s = max(cpu_s, took), max(wall_s, time.perf_counter() - wall), total_s + took
    table.cash[:known] = 1 / known
    return table, [
        Figure("memory a known URL", (resident_bytes() - before) / known, "B", at_most=30),
        Figure("longest growth pause", cpu_s * 1e3, "ms", at_most=20),
        Figure("longest growth pause on the wall", wall_s * 1e3, "ms"),
        Figure("a new URL", total_s / known * 1e9, "ns"),
    ]


def paying(table: Table, name: str, draw: Callable[[int], Ints]) -> Iterator[Figure]:
    """Pay batches of links; `draw` chooses n pages."""
    batches = [keys_of(draw(PAGES * LINKS)) for _ in range(BATCHES)]
    amounts: Floats = np.full(PAGES * LINKS, 1 / table.known / LINKS)
    rates: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for keys in batches:
            table.pay(keys, amounts)
        rates.append(BATCHES * PAGES * LINKS / (time.process_time() - start) / 1e6)
    yield Figure(f"link updates, {name}", statistics.median(rates), "M/s", at_least=5)


def updates(table: Table) -> Iterator[Figure]:
    """Pay pages chosen as the web's links choose, and evenly, which no cache helps."""
    rng, known = np.random.default_rng(1), table.known
    yield from paying(table, "targets by Zipf's law", lambda n: (known ** rng.random(n)).astype(np.int64) % known)
    yield from paying(table, "targets at random", lambda n: rng.integers(0, known, n))


def rebuilding(table: Table) -> Iterator[Figure]:
    """Load the table as a restart does."""
    keys, again = table.keys(), Table()
    start = time.process_time()
    again.rebuild(keys)
    yield Figure("table rebuilt, for 10 M URLs", (time.process_time() - start) / table.known * 1e7, "s")


def url_text(count: int, file: Path | None) -> Iterator[Figure]:
    """Write and read back the text of `count` URLs."""
    urls = file.read_text().splitlines()[:count] if file else list(itertools.islice(web(), count))
    count = len(urls)
    with tempfile.TemporaryDirectory() as folder:
        disk = RealDisk(Path(folder))
        log, before, start = UrlLog.open(disk, 0, []), 0, time.process_time()
        for first in range(0, count, PAGES * NEW):
            log.append(urls[first : first + PAGES * NEW])
            before = before or resident_bytes() * (first > count // 2)
        log.sync()
        yield Figure("URL text written", (time.process_time() - start) / count * 1e6, "us a URL")
        yield Figure("URL text in memory", (resident_bytes() - before) / (count / 2), "B a URL")
        size = sum(disk.size(name) for name in (LOG, INDEX, DICTIONARY))
        yield Figure("URL text on the disk", size / count, "B a URL", at_most=21)
        yield Figure("URL text before", sum(map(len, urls)) / count, "B a URL")
        slots = random.Random(2).choices(range(count), k=20_000)
        start = time.process_time()
        assert [log.get(slot) for slot in slots] == [urls[slot] for slot in slots]
        yield Figure("URL text read at random", (time.process_time() - start) / len(slots) * 1e6, "us a URL")
        start = time.process_time()
        assert log.get_many(range(count)) == urls
        yield Figure("URL text read in order", (time.process_time() - start) / count * 1e6, "us a URL")


def measure(options: argparse.Namespace) -> Iterator[Figure]:
    """Yield every figure as soon as it is known."""
    if options.only_restart:
        yield from restarting(options.restart)
        return
    warm_up()
    table, figures = growing(options.known)
    yield from figures
    yield from updates(table)
    yield from rebuilding(table)
    del table
    yield from url_text(options.text, options.urls)
    yield from restarting(options.restart)


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--known", type=int, default=50_000_000, help="URLs in the table (default 50 million)")
    parser.add_argument("--only-restart", action="store_true", help="leave the table and the URL log out")
    parser.add_argument("--text", type=int, default=1_000_000, help="URLs in the URL log (default 1 million)")
    parser.add_argument("--restart", type=int, default=10_000_000, help="URLs of the crawl that is restarted")
    parser.add_argument("--urls", type=Path, help="file of URLs for the URL log instead of made-up ones")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the table, half of the text")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    options = parser.parse_args()
    if options.quick:
        options.known, options.text, options.restart = options.known // 20, options.text // 2, options.restart // 20
    figures: list[Figure] = []
    for figure in measure(options):
        figures.append(figure)
        if not options.json:
            print(figure, flush=True)
    met = all(figure.ratio is None or figure.ratio >= 1 for figure in figures)
    if options.json:
        rows: list[dict[str, Any]] = [{**asdict(figure), "ratio": figure.ratio} for figure in figures]
        print(json.dumps({"known": options.known, "met": met, "figures": rows}))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
