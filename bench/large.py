"""The shipped loop on a made-up web without sockets: 1 M hosts, 100 M known and 10 M read URLs; then a restart.

    python bench/large.py [--scale 1] [--hosts 1000000] [--read 10000000] [--every 10000000] [--seconds 0] [--again 10]
                          [--links 10] [--latency 0.05] [--no-index] [--dir FOLDER] [--steps 0] [--json]
                          [-- OPTION...]

Hosts and pages are arithmetic (`made_hosts.py`), and answers come by function call after `--latency` seconds. All else
is what `evercrawl crawl --scope any --workers 0 --connections 1000` does, with journal, archive, tables and search
index on a real disk (some 4 kB a page). OPTION is `name=value`, a setting. `--scale 0.01` and `--scale 0.1` make a
hundredth and a tenth of it: hosts, pages read and what lies between two lines. `--seconds` bounds the first run. With
`--links 100` a page makes up to 200 URLs known, so that 100 M are known when 600,000 are read.

A line is printed each time so many more URLs are known (`--every`): pages and exchanges a CPU-second since the line
before, less the CPU that making the answers up took, which is stated; memory; and pauses. A pause is a step of a task
of the event loop, which nothing else can interrupt: of snapshots, and of the loop itself (a step of which takes in many
answers at once), in milliseconds of CPU, with the time on the wall behind it, which on a machine that is shared says
more of others. With `--steps` the longest of each task are told at the end of the first run, and what they did, by
samples of the stack. Memory is the resident set of the one process; at the end it is told what takes how much of it, by
the items of `evercrawl status --memory`.

The restart is timed from the start of the process to the first request for a page.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from figures import Figure
from made_hosts import LINKS, MadeHosts
from made_network import MadeAnswers, MadeNames
from made_servers import memory_mib
from pauses import Pauses

from evercrawl.cli.main import SELDOM
from evercrawl.config import load
from evercrawl.crawl.session import crawl
from evercrawl.kernels import warm
from evercrawl.model.footprint import kept_footprint, units
from evercrawl.progress import Limits

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.crawl.equipment import Reached
    from evercrawl.progress import Progress

PAGES_PER_CPU_S: Final = 800.0
LATE_BY_EARLY: Final = 0.9
MEMORY_MIB: Final = 8192.0
"""At full scale."""
BASE_MIB: Final = 160.0
"""What a process takes that knows nothing."""
FIRST_PAGE_S: Final = 25.0
PAUSE_MS: Final = 20.0
WARM_S: Final = 1.0
"""Of the crawl that has the kernels compiled, if they are not."""
SNAPSHOT_EVERY_S: Final = 20
SNAPSHOTS: Final = ("_write_snapshot", "snapshot")
"""Names of the coroutines that write them."""
_HEAD: Final = (
    "      known       read    hosts  wall s  pages/CPU-s  exchanges/CPU-s  made up  memory MiB   B/known  "
    "snapshot ms (wall)   turn ms (wall)     gc ms"
)


@dataclass
class Stretch:
    """A part of the run, from one line to the next.

    Attributes
    ----------
    known, read, exchanges, hosts
        URLs known, pages with content that came, all answers, and hosts that some page had named, at its end.
    wall_s, cpu_s, made_cpu_s
        From the start of the run; the CPU of the process without what making the answers up took; and that.
    pages_per_cpu_s, exchanges_per_cpu_s
        In this part: pages with content, and all answers.
    memory_mib, peak_mib
        Resident set at its end, and the largest so far.
    snapshot_ms, snapshot_wall_ms, turn_ms, turn_wall_ms, collection_ms
        The longest steps in this part: of snapshots, of the loop, and of the collection of garbage.
    """

    known: int
    read: int
    exchanges: int
    hosts: int
    wall_s: float
    cpu_s: float
    made_cpu_s: float
    pages_per_cpu_s: float
    exchanges_per_cpu_s: float
    memory_mib: float
    peak_mib: float
    snapshot_ms: float
    snapshot_wall_ms: float
    turn_ms: float
    turn_wall_ms: float
    collection_ms: float

    def __str__(self) -> str:
        """Return a line of the table."""
        snapshot = f"{self.snapshot_ms:.1f} ({self.snapshot_wall_ms:.0f})"
        turn = f"{self.turn_ms:.1f} ({self.turn_wall_ms:.0f})"
        return (
            f"{self.known:11,} {self.read:10,} {self.hosts:8,} {self.wall_s:7.0f} {self.pages_per_cpu_s:12.0f} "
            f"{self.exchanges_per_cpu_s:16.0f} {self.made_cpu_s:7.0f}s {self.memory_mib:11.0f} "
            f"{max(self.memory_mib - BASE_MIB, 0.0) * (1 << 20) / max(self.known, 1):9.0f} {snapshot:>19} {turn:>16} "
            f"{self.collection_ms:9.1f}"
        )


class Watched:
    """One run of the loop in this process, of which a line is told now and then.

    Parameters
    ----------
    web, latency_s
        What is crawled.
    every
        URLs that become known between two lines.
    tell
        Told each line.
    steps
        Of how many of the longest steps of each task it is noted what they did.
    """

    def __init__(self, web: MadeHosts, latency_s: float, every: int, tell: Any, steps: int = 0) -> None:
        self._web, self._latency_s, self._every, self._tell = web, latency_s, every, tell
        self._network: MadeAnswers | None = None
        self._pauses = Pauses(steps)
        self._begun_at, self._next = time.monotonic(), 0
        self._before = (0.0, 0, 0)  # CPU, pages, exchanges
        self.known = 0

    @property
    def first_at(self) -> float:
        """When the first page was asked for."""
        return self._network.first_at if self._network is not None else float("inf")

    @property
    def long_steps(self) -> list[str]:
        """The longest steps, and what they did."""
        return [str(step) for step in self._pauses.samples.longest] if self._pauses.samples is not None else []

    @property
    def read(self) -> int:
        """Pages with content that came."""
        return self._network.answered[200] if self._network is not None else 0

    def run(self, directory: Path, settings: dict[str, object], seeds: list[str], limits: Limits) -> None:
        """Crawl until a limit is reached."""
        config = load(environ={}, flags=settings)
        with asyncio.Runner() as runner:
            self._pauses.watch(runner.get_loop())
            runner.run(crawl(directory, config, seeds, limits, self._watch, reach=self._reach))
        self.line()

    def _reach(self, clock: Clock) -> Reached:
        self._network = MadeAnswers(self._web, clock, self._latency_s)
        return self._network, [MadeNames(self._web)]

    def _watch(self, progress: Progress) -> None:
        self.known = max(progress.known, self.known)
        if self.known >= self._next:
            if self._next:
                self.line()
            self._next = self.known - self.known % self._every + self._every

    def line(self) -> None:
        """Tell how it went since the last line."""
        network, steps = self._network, self._pauses.longest
        if network is None:
            return
        cpu, pages, exchanges = time.process_time() - network.cpu_s, self.read, network.answered.total()
        spent = max(cpu - self._before[0], 1e-9)
        snapshots, turns = steps(*SNAPSHOTS), steps("crawl")
        stretch = Stretch(
            known=self.known,
            read=pages,
            exchanges=exchanges,
            hosts=network.hosts_named,
            wall_s=round(time.monotonic() - self._begun_at, 1),
            cpu_s=round(cpu, 2),
            made_cpu_s=round(network.cpu_s, 2),
            pages_per_cpu_s=round((pages - self._before[1]) / spent, 1),
            exchanges_per_cpu_s=round((exchanges - self._before[2]) / spent, 1),
            memory_mib=memory_mib(os.getpid()),
            peak_mib=memory_mib(os.getpid(), "VmHWM"),
            snapshot_ms=round(snapshots.longest_cpu_s * 1e3, 2),
            snapshot_wall_ms=round(snapshots.longest_s * 1e3, 2),
            turn_ms=round(turns.longest_cpu_s * 1e3, 2),
            turn_wall_ms=round(turns.longest_s * 1e3, 2),
            collection_ms=round(self._pauses.collections.longest_cpu_s * 1e3, 2),
        )
        self._before = (cpu, pages, exchanges)
        self._pauses.forget()
        self._tell(stretch)


def part(options: argparse.Namespace) -> None:
    """Be the process that crawls: print each line as JSON, and at the end when the first page was asked for."""
    gc.set_threshold(*SELDOM)
    web = MadeHosts(options.hosts, network=11, links=options.links)
    settings: dict[str, object] = {
        "scope": "any",
        "workers": "0",
        "connections": 1000,
        "snapshot_every_s": SNAPSHOT_EVERY_S,
        "index": options.index,
    }
    settings |= dict(pair.split("=", 1) for pair in options.more)

    def tell(stretch: Stretch) -> None:
        print(json.dumps(asdict(stretch)), flush=True)

    watched = Watched(web, options.latency, options.every, tell, options.steps)
    bound = {"kernels": WARM_S, "first": options.seconds, "again": options.again}[options.part]
    limits = Limits(options.read if options.part == "first" else None, bound or None)
    folder = options.dir / ("kernels" if options.part == "kernels" else "crawl")
    watched.run(folder, settings, [] if options.part == "again" else [web.url(0)], limits)
    if options.part == "kernels":
        warm()
    first_s = watched.first_at - options.begun
    if options.part == "first" and watched.long_steps:
        print("\n".join(("the longest steps:", *watched.long_steps)), file=sys.stderr, flush=True)
    print(json.dumps({"first_page_s": first_s if first_s < 1e9 else None}), flush=True)


def process(options: argparse.Namespace, which: str) -> tuple[list[Stretch], float | None]:
    """Have another process crawl; return its lines, and when it first asked for a page, counted from its start."""
    given = [
        *("--hosts", str(options.hosts), "--read", str(options.read), "--every", str(options.every)),
        *("--seconds", str(options.seconds), "--again", str(options.again), "--latency", str(options.latency)),
        *("--links", str(options.links), "--steps", str(options.steps)),
        *("--dir", str(options.dir), "--index" if options.index else "--no-index"),
    ]
    words = [sys.executable, __file__, "--part", which, "--begun", str(time.monotonic()), *given, "--", *options.more]
    stretches, first_page_s = list[Stretch](), None
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            said = json.loads(line)
            if "first_page_s" in said:
                first_page_s = said["first_page_s"]
            else:
                stretches.append(Stretch(**said))
                if not options.json and which != "kernels":
                    print(stretches[-1], flush=True)
    if running.returncode:
        sys.exit(running.returncode)
    return stretches, first_page_s


def figures(first: list[Stretch], again: list[Stretch], first_page_s: float | None, scale: float) -> list[Figure]:
    """Return what was measured beside its goals."""
    end = first[-1]
    spent = np.array([0.0, *(s.cpu_s for s in first)])
    ends = np.arange(6) * end.cpu_s / 5
    done = np.interp(ends, spent, [0, *(s.exchanges for s in first)])
    read = np.diff(np.interp(ends, spent, [0, *(s.read for s in first)]))
    fifths: list[float] = (np.diff(done) * 5 / end.cpu_s).tolist()
    pauses = (
        [
            Figure("longest step of a snapshot", max(s.snapshot_ms for s in first), "ms", at_most=PAUSE_MS),
            Figure("the same on the wall", max(s.snapshot_wall_ms for s in first), "ms"),
        ]
        if any(s.snapshot_ms for s in first)
        else []
    )
    return [
        Figure("pages a CPU-second", end.read / max(end.cpu_s, 1e-9), "", at_least=PAGES_PER_CPU_S),
        *(Figure(f"exchanges a CPU-second, fifth {i + 1}", rate, "") for i, rate in enumerate(fifths)),
        Figure("last fifth by the second", fifths[-1] / max(fifths[1], 1.0), "", at_least=LATE_BY_EARLY),
        Figure("pages alone, last fifth by the second", float(read[-1] / max(read[1], 1.0)), ""),
        Figure("memory at the end", end.memory_mib, "MiB", at_most=BASE_MIB + (MEMORY_MIB - BASE_MIB) * scale),
        Figure("the most", max(s.peak_mib for s in first), "MiB"),
        *pauses,
        Figure("longest step of the loop", max(s.turn_ms for s in first), "ms"),
        Figure("longest collection of garbage", max(s.collection_ms for s in first), "ms", at_most=PAUSE_MS),
        Figure("again: first page", again[-1].wall_s if first_page_s is None else first_page_s, "s",
               at_most=FIRST_PAGE_S),
        Figure("again: CPU", again[-1].cpu_s, "s"),
        Figure("again: pages", again[-1].read, "", at_least=1),
        Figure("again: memory", again[-1].memory_mib, "MiB"),
    ]  # fmt: skip


def parsed() -> argparse.Namespace:
    """Return the options, scaled."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="part of hosts, pages and lines' distance")
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--read", type=int, default=10_000_000, help="visits of the first run")
    parser.add_argument("--every", type=int, default=10_000_000, help="URLs known between two lines")
    parser.add_argument("--seconds", type=float, default=0.0, help="bound on the first run; 0 = none")
    parser.add_argument("--again", type=float, default=10.0, help="seconds of the run after the restart")
    parser.add_argument("--links", type=int, default=LINKS, help="of a page to its own host, and as many to others")
    parser.add_argument("--latency", type=float, default=0.05, help="how long an answer takes, in seconds")
    parser.add_argument("--index", action=argparse.BooleanOptionalAction, default=True, help="the search index")
    parser.add_argument("--dir", type=Path, help="folder to make the crawl in, which stays; else one that does not")
    parser.add_argument("--steps", type=int, default=0, help="longest steps that are told of each task, on stderr")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument("--part", choices=("kernels", "first", "again"), help=argparse.SUPPRESS)
    parser.add_argument("--begun", type=float, help=argparse.SUPPRESS)
    parser.add_argument("more", nargs="*", metavar="OPTION", help="settings as name=value, after --")
    options = parser.parse_args()
    if not options.part:
        for name in ("hosts", "read", "every"):
            setattr(options, name, max(round(getattr(options, name) * options.scale), 1))
    return options


def main() -> int:
    """Make both runs, print all figures, and return 1 when a goal was missed."""
    options = parsed()
    if options.part:
        part(options)
        return 0
    kept = options.dir is not None
    options.dir = options.dir or Path(tempfile.mkdtemp(prefix="large-"))
    options.dir.mkdir(parents=True, exist_ok=True)
    try:
        if not options.json:
            print(_HEAD)
        process(options, "kernels")
        first, _ = process(options, "first")
        footprint = kept_footprint(options.dir / "crawl")
        again, first_page_s = process(options, "again")
    finally:
        if not kept:
            shutil.rmtree(options.dir)
    found = figures(first, again, first_page_s, options.scale)
    items = footprint.items if footprint is not None else ()
    found += [Figure(f"memory a {unit.of}, of {unit.count:,}", unit.each_bytes, "B") for unit in units(items)]
    met = all(figure.ratio is None or figure.ratio >= 1 for figure in found)
    if options.json:
        rows = [{**asdict(figure), "ratio": figure.ratio} for figure in found]
        lines = [asdict(stretch) for stretch in first]
        named = [{"name": item.name, "of": item.of, "count": item.count, "bytes": item.bytes} for item in items]
        print(json.dumps({"hosts": options.hosts, "met": met, "lines": lines, "memory": named, "figures": rows}))
    else:
        for item in sorted(items, key=lambda item: -item.bytes):
            each = item.bytes / max(item.count, 1)
            print(f"{item.name:<32}{item.bytes / (1 << 20):10.1f} MiB{each:12.1f} B a {item.of}, of {item.count:,}")
        print(*found, sep="\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
