"""How long the table of URLs pauses as it grows past 2^25, 2^26 and 2^27 URLs, and how long such a table takes to open.

    python bench/table_growth.py [--upto 27] [--batch 1000] [--dir FOLDER] [--snapshot]

No crawl runs: made-up keys go into the table, `--batch` at a time, which is about what one step of the loop makes
known. For each power of two, the longest batch among the last and the next eighth of so many URLs is printed. Then
`known.bin` is written with as many rows, and read as a start reads it. Times are of the CPU; the wall's longest is
printed beside. A URL takes 27 B of memory, and 24 B on the disk.

With `--snapshot`, only the first step of a snapshot of 300 M URLs, 100 M visited pages, and 10 M hosts, of which 3 M
are left alone, is timed: finding the blocks to be saved, of which one in a thousand was written to since the last one.
The loop waits for the part that is printed as such.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from state import keys_of, resident_bytes, warm_up

from evercrawl.arrays.blocks import ChangedBlocks
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.host_instants import HostInstants
from evercrawl.store.records.records import RECORD_BITS
from evercrawl.store.snapshots.blocklog import BlockLog, ColumnSize
from evercrawl.store.snapshots.frames import PlacedFrame
from evercrawl.store.table.known import FILE, KNOWN, KnownLog
from evercrawl.store.table.table import CASH_BITS, CELL_BITS, Table

_PIECE = 1 << 20


def fill(table: Table, upto: int, batch: int) -> tuple[float, float, float]:
    """Fill a table up to so many URLs; return the longest CPU and wall time of a batch, and the CPU time in all."""
    most = most_wall = total = 0.0
    while table.known < upto:
        keys = keys_of(np.arange(table.known, min(table.known + _PIECE, upto)))
        for first in range(0, len(keys), batch):
            some = keys[first : first + batch]
            wall, cpu = time.perf_counter(), time.thread_time()
            table.intern(some)
            took, took_wall = time.thread_time() - cpu, time.perf_counter() - wall
            most, most_wall, total = max(most, took), max(most_wall, took_wall), total + took
    return most, most_wall, total


def write_known(folder: Path, count: int) -> None:
    """Write `known.bin` with `count` rows, of which 100 belong to each host."""
    with (folder / FILE).open("wb") as file:
        for first in range(0, count, _PIECE):
            numbers = np.arange(first, min(first + _PIECE, count))
            rows = np.zeros(len(numbers), KNOWN)
            rows["key"], rows["host"], rows["found"] = keys_of(numbers), numbers // 100, numbers >> 4
            file.write(rows.tobytes())


def opened(folder: Path, count: int) -> None:
    """Print how long a start takes to read `known.bin` and to rebuild the table."""
    began = time.process_time(), time.perf_counter()
    known = KnownLog(RealDisk(folder), count)
    read = time.process_time(), time.perf_counter()
    table, keys = Table(), known.take_keys()
    table.rebuild(keys)
    done = time.process_time(), time.perf_counter()
    del keys
    peak = resident_bytes()
    known.release()
    print(
        f"  a start: {read[0] - began[0]:.1f} s of CPU ({read[1] - began[1]:.1f} s) to read {FILE}, "
        f"{done[0] - read[0]:.1f} s ({done[1] - read[1]:.1f} s) to rebuild the table; {peak >> 20:,} MiB then, "
        f"{resident_bytes() >> 20:,} MiB when the columns are released"
    )


def in_a_child(folder: Path, count: int) -> None:
    """Open the directory in a process of its own, so that memory is that of a start."""
    if not (child := os.fork()):
        opened(folder, count)
        os._exit(0)
    os.waitpid(child, 0)


def snapshot_step() -> None:
    """Print how long the first step of a snapshot of a very large crawl takes."""
    rows = {"cash": 300_000_000, "record": 300_000_000, "records": 100_000_000, "site_of": 10_000_000}
    bits = {"cash": CASH_BITS, "record": CELL_BITS, "records": RECORD_BITS, "site_of": 10}
    sizes = {name: ColumnSize(count >> bits[name], 4096) for name, count in rows.items()}
    draw, placed = np.random.default_rng(1), list[PlacedFrame]()
    for name, size in sizes.items():
        owners = draw.integers(1, 600, size.blocks)
        for number in range(1, 600):
            blocks = np.flatnonzero(owners == number).astype(np.uint32)
            placed.append(PlacedFrame(number, 0, 64 << 20, name, 1, blocks, 64 << 20))
    with tempfile.TemporaryDirectory() as folder:
        log = BlockLog(RealDisk(Path(folder)), "made-up", placed)
    marks = {name: ChangedBlocks(count, bits[name]) for name, count in rows.items()}
    for name, size in sizes.items():
        marks[name].put_back(draw.integers(0, size.blocks, size.blocks // 1000).astype(np.uint32))
    away = HostInstants()
    for host in draw.integers(0, 10_000_000, 3_000_000).tolist():
        away[host] = 1.8e9
    times = [time.perf_counter()]
    changed = {name: marks[name].take(count) for name, count in rows.items()}
    times.append(time.perf_counter())
    log.due(sizes, changed)
    times.append(time.perf_counter())
    away.packed()
    times.append(time.perf_counter())
    taken, due, packed = (1000 * (after - before) for before, after in pairwise(times))
    print(f"the loop waits {taken:.1f} ms; another thread takes {due:.1f} ms, and {packed:.1f} ms for hosts left alone")


def main() -> None:
    """Fill the table past each power of two, then open directories of these sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upto", type=int, default=27, help="largest power of two")
    parser.add_argument("--batch", type=int, default=1000, help="URLs made known at a time")
    parser.add_argument("--dir", type=Path, help="where known.bin is written; default: a temporary folder")
    parser.add_argument("--snapshot", action="store_true", help="time the first step of a snapshot instead")
    args = parser.parse_args()
    if args.snapshot:
        snapshot_step()
        return
    warm_up()
    table: Table | None = Table()
    for power in range(min(25, args.upto), args.upto + 1):
        assert table is not None
        size = 1 << power
        fill(table, size - (size >> 3), args.batch)
        most, wall, total = fill(table, size + (size >> 3), args.batch)
        print(
            f"2^{power} URLs: {1000 * most:.1f} ms of CPU ({1000 * wall:.0f} ms) for the longest batch of "
            f"{args.batch:,}, {1e9 * total / (size >> 2):.0f} ns a URL, {resident_bytes() / table.known:.1f} B a URL",
            flush=True,
        )
    table = None
    with tempfile.TemporaryDirectory(dir=args.dir) as folder:
        for power in range(min(25, args.upto), args.upto + 1):
            print(f"2^{power} URLs:", flush=True)
            write_known(Path(folder), 1 << power)
            in_a_child(Path(folder), 1 << power)


if __name__ == "__main__":
    main()
