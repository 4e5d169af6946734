"""A crawl of a wide web through real sockets: a first run, then a start again.

    python bench/wide.py [--hosts 1000000] [--pages 131] [--seconds 60] [--again 25] [--delay 1] [--connections 1000]
                         [--ttl 3600] [--latency 0.02] [--dir FOLDER] [--json] [-- OPTION...]

Prints pages a CPU-second and how they hold up, memory a host, and what the name server was asked.

The bench has a name server (UDP on loopback, an A record for each of the hosts, 20 ms an answer) and a web server of
its own, each a process whose CPU is stated apart. It crawls with `evercrawl crawl --scope any --connections 1000
--delay 1` and whatever else is given as OPTION, everything on. Each page links to ten pages of its own host and to ten
pages of others; every host has a robots.txt. `--hosts` and `--seconds` bound both: to come near a million hosts takes
some 300,000 pages.

Counted is what the servers were asked. CPU is that of the crawl's process and of all that it started, from its start
until its time is up; fifths are of that CPU, and the exchanges (pages, robots.txt, 304, 404) of the last are compared
with those of the second. A short crawl that is not counted compiles the kernels.
Memory is the resident set of the crawl's process just before its time is up.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from figures import Figure
from made_servers import Asked, MadeServers, cpu_s, memory_mib

if TYPE_CHECKING:
    from evercrawl.types import Floats, Ints

PAGES_PER_CPU_S: Final = 800.0
LATE_BY_EARLY: Final = 0.9
BYTES_A_HOST: Final = 1000.0
BASE_MIB: Final = 160.0
"""What a process takes that knows nothing."""
FIRST_PAGE_S: Final = 5.0
QUESTIONS: Final = 128
"""Which may wait for their answer at once: the default of look-ups under way, each for two types of records."""
FIFTHS: Final = 5
_EXCHANGES: Final = [Asked.PAGES, Asked.ROBOTS, Asked.UNCHANGED, Asked.OTHER]
_SAMPLE_S: Final = 0.25
WARM_S: Final = 1.0
"""Of the crawl that has the kernels compiled, if they are not."""


@dataclass
class Run:
    """One run of the crawl.

    Attributes
    ----------
    pages, robots, unchanged, other
        Answers of each kind: pages with content, robots.txt, 304, 404.
    wall_s, cpu_s
        From the start of the process until its time was up.
    web_cpu_s, names_cpu_s
        Of the servers meanwhile.
    fifths, pages_fifths
        Exchanges a CPU-second in each fifth of the CPU, and of them pages with content.
    memory_mib, peak_mib
        Resident set at the end, and the largest.
    questions, peak_per_s, start_per_s, waiting
        To the name server: how many, most in a second, most in one of the first five, and most that waited at once.
    first_page_s
        From the start of the process to the first page that it asked for; None where it asked for none.
    known, visits, errors
        As the crawl says: URLs known; visits of this run, and those of them that failed, by reason.
    """

    who: str
    pages: int = 0
    robots: int = 0
    unchanged: int = 0
    other: int = 0
    connections: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    web_cpu_s: float = 0.0
    names_cpu_s: float = 0.0
    fifths: list[float] = field(default_factory=list[float])
    pages_fifths: list[float] = field(default_factory=list[float])
    memory_mib: float = 0.0
    peak_mib: float = 0.0
    questions: int = 0
    peak_per_s: int = 0
    start_per_s: int = 0
    waiting: int = 0
    first_page_s: float | None = None
    known: int = 0
    visits: int = 0
    errors: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def pages_per_cpu_s(self) -> float:
        """Pages with content a second of the crawl's CPU."""
        return self.pages / max(self.cpu_s, 1e-9)

    @property
    def failed_look_ups(self) -> int:
        """Visits that failed because of a name."""
        return sum(count for name, count in self.errors.items() if name.startswith("dns"))


def crawled(who: str, servers: MadeServers, command: list[str], seconds: float, log: Path) -> Run:
    """Run the crawl once, for so many seconds, and watch it from outside."""
    counts = servers.counts
    before, servers_before, begun = counts.totals(), servers.cpu_s(), counts.restart()
    samples: list[tuple[float, Ints]] = [(0.0, before)]
    run = Run(who)
    with log.open("w") as out:
        process = subprocess.Popen([*command, "--seconds", str(seconds), "--json"], stdout=out, stderr=out)
        try:
            until = begun + seconds
            while process.poll() is None and time.monotonic() < until:
                time.sleep(_SAMPLE_S)
                samples.append((cpu_s(process.pid), counts.totals()))
                run.memory_mib = memory_mib(process.pid) or run.memory_mib
                run.peak_mib = memory_mib(process.pid, "VmHWM") or run.peak_mib
            run.wall_s, servers_after = time.monotonic() - begun, servers.cpu_s()
            by_second = counts.between(begun, time.monotonic())
            process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if process.returncode:
        sys.exit(f"{' '.join(command)} exited {process.returncode}:\n{log.read_text()[-3000:]}")
    asked = samples[-1][1] - before
    run.pages, run.robots, run.unchanged, run.other = asked[_EXCHANGES].tolist()
    run.connections, run.questions = int(asked[Asked.CONNECTIONS]), int(asked[Asked.NAMES])
    run.cpu_s = samples[-1][0]
    run.web_cpu_s, run.names_cpu_s = (after - was for after, was in zip(servers_after, servers_before, strict=True))
    run.fifths, run.pages_fifths = fifths(samples, _EXCHANGES), fifths(samples, [Asked.PAGES])
    run.peak_per_s, run.start_per_s = int(by_second[Asked.NAMES].max()), int(by_second[Asked.NAMES][:5].max())
    run.waiting = int(by_second[Asked.WAITING].max())
    firsts = [at for at in counts.first[[Asked.PAGES, Asked.UNCHANGED]].tolist() if at]
    run.first_page_s = round(min(firsts) - begun, 2) if firsts else None
    _said(run, log)
    return run


def late_by_early(rates: list[float]) -> float:
    """Return the last of fifths over the second."""
    return rates[-1] / rates[1] if rates[1] else float("nan")


def fifths(samples: list[tuple[float, Ints]], kinds: list[Asked]) -> list[float]:
    """Return the answers of some kinds a CPU-second in each fifth of the CPU, between the samples nearest its ends.

    >>> samples = [(float(i), np.array([i * 10, 0, 0, 0])) for i in range(11)]
    >>> fifths(samples, [Asked.PAGES, Asked.ROBOTS])
    [10.0, 10.0, 10.0, 10.0, 10.0]
    """
    cpu: Floats = np.array([at for at, _ in samples])
    done = np.array([asked[kinds].sum() for _, asked in samples])
    ends: Floats = np.arange(FIFTHS + 1) * cpu[-1] / FIFTHS
    bounds: Ints = np.minimum(np.searchsorted(cpu, ends), len(cpu) - 1)
    spent, made = np.diff(cpu[bounds]), np.diff(done[bounds])
    return [round(float(n / s), 1) if s else 0.0 for n, s in zip(made, spent, strict=True)]


def _said(run: Run, log: Path) -> None:
    """Take in what the crawl printed."""
    for line in log.read_text().splitlines():
        said: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
        if said.get("event") == "progress":
            run.known, run.visits, run.errors = said["known"], said["visits"], said["errors"]


def status(directory: Path) -> dict[str, Any]:
    """Return what `evercrawl status` says."""
    words = [sys.executable, "-m", "evercrawl", "status", "--dir", str(directory), "--json"]
    found: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found


def figures(first: Run, again: Run, hosts: int, hosts_again: int) -> list[Figure]:
    """Return what was measured beside its goals; `hosts` are those known after each run."""

    def a_host(run: Run, known: int) -> float:
        return (run.memory_mib - BASE_MIB) * (1 << 20) / max(known, 1)

    return [
        Figure("pages a CPU-second", first.pages_per_cpu_s, "", at_least=PAGES_PER_CPU_S),
        Figure("robots.txt a CPU-second, beside them", first.robots / max(first.cpu_s, 1e-9), ""),
        *(Figure(f"exchanges a CPU-second, fifth {i + 1}", rate, "") for i, rate in enumerate(first.fifths)),
        Figure("last fifth by the second", late_by_early(first.fifths), "", at_least=LATE_BY_EARLY),
        Figure("pages alone, last fifth by the second", late_by_early(first.pages_fifths), ""),
        Figure("hosts known", hosts, ""),
        Figure("URLs known", first.known, ""),
        Figure("URLs visited", first.visits, ""),
        Figure("memory of the process", first.memory_mib, "MiB"),
        Figure(f"memory a host, less {BASE_MIB:.0f} MiB", a_host(first, hosts), "B", at_most=BYTES_A_HOST),
        Figure("questions for names, most in a second", first.peak_per_s, ""),
        Figure("questions for names, most at once", first.waiting, "", at_most=QUESTIONS),
        Figure("questions for names, a page", first.questions / max(first.pages, 1), ""),
        Figure("visits that failed for a name", first.failed_look_ups, "", at_most=0),
        Figure("CPU of the web server by the crawl's", first.web_cpu_s / max(first.cpu_s, 1e-9), ""),
        Figure("CPU of the name server by the crawl's", first.names_cpu_s / max(first.cpu_s, 1e-9), ""),
        Figure("again: first page", again.first_page_s or again.wall_s, "s", at_most=FIRST_PAGE_S),
        Figure("again: pages", again.pages, "", at_least=1),
        Figure("again: pages a CPU-second", again.pages_per_cpu_s, ""),
        Figure("again: memory a host", a_host(again, hosts_again), "B", at_most=BYTES_A_HOST),
        Figure("again: questions for names, most in a second", again.peak_per_s, ""),
        Figure("again: the same in the first five seconds", again.start_per_s, ""),
        Figure("again: questions for names, most at once", again.waiting, "", at_most=QUESTIONS),
        Figure("again: visits that failed for a name", again.failed_look_ups, "", at_most=0),
    ]  # fmt: skip


def measure(options: argparse.Namespace, work: Path) -> tuple[list[Run], list[Figure]]:
    """Make both runs."""
    directory, runs, known = work / "crawl", list[Run](), list[int]()
    with MadeServers(options.hosts, options.pages, ttl_s=options.ttl, name_latency_s=options.latency) as servers:
        command = [
            sys.executable, "-m", "evercrawl", "crawl", "--scope", "any",
            "--delay", str(options.delay), "--connections", str(options.connections), "--dns", servers.dns,
            "--allow-net", "127.0.0.0/8", *options.more,
        ]  # fmt: skip
        seed, into = servers.web.url(0), ("--dir", str(directory))
        crawled("kernels", servers, [*command, seed, "--dir", str(work / "kernels")], WARM_S, work / "kernels.log")
        for who, seeds, seconds in (("first", [seed], options.seconds), ("again", [], options.again)):
            runs.append(crawled(who, servers, [*command, *seeds, *into], seconds, work / f"{who}.log"))
            known.append(int(status(directory)["hosts"]))
    return runs, figures(runs[0], runs[1], known[0], known[1])


def main() -> int:
    """Make both runs, print all figures, and return 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1_000_000, help="hosts of the web")
    parser.add_argument("--pages", type=int, default=131, help="pages of each host")
    parser.add_argument("--seconds", type=float, default=60.0, help="of the first run")
    parser.add_argument("--again", type=float, default=25.0, help="seconds of the second run")
    parser.add_argument("--delay", type=float, default=1.0, help="rest of a host, in seconds")
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--ttl", type=int, default=3600, help="how long answers about names hold, in seconds")
    parser.add_argument("--latency", type=float, default=0.02, help="how long such an answer takes, in seconds")
    parser.add_argument("--dir", type=Path, help="folder to make the crawl in, which stays; else one that does not")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument("more", nargs="*", metavar="OPTION", help="further options of evercrawl crawl, after --")
    options = parser.parse_args()
    if options.dir is not None:
        options.dir.mkdir(parents=True)
    work = options.dir or Path(tempfile.mkdtemp(prefix="wide-"))
    try:
        runs, found = measure(options, work)
    finally:
        if options.dir is None:
            shutil.rmtree(work)
    met = all(figure.ratio is None or figure.ratio >= 1 for figure in found)
    if options.json:
        rows = [{**asdict(figure), "ratio": figure.ratio} for figure in found]
        print(json.dumps({"hosts": options.hosts, "met": met, "runs": [asdict(run) for run in runs], "figures": rows}))
    else:
        print(*runs, *found, sep="\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
