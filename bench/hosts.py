"""What a known host costs the choice: memory by item, time of a start, and CPU a visit, from 10,000 hosts to a million.

    python bench/hosts.py

Hosts have 2 to 10 pages each, none of them read at first. Of a host that rests there is a row of its rest, its queues,
its name, and its site's account; more only of hosts that were asked lately. Visits go on until every hundredth page was
read, all found pages being of hosts at random, and then CPU is measured. Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figure

from evercrawl.arrays.hasher import Hasher
from evercrawl.arrays.names import NumberedNames
from evercrawl.schedule import Pages
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.schedule.policies.price.price import Price
from evercrawl.store.cash.accounts import SITE
from evercrawl.store.table.table import KeyMap
from evercrawl.types import Floats, Slots

DAY = 86400.0
BATCH = 64
A_HOST = 6  # pages, on average
SIZES = (10_000, 100_000, 1_000_000)


def resident() -> int:
    """Return how much memory this process has, in bytes."""
    fields = Path("/proc/self/status").read_text(encoding="ascii").split("VmRSS:")[1].split()
    return int(fields[0]) << 10


class Hosts:
    """A frontier over many hosts, their names, and a clock."""

    def __init__(self, count: int) -> None:
        draw = np.random.default_rng(1)
        of = np.repeat(np.arange(count, dtype=np.uint32), draw.integers(2, A_HOST * 2 - 1, count))
        draw.shuffle(of)
        room = len(of) * 2
        self.of = np.concatenate([of, draw.integers(0, count, room - len(of), np.uint32)])
        self.importance: Floats = draw.pareto(1.1, room) + 1
        self.visited_at = np.full(room, np.nan)
        self.known, self.draw = len(of), draw
        self.now = 100 * DAY
        before, start = resident(), time.process_time()
        named = NumberedNames(KeyMap(2 * count), Hasher(bytes(16)))
        for number in range(count):
            named.append(f"www.host-{number}.example")
        self.named_s, self.named_bytes = time.process_time() - start, resident() - before
        before, start = resident(), time.process_time()
        self.frontier = Frontier(Price(), self.columns, lambda slot: float(self.visited_at[slot]), names=named)
        self.frontier.rests_until = self.now + 1.0
        self.frontier.add_hosts(named, np.bincount(of))
        self.frontier.fill(of, np.arange(len(of), dtype=np.uint32), new=True)
        self.filled_s, self.filled_bytes = time.process_time() - start, resident() - before
        self.before = before

    def columns(self, slots: Slots) -> Pages:
        """Gather what the policy is told."""
        one, none = np.ones(len(slots)), np.zeros(len(slots))
        visited_at, importance = self.visited_at.take(slots), self.importance.take(slots)
        return Pages(slots, visited_at, importance, none, one, DAY * one, one, none, none)

    def visits_s(self, visits: int) -> float:
        """Return the CPU time of so many visits, beside what gathers columns."""
        frontier, done, spent = self.frontier, 0, 0.0
        while done < visits:
            start = time.process_time()
            chosen = frontier.choose(self.now, BATCH)
            for host, _, _ in chosen:
                if not host.addresses:
                    number = host.number
                    address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
                    frontier.locate(host, (address,), self.now)
                frontier.began(host, self.now)
            spent += time.process_time() - start
            slots = [slot for _, slot, _ in chosen]
            self.visited_at[slots] = self.now
            found = self.of[self.known : self.known + len(chosen)].tolist()
            self.now += 0.1
            start = time.process_time()
            for host, slot, _ in chosen:
                frontier.ended(host, self.now)
                frontier.add_seen(host.number, slot, visited_at=self.now)
                frontier.predicted_fresh.pop(slot, None)
            frontier.add_found(found, self.known)
            frontier.next_at()
            spent += time.process_time() - start
            self.known += len(found)
            done += len(chosen)
        return spent


def measured(count: int) -> list[Figure]:
    """Return the figures of so many hosts."""
    Hosts(1000).visits_s(1000)  # what is loaded once, whatever the size
    hosts = Hosts(count)
    pages, frontier = hosts.known, hosts.frontier
    hosts.now += 2.0
    for _ in range(pages // 100 // BATCH):
        hosts.visits_s(BATCH)
    visits = 20_000
    us = min(hosts.visits_s(visits // 5) for _ in range(5)) / (visits // 5) * 1e6
    all_bytes = resident() - hosts.before
    return [
        Figure(f"{count:,} hosts: names", hosts.named_bytes / count, "B a host"),
        Figure("  rests and queues, as they say", frontier.size_bytes() / count, "B a host"),
        Figure("  the same, as the process grew, filled", hosts.filled_bytes / count, "B a host"),
        Figure("  the same after visits", all_bytes / count, "B a host"),
        Figure("  account of a site", SITE.itemsize, "B"),
        Figure(
            "  all a host, of a site of its own", hosts.named_bytes / count + all_bytes / count + SITE.itemsize, "B"
        ),
        Figure("  naming", hosts.named_s, "s"),
        Figure(f"  filling with {pages:,} pages", hosts.filled_s, "s"),
        Figure("  CPU a visit", us, "us"),
    ]


def main() -> int:
    """Print all figures, each size in a process of its own; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--hosts", type=int, action="append", help="only so many (default: 10,000, 100,000, a million)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    o = parser.parse_args()
    sizes: list[int] = o.hosts or list(SIZES)
    if len(sizes) > 1:
        found: list[Any] = []
        for count in sizes:
            command = [sys.executable, __file__, "--hosts", str(count), "--json"]
            found += json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        figures = [Figure(**each) for each in found]
    else:
        figures = measured(sizes[0])
    if o.json:
        print(json.dumps([asdict(figure) for figure in figures]))
    else:
        print(*figures, sep="\n")
    return 0 if all(figure.ratio is None or figure.ratio >= 1 for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
