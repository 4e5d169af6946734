"""Pages per CPU-second of a whole crawl of a served corpus, beside peers in the same run; then a pass of 304s.

    python bench/throughput.py --corpus FOLDER [--profile mini,bench] [--scrapy PYTHON]
        [--crawlee PYTHON] [--bare PYTHON] [--runs 3]

The profiles before the last are crawled once, to see that every page is fetched exactly once; the last is measured
with everything on: archive, journal, importance, change and the search index. Then, on two processors and more, the
wall rates of a crawl with one worker and of one that does all in one process, both without the index.

`--scrapy` names a Python that has Scrapy, `--crawlee` one that has Crawlee and uvloop, `--bare` one that has aiohttp,
selectolax and uvloop (`python3 -m venv v && v/bin/pip install scrapy 'crawlee[parsel]' aiohttp selectolax uvloop`);
what is not named is left out and said to be. CPU is user and
system time of all processes of a crawl; memory the largest resident set of one of them, which is the owner's. A first
crawl of a few pages compiles the kernels and is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import Corpus
from runs import Run, evercrawl, first_pass, measured, offers, show, unchanged_pass

PAGES_PER_CPU_S = 1_300.0
TIMES_SCRAPY = 12.5
TIMES_BARE = 1.2
TIMES_ONE_PROCESS = 1.5
PAGES_PER_S = 1_800.0
MEMORY_MIB = 350.0
UNCHANGED_PER_CPU_S = 8_000.0
JOURNAL_BYTES = 200
PEERS = Path(__file__).parent / "peers"


class Bench:
    """All runs so far, by who made them.

    Parameters
    ----------
    corpus
        What is crawled.
    work
        Folder for crawl directories and logs.
    as_json
        How each run is printed.
    """

    def __init__(self, corpus: Corpus, work: Path, *, as_json: bool) -> None:
        self.corpus, self.work, self.as_json = corpus, work, as_json
        self.runs: dict[str, list[Run]] = {}
        self.journal_bytes: list[float] = []

    def note(self, run: Run) -> Run:
        """Print a run and remember it."""
        show(run, self.as_json)
        self.runs.setdefault(run.who, []).append(run)
        return run

    def crawl(self, who: str, *more: str, corpus: Corpus | None = None, keep: bool = False) -> Run:
        """Crawl once into a new directory; the directory is `work / who`."""
        corpus, directory = corpus or self.corpus, self.work / who
        command = evercrawl(directory, corpus, "--until-idle", *more)
        run = self.note(first_pass(who, command, corpus, self.work / "log"))
        if not keep:
            shutil.rmtree(directory)
        return run

    def whole(self, passes: int) -> None:
        """Crawl with everything on, in one process like the peers, then visit everything again `passes` times."""
        run, directory = self.crawl("evercrawl", "--workers", "0", keep=True), self.work / "evercrawl"
        self.journal_bytes.append(sum(file.stat().st_size for file in directory.glob("journal-*")) / visits(directory))
        if passes:
            self.note(unchanged_pass(directory, self.corpus, run.pages * passes, self.work / "log"))
        shutil.rmtree(directory)

    def peer(self, who: str, python: str, file: str) -> None:
        """Let a peer crawl once."""
        command = [python, str(PEERS / file), str(self.corpus.seeds_file), self.corpus.scope]
        self.note(first_pass(who, command, self.corpus, self.work / "log"))

    def median(self, who: str, column: str = "pages_per_cpu_s") -> float:
        """Return the median of a column; NaN without runs."""
        values = [getattr(run, column) for run in self.runs.get(who, [])]
        return statistics.median(values) if values else float("nan")

    def most(self, who: str, column: str) -> float:
        """Return the largest of a column."""
        return max(getattr(run, column) for run in self.runs[who])


def visits(directory: Path) -> int:
    """Return how many visits the journal tells of."""
    words = [sys.executable, "-m", "evercrawl", "status", "--dir", str(directory), "--json"]
    count: int = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["visits"]
    return count


def goals(bench: Bench, others: list[str]) -> dict[str, bool]:
    """Return each goal in words, and whether it was met; `others` were crawled once."""
    rate, unchanged = bench.median("evercrawl"), bench.median("304")
    memory, journal = bench.most("evercrawl", "memory_mib"), max(bench.journal_bytes)
    mine = [run for who in ("evercrawl", "one process", "one worker", *others) for run in bench.runs.get(who, [])]
    found = {
        "every page exactly once": all(not (run.missing or run.twice or run.extra) for run in mine),
        f"journal {journal:.0f} B an event <= {JOURNAL_BYTES}": journal <= JOURNAL_BYTES,
        f"pages per CPU-second {rate:.0f} >= {PAGES_PER_CPU_S:.0f}": rate >= PAGES_PER_CPU_S,
        f"peak memory {memory:.0f} MiB <= {MEMORY_MIB:.0f}": memory <= MEMORY_MIB,
    }
    if "304" in bench.runs:
        found[f"304s per CPU-second {unchanged:.0f} >= {UNCHANGED_PER_CPU_S:.0f}"] = unchanged >= UNCHANGED_PER_CPU_S
    for who, least in (("Scrapy", TIMES_SCRAPY), ("bare loop", TIMES_BARE)):
        if who in bench.runs:
            ratio = rate / bench.median(who)
            found[f"{ratio:.2f} x the {who} >= {least}"] = ratio >= least
    if "one worker" in bench.runs:
        ratio = bench.median("one worker", "pages_per_s") / bench.median("one process", "pages_per_s")
        found[f"{ratio:.2f} x the wall rate of one process >= {TIMES_ONE_PROCESS}"] = ratio >= TIMES_ONE_PROCESS
        wall = bench.median("one worker", "pages_per_s")
        found[f"pages per second with one worker {wall:.0f} >= {PAGES_PER_S:.0f}"] = wall >= PAGES_PER_S
    return found


def main() -> int:
    """Run everything, print the ratios, and return 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of a served corpus")
    parser.add_argument("--profile", default="mini,bench", help="profiles of the corpus; the last is measured")
    parser.add_argument("--scrapy", metavar="PYTHON", default="", help="a Python that has Scrapy")
    parser.add_argument("--crawlee", metavar="PYTHON", default="", help="a Python that has Crawlee and uvloop")
    parser.add_argument("--bare", metavar="PYTHON", default="", help="a Python that has aiohttp, selectolax and uvloop")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--passes", type=int, default=5, help="passes of 304s, so that starting up counts for little")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    folder, *others, profile = args.corpus.resolve(), *args.profile.split(",")
    workers = offers("--workers") and (os.cpu_count() or 1) > 1
    work = Path(tempfile.mkdtemp(prefix="throughput-"))
    try:
        bench = Bench(Corpus(folder, profile), work, as_json=args.json)
        measured(evercrawl(work / "warm", bench.corpus, "--pages", "50"), work / "log")
        for name in others:
            bench.crawl(name, corpus=Corpus(folder, name))
        for number in range(args.runs):
            bench.whole(args.passes)
            if args.bare:
                bench.peer("bare loop", args.bare, "aiohttp_peer.py")
            if workers:
                unindexed = ("--no-index",) if offers("--no-index") else ()
                bench.crawl("one process", "--workers", "0", *unindexed)
                bench.crawl("one worker", "--workers", "1", *unindexed)
            if args.scrapy and number == 0:
                bench.peer("Scrapy", args.scrapy, "scrapy_peer.py")
            if args.crawlee and number == 0:
                bench.peer("Crawlee", args.crawlee, "crawlee_peer.py")
    finally:
        shutil.rmtree(work)
    peers = {"Scrapy": args.scrapy, "Crawlee": args.crawlee, "the bare loop": args.bare}
    for name, there in (*peers.items(), ("workers", workers)):
        if not there:
            print(f"{name} left out")
    if args.crawlee:
        print(f"{bench.median('evercrawl') / bench.median('Crawlee'):.2f} x the Crawlee")
    found = goals(bench, others)
    for goal, met in found.items():
        print(f"{'met   ' if met else 'MISSED'}  {goal}")
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
