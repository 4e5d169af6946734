"""Pages per CPU-second of a whole crawl of a served corpus, beside Scrapy in the same run; then a pass of 304s.

    python bench/throughput.py --corpus FOLDER [--profile mini,bench] [--scrapy PYTHON] [--runs 3]

The profiles before the last are crawled once, to see that every page is fetched exactly once; the last is measured.

`--scrapy` names a Python that has Scrapy installed (`python3 -m venv v && v/bin/pip install scrapy`); without it the
comparison is left out and said to be. CPU is user + system of the process and its children; memory the largest
resident set. A first crawl of the smallest profile compiles the kernels and is not counted.
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
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from corpus import Corpus

PAGES_PER_CPU_S = 1_300.0  # with importance, change and the price learned beside
TIMES_SCRAPY = 13.0
MEMORY_MIB = 300.0
UNCHANGED_PER_CPU_S = 15_000.0
JOURNAL_BYTES = 200


@dataclass
class Run:
    """One crawl, as the operating system and the server's log tell it."""

    who: str
    pages: int
    missing: int
    twice: int
    extra: int
    wall_s: float
    cpu_s: float
    memory_mib: float
    pages_per_cpu_s: float


def evercrawl(directory: Path, corpus: Corpus, *more: str) -> list[str]:
    """Return the command of a crawl without any delay."""
    return [
        sys.executable, "-m", "evercrawl", "crawl", *corpus.seeds, "--dir", str(directory), "--delay", "0",
        "--connections-per-host", "16", "--connections-per-ip", "16", "--include", corpus.scope,
        "--allow-net", "127.0.0.0/8", "--quiet", *more,
    ]  # fmt: skip


def measured(command: list[str], log: Path) -> tuple[float, float, float]:
    """Run a command and return wall and CPU seconds and the peak of memory in MiB."""
    begun = time.perf_counter()
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - begun
    if process.returncode:
        sys.exit(f"{' '.join(command)[:200]} … exited {process.returncode}:\n{log.read_text()[-3000:]}")
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def first_pass(who: str, command: list[str], corpus: Corpus, log: Path) -> Run:
    """Crawl everything and compare with what there is."""
    expected, mark = corpus.expected(), corpus.mark()
    wall_s, cpu_s, memory_mib = measured(command, log)
    corpus.mark()
    seen = {url: count for (url, status), count in corpus.fetched(mark).items() if status == "200"}
    return Run(
        who, len(seen), len(expected - set(seen)), sum(count > 1 for count in seen.values()), len(set(seen) - expected),
        round(wall_s, 2), round(cpu_s, 2), round(memory_mib), round(len(seen) / cpu_s),
    )  # fmt: skip


def unchanged_pass(directory: Path, corpus: Corpus, pages: int, log: Path) -> Run:
    """Visit everything again, several times over: all answers are 304."""
    mark = corpus.mark()
    command = evercrawl(directory, corpus, "--pages", str(pages), "--refresh-after", "0")
    command[4 : 4 + len(corpus.seeds)] = []
    wall_s, cpu_s, memory_mib = measured(command, log)
    corpus.mark()
    seen = corpus.fetched(mark)
    unchanged = sum(count for (_, status), count in seen.items() if status == "304")
    other = sum(count for (_, status), count in seen.items() if status == "200")
    return Run(
        "304", unchanged, 0, 0, other, round(wall_s, 2), round(cpu_s, 2), round(memory_mib), round(unchanged / cpu_s)
    )


def events(directory: Path) -> int:
    """Return how many visits the journal tells of."""
    words = [sys.executable, "-m", "evercrawl", "status", "--dir", str(directory), "--json"]
    visits: int = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["visits"]
    return visits


def median(runs: list[Run]) -> float:
    """Return the median of pages per CPU-second."""
    return statistics.median(run.pages_per_cpu_s for run in runs)


def main() -> int:
    """Run everything, print the ratios, and return 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of a served corpus")
    parser.add_argument("--profile", default="mini,bench", help="profiles of the corpus; the last is measured")
    parser.add_argument("--scrapy", metavar="PYTHON", default="", help="a Python that has Scrapy")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--passes", type=int, default=20, help="passes of 304s, so that starting up counts for little")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    folder, *others, profile = args.corpus.resolve(), *args.profile.split(",")
    corpus = Corpus(folder, profile)
    mine, peers, again, small = list[Run](), list[Run](), list[Run](), list[Run]()
    journal = list[float]()
    work = Path(tempfile.mkdtemp(prefix="throughput-"))
    try:
        measured(evercrawl(work / "warm", corpus, "--pages", "50"), work / "log")
        for other in (Corpus(folder, name) for name in others):
            directory = work / f"crawl-{other.profile}"
            small.append(first_pass(other.profile, evercrawl(directory, other, "--until-idle"), other, work / "log"))
            show(small[-1], args.json)
        for number in range(args.runs):
            directory = work / f"crawl-{number}"
            mine.append(first_pass("evercrawl", evercrawl(directory, corpus, "--until-idle"), corpus, work / "log"))
            show(mine[-1], args.json)
            journal.append(sum(file.stat().st_size for file in directory.glob("journal-*")) / events(directory))
            again.append(unchanged_pass(directory, corpus, mine[-1].pages * args.passes, work / "log"))
            show(again[-1], args.json)
            if args.scrapy and number == 0:
                peer = Path(__file__).parent / "peers" / "scrapy_peer.py"
                command = [args.scrapy, str(peer), str(corpus.seeds_file), corpus.scope]
                peers.append(first_pass("scrapy", command, corpus, work / "log"))
                show(peers[-1], args.json)
            shutil.rmtree(directory)
    finally:
        shutil.rmtree(work)
    goals = {
        "every page exactly once": all(not (run.missing or run.twice or run.extra) for run in [*small, *mine]),
        f"journal {max(journal):.0f} B an event <= {JOURNAL_BYTES}": max(journal) <= JOURNAL_BYTES,
        f"pages per CPU-second {median(mine):.0f} >= {PAGES_PER_CPU_S:.0f}": median(mine) >= PAGES_PER_CPU_S,
        f"304s per CPU-second {median(again):.0f} >= {UNCHANGED_PER_CPU_S:.0f}": median(again) >= UNCHANGED_PER_CPU_S,
        f"peak memory {max(run.memory_mib for run in mine):.0f} MiB <= {MEMORY_MIB:.0f}": max(
            run.memory_mib for run in mine
        )
        <= MEMORY_MIB,
    }
    if peers:
        ratio = median(mine) / median(peers)
        goals[f"{ratio:.1f} x Scrapy >= {TIMES_SCRAPY:.0f} x"] = ratio >= TIMES_SCRAPY
    else:
        print("Scrapy left out: name a Python that has it with --scrapy")
    for goal, met in goals.items():
        print(f"{'met   ' if met else 'MISSED'}  {goal}")
    return 0 if all(goals.values()) else 1


def show(run: Run, as_json: bool) -> None:
    """Print one run."""
    if as_json:
        print(json.dumps(asdict(run)), flush=True)
    else:
        print("  ".join(f"{name} {value}" for name, value in asdict(run).items()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
