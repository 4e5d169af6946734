"""What Scrapy's spiders pay for evercrawl's scheduler, and what each scheduler loses when it is killed.

    python bench/scrapy_plugin.py [--pages 1200] [--pairs 5] [--kills 3]

Speed: runs by turns under Scrapy's default scheduler and under evercrawl's, in the same site on loopback; CPU time
between the opening and the end of the spider, which on a busy machine says more than wall time. Kills: the process is
killed with SIGKILL in the middle, so often, and started again until it ends; lost are the pages that were never
requested. With 0 pairs or 0 kills that part is left out. Needs the extra `scrapy`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PEERS = Path(__file__).parent / "peers"
GOAL = 0.9


class QuotesSite:
    """The site, served by a process of its own; a context manager."""

    def __init__(self, pages: int, log: Path, delay_s: float) -> None:
        self._log = log
        command = [sys.executable, str(PEERS / "linked_site.py"), str(pages), str(log), str(delay_s)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = self._process.stdout.readline().strip()

    def __enter__(self) -> QuotesSite:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def requests(self) -> Counter[str]:
        """Return how often each page was requested."""
        return Counter(line for line in self._log.read_text().split() if line.startswith("/page/"))


def spider(how: str, site: QuotesSite, folder: Path) -> subprocess.Popen[str]:
    """Start a spider."""
    command = [sys.executable, str(PEERS / "quotes_spider.py"), how, site.port, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def whole(how: str, site: QuotesSite, folder: Path) -> dict[str, float]:
    """Run a spider to its end."""
    shutil.rmtree(folder, ignore_errors=True)
    out, _ = spider(how, site, folder).communicate()
    return json.loads(out)


def speed(pages: int, pairs: int, work: Path) -> float:
    """Print the pairs and return the median of default's CPU time through ours."""
    ratios = []
    with QuotesSite(pages, work / "speed.log", 0.0) as site:
        whole("evercrawl", site, work / "warm")  # compiles what is not compiled yet
        for _ in range(pairs):
            usual, ours = (whole(how, site, work / how) for how in ("default", "evercrawl"))
            assert usual["reason"] == ours["reason"] == "finished", (usual, ours)
            ratios.append(usual["cpu_s"] / ours["cpu_s"])
            print(
                f"pages a CPU-second: default {usual['pages'] / usual['cpu_s']:,.0f}, "
                f"evercrawl {ours['pages'] / ours['cpu_s']:,.0f}, ratio {ratios[-1]:.2f}; "
                f"wall {usual['wall_s']:.1f} s, {ours['wall_s']:.1f} s",
                flush=True,
            )
    return statistics.median(ratios)


def lost(how: str, pages: int, kills: int, work: Path) -> int:
    """Kill a spider so often, let it end, and return how many pages were never requested."""
    folder, log = work / f"killed-{how}", work / f"killed-{how}.log"
    with QuotesSite(pages, log, 0.002) as site:
        for number in range(kills):
            running, aim = spider(how, site, folder), pages * (number + 1) // (kills + 1)
            until = time.monotonic() + 300
            while running.poll() is None and time.monotonic() < until:
                if log.exists() and len(site.requests()) >= aim:
                    running.send_signal(signal.SIGKILL)
                    break
                time.sleep(0.02)
            running.communicate()
        spider(how, site, folder).communicate()
        asked = site.requests()
    print(
        f"{how}: {kills} kills, {pages - len(asked):,} of {pages:,} pages never requested, "
        f"{sum(asked.values()) - len(asked):,} requested again",
        flush=True,
    )
    return pages - len(asked)


def main() -> int:
    """Measure; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1200)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--kills", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        losses = {how: lost(how, args.pages, args.kills, work) for how in ("evercrawl", "job")} if args.kills else {}
        ratio = speed(args.pages, args.pairs, work) if args.pairs else GOAL
    if args.pairs:
        print(f"speed against default, median: {ratio:.2f} (goal {GOAL})")
    if args.kills:
        print(f"lost: {losses['evercrawl']} (goal 0)")
    return int(ratio < GOAL or losses.get("evercrawl", 0) > 0)


if __name__ == "__main__":
    sys.exit(main())
