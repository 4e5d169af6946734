"""What second copies of partitions cost, how long a lost one is away, and for how long one stands still that moves.

A web of many sites is served on loopback and crawled until it is idle, with and without a keeper. Then it is crawled
on, a partition is killed and its directory removed, and a partition is moved, --rounds times each.

python bench/copies_and_moves.py --sites 40 --pages 40 --rounds 3
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from evercrawl.cluster.birth import part_directories, read_birth
from evercrawl.simulate.surroundings.named_loopback import NETWORK, NamedLoopback
from evercrawl.store.disk.lock import holder

PARTS = 2


def command(server: NamedLoopback, folder: Path, directory: Path, *more: str) -> list[str]:
    """Return the words that crawl the web."""
    return [
        sys.executable, "-m", "evercrawl", "crawl", server.seed, "--dir", str(directory), "--partitions", str(PARTS),
        "--scope", "any", "--allow-net", NETWORK, "--delay", "0", "--connections-per-ip", "8", "--resolve",
        str(folder / "names.txt"), "--no-index", "--workers", "0", "--probe-share", "0", "--quiet", "--contact",
        "me@example.org", *more,
    ]  # fmt: skip


async def crawled(server: NamedLoopback, folder: Path, directory: Path, *more: str) -> dict[str, float]:
    """Crawl until idle; return what it took."""
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    crawl = await asyncio.create_subprocess_exec(*command(server, folder, directory, "--until-idle", *more))
    assert await crawl.wait() == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    journal = sum(file.stat().st_size for part in part_directories(directory) for file in part.glob("journal-*"))
    return {"wall_s": round(time.monotonic() - began, 1), "cpu_s": round(cpu_s, 1), "journal_bytes": journal}


async def held(directory: Path, number: int, since: float, pid: object = None) -> float:
    """Return how long after `since` a partition's directory is held by a process other than `pid`."""
    while True:
        there = holder(part_directories(directory)[number]) if part_directories(directory)[number].is_dir() else None
        if there is not None and there.get("pid") != pid and there.get("socket"):
            return time.monotonic() - since
        await asyncio.sleep(0.02)


async def kept(directory: Path) -> None:
    """Return once all second copies have all that counts."""
    for _ in range(600):
        if len(read_birth(directory).copies) == PARTS:
            return
        await asyncio.sleep(0.05)
    raise TimeoutError("a second copy does not catch up")


async def main_of(args: argparse.Namespace, folder: Path) -> None:
    """Measure, and print a line for each thing."""
    copies = folder / "copies"
    copies.mkdir()
    keeping = ("--durable", "keeper", "--keeper-dir", str(copies))
    async with NamedLoopback(sites=args.sites, pages=args.pages, addresses=8) as server:
        server.write_names(folder / "names.txt")
        for name, more in (("disk", ()), ("keeper", keeping), ("disk", ()), ("keeper", keeping)):
            directory = folder / name
            shutil.rmtree(directory, ignore_errors=True)
            took = await crawled(server, folder, directory, *more)
            print(json.dumps({"durable": name, "pages": args.sites * args.pages, **took}), flush=True)
        directory = folder / "keeper"
        crawl = await asyncio.create_subprocess_exec(*command(server, folder, directory, *keeping))
        away, paused, copied = list[float](), list[float](), 0
        try:
            for number in range(PARTS):
                await held(directory, number, 0.0)
            await kept(directory)
            for number in range(args.rounds):
                part = part_directories(directory)[1]
                there = holder(part)
                assert there is not None
                began = time.monotonic()
                os.kill(there["pid"], signal.SIGKILL)
                shutil.rmtree(part)
                away.append(await held(directory, 1, began, there["pid"]))
                await asyncio.sleep(2.0)
                move = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "evercrawl", "move", "0", str(folder / f"moved-{number}"), "--dir",
                    str(directory), "--json", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
                )  # fmt: skip
                out, _ = await move.communicate()
                moved = json.loads(out)
                paused.append(moved["pause_s"])
                copied = moved["copied_bytes"]
        finally:
            crawl.terminate()
            await crawl.wait()
        print(json.dumps({"lost_and_restored_s": [round(each, 2) for each in away], "moved_bytes": copied,
                          "pause_s": paused, "median_pause_s": statistics.median(paused)}))  # fmt: skip
        verify = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "evercrawl", "verify", "--dir", str(directory), stdout=asyncio.subprocess.DEVNULL
        )
        print(json.dumps({"verify": await verify.wait()}))


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=40)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asyncio.run(main_of(args, Path(folder)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
