"""Runs of a crawl of a served corpus, as the operating system and the server's log tell them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from corpus import Corpus


@dataclass
class Run:
    """One crawl.

    Attributes
    ----------
    pages, missing, twice, extra
        Different pages that the server sent whole; those it should have sent too; sent more than once; not to be sent.
    wall_s, cpu_s
        From start to end; user and system time of the process and of all that it started.
    memory_mib
        The largest resident set that any one of its processes ever had.
    """

    who: str
    pages: int
    missing: int
    twice: int
    extra: int
    wall_s: float
    cpu_s: float
    memory_mib: float
    pages_per_cpu_s: float
    pages_per_s: float


def evercrawl(directory: Path, corpus: Corpus, *more: str, seeds: bool = True) -> list[str]:
    """Return the command of a crawl without any delay; one that goes on needs no seeds."""
    return [
        sys.executable, "-m", "evercrawl", "crawl", *(corpus.seeds if seeds else ()), "--dir", str(directory),
        "--delay", "0", "--connections-per-host", "16", "--connections-per-ip", "16", "--include", corpus.scope,
        "--allow-net", "127.0.0.0/8", "--quiet", *more,
    ]  # fmt: skip


@cache
def offers(flag: str) -> bool:
    """Return whether `evercrawl crawl` has a flag."""
    words = [sys.executable, "-m", "evercrawl", "crawl", "--help"]
    return flag in subprocess.run(words, check=True, capture_output=True, text=True).stdout


def measured(command: list[str], log: Path) -> tuple[float, float, float]:
    """Run a command and return wall and CPU seconds and the peak of memory in MiB.

    Python keeps its byte code, as it does of what is installed, whatever this process was told about that.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begun = time.perf_counter()
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=kept)
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
        round(wall_s, 2), round(cpu_s, 2), round(memory_mib), round(len(seen) / cpu_s), round(len(seen) / wall_s),
    )  # fmt: skip


def unchanged_pass(directory: Path, corpus: Corpus, pages: int, log: Path) -> Run:
    """Visit everything again, several times over: all answers are 304."""
    mark = corpus.mark()
    again = ("--pages", str(pages), "--refresh-after", "0")
    wall_s, cpu_s, memory_mib = measured(evercrawl(directory, corpus, *again, seeds=False), log)
    corpus.mark()
    seen = corpus.fetched(mark)
    unchanged = sum(count for (_, status), count in seen.items() if status == "304")
    other = sum(count for (_, status), count in seen.items() if status == "200")
    return Run(
        "304", unchanged, 0, 0, other, round(wall_s, 2), round(cpu_s, 2), round(memory_mib), round(unchanged / cpu_s),
        round(unchanged / wall_s),
    )  # fmt: skip


def show(run: Run, as_json: bool) -> None:
    """Print one run."""
    if as_json:
        print(json.dumps(asdict(run)), flush=True)
    else:
        print("  ".join(f"{name} {value}" for name, value in asdict(run).items()), flush=True)
