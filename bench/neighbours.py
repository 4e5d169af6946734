"""What one bad host costs the others: a crawl of good hosts with it and without it, in turn.

    python bench/neighbours.py --corpus FOLDER --judge JUDGE.py [--only calendar,gzip_bomb] [--runs 2]

The good hosts are those of a served corpus, crawled without any delay, so that whatever one host takes is lost to the
others; the bad one is each of the judge's behaviours (`JUDGE.py manifest` lists them, `JUDGE.py serve --only NAME`
serves one and prints where it is). A run ends when the last good page has been sent, by the server's own log. Wall
time goes from the first good page to the last, less what the crawl waited for a processor that another program had
(/proc/PID/schedstat; to tell it, the crawl is kept in one process); CPU is that of the crawl until then. The figures
are ratios of the least that was measured with and without, because other programs on the machine only ever add.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil
from corpus import Corpus, normal
from runs import evercrawl, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOWED = 1.05
LIMIT_S = 120.0
BAD = r"^https?://(?!127\.0\.1\.)(?:[^/]*hostile\.test|localhost:|127\.|0|\[|[0-9]+[:/])"
"""URLs of bad hosts, and where they lead: addresses; what good pages link to elsewhere has names."""


@dataclass
class Cost:
    """What the good pages of one run cost."""

    wall_s: float
    cpu_s: float
    bad_visits: int


class Meter(threading.Thread):
    """Samples the CPU time of a process and its children, and how long the process waited for a processor."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.process, self.queue = psutil.Process(pid), Path(f"/proc/{pid}/schedstat")
        self.samples = [(time.time(), 0.0, 0.0)]
        self.start()

    def run(self) -> None:
        """Sample until the process is gone."""
        while True:
            try:
                tree = [self.process, *self.process.children(recursive=True)]
                spent = sum(sum(each.cpu_times()[:2]) for each in tree)
                waited = int(self.queue.read_text().split()[1]) / 1e9
            except (psutil.Error, OSError):
                return
            self.samples.append((time.time(), spent, waited))
            time.sleep(0.05)

    def at(self, instant: float) -> tuple[float, float]:
        """Return the seconds of CPU spent, and those waited for a processor, until an instant."""
        times, spent, waited = zip(*self.samples, strict=True)
        return float(np.interp(instant, times, spent)), float(np.interp(instant, times, waited))


def sent(corpus: Corpus, mark: int) -> dict[str, float]:
    """Return each good page sent whole since `mark`, with the instant when it was."""
    found = dict[str, float]()
    with corpus.log.open() as log:
        log.seek(mark)
        for line in log:
            if line.endswith("\n"):
                at, status, *_, url, _ = line.split("\t")
                if status == "200":
                    found.setdefault(normal(url), float(at))
    return found


@contextmanager
def serving(judge: Path, name: str) -> Iterator[dict[str, object]]:
    """Serve one behaviour, and yield what the judge says of it: seeds, allow_net, dns, limits."""
    words = [sys.executable, str(judge), "serve", "--only", name]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        text = ""
        for line in server.stdout:
            text += line
            if line == "}\n":
                break
        try:
            yield json.loads(text)
        finally:
            server.send_signal(signal.SIGINT)


def command(directory: Path, corpus: Corpus, bad: dict[str, object] | None) -> list[str]:
    """Return the crawl of the good hosts, and of a bad one beside them."""
    words = evercrawl(directory, corpus, "--scope", "any", "--until-idle", "--workers", "0")
    words[words.index("--include") + 1] = f"{corpus.scope}|{BAD}"
    words[words.index("--allow-net") + 1] = corpus.addresses
    if bad is not None:
        seeds, networks, limits = bad["seeds"], bad["allow_net"], bad["limits"]
        assert isinstance(seeds, list)
        assert isinstance(networks, list)
        assert isinstance(limits, dict)
        words[words.index("--dir") : words.index("--dir")] = seeds
        words += ["--dns", str(bad["dns"]), "--max-body", str(limits["max_body"])]
        words += ["--deadline", str(limits["fetch_seconds"])]
        words += [word for network in networks for word in ("--allow-net", str(network))]
    return words


def run(work: Path, corpus: Corpus, bad: dict[str, object] | None) -> Cost:
    """Crawl until the last good page was sent."""
    expected, mark, directory = corpus.expected(), corpus.mark(), work / "crawl"
    with (work / "log").open("w") as out:
        crawl = subprocess.Popen(command(directory, corpus, bad), stdout=out, stderr=subprocess.STDOUT)
    meter, began = Meter(crawl.pid), time.time()
    pages = dict[str, float]()
    while crawl.poll() is None and len(pages) < len(expected) and time.time() < began + LIMIT_S:
        time.sleep(0.5)
        pages = {url: at for url, at in sent(corpus, mark).items() if url in expected}
    crawl.terminate()
    crawl.wait(60)
    corpus.mark()
    pages = {url: at for url, at in sent(corpus, mark).items() if url in expected}
    if len(pages) < len(expected):
        sys.exit(f"{len(expected) - len(pages)} good pages were not fetched:\n{(work / 'log').read_text()[-3000:]}")
    rows = subprocess.run(
        [sys.executable, "-m", "evercrawl", "export", "pages", "--dir", str(directory), "-o", "-"],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    visited = {row["url"]: row["visited_at"] for row in map(json.loads, rows) if row["class"]}
    done_at = max(at for url, at in visited.items() if normal(url) in expected)
    theirs = sum(at < done_at and re.search(BAD, url) is not None for url, at in visited.items())
    shutil.rmtree(directory)
    first, last = min(pages.values()), max(pages.values())
    (_, waited_before), (cpu_s, waited) = meter.at(first), meter.at(last)
    return Cost(last - first - (waited - waited_before), cpu_s, theirs)


def least(costs: list[Cost], column: str) -> float:
    """Return the least of a column."""
    return min(getattr(cost, column) for cost in costs)


def main() -> int:
    """Compare for each behaviour, and return 1 when one slowed the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder of a served corpus")
    parser.add_argument("--profile", default="bench")
    parser.add_argument("--judge", type=Path, required=True, help="serves the bad hosts, a Python file")
    parser.add_argument("--only", default="", help="behaviours (default: all)")
    parser.add_argument("--runs", type=int, default=3, help="pairs of runs for each behaviour")
    args = parser.parse_args()
    corpus, judge = Corpus(args.corpus.resolve(), args.profile), args.judge.resolve()
    listed = subprocess.run([sys.executable, str(judge), "manifest"], check=True, capture_output=True, text=True)
    names = args.only.split(",") if args.only else list(json.loads(listed.stdout))
    worst = dict[str, float]()
    work = Path(tempfile.mkdtemp(prefix="neighbours-"))
    try:
        measured(evercrawl(work / "warm", corpus, "--pages", "50"), work / "log")
        for name in names:
            alone, beside = list[Cost](), list[Cost]()
            for _ in range(args.runs):
                alone.append(run(work, corpus, None))
                with serving(judge, name) as bad:
                    beside.append(run(work, corpus, bad))
            wall = least(beside, "wall_s") / least(alone, "wall_s")
            cpu = least(beside, "cpu_s") / least(alone, "cpu_s")
            worst[name] = max(wall, cpu)
            told = f"wall x {wall:.3f}, CPU x {cpu:.3f}, {beside[-1].bad_visits} of its pages visited"
            print(f"{'met   ' if worst[name] <= SLOWED else 'MISSED'}  {name}: {told}", flush=True)
    finally:
        shutil.rmtree(work)
    slowed = [name for name, ratio in worst.items() if ratio > SLOWED]
    print(f"{len(worst) - len(slowed)} of {len(worst)} bad hosts slow the others by no more than {SLOWED - 1:.0%}")
    return 1 if slowed else 0


if __name__ == "__main__":
    sys.exit(main())
