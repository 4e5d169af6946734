"""What a snapshot of a large crawl costs, how long it holds up the loop, and how long such a crawl takes to start.

    python bench/snapshots.py --hosts 1_000_000 --known 10_000_000

A crawl is made up through the store's own write path: one visit a host, which makes ten URLs known, ten of its links
lead near, two anywhere. It is saved by the crawl's own `Storing`, with the policy's lessons, while a task beats on the
loop; then again after some more visits. At last `evercrawl crawl` is started on it, with a name server of the
benchmark's own: the first name that it is asked for is the crawl's first exchange. Times are of the CPU; the wall's,
which neighbours on the machine lengthen, are printed beside. Exits 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from figures import Figure

from evercrawl.clock import SystemClock
from evercrawl.config import Config, save
from evercrawl.crawl.storing import Storing
from evercrawl.model.policy.lessons import Lessons
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.stored.remembered import Remembered
from evercrawl.parse.sites import site, site_rules
from evercrawl.schedule.abilities import Learns
from evercrawl.store.cash import transfers
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import HAS_LINKS, UNCHANGED, Discovery, Found, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NEAR, FAR = 10, 2  # links of a page to pages found about then, and anywhere
BATCH: Final = 500  # visits between two commits
BEAT_S = 0.0005
PAUSE_MS, START_S = 20, 5


class Made:
    """A crawl that is made up visit by visit: each reads the front page of a host, and makes the next host known.

    Parameters
    ----------
    folder
        The crawl's directory; made where there is none.
    per_host
        URLs of a host.
    """

    def __init__(self, folder: Path, per_host: int) -> None:
        self.partition = Partition(folder, os.urandom, now=time.time(), site=site, site_rules=site_rules())
        policy = policy_of(Config().policy, ())
        assert isinstance(policy, Learns)
        self.lessons = Lessons(policy, self.partition)
        self._draw, self._per_host = np.random.default_rng(1), per_host
        self._visits = self.partition.state.visits
        self._storing = Storing(
            self.partition, SystemClock(), _in_thread, lambda: None, disk_wait_s=60, snapshot_every_s=0.0,
            also=self.lessons.save,
        )  # fmt: skip

    def grow(self, hosts: int) -> None:
        """Visit the front pages of so many hosts."""
        state = self.partition.state
        if not state.hosts:
            self.partition.remember(Found(state.epoch, self._found(NO_SLOT)))
        while len(state.hosts) < hosts:
            for _ in range(BATCH):
                slot = (len(state.hosts) - 1) * self._per_host
                self._visit(slot, len(state.hosts) - 1, self._found(slot))
            self._commit()

    def refresh(self, visits: int) -> None:
        """Visit so many of the read pages again, drawn at random; nothing has changed."""
        read = self.partition.state.records.count
        for host in self._draw.choice(read, min(visits, read), replace=False).tolist():
            self._visit(host * self._per_host, host, None)
        self._commit()

    def _commit(self) -> None:
        self.partition.flush()
        self.partition.journal.write(self.partition.journal.seal())

    def _found(self, source: int) -> Discovery:
        """Let the table know the pages of the next host."""
        state, number, new = self.partition.state, len(self.partition.state.hosts), list[str]()
        front = f"https://www.site{number}.example/"
        urls = [front, *(f"{front}section-{i % 3}/page-{number}-{i}.html" for i in range(1, self._per_host))]
        first, key = state.table.known, state.hasher.keys(urls)
        state.table.intern(key)
        hosts = [state.host_number(f"www.site{number}.example", new)] * len(urls)
        found = Discovery(first, urls, hosts, number, new, source=source, depth=int(source != NO_SLOT))
        state.admit(found, self._now, key)
        return found

    @property
    def _now(self) -> float:
        return self.partition.state.epoch + self._visits * 0.01

    def _visit(self, slot: int, host: int, found: Discovery | None) -> None:
        state, draw = self.partition.state, self._draw
        near = np.maximum(slot - draw.integers(0, 20 * self._per_host, NEAR), 0)
        far = (draw.random(FAR) ** 3 * state.table.known).astype(np.int64)
        new = np.arange(found.first_slot, state.table.known) if found is not None else near[:0]
        targets = np.unique(np.concatenate([near, far, new])).astype(np.uint32)
        record, nothing = state.record_of(slot), cast("Any", None)
        held = state.records.read(record) if record is not None else None
        digest = held.digest if held is not None else int(draw.integers(1, 2**63))
        moved = transfers.Moved(1.0, 0.0, 1.0, 0.4 / len(targets), 0.4 / len(targets))
        event = Visit(
            slot=slot, host=host, at=self._now, outcome=Outcome.OK, status=200,
            flags=HAS_LINKS | UNCHANGED * (held is not None), visits=1 + (held.visits if held is not None else 0),
            fetch_s=0.123456, size_bytes=digest % 90_000, wire_bytes=digest % 20_000, digest=digest,
            simhash=int(draw.integers(1, 2**63)), words=digest & 0xFFFFFFFF, targets=encode_slots(targets),
            etag=f'"{digest:x}"', mime="text/html", title=f"Page {slot}", language="en", found=found,
            transfer=transfers.pack(moved),
        )  # fmt: skip
        self.partition.remember(event)
        reading: Any = SimpleNamespace(exchange=SimpleNamespace(request=SimpleNamespace(url=state.urls.get(slot))))
        self.lessons.learned(Remembered(reading, event, nothing, nothing))
        self._visits += 1

    def save(self) -> dict[str, float]:
        """Write a snapshot as a crawl does; return what it cost."""
        return asyncio.run(self._save())

    async def _save(self) -> dict[str, float]:
        before = _written()
        beat = Beat()
        wall, cpu = time.perf_counter(), time.process_time()
        await beat.during(self._storing.finish())
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        return {
            "longest step of the loop, CPU ms": beat.cpu_s * 1e3,
            "longest step of the loop, wall ms": beat.wall_s * 1e3,
            "CPU of the loop's thread s": beat.loop_s,
            "CPU s": cpu,
            "wall s": wall,
            "written MB": (_written() - before) / 1e6,
            "peak of memory MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }

    def close(self) -> None:
        """Let go."""
        self.partition.close()


class Beat:
    """Measures how long the loop is held up while something runs."""

    def __init__(self) -> None:
        self.cpu_s = self.wall_s = self.loop_s = 0.0

    async def during(self, work: Any) -> None:
        """Wait for `work`, and take the time of each turn of the loop."""
        task = asyncio.ensure_future(work)
        begun = time.thread_time()
        while not task.done():
            wall, cpu = time.perf_counter(), time.thread_time()
            await asyncio.sleep(BEAT_S)
            self.cpu_s = max(self.cpu_s, time.thread_time() - cpu)
            self.wall_s = max(self.wall_s, time.perf_counter() - wall - BEAT_S)
        self.loop_s = time.thread_time() - begun
        task.result()


def _written() -> int:
    """Return the bytes that this process has written to files."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


def started(folder: Path) -> tuple[float, float, float]:
    """Start a crawl; return the seconds of wall and of CPU to its first exchange, and its memory then, in MiB."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    server.settimeout(600)
    command = [sys.executable, "-m", "evercrawl", "crawl", "--dir", str(folder), "--quiet"]
    command += ["--dns", f"127.0.0.1:{server.getsockname()[1]}", "--delay", "0.1"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        server.recv(512)
        wall = time.perf_counter() - begun
        stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        status = Path(f"/proc/{process.pid}/status").read_text()
        memory = int(status.partition("VmHWM:")[2].split()[0]) / 1024
        return wall, (int(stat[11]) + int(stat[12])) / ticks, memory
    finally:
        process.kill()
        process.wait()
        server.close()


def measure(options: argparse.Namespace, folder: Path) -> Iterator[Figure]:
    """Yield every figure as soon as it is known."""
    made = Made(folder, options.known // options.hosts)
    fresh = made.partition.new
    made.grow(options.hosts)
    if fresh or options.whole:
        yield from figures("all", made.save())
    for _ in range(2):
        made.refresh(options.refreshes)
        yield from figures(f"after {options.refreshes:,} visits", made.save())
    made.close()
    del made
    (folder / "crawl.toml").exists() or save(Config(scope="any"), folder)
    wall, cpu, memory = started(folder)
    yield Figure("start to the first exchange, CPU", cpu, "s", at_most=START_S)
    yield Figure("start to the first exchange, wall", wall, "s")
    yield Figure("memory then", memory, "MiB")


def figures(name: str, costs: dict[str, float]) -> Iterator[Figure]:
    """Yield what a snapshot cost."""
    for cost, value in costs.items():
        what, _, unit = cost.rpartition(" ")
        yield Figure(f"{name}, {what}", value, unit, at_most=PAUSE_MS if "CPU ms" in cost else None)


def main() -> int:
    """Print all figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--known", type=int, default=10_000_000)
    parser.add_argument("--refreshes", type=int, default=10_000, help="visits between two snapshots")
    parser.add_argument("--whole", action="store_true", help="save all first, also where --dir has it")
    parser.add_argument("--dir", type=Path, help="keep the crawl there, and use it if it is there")
    options = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as name:
        folder = options.dir or Path(name)
        folder.mkdir(exist_ok=True)
        for figure in measure(options, folder):
            print(figure, flush=True)
            met = met and (figure.ratio is None or figure.ratio >= 1)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
