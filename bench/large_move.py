"""For how long a large partition pauses while it moves to another machine of a Ray cluster.

The machines are raylets of bench/drills.py. A crawl begins on them and is stopped. One of its partitions is grown on
its disk to --known URLs of its own sites, a fiftieth of them visited, and its cache of robots.txt files to
--robots-mib. The crawl goes on, and the partition is moved from one machine to the other and back, --rounds times in
all. At the end it is read where it is.

python bench/large_move.py --known 1000000 --robots-mib 64 --rounds 4
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from drills import Drill

from evercrawl.cluster.birth import read_birth
from evercrawl.model.rules.robots_file import ROBOTS_FILE, RobotsFile, RobotsRow
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import found_site, site_rules
from evercrawl.parse.urls import hostname
from evercrawl.store.journal.codec import encode_slots
from evercrawl.store.journal.events import HAS_LINKS, Discovery, Visit
from evercrawl.store.partition import Partition
from evercrawl.types import Outcome

NUMBER, HOSTS, NEW, LINKS, BATCH = 1, 2000, 50, 90, 200


async def grown(folder: Path, sites: list[str], count: int) -> list[str]:
    """Let a partition visit pages that name `NEW` URLs each, until it knows `count`; return the names of hosts."""
    partition = Partition(folder, os.urandom, now=time.time(), site=found_site, site_rules=site_rules())
    state, draw, words = partition.state, np.random.default_rng(1), random.Random(1)
    post = state.post
    assert post is not None, "a partition of several"
    own = [site for site in sites if post.ownership.of(site) == NUMBER]
    hosts = [f"h{number}.{own[number % len(own)]}" for number in range(HOSTS)]
    begun, visited = state.table.known, 0
    while state.table.known < count:
        for _ in range(BATCH):
            host = hosts[int(HOSTS * words.random() ** 3)]
            named = [f"http://{host}/{words.choice('abcdefgh') * 6}/{words.getrandbits(48):x}" for _ in range(NEW)]
            keys = state.hasher.keys(named)
            _, new = state.table.intern(keys)
            named, first = [url for url, fresh in zip(named, new.tolist(), strict=True) if fresh], begun + visited
            slot, at = (first if visited else 0), time.time()
            first_host, new_hosts = len(state.hosts), list[str]()
            numbers = [state.host_number(hostname(url), new_hosts) for url in named]
            found = Discovery(
                state.table.known - len(named), named, numbers, first_host, new_hosts, source=slot, depth=1
            )
            state.admit(found, at, keys[new])
            targets = np.unique(draw.integers(0, state.table.known, LINKS, dtype=np.uint32))
            digest, simhash = (int(value) for value in draw.integers(1, 2**63, 2))
            event = Visit(
                slot=slot, host=int(state.known.columns().host[slot]), at=at, outcome=Outcome.OK, status=200,
                flags=HAS_LINKS, visits=1, fetch_s=0.1, size_bytes=20_000, wire_bytes=5_000, digest=digest,
                simhash=simhash, targets=encode_slots(targets), etag=f'"{digest:x}"', mime="text/html", title="a page",
                language="en", found=found,
            )  # fmt: skip
            partition.remember(event)
            visited += 1
        partition.flush()
        partition.journal.write(partition.journal.seal())
    await partition.snapshot(_nothing, _inline)
    partition.close()
    return hosts


async def _nothing() -> None:
    return None


async def _inline(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def cached(folder: Path, size_bytes: int) -> None:
    """Fill the cache of robots.txt files."""
    draw = random.Random(2)
    with contextlib.closing(RobotsFile(str(folder / ROBOTS_FILE))) as table:
        number = 0
        while table.size_bytes < size_bytes:
            body = b"User-agent: *\n" + b"".join(b"Disallow: /%x\n" % draw.getrandbits(32) for _ in range(80))
            table.put(f"https://www.other{number}.example", RobotsRow("", body, time.time() + 1e6))
            number += 1


def sizes(folder: Path) -> dict[str, float]:
    """Return the size of a partition's files in MB, by kind."""
    found = dict[str, float]()
    for file in folder.rglob("*"):
        if file.is_file():
            kind = file.name.split("-")[0].split(".")[0] + ("" if file.suffix != ".sqlite" else ".sqlite")
            found[kind] = found.get(kind, 0.0) + file.stat().st_size / 1e6
    return {kind: round(size, 1) for kind, size in sorted(found.items()) if size > 0.5}


def measured(drill: Drill, args: argparse.Namespace) -> None:
    """Grow the partition, move it, and print what each move took."""
    drill.begin(delay="0.3")
    drill.made(0)
    assert drill.crawl is not None, "it has begun"
    drill.crawl.send_signal(signal.SIGTERM)
    drill.crawl.wait(60)
    disks = {file.read_text(): file.parent for file in drill.folder.glob("disk-*/*/disk-id")}
    place = read_birth(drill.directory).places[NUMBER]
    part = disks[place] / f"part-{NUMBER}"
    began = time.monotonic()
    hosts = asyncio.run(grown(part, [f"www.site{number}.org" for number in range(args.sites)], args.known))
    with drill.web.names.open("a") as names:
        names.writelines(f"{host} 127.0.9.{1 + number % 8}\n" for number, host in enumerate(hosts))
    cached(part, args.robots_mib << 20)
    print(json.dumps({"grown_s": round(time.monotonic() - began), "mb": sizes(part)}), flush=True)
    asked = sum(drill.web.server.asked.values())
    drill.begin(delay="0.3")
    print(json.dumps({"again_s": drill.made(asked)}), flush=True)
    for _ in range(args.rounds):
        goal = next(disk for disk in disks if disk != read_birth(drill.directory).places[NUMBER])
        time.sleep(args.rest)
        asked, began = sum(drill.web.server.asked.values()), time.monotonic()
        done = drill.verb("move", str(NUMBER), goal)
        told = {name: done[name] for name in ("copied_bytes", "pause_s")}
        meanwhile = sum(drill.web.server.asked.values()) - asked
        of_s = round(time.monotonic() - began, 1)
        print(json.dumps({**told, "of_s": of_s, "visits_meanwhile": meanwhile, "load": os.getloadavg()[0]}), flush=True)
    drill.crawl.send_signal(signal.SIGTERM)
    drill.crawl.wait(60)
    with contextlib.closing(opened(disks[goal] / f"part-{NUMBER}")) as crawl:
        assert crawl.state.known.count >= args.known, "all of it is there"
        print(json.dumps({"known": crawl.state.known.count, "mb": sizes(disks[goal] / f"part-{NUMBER}")}), flush=True)


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--known", type=int, default=1_000_000)
    parser.add_argument("--robots-mib", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--rest", type=float, default=5.0, help="seconds of crawling before each move")
    parser.add_argument("--sites", type=int, default=24)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="evercrawl-large-move-"))
    drill = Drill(folder, args.sites, 40)
    good = False
    try:
        for number in (0, 1):
            drill.machines.start(number)
        measured(drill, args)
        good = True
    finally:
        drill.machines.close()
        if not good and (folder / "crawl.log").is_file():
            sys.stderr.write((folder / "crawl.log").read_text()[-3000:])
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
