"""What a question costs the command line: the directory opened for it, and answered by the process beside a crawl.

    python bench/questions.py [--known 1000000] [--dir DIR] [--times 5]

A made-up crawl of so many known URLs, as of `bench/restart.py`, which does not run; or the one in DIR. The process
is the one that a running crawl begins at the first question. CPU time is that of the whole command, its start included;
each is asked some times, and the least counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from figures import Figure
from restart import grown

from evercrawl.ask.remote import NAME, remote
from evercrawl.ask.status import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND: Final = (sys.executable, "-m", "evercrawl")


def cpu_s(*words: str) -> float:
    """Run a command; return the CPU time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*COMMAND, *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def asked(directory: Path, url: str, times: int) -> Iterator[tuple[str, float, float]]:
    """Yield of each question the CPU time of the command, s, and the longest it took, s."""
    for words in (["status"], ["top"], ["why", url]):
        took, walls = list[float](), list[float]()
        for _ in range(times):
            began = time.perf_counter()
            took.append(cpu_s(*words, "--dir", str(directory)))
            walls.append(time.perf_counter() - began)
        yield words[0], min(took), min(walls)


def measured(directory: Path, times: int) -> Iterator[Figure]:
    """Yield what questions cost, both ways."""
    told = subprocess.run([*COMMAND, "top", "1", "--json", "--dir", str(directory)], check=True, capture_output=True)
    url = json.loads(told.stdout.splitlines()[0])["url"]
    start = min(cpu_s("version") for _ in range(times))
    yield Figure("start of a command alone, CPU", start, "s")
    opened = {name: (cpu, wall) for name, cpu, wall in asked(directory, url, times)}
    command = [sys.executable, "-m", "evercrawl.serve.answering", str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as beside:
        began = time.perf_counter()
        while not (directory / NAME).exists() or remote(directory, Status, "status") is None:
            time.sleep(0.05)
        yield Figure("process beside, ready after", time.perf_counter() - began, "s")
        for name, cpu, wall in asked(directory, url, times):
            yield Figure(f"{name}, directory opened, CPU", opened[name][0], "s")
            yield Figure(f"{name}, answered beside, CPU", cpu, "s", at_most=opened[name][0])
            yield Figure(f"{name}, wall, opened", opened[name][1], "s")
            yield Figure(f"{name}, wall, answered beside", wall, "s")
        status = Path(f"/proc/{beside.pid}/status").read_text(encoding="ascii")
        yield Figure("memory of the process beside", int(status.split("VmRSS:")[1].split()[0]) / 1024, "MiB")
        assert beside.stdin is not None
        beside.stdin.close()


def main() -> int:
    """Print all figures; return 1 where asking the process costs more than opening."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", type=int, default=1_000_000)
    parser.add_argument("--dir", type=Path)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = given.dir or Path(name)
        if not (directory / "crawl.json").exists():
            asyncio.run(grown(directory, given.known))
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        figures = list[Figure]()
        for figure in measured(directory, given.times):
            print(figure, flush=True)
            figures.append(figure)
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
