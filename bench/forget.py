"""Forgetting a host with 10,000 pages: how long it takes, and that each of many kills leaves it done or not begun.

    python bench/forget.py [--pages 10_000] [--kills 50]

A crawl of three hosts is made in this process, with the archive and the search index of a real one. Then `evercrawl
forget HOST` runs on copies of the directory, and is killed (SIGKILL) at instants spread over its run. After each kill
either nothing had been changed, or --finish ends it; verify finds nothing wrong, and no text of the host is left.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure

from evercrawl.ask.verify.verify import verify
from evercrawl.config import Config
from evercrawl.crawl.session import crawl
from evercrawl.model.stored.reader import opened
from evercrawl.progress import Limits
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.forgetting import PLAN
from evercrawl.store.journal.journal import Journal


def main() -> int:
    """Make the crawl, forget, kill, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--kill-pages", type=int, default=300, help="pages of the host in the crawl for the kills")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        large = _made(Path(folder) / "large", args.pages, hosts=2)
        began = time.monotonic()
        subprocess.run(_command(large, _host(large)), check=True, stdout=subprocess.DEVNULL)
        took_s = time.monotonic() - began
        fine, forgotten = verify(large).fine, _forgotten(large)
        rows = [
            Figure(f"forget a host of {forgotten:,} pages", took_s, "s", at_most=30.0),
            Figure("wrong after that, by verify", float(not fine), "", at_most=0.0),
        ]
        print(*rows, sep="\n", flush=True)  # the kills take minutes
        small = _made(Path(folder) / "small", args.kill_pages)
        rows.append(_killed(small, Path(folder), args.kills))
        print(rows[-1])
    return 0 if all((row.ratio or 0.0) >= 1 for row in rows) else 1


def _made(directory: Path, pages: int, hosts: int = 3) -> Path:
    async def go() -> None:
        async with Loopback(hosts=hosts, pages=pages, changing=0) as server:
            config = Config(delay_s=0.0, allow_net=(NETWORK,))
            await crawl(directory, config, server.seeds, Limits(until_idle=True, seconds=600))

    asyncio.run(go())
    return directory


def _host(directory: Path) -> str:
    partition = opened(directory)
    with contextlib.closing(partition):
        return partition.state.hosts[1]


def _forgotten(directory: Path) -> int:
    partition = opened(directory)
    with contextlib.closing(partition):
        return len(partition.state.forgotten.slots)


def _command(directory: Path, host: str) -> list[str]:
    return [sys.executable, "-m", "evercrawl", "forget", host, "--yes", "--dir", str(directory)]


def _killed(crawled: Path, folder: Path, kills: int) -> Figure:
    host, draw, counts = _host(crawled), random.Random(1), dict.fromkeys(("before", "on the way", "afterwards"), 0)
    whole = shutil.copytree(crawled, folder / "whole")
    began = time.monotonic()
    subprocess.run(_command(whole, host), check=True, stdout=subprocess.DEVNULL)
    run_s, wrong = time.monotonic() - began, 0
    for number in range(kills):
        copy = shutil.copytree(crawled, folder / f"copy-{number}")
        process = subprocess.Popen(_command(copy, host), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            if number % 2:
                process.wait(run_s * draw.uniform(0.3, 1.0))
            else:  # while the plan is carried out, which does not take long
                while process.poll() is None and not (copy / PLAN).exists():
                    time.sleep(0.0005)
                time.sleep(draw.uniform(0.0, 0.05))
        process.kill()
        process.wait()
        begun, there = (copy / PLAN).exists(), (copy / "forgotten.bin").exists()
        counts["on the way" if begun else "afterwards" if there else "before"] += 1
        if begun:
            subprocess.run(
                [*_command(copy, host)[:4], "--finish", "--dir", str(copy)], check=True, stdout=subprocess.DEVNULL
            )
        wrong += not verify(copy).fine or (_left(copy, host) if begun or there else not _left(copy, host))
        shutil.rmtree(copy)
    shown = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"{kills} kills: {shown}")
    return Figure(f"wrong after one of {kills} kills", float(wrong), "", at_most=0.0)


def _left(directory: Path, host: str) -> bool:
    """Whether a record of the archive or an event of the journal is of the host."""
    disk = RealDisk(directory, read_only=True)
    try:
        segments = [name for name in disk.names("archive/") if name.endswith(".warc.gz")]
        records = any(f"//{host}" in repr(one.record.fields) for name in segments for one in walk(disk, name))
        return records or any(host in repr(event) for _, _, event in Journal.open(disk, writable=False).replay())
    finally:
        disk.close()


if __name__ == "__main__":
    sys.exit(main())
